//! The equations for the moments of the occupancy, order by order in 1 / N.

use super::polynomial::Polynomial;
use super::tensor::integral;
use nalgebra::{DMatrix, DVector};

/// The drift `f_k = lambda (G(s_{k-1}) - G(s_k)) - (s_k - s_{k+1})` about its zero, with rates of 1, and the expansion
/// of G in 1 / N. The noise has `Q_kk = lambda (G(s_{k-1}) - G(s_k)) + (s_k - s_{k+1})`, and nothing else.
pub(super) struct Expansion {
    load: f64,
    fixed_point: Vec<f64>,
    /// G, G_1, G_2.
    law: [Polynomial; 3],
    jacobian: DMatrix<f64>,
}

/// Entries of a moment of order m whose indices are all equal or single out the first: what derivatives of G meet.
type Diagonal<'a> = &'a dyn Fn(usize) -> f64;

impl Expansion {
    pub(super) fn new(
        load: f64,
        fixed_point: Vec<f64>,
        leading: Polynomial,
        first: Polynomial,
        second: Polynomial,
    ) -> Self {
        let n = fixed_point.len();
        let mut jacobian = DMatrix::zeros(n, n);
        for k in 0..n {
            jacobian[(k, k)] = -load * leading.at(fixed_point[k], 1) - 1.0;
            if k > 0 {
                jacobian[(k, k - 1)] = load * leading.at(fixed_point[k - 1], 1);
            }
            if k + 1 < n {
                jacobian[(k, k + 1)] = 1.0;
            }
        }
        Self { load, fixed_point, law: [leading, first, second], jacobian }
    }

    pub(super) fn levels(&self) -> usize {
        self.fixed_point.len()
    }

    pub(super) fn into_fixed_point(self) -> Vec<f64> {
        self.fixed_point
    }

    /// `lambda (D^m G_j(s_{k-1}) x_{k-1} - D^m G_j(s_k) x_k)`, the contraction of the m-th derivative of the arrivals of
    /// order j with a moment, of which only entries with equal indices count; for m = 0 take x = 1. s_0 = 1 stands still.
    fn arrivals(&self, j: usize, m: u32, k: usize, moment: Diagonal) -> f64 {
        let part = |i: usize| self.law[j].at(self.fixed_point[i], m) * moment(i);
        let below = match (k, m) {
            (0, 0) => self.law[j].at(1.0, 0),
            (0, _) => 0.0,
            _ => part(k - 1),
        };
        self.load * (below - part(k))
    }

    /// Derivative of the departures `s_k - s_{k+1}` along x.
    fn departures(&self, k: usize, x: Diagonal) -> f64 {
        x(k) - if k + 1 < self.levels() { x(k + 1) } else { 0.0 }
    }

    fn noise(&self) -> Vec<f64> {
        let s = |k: usize| self.fixed_point[k];
        (0..self.levels()).map(|k| self.arrivals(0, 0, k, &|_| 1.0) + self.departures(k, &s)).collect()
    }

    /// W.
    pub(super) fn covariance(&self) -> DMatrix<f64> {
        let n = self.levels();
        let mut source = vec![0.0; n * n];
        for (k, rate) in self.noise().into_iter().enumerate() {
            source[k * n + k] = rate;
        }
        DMatrix::from_row_slice(n, n, &integral(&self.jacobian, &source, 2))
    }

    /// Largest entry of `A W + W A^T + B` over that of B.
    pub(super) fn residual(&self, w: &DMatrix<f64>) -> f64 {
        let noise = DMatrix::from_diagonal(&DVector::from_vec(self.noise()));
        let left = &self.jacobian * w + w * self.jacobian.transpose() + &noise;
        left.amax() / noise.amax()
    }

    /// V.
    pub(super) fn first(&self, w: &DMatrix<f64>) -> Option<DVector<f64>> {
        let source =
            (0..self.levels()).map(|k| 0.5 * self.arrivals(0, 2, k, &|i| w[(i, i)]) + self.arrivals(1, 0, k, &|_| 1.0));
        self.solve(source.collect())
    }

    fn solve(&self, source: Vec<f64>) -> Option<DVector<f64>> {
        self.jacobian.clone().lu().solve(&DVector::from_vec(source)).map(|solution| -solution)
    }

    /// The correction of the means of order 1 / N^2, and that of the second moments about the fixed point.
    pub(super) fn second(&self, w: &DMatrix<f64>, v: &DVector<f64>) -> Option<(Vec<f64>, Vec<f64>)> {
        let n = self.levels();
        let noise = self.noise();
        let third = self.third_moment(w, v, &noise);
        let third_at = |i: usize, j: usize, k: usize| third[(i * n + j) * n + k];
        let mut source = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                // E[x_i f_j] beyond the Jacobian; the fourth moment of a Gaussian law is 3 W_il W_ll for equal l.
                let half = |i: usize, j: usize| {
                    0.5 * self.arrivals(0, 2, j, &|l| third_at(i, l, l))
                        + self.arrivals(0, 3, j, &|l| 3.0 * w[(i, l)] * w[(l, l)]) / 6.0
                        + self.arrivals(1, 0, j, &|_| 1.0) * v[i]
                        + self.arrivals(1, 1, j, &|l| w[(i, l)])
                };
                source[i * n + j] = half(i, j) + half(j, i);
            }
            source[i * n + i] += self.arrivals(0, 1, i, &|l| v[l])
                + self.departures(i, &|l| v[l])
                + 0.5 * self.arrivals(0, 2, i, &|l| w[(l, l)])
                + self.arrivals(1, 0, i, &|_| 1.0);
        }
        let squares = integral(&self.jacobian, &source, 2);
        let square = |l: usize| squares[l * n + l];
        let source = (0..n).map(|k| {
            0.5 * self.arrivals(0, 2, k, &square)
                + self.arrivals(0, 3, k, &|l| third_at(l, l, l)) / 6.0
                + self.arrivals(0, 4, k, &|l| 3.0 * w[(l, l)].powi(2)) / 24.0
                + self.arrivals(1, 1, k, &|l| v[l])
                + 0.5 * self.arrivals(1, 2, k, &|l| w[(l, l)])
                + self.arrivals(2, 0, k, &|_| 1.0)
        });
        let means = self.solve(source.collect())?;
        Some((means.as_slice().to_vec(), (0..n).map(square).collect()))
    }

    /// Third moments about the fixed point, times N^2. The rate of (jump)^3 is the drift, which is 0 there.
    fn third_moment(&self, w: &DMatrix<f64>, v: &DVector<f64>, noise: &[f64]) -> Vec<f64> {
        let n = self.levels();
        let mut source = vec![0.0; n * n * n];
        for i in 0..n {
            for j in 0..n {
                for k in 0..n {
                    // E[f_i x_j x_k] beyond the Jacobian.
                    let drift = |i: usize, j: usize, k: usize| {
                        let fourth = |l: usize| w[(l, l)] * w[(j, k)] + 2.0 * w[(l, j)] * w[(l, k)];
                        0.5 * self.arrivals(0, 2, i, &fourth) + self.arrivals(1, 0, i, &|_| 1.0) * w[(j, k)]
                    };
                    // E[Q_ij x_k], for i = j.
                    let jumps = |i: usize, j: usize, k: usize| {
                        if i != j {
                            return 0.0;
                        }
                        noise[i] * v[k] + self.arrivals(0, 1, i, &|l| w[(l, k)]) + self.departures(i, &|l| w[(l, k)])
                    };
                    source[(i * n + j) * n + k] = drift(i, j, k)
                        + drift(j, i, k)
                        + drift(k, i, j)
                        + jumps(i, j, k)
                        + jumps(i, k, j)
                        + jumps(j, k, i);
                }
            }
        }
        integral(&self.jacobian, &source, 3)
    }
}

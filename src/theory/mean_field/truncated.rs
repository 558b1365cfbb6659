//! The truncated system of the paper on the rate of convergence (Ying 2017), and its first-order sensitivity.

use super::trajectory::{TrajectoryError, integrate};
use nalgebra::DVector;
use ode_solvers::System as Ode;

/// The first n levels of the supermarket model, with the next held at its equilibrium:
///
/// `ds_k/dt = lambda (s_{k-1}^d - s_k^d) - (s_k - s_{k+1})` for k <= n, where `s_0 = 1` and
/// `s_{n+1} = s*_{n+1} = lambda^((d^(n+1) - 1) / (d - 1))`; rates are 1. The paper has d = 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truncated {
    /// Load lambda, below 1.
    pub load: f64,
    /// Number of choices d.
    pub choices: f64,
    /// Number of levels n.
    pub levels: usize,
}

impl Truncated {
    /// The equilibrium, s*_1 to s*_n: that of the whole system.
    pub fn equilibrium(&self) -> Vec<f64> {
        (1..=self.levels).map(|k| self.fixed(k)).collect()
    }

    fn fixed(&self, k: usize) -> f64 {
        // (d^k - 1) / (d - 1) = 1 + d + ... + d^(k-1).
        let exponent: f64 = (0..k as i32).map(|i| self.choices.powi(i)).sum();
        self.load.powf(exponent)
    }

    /// The state at a time, from another at time 0.
    ///
    /// # Errors
    /// If the solver gives up.
    pub fn at(&self, start: &[f64], time: f64, tolerance: f64) -> Result<Vec<f64>, TrajectoryError> {
        let still = vec![0.0; start.len()];
        self.with_sensitivity(start, &still, time, tolerance).map(|(state, _)| state)
    }

    /// The state at a time, and how it changes to first order when the start moves in a direction z: the first-order
    /// system of the paper, `dx/dt = J(s(t)) x` from `x(0) = z`, with J the Jacobian along the unperturbed path.
    ///
    /// # Errors
    /// If the solver gives up.
    pub fn with_sensitivity(
        &self,
        start: &[f64],
        direction: &[f64],
        time: f64,
        tolerance: f64,
    ) -> Result<(Vec<f64>, Vec<f64>), TrajectoryError> {
        let both: Vec<f64> = start.iter().chain(direction).copied().collect();
        let end = integrate(self, DVector::from_vec(both), 0.0, time, tolerance)?;
        let (state, moved) = end.as_slice().split_at(self.levels);
        Ok((state.to_vec(), moved.to_vec()))
    }
}

impl Ode<f64, DVector<f64>> for &Truncated {
    fn system(&self, _: f64, both: &DVector<f64>, change: &mut DVector<f64>) {
        let (n, d) = (self.levels, self.choices);
        for i in 0..n {
            let above = if i + 1 < n { both[i + 1] } else { self.fixed(n + 1) };
            let below = if i > 0 { both[i - 1] } else { 1.0 };
            change[i] = self.load * (below.powf(d) - both[i].powf(d)) - (both[i] - above);
            let slope = |s: f64| d * s.powf(d - 1.0);
            let from_below = if i > 0 { slope(both[i - 1]) * both[n + i - 1] } else { 0.0 };
            let from_above = if i + 1 < n { both[n + i + 1] } else { 0.0 };
            let own = both[n + i];
            change[n + i] = self.load * (from_below - slope(both[i]) * own) - own + from_above;
        }
    }
}

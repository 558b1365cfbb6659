//! Integrals of exp(At) applied to every index of a tensor: solutions of Lyapunov equations of any order.

use nalgebra::{DMatrix, DVector};

/// A tensor of equal dimensions, the last index fastest.
pub(super) type Tensor = Vec<f64>;

/// Nodes and weights of Gauss-Legendre quadrature on [-1, 1] with eight nodes.
const NODES: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// Doublings after which a matrix that has not become small is not stable.
const MOST_DOUBLINGS: usize = 80;

/// `X = integral over t from 0 to infinity of exp(At) applied to each index of S`, which solves
/// `sum over the indices of (A on that index of X) + S = 0`, for a stable A of dimension n.
///
/// The integral over a short time is taken by quadrature, and then doubled: `X(2h) = X(h) + exp(Ah) on each index of
/// X(h)`, until exp(Ah) is negligible.
pub(super) fn integral(matrix: &DMatrix<f64>, source: &[f64], order: u32) -> Tensor {
    let norm = matrix.iter().map(|x| x.abs()).fold(0.0, f64::max) * matrix.nrows() as f64;
    let h = 0.5 / norm;
    let mut integral = vec![0.0; source.len()];
    for (node, weight) in NODES.iter().flat_map(|&(x, w)| [(x, w), (-x, w)]) {
        let step = exponential(&(matrix * (0.5 * h * (1.0 + node))));
        let moved = apply(&step, source, order);
        integral.iter_mut().zip(moved).for_each(|(sum, x)| *sum += 0.5 * h * weight * x);
    }
    let mut step = exponential(&(matrix * h));
    for _ in 0..MOST_DOUBLINGS {
        let moved = apply(&step, &integral, order);
        integral.iter_mut().zip(&moved).for_each(|(sum, x)| *sum += x);
        step = &step * &step;
        if step.amax() < 1e-18 {
            break;
        }
    }
    integral
}

/// `exp(A)` of a small matrix, by its series.
fn exponential(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let n = matrix.nrows();
    let (mut sum, mut term) = (DMatrix::identity(n, n), DMatrix::identity(n, n));
    for k in 1..30 {
        term = &term * matrix / f64::from(k);
        sum += &term;
        if term.amax() < 1e-20 {
            break;
        }
    }
    sum
}

/// A matrix applied to each index in turn.
fn apply(matrix: &DMatrix<f64>, tensor: &[f64], order: u32) -> Tensor {
    let n = matrix.nrows();
    let mut tensor = tensor.to_vec();
    for _ in 0..order {
        // The last index is multiplied and becomes the first, so that after all of them the order is as before.
        let rest = tensor.len() / n;
        let mut moved = vec![0.0; tensor.len()];
        for i in 0..rest {
            let column = DVector::from_row_slice(&tensor[i * n..(i + 1) * n]);
            let product = matrix * column;
            for j in 0..n {
                moved[j * rest + i] = product[j];
            }
        }
        tensor = moved;
    }
    tensor
}

//! One queue with births at a rate that depends on its length, and deaths at the rate of its server.

use super::{LEVELS, NEGLIGIBLE};

/// The tail s_1, s_2, ... of an M/M/1 queue of this load, with room for `buffer` jobs, and its mean number of jobs.
///
/// Without limit `s_k = rho^k`; with it `s_k = (rho^k - rho^(b+1)) / (1 - rho^(b+1))`, for k up to b.
pub(super) fn mm1(load: f64, buffer: Option<u32>) -> (Vec<f64>, Option<f64>) {
    let Some(buffer) = buffer else {
        let powers = (1..=LEVELS as i32).map(|k| load.powi(k)).take_while(|&fraction| fraction > NEGLIGIBLE);
        return (powers.collect(), Some(load / (1.0 - load)));
    };
    let levels = (buffer as usize).min(LEVELS);
    if load <= 1.0 {
        return (constant_births(load, levels), None);
    }
    // Weights from the full queue down, which do not overflow.
    let weights: Vec<f64> = (0..=levels).rev().map(|k| load.recip().powi(k as i32)).collect();
    (tail_of_weights(&weights), None)
}

/// The tail when births come at `ratio` times the rate of deaths below `top` jobs, and never at `top`.
pub(super) fn constant_births(ratio: f64, top: usize) -> Vec<f64> {
    let mut weights = vec![1.0];
    for k in 0..top {
        let next = weights[k] * ratio;
        if next > 1e200 {
            weights.iter_mut().for_each(|weight| *weight /= next);
            weights.push(1.0);
        } else if next < 1e-300 {
            break;
        } else {
            weights.push(next);
        }
    }
    tail_of_weights(&weights)
}

/// From weights of the lengths 0, 1, ... the fractions of at least 1, 2, ...
fn tail_of_weights(weights: &[f64]) -> Vec<f64> {
    let mut beyond = 0.0;
    let mut tail: Vec<f64> = weights
        .iter()
        .rev()
        .map(|weight| {
            beyond += weight;
            beyond
        })
        .collect();
    tail.pop();
    tail.reverse();
    let all = beyond;
    tail.iter_mut().for_each(|fraction| *fraction /= all);
    tail
}

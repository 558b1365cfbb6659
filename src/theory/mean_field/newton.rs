//! Zero of the drift for strategies that look at classes of servers: relaxation, then Newton's method.

use super::trajectory::{Drift, integrate};
use crate::model::System;
use crate::policy::LevelLaw;
use nalgebra::{DMatrix, DVector};

/// What the drift may be at the solution.
const RESIDUAL: f64 = 1e-13;

/// The most unknowns.
const MOST: usize = 300;

/// The tail of each class.
pub(super) fn solve(system: &System, law: &LevelLaw) -> Result<Vec<Vec<f64>>, String> {
    let classes = system.servers.classes().len();
    let mut levels = 16;
    loop {
        let levels_here = system.buffer.map_or(levels, |buffer| levels.min(buffer as usize));
        let drift = Drift::new(system, law, levels_here);
        let solved = zero(&drift, drift.empty())?;
        let tails = drift.tails(&solved);
        let beyond = tails.iter().filter_map(|tail| tail.last()).fold(0.0_f64, |most, &last| most.max(last));
        if beyond < 1e-15 || system.buffer.is_some_and(|buffer| levels_here == buffer as usize) {
            return Ok(tails);
        }
        levels *= 2;
        if levels * classes > MOST {
            return Err(format!("more than {MOST} levels of all classes are reached"));
        }
    }
}

/// A zero of the drift near where it leads from a start.
fn zero(drift: &Drift, start: DVector<f64>) -> Result<DVector<f64>, String> {
    let mut state = integrate(drift, start, 0.0, 50.0, 1e-6).map_err(|error| error.to_string())?;
    for _ in 0..60 {
        let value = drift.at(&state);
        let residual = value.amax();
        let step = jacobian(drift, &state).lu().solve(&value).ok_or("the Jacobian is singular")?;
        state -= &step;
        if residual < RESIDUAL && step.amax() < 1e-12 {
            let bounded = state.iter().all(|&fraction| (-1e-12..=1.0 + 1e-12).contains(&fraction));
            return if bounded { Ok(state) } else { Err("Newton's method left the states that exist".into()) };
        }
    }
    Err("Newton's method does not converge: the system may be unstable".into())
}

/// By central differences.
pub(super) fn jacobian(drift: &Drift, state: &DVector<f64>) -> DMatrix<f64> {
    let n = state.len();
    let mut matrix = DMatrix::zeros(n, n);
    for j in 0..n {
        let h = 1e-6 * state[j].abs().max(1e-3);
        let mut moved = state.clone();
        moved[j] = state[j] + h;
        let above = drift.at(&moved);
        moved[j] = state[j] - h;
        let below = drift.at(&moved);
        matrix.set_column(j, &((above - below) / (2.0 * h)));
    }
    matrix
}

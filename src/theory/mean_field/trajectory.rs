//! The mean-field equation in the course of time.

use crate::model::System;
use crate::policy::LevelLaw;
use nalgebra::DVector;
use ode_solvers::dop_shared::OutputType;
use ode_solvers::{Dop853, System as Ode};
use std::fmt;

/// The fractions of servers by class and length in the course of time, as the number of servers grows.
///
/// With `u_{c,k}` the fraction of all servers that are of class c and hold at least k jobs,
/// `du_{c,k}/dt = lambda q_{c,k-1}(u) - mu_c (u_{c,k} - u_{c,k+1})`, where `q` is the law of [`LevelLaw`].
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// The moments.
    pub times: Vec<f64>,
    /// For each moment and k = 1, 2, ... the fraction s_k of all servers.
    pub tails: Vec<Vec<f64>>,
    /// The largest fraction that the last level kept came to: what levels beyond might have held.
    pub beyond: f64,
}

/// A trajectory that cannot be followed.
#[derive(Clone, Debug, PartialEq)]
pub enum TrajectoryError {
    /// The solver of ordinary differential equations gave up.
    Solver(String),
    /// More levels are reached than can be kept.
    TooDeep(usize),
}

impl fmt::Display for TrajectoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Solver(why) => {
                write!(
                    f,
                    "the differential equation was not solved: {why}; for a very large d take shortest, its limit"
                )
            }
            Self::TooDeep(levels) => write!(f, "more than {levels} levels are reached"),
        }
    }
}

impl std::error::Error for TrajectoryError {}

/// The most levels that are followed.
const MOST_LEVELS: usize = 2048;

impl Trajectory {
    /// From a start, `start[class][k]` the fraction of the servers of a class with at least k + 1 jobs, at these times,
    /// which increase from 0; each step has the relative and absolute error `tolerance`, and levels are kept until the
    /// fraction beyond is below it.
    ///
    /// # Errors
    /// If the solver gives up (a very large d makes the equation too stiff for it), or too many levels are reached.
    pub fn new(
        system: &System,
        law: &LevelLaw,
        start: &[Vec<f64>],
        times: &[f64],
        tolerance: f64,
    ) -> Result<Self, TrajectoryError> {
        let deepest = start.iter().map(Vec::len).max().unwrap_or(0);
        let mut levels = (2 * deepest).max(16);
        loop {
            let kept = system.buffer.map_or(levels, |buffer| levels.min(buffer as usize));
            let drift = Drift::new(system, law, kept);
            let found = Self::with_levels(&drift, start, times, tolerance)?;
            if found.beyond <= tolerance || system.buffer.is_some_and(|buffer| kept == buffer as usize) {
                return Ok(found);
            }
            levels *= 2;
            if levels > MOST_LEVELS {
                return Err(TrajectoryError::TooDeep(MOST_LEVELS));
            }
        }
    }

    fn with_levels(drift: &Drift, start: &[Vec<f64>], times: &[f64], tolerance: f64) -> Result<Self, TrajectoryError> {
        let mut state = drift.state(start);
        let mut found = Self { times: times.to_vec(), tails: Vec::new(), beyond: 0.0 };
        let mut now = 0.0;
        for &time in times {
            if time > now {
                state = integrate(drift, state, now, time, tolerance)?;
                now = time;
            }
            let tail = drift.tail(&state);
            found.beyond = found.beyond.max(tail.last().copied().unwrap_or(0.0));
            found.tails.push(tail);
        }
        Ok(found)
    }
}

/// The right-hand side for a number of levels; nothing is kept beyond them.
pub(super) struct Drift<'a> {
    law: &'a LevelLaw,
    levels: usize,
    /// Part of the servers, and rate, of each class.
    classes: Vec<(f64, f64)>,
    /// Arrivals per server.
    arrival_rate: f64,
}

impl<'a> Drift<'a> {
    pub(super) fn new(system: &System, law: &'a LevelLaw, levels: usize) -> Self {
        let n = system.servers.len() as f64;
        let classes = system.servers.classes().iter().map(|class| (class.count as f64 / n, class.rate)).collect();
        Self { law, levels, classes, arrival_rate: system.arrivals.rate / n }
    }

    pub(super) fn empty(&self) -> DVector<f64> {
        DVector::zeros(self.levels * self.classes.len())
    }

    /// A state from the tails of the classes, within each.
    fn state(&self, tails: &[Vec<f64>]) -> DVector<f64> {
        let mut state = self.empty();
        for (class, tail) in tails.iter().enumerate() {
            for (k, fraction) in tail.iter().enumerate().take(self.levels) {
                state[class * self.levels + k] = self.classes[class].0 * fraction;
            }
        }
        state
    }

    /// The tails within each class.
    pub(super) fn tails(&self, state: &DVector<f64>) -> Vec<Vec<f64>> {
        let own = |class: usize| (0..self.levels).map(move |k| state[class * self.levels + k] / self.classes[class].0);
        (0..self.classes.len()).map(|class| own(class).collect()).collect()
    }

    /// s_1, s_2, ... over all classes.
    fn tail(&self, state: &DVector<f64>) -> Vec<f64> {
        let all = |k: usize| (0..self.classes.len()).map(|class| state[class * self.levels + k]).sum();
        (0..self.levels).map(all).collect()
    }

    /// The drift at a state.
    pub(super) fn at(&self, state: &DVector<f64>) -> DVector<f64> {
        let levels = self.levels;
        let at_least: Vec<Vec<f64>> = (0..self.classes.len())
            .map(|class| {
                let own = (0..levels).map(|k| state[class * levels + k]);
                std::iter::once(self.classes[class].0).chain(own).collect()
            })
            .collect();
        let joins = self.law.in_the_limit(&at_least, self.arrival_rate);
        let mut drift = self.empty();
        for (class, tail) in at_least.iter().enumerate() {
            for k in 1..=levels {
                let next = tail.get(k + 1).copied().unwrap_or(0.0);
                drift[class * levels + k - 1] =
                    self.arrival_rate * joins[class][k - 1] - self.classes[class].1 * (tail[k] - next);
            }
        }
        drift
    }
}

impl Ode<f64, DVector<f64>> for &Drift<'_> {
    fn system(&self, _: f64, state: &DVector<f64>, drift: &mut DVector<f64>) {
        drift.copy_from(&self.at(state));
    }
}

/// From one time to another by the method of Dormand and Prince of order 8.
pub(super) fn integrate<F: Ode<f64, DVector<f64>>>(
    drift: F,
    start: DVector<f64>,
    from: f64,
    to: f64,
    tolerance: f64,
) -> Result<DVector<f64>, TrajectoryError> {
    let mut solver = Dop853::new(drift, from, to, to - from, start, tolerance, tolerance);
    solver.set_output(OutputType::Sparse);
    solver.integrate().map_err(|error| TrajectoryError::Solver(error.to_string()))?;
    solver.y_out().last().cloned().ok_or_else(|| TrajectoryError::Solver("no step was taken".into()))
}

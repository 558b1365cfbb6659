//! The mean-field equation of a plan in the course of time.

use super::plan::Plan;
use crate::model::Initial;
use crate::policy::LevelLaw;
use crate::theory::Trajectory;

impl Plan {
    /// The mean-field equation from the initial state of the plan, at these times, which increase from 0; each step of the
    /// solver has the error `tolerance`.
    ///
    /// # Errors
    /// Why there is no such equation, or why it is not solved.
    pub fn mean_field_course(&self, times: &[f64], tolerance: f64) -> Result<Trajectory, String> {
        if self.slots.is_some() || !self.system.is_memoryless() {
            return Err("the mean-field equation is for Poisson arrivals and exponential sizes".into());
        }
        if !self.policy.information.is_exact() {
            return Err("the mean-field equation is for exact information".into());
        }
        let law = LevelLaw::for_the_limit(&self.policy.dispatch, &self.system.servers)
            .map_err(|why| format!("there is no mean-field equation: {why}"))?;
        Trajectory::new(&self.system, &law, &self.start(), times, tolerance).map_err(|error| error.to_string())
    }

    /// The initial state, as the tail of each class.
    fn start(&self) -> Vec<Vec<f64>> {
        let tail = match &self.system.initial {
            Initial::Empty => Vec::new(),
            Initial::Length(length) => vec![1.0; *length as usize],
            Initial::Tail(tail) => tail.clone(),
        };
        vec![tail; self.system.servers.classes().len()]
    }
}

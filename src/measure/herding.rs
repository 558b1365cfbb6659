//! Regret: how much longer the chosen queue is than the shortest.

use super::metric::{Metric, Reading};
use crate::engine::Dispatched;

/// Regret over the jobs dispatched in the window.
#[derive(Clone, Debug, Default)]
pub(super) struct Herding {
    dispatched: u64,
    regret: u64,
}

impl Herding {
    /// So many jobs, and the sum of their regret.
    pub(super) fn of_counts(dispatched: u64, regret: u64) -> Self {
        Self { dispatched, regret }
    }

    #[inline]
    pub(super) fn dispatched(&mut self, dispatched: &Dispatched, shortest: u32) {
        let jobs = u64::from(dispatched.jobs);
        self.dispatched += jobs;
        self.regret += jobs * u64::from(dispatched.found - shortest);
    }

    pub(super) fn readings(&self, readings: &mut Vec<Reading>) {
        let mean = (self.dispatched > 0).then(|| self.regret as f64 / self.dispatched as f64);
        readings.push(Reading::plain(Metric::RegretMean, mean));
    }
}

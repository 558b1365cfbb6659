//! Imbalance: `E sum_n (Q_n - mean Q)^2`, the distance of the queues from being equal.

use super::census::Census;
use super::metric::{Metric, Reading};
use crate::model::Sum;

/// Time integral of the imbalance.
#[derive(Clone, Debug)]
pub(super) struct Imbalance {
    since: f64,
    area: Sum,
}

impl Imbalance {
    pub(super) fn new(time: f64) -> Self {
        Self { since: time, area: Sum::default() }
    }

    /// Brings the integral up to a time at which the census is about to change.
    #[inline]
    pub(super) fn advance(&mut self, time: f64, census: &Census) {
        self.area.add(census.scaled_imbalance() * (time - self.since));
        self.since = time;
    }

    /// Takes over the integral up to a time, in units of 1 / N.
    pub(super) fn take(&mut self, time: f64, integral: f64) {
        *self = Self::new(time);
        self.area.add(integral);
    }

    pub(super) fn readings(&self, length: f64, servers: u64, readings: &mut Vec<Reading>) {
        let mean = self.area.value() / length / servers as f64;
        readings.push(Reading::plain(Metric::Imbalance, Some(mean)));
    }
}

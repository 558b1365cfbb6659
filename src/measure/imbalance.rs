//! Imbalance: `E sum_n (Q_n - mean Q)^2`, the distance of the queues from being equal.

use super::census::Census;
use super::course::{Integral, Ruler};
use super::metric::{Metric, Reading};
use crate::model::Sum;

/// Time integral of the imbalance.
#[derive(Clone, Debug)]
pub(super) struct Imbalance {
    ruler: Ruler,
    /// Of N times the imbalance, where that fits a word, and else, in ticks.
    area: Integral,
    beyond: Sum,
    /// What an engine has counted by itself, in units of 1 / N.
    taken: f64,
}

impl Imbalance {
    pub(super) fn new(ruler: Ruler) -> Self {
        Self { ruler, area: Integral::default(), beyond: Sum::default(), taken: 0.0 }
    }

    /// Brings the integral up to a tick at which the census is about to change.
    #[inline]
    pub(super) fn advance(&mut self, tick: i64, census: &Census) {
        let imbalance = census.scaled_imbalance();
        match i64::try_from(imbalance) {
            Ok(imbalance) => self.area.advance(imbalance, tick),
            Err(_) => {
                self.beyond.add(imbalance as f64 * (tick - self.area.since()) as f64);
                self.area.advance(0, tick);
            }
        }
    }

    /// Takes over the integral up to a tick, in units of 1 / N.
    pub(super) fn take(&mut self, tick: i64, integral: f64) {
        *self = Self { area: Integral::from(tick), taken: integral, ..Self::new(self.ruler) };
    }

    pub(super) fn readings(&self, length: f64, servers: u64, readings: &mut Vec<Reading>) {
        let area = self.ruler.time(self.area.area()) + self.ruler.time_of(self.beyond.value()) + self.taken;
        readings.push(Reading::plain(Metric::Imbalance, Some(area / length / servers as f64)));
    }
}

//! The range of the queues: the longest minus the shortest.

use super::census::Census;
use super::metric::{Metric, Reading};
use crate::model::Sum;

/// Time integral of max Q - min Q: O(1) per change of a queue.
#[derive(Clone, Debug)]
pub(super) struct QueueRange {
    since: f64,
    area: Sum,
}

impl QueueRange {
    pub(super) fn new(time: f64) -> Self {
        Self { since: time, area: Sum::default() }
    }

    /// Brings the integral up to a time at which the census is about to change.
    #[inline]
    pub(super) fn advance(&mut self, time: f64, census: &Census) {
        self.add_state(census, time - self.since);
        self.since = time;
    }

    /// Adds a stretch of time in one state.
    #[inline]
    pub(super) fn add_state(&mut self, census: &Census, duration: f64) {
        self.area.add(f64::from(census.range()) * duration);
    }

    /// Takes over the integral up to a time.
    pub(super) fn take(&mut self, time: f64, integral: f64) {
        *self = Self::new(time);
        self.area.add(integral);
    }

    pub(super) fn readings(&self, length: f64, readings: &mut Vec<Reading>) {
        readings.push(Reading::plain(Metric::QueueRangeMean, Some(self.area.value() / length)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::census::walk;

    #[test]
    fn agrees_with_a_plain_integral() {
        let mut probe = QueueRange::new(0.0);
        let (mut area, mut last) = (0.0, 0.0);
        walk(3, 4_000, |time, lengths, census, _| {
            probe.advance(time, census);
            let range = lengths.iter().max().expect("servers") - lengths.iter().min().expect("servers");
            area += f64::from(range) * (time - last);
            last = time;
        });
        let mut readings = Vec::new();
        probe.readings(last, &mut readings);
        let mean = readings[0].value.expect("measured");
        assert!((mean - area / last).abs() < 1e-9 && mean > 0.0, "{mean}");
    }
}

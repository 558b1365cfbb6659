//! The range of the queues: the longest minus the shortest.

use super::census::Census;
use super::course::{Integral, Ruler};
use super::metric::{Metric, Reading};

/// Time integral of max Q - min Q: O(1) per change of a queue.
#[derive(Clone, Debug)]
pub(super) struct QueueRange {
    ruler: Ruler,
    area: Integral,
    /// What an engine has counted by itself.
    taken: f64,
}

impl QueueRange {
    pub(super) fn new(ruler: Ruler) -> Self {
        Self { ruler, area: Integral::default(), taken: 0.0 }
    }

    /// Brings the integral up to a tick at which the census is about to change.
    #[inline]
    pub(super) fn advance(&mut self, tick: i64, census: &Census) {
        self.area.advance(i64::from(census.range()), tick);
    }

    /// Takes over the integral up to a tick.
    pub(super) fn take(&mut self, tick: i64, integral: f64) {
        *self = Self { area: Integral::from(tick), taken: integral, ..Self::new(self.ruler) };
    }

    pub(super) fn readings(&self, length: f64, readings: &mut Vec<Reading>) {
        let mean = (self.ruler.time(self.area.area()) + self.taken) / length;
        readings.push(Reading::plain(Metric::QueueRangeMean, Some(mean)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::census::walk;
    use crate::model::Window;

    #[test]
    fn agrees_with_a_plain_integral() {
        let ruler = Ruler::new(Window { open: 0.0, close: 4_000.0 }, false);
        let mut probe = QueueRange::new(ruler);
        let (mut area, mut last) = (0.0, 0.0);
        walk(3, 4_000, |time, lengths, census, _| {
            probe.advance(ruler.ticks(time), census);
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

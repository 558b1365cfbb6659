//! The time that a level spends at each count.

use crate::model::TimeHistogram;

/// So many counts around the present one have a place of their own, so that a stay is added to it at once.
const RECENT: usize = 256;

/// The time a level spent at each count.
#[derive(Clone, Debug)]
pub(super) struct History {
    since: u64,
    /// The time at this count and those above it, which is not in `times` yet.
    first: u64,
    recent: [u64; RECENT],
    times: TimeHistogram<u64>,
}

impl History {
    /// Of a level that is watched since a strike.
    pub(super) fn new(since: u64) -> Self {
        Self { since, first: 0, recent: [0; RECENT], times: TimeHistogram::default() }
    }

    /// Nothing has been before this strike.
    pub(super) fn begin(&mut self, strike: u64) {
        self.since = strike;
    }

    /// The level has been at a count until now.
    #[inline(always)]
    pub(super) fn leave(&mut self, count: u64, strike: u64) {
        let time = strike - self.since;
        self.since = strike;
        match self.recent.get_mut(count.wrapping_sub(self.first) as usize) {
            Some(recent) => *recent += time,
            None => self.leave_far(count, time),
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_far(&mut self, count: u64, time: u64) {
        self.settle();
        self.first = count.saturating_sub(RECENT as u64 / 2);
        self.recent[(count - self.first) as usize] = time;
    }

    fn settle(&mut self) {
        for (count, time) in (self.first..).zip(&mut self.recent) {
            if *time > 0 {
                self.times.add(count, std::mem::take(time));
            }
        }
    }

    /// All stays that are over.
    pub(super) fn into_times(mut self) -> TimeHistogram<u64> {
        self.settle();
        self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    /// A walk that goes far, with jumps, beside a histogram that is told each stay.
    #[test]
    fn all_stays_are_counted() {
        let mut stream = Stream::new(4, 0, Component::Information);
        let (mut history, mut plain) = (History::new(7), TimeHistogram::<u64>::default());
        let (mut count, mut strike) = (100_u64, 7);
        for step in 0..20_000 {
            let time = 1 + stream.below(4);
            strike += time;
            history.leave(count, strike);
            plain.add(count, time);
            count = match stream.below(1000) {
                0 => stream.below(3000),
                one if one % 2 == 0 || step < 9_000 => count + 1,
                _ => count.saturating_sub(1),
            };
        }
        assert_eq!(format!("{:?}", history.into_times()), format!("{plain:?}"));
    }
}

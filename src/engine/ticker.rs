//! When the clock of a memoryless engine strikes.

use super::Progress;
use crate::random::Stream;

/// How long the system stays in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    /// Times between strikes of the clock are exponential, as in the system itself.
    Sampled,
    /// They are all equal to their mean: for stationary averages.
    Expected,
}

/// Equal steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// The time of one.
    pub(super) tick: f64,
    /// How many there have been.
    pub(super) strikes: u64,
    /// How many there are before the end, in all.
    pub(super) before_end: u64,
    /// The end.
    pub(super) end: f64,
}

impl Steps {
    /// The strikes there have been after so many more, or at the end.
    pub(super) fn after(&self, events: u64) -> u64 {
        self.before_end.min(self.strikes.saturating_add(events))
    }

    /// Whether so many strikes are all.
    pub(super) fn progress(&self, strikes: u64) -> Progress {
        if strikes >= self.before_end { Progress::Reached } else { Progress::Paused }
    }
}

/// A clock that strikes at a constant rate.
#[derive(Clone, Debug)]
pub(super) struct Ticker {
    holding: Holding,
    /// Mean time between two strikes.
    tick: f64,
    strikes: u64,
    next: f64,
    stream: Stream,
}

impl Ticker {
    pub(super) fn new(holding: Holding, rate: f64, stream: Stream) -> Self {
        let mut ticker = Self { holding, tick: rate.recip(), strikes: 0, next: 0.0, stream };
        ticker.wind();
        ticker
    }

    /// When it strikes next.
    #[inline]
    pub(super) fn next(&self) -> f64 {
        self.next
    }

    /// The equal steps up to a time, if steps are equal.
    pub(super) fn steps(&self, end: f64) -> Option<Steps> {
        if self.holding == Holding::Sampled {
            return None;
        }
        let mut before = (end / self.tick).min(1e18) as u64;
        // Rounding must not take a strike across the end.
        while before as f64 * self.tick >= end && before > 0 {
            before -= 1;
        }
        while ((before + 1) as f64) * self.tick < end && before < 1 << 59 {
            before += 1;
        }
        Some(Steps { tick: self.tick, strikes: self.strikes - 1, before_end: before, end })
    }

    /// So many strikes have been.
    pub(super) fn set_strikes(&mut self, strikes: u64) {
        self.strikes = strikes;
        self.wind();
    }

    /// Sets the next strike.
    #[inline]
    pub(super) fn wind(&mut self) {
        match self.holding {
            Holding::Sampled => self.next += self.stream.exponential() * self.tick,
            // Products drift less than sums.
            Holding::Expected => {
                self.strikes += 1;
                self.next = self.strikes as f64 * self.tick;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Component;

    /// The last strike before the end, whatever rounding does: at ends that are whole numbers of ticks, or next to them.
    #[test]
    fn equal_steps_end_with_the_last_before_the_end() {
        for rate in [0.3, 1.0, 1.9, 10.0, 190.0, 3e7] {
            let ticker = Ticker::new(Holding::Expected, rate, Stream::new(1, 0, Component::Arrivals));
            let tick = rate.recip();
            for strikes in (0..2_000_u64).chain([123_456_789, 98_765_432_101]) {
                let exact = strikes as f64 * tick;
                for end in [exact.next_down().max(0.0), exact, exact.next_up(), exact + tick / 2.0] {
                    let before = ticker.steps(end).expect("steps are equal").before_end;
                    assert!(before == 0 || before as f64 * tick < end, "{before} of {rate} before {end}");
                    assert!((before + 1) as f64 * tick >= end, "{before} of {rate} before {end}");
                }
            }
        }
        let sampled = Ticker::new(Holding::Sampled, 1.0, Stream::new(1, 0, Component::Arrivals));
        assert!(sampled.steps(1.0).is_none());
    }
}

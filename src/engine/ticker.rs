//! When the clock of a memoryless engine strikes.

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
        Some(Steps { tick: self.tick, strikes: self.strikes - 1, before_end: before })
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

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

    /// In equal steps: the time of a step, how many strikes have been, and how many are before a time in all.
    pub(super) fn steps(&self, end: f64) -> Option<(f64, u64, u64)> {
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
        Some((self.tick, self.strikes - 1, before))
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

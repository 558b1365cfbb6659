//! Sums that stay exact to the last digits over billions of terms.

use serde::{Deserialize, Serialize};
use wide::f64x2;

/// A compensated sum of floating-point numbers (Neumaier 1974: the rounding error of every addition is kept).
///
/// The relative error is of order 2^-53 whatever the number of terms, where a plain sum drifts with it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    /// Adds one term.
    #[inline]
    pub fn add(&mut self, x: f64) {
        let total = self.high + x;
        // Knuth's two-sum: exact for any order of magnitudes, without a branch.
        let shadow = total - self.high;
        self.low += (self.high - (total - shadow)) + (x - shadow);
        self.high = total;
    }

    /// The sum so far.
    #[inline]
    pub fn value(&self) -> f64 {
        self.high + self.low
    }
}

/// Two [`Sum`]s that always grow together, kept side by side: a processor that takes a step of both at once has to wait
/// when it finds their halves written one by one.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct TwoSums {
    high: [f64; 2],
    low: [f64; 2],
}

impl TwoSums {
    /// Adds one term to each.
    #[inline]
    pub fn add(&mut self, terms: [f64; 2]) {
        let (high, low, terms) = (f64x2::new(self.high), f64x2::new(self.low), f64x2::new(terms));
        let totals = high + terms;
        let shadow = totals - high;
        let low = low + ((high - (totals - shadow)) + (terms - shadow));
        (self.high, self.low) = (totals.to_array(), low.to_array());
    }

    /// The sums so far.
    #[inline]
    pub fn values(&self) -> [f64; 2] {
        [self.high[0] + self.low[0], self.high[1] + self.low[1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    #[test]
    fn small_terms_survive_beside_a_large_one() {
        let mut sum = Sum::default();
        sum.add(1e16);
        for _ in 0..1_000_000 {
            sum.add(0.125);
        }
        sum.add(-1e16);
        // A plain sum would have lost every one of the small terms: the spacing of numbers near 1e16 is 2.
        assert_eq!(sum.value(), 125_000.0);
    }

    #[test]
    fn two_sums_are_two_sums() {
        let mut stream = Stream::new(2, 0, Component::Gaps);
        let (mut one, mut other, mut both) = (Sum::default(), Sum::default(), TwoSums::default());
        for _ in 0..10_000 {
            let terms = [stream.exponential().exp(), stream.normal()];
            one.add(terms[0]);
            other.add(terms[1]);
            both.add(terms);
        }
        assert_eq!(both.values(), [one.value(), other.value()]);
    }

    /// Against whole numbers, which do not round: terms of all sizes, as stretches of time are.
    #[test]
    fn sums_do_not_drift() {
        let mut stream = Stream::new(1, 0, Component::Gaps);
        let (mut sum, mut plain, mut exact) = (Sum::default(), 0.0_f64, 0_u128);
        for _ in 0..4_000_000 {
            let ticks = stream.bits() >> (12 + stream.below(40));
            exact += u128::from(ticks);
            // Times 2^-60: every term is held exactly.
            let term = ticks as f64 * 2_f64.powi(-60);
            sum.add(term);
            plain += term;
        }
        let exact = exact as f64 * 2_f64.powi(-60);
        assert!((sum.value() - exact).abs() <= f64::EPSILON * exact, "{} and {exact}", sum.value());
        assert_ne!(plain, exact, "a plain sum would have done");
    }
}

//! Sums that stay exact to the last digits over billions of terms.

use serde::{Deserialize, Serialize};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}

//! Exact count, mean, variance, minimum and maximum of a stream of values.

use crate::model::TwoSums;
use serde::{Deserialize, Serialize};

/// Moments of a stream of values.
///
/// Values are summed as differences from the first one, compensated, so that a small spread about a large mean is
/// not lost, and equal values have variance 0 exactly.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Moments {
    count: u64,
    shift: f64,
    /// Of the differences and of their squares.
    sums: TwoSums,
    min: f64,
    max: f64,
}

impl Default for Moments {
    fn default() -> Self {
        Self { count: 0, shift: 0.0, sums: TwoSums::default(), min: f64::INFINITY, max: f64::NEG_INFINITY }
    }
}

impl Moments {
    /// The moments of so many values of which the law is known, with what stands for their extremes.
    pub(super) fn of_law(count: u64, mean: f64, variance: f64, min: f64, max: f64) -> Self {
        let mut sums = TwoSums::default();
        sums.add([0.0, variance * count as f64]);
        Self { count, shift: mean, sums, min, max }
    }

    /// Adds a value.
    #[inline]
    pub fn add(&mut self, x: f64) {
        self.add_many(x, 1);
    }

    /// Adds a value so many times.
    #[inline]
    pub fn add_many(&mut self, x: f64, count: u64) {
        if self.count == 0 {
            self.shift = x;
        }
        self.count += count;
        let difference = x - self.shift;
        let sum = count as f64 * difference;
        self.sums.add([sum, sum * difference]);
        // Of numbers: an instruction each.
        self.min = if x < self.min { x } else { self.min };
        self.max = if x > self.max { x } else { self.max };
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.shift + self.sums.values()[0] / self.count as f64)
    }

    /// The sum of the values.
    pub fn total(&self) -> f64 {
        self.shift * self.count as f64 + self.sums.values()[0]
    }

    /// The variance of the values, taken as a whole population.
    pub fn variance(&self) -> Option<f64> {
        (self.count > 0).then(|| {
            let n = self.count as f64;
            let mean = self.sums.values()[0] / n;
            (self.sums.values()[1] / n - mean * mean).max(0.0)
        })
    }

    /// The smallest value.
    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest value.
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }

    /// Adds the values of another stream.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        // The other's differences are from its own shift: move them to this one's.
        let n = other.count as f64;
        let gap = other.shift - self.shift;
        let [sum, squares] = other.sums.values();
        self.sums.add([sum, squares]);
        self.sums.add([n * gap, gap * (2.0 * sum + n * gap)]);
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    #[test]
    fn near_constant_data_keep_their_variance() {
        let mut constant = Moments::default();
        (0..1000).for_each(|_| constant.add(1e9));
        assert_eq!((constant.variance(), constant.mean()), (Some(0.0), Some(1e9)));
        let mut stream = Stream::new(1, 0, Component::Sizes);
        let mut large = Moments::default();
        (0..1_000_000).for_each(|_| large.add(1e8 + stream.uniform()));
        let deviation = large.variance().map_or(f64::NAN, f64::sqrt);
        // Standard deviation of a uniform number, with |z| < 4 for a million of them.
        assert!((deviation - 12_f64.sqrt().recip()).abs() < 6e-4, "{deviation}");
    }

    #[test]
    fn merging_equals_adding_all() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i * i % 37)).collect();
        let moments = |values: &[f64]| {
            let mut moments = Moments::default();
            values.iter().for_each(|&x| moments.add(x));
            moments
        };
        let all = moments(&values);
        let mut merged = moments(&values[..30]);
        merged.merge(&moments(&[]));
        merged.merge(&moments(&values[30..]));
        assert_eq!(merged.count(), all.count());
        let close = |a: Option<f64>, b: Option<f64>| a.zip(b).is_some_and(|(a, b)| (a - b).abs() < 1e-9);
        assert!(close(merged.mean(), all.mean()) && close(merged.variance(), all.variance()));
        assert_eq!((merged.min(), merged.max()), (all.min(), all.max()));
        assert!(close(Some(merged.total()), Some(values.iter().sum())));
    }

    #[test]
    fn nothing_has_no_mean() {
        let nothing = Moments::default();
        assert_eq!((nothing.mean(), nothing.variance(), nothing.min(), nothing.max()), (None, None, None, None));
    }
}

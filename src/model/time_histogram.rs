//! Histogram over time of a count that moves by steps of one.

use super::sum::Sum;
use serde::{Deserialize, Serialize};

/// The most bins before neighbours are joined.
const BINS: usize = 4096;

/// A sum of stretches of time.
pub trait Total: Clone + Default {
    /// A stretch of time.
    type Time: Copy;
    /// Adds one.
    fn add(&mut self, time: Self::Time);
    /// The sum.
    fn value(&self) -> Self::Time;
}

impl Total for Sum {
    type Time = f64;

    #[inline]
    fn add(&mut self, time: f64) {
        Self::add(self, time);
    }

    fn value(&self) -> f64 {
        Self::value(self)
    }
}

/// Whole steps.
impl Total for u64 {
    type Time = Self;

    #[inline]
    fn add(&mut self, time: Self) {
        *self += time;
    }

    fn value(&self) -> Self {
        *self
    }
}

/// How much time a count spent at each value, or in each block of `2^k` values once their number grows.
///
/// Blocks start at multiples of their width, so histograms of different widths can be merged, and nothing is ever
/// clamped.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TimeHistogram<T = Sum> {
    /// Block width is `2^shift`.
    shift: u32,
    /// Block number of the first bin.
    first: u64,
    bins: Vec<T>,
}

impl<T: Total> TimeHistogram<T> {
    /// Adds a stretch of time at a value.
    #[inline]
    pub fn add(&mut self, value: u64, time: T::Time) {
        let bin = (value >> self.shift).wrapping_sub(self.first);
        if let Some(bin) = self.bins.get_mut(bin as usize) {
            bin.add(time);
        } else {
            self.make_room(value);
            self.bins[((value >> self.shift) - self.first) as usize].add(time);
        }
    }

    #[cold]
    fn make_room(&mut self, value: u64) {
        loop {
            let block = value >> self.shift;
            if self.bins.is_empty() {
                self.first = block;
            }
            let low = self.first.min(block);
            let high = (self.first + self.bins.len() as u64).max(block + 1);
            if high - low <= BINS as u64 {
                let front = (self.first - low) as usize;
                self.bins.splice(0..0, std::iter::repeat_n(T::default(), front));
                self.bins.resize((high - low) as usize, T::default());
                self.first = low;
                return;
            }
            self.widen();
        }
    }

    fn widen(&mut self) {
        let end = self.first + self.bins.len() as u64;
        let first = self.first >> 1;
        let mut bins = vec![T::default(); (end.div_ceil(2) - first) as usize];
        for (block, time) in (self.first..).zip(&self.bins) {
            bins[((block >> 1) - first) as usize].add(time.value());
        }
        (self.shift, self.first, self.bins) = (self.shift + 1, first, bins);
    }

    /// The histogram with each sum of a block turned into another.
    pub fn map<U: Total>(&self, turn: impl Fn(T::Time) -> U) -> TimeHistogram<U> {
        let bins = self.bins.iter().map(|time| turn(time.value())).collect();
        TimeHistogram { shift: self.shift, first: self.first, bins }
    }
}

impl TimeHistogram {
    /// Adds the time of another histogram.
    pub fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        while self.shift < other.shift {
            self.widen();
        }
        while other.shift < self.shift {
            other.widen();
        }
        for (block, time) in (other.first..).zip(&other.bins) {
            if time.value() > 0.0 {
                // Each block is added by its lowest value; widening keeps that inside the block.
                self.add(block << other.shift, time.value());
            }
        }
    }

    /// Blocks with time in them: lowest value, highest value, time.
    pub fn blocks(&self) -> impl Iterator<Item = (u64, u64, f64)> {
        (self.first..)
            .zip(&self.bins)
            .map(|(block, time)| (block << self.shift, ((block + 1) << self.shift) - 1, time.value()))
            .filter(|&(_, _, time)| time > 0.0)
    }

    /// The time in all bins.
    pub fn total(&self) -> f64 {
        let mut total = Sum::default();
        self.bins.iter().for_each(|time| total.add(time.value()));
        total.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_exact_while_few_and_share_blocks_when_many() {
        let mut histogram: TimeHistogram = TimeHistogram::default();
        for value in [5, 7, 3, 5] {
            histogram.add(value, 0.5);
        }
        assert_eq!(histogram.blocks().collect::<Vec<_>>(), [(3, 3, 0.5), (5, 5, 1.0), (7, 7, 0.5)]);
        for value in 0..20_000 {
            histogram.add(value, 1.0);
        }
        assert_eq!(histogram.total(), 20_002.0);
        assert!(histogram.blocks().count() <= BINS);
        assert!(histogram.blocks().all(|(low, high, _)| low % 8 == 0 && high == low + 7));
    }

    #[test]
    fn merging_joins_different_widths() {
        let mut narrow: TimeHistogram = TimeHistogram::default();
        narrow.add(10, 1.0);
        narrow.add(11, 2.0);
        let mut wide: TimeHistogram = TimeHistogram::default();
        (0..10_000).for_each(|value| wide.add(value, 1.0));
        let mut merged = narrow.clone();
        merged.merge(&wide);
        wide.merge(&narrow);
        assert_eq!(merged.blocks().collect::<Vec<_>>(), wide.blocks().collect::<Vec<_>>());
        assert_eq!(merged.total(), 10_003.0);
    }
}

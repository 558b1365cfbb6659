//! Histograms of delays: HdrHistogram beside exact moments.

use super::moments::Moments;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Significant decimal digits kept by the histogram.
const DIGITS: u8 = 3;

/// Buckets of one width, but for the first width, which has twice as many.
const FIRST: usize = 1024;

/// A histogram of delays, with exact moments beside it.
///
/// Delays are counted in ticks of a stated length, rounded to the nearest; the histogram keeps three significant
/// digits of that number and grows as needed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DelayHistogram {
    tick: f64,
    ticks_per_unit: f64,
    #[serde(with = "counts")]
    counts: Histogram<u64>,
    moments: Moments,
    clamped: u64,
    /// Whether every delay is a whole number of ticks.
    whole: bool,
}

impl DelayHistogram {
    /// An empty histogram for delays in ticks of the given length, in units of time.
    pub fn new(tick: f64) -> Self {
        let counts = Histogram::new(DIGITS).expect("3 digits are within what HdrHistogram accepts");
        Self { tick, ticks_per_unit: tick.recip(), counts, moments: Moments::default(), clamped: 0, whole: false }
    }

    /// A histogram of delays that were counted by bucket, beside their moments; `whole` if every delay is a whole number of
    /// ticks, and `clamped` of them are longer than can be counted.
    pub(super) fn of_buckets<'a>(
        tick: f64,
        whole: bool,
        moments: Moments,
        clamped: u64,
        buckets: impl Iterator<Item = (usize, &'a u64)>,
    ) -> Self {
        let mut histogram = Self { whole, clamped, ..Self::of_moments(tick, moments) };
        buckets.for_each(|(bucket, &delays)| histogram.count(bucket, delays));
        histogram
    }

    /// An empty histogram beside moments that are known otherwise.
    pub(super) fn of_moments(tick: f64, moments: Moments) -> Self {
        Self { moments, ..Self::new(tick) }
    }

    /// The number of buckets of [`DelayHistogram::last_tick`].
    pub(super) const BUCKETS: usize = 2 * FIRST + 52 * FIRST;

    /// The last tick of a bucket of the histogram. Buckets hold one tick each up to 2047, then double their width every
    /// 1024 of them, so that they keep three digits.
    pub(super) fn last_tick(bucket: usize) -> u64 {
        let octave = (bucket / FIRST).saturating_sub(1);
        let within = (bucket - octave * FIRST) as u64;
        ((within + 1) << octave) - 1
    }

    /// The bucket of a number of ticks: see [`DelayHistogram::last_tick`].
    pub(super) fn bucket(ticks: u64) -> usize {
        let octave = (ticks / FIRST as u64).checked_ilog2().unwrap_or(0);
        octave as usize * FIRST + (ticks >> octave) as usize
    }

    /// Counts delays in a bucket; their moments are known otherwise.
    pub(super) fn count(&mut self, bucket: usize, delays: u64) {
        let ticks = Self::last_tick(bucket);
        self.counts.record_n(ticks, delays).expect("every bucket is within what the histogram grows to");
    }

    /// The tick suited to servers of which the fastest has this rate: a mean service time there, rounded down to a
    /// power of two, over 2^20. Powers of two make results scale exactly when all rates do.
    pub fn tick_for(largest_rate: f64) -> f64 {
        2_f64.powf(largest_rate.recip().log2().floor() - 20.0)
    }

    /// Adds a delay.
    #[inline]
    pub fn add(&mut self, delay: f64) {
        self.add_many(delay, 1);
    }

    /// Adds a delay so many times.
    #[inline]
    pub fn add_many(&mut self, delay: f64, count: u64) {
        self.moments.add_many(delay, count);
        let bucket = Self::bucket_of(delay, self.ticks_per_unit);
        self.clamped += if bucket < Self::BUCKETS { 0 } else { count };
        self.count(bucket.min(Self::BUCKETS - 1), count);
    }

    /// The bucket of a delay, rounded to the nearest tick; [`DelayHistogram::BUCKETS`] or more if it is too long to be told
    /// apart from the longest that can be counted.
    #[inline(always)]
    pub(super) fn bucket_of(delay: f64, ticks_per_unit: f64) -> usize {
        /// Next to numbers of this size nothing is less than 1: 2^52.
        const WHOLE: f64 = (1_u64 << 52) as f64;
        /// What is left of the bits of a number without those that do not tell its bucket.
        const UNTOLD: u32 = f64::MANTISSA_DIGITS - 1 - FIRST.ilog2();
        let ticks = delay * ticks_per_unit;
        let rounded = ticks + 0.5;
        // The bits of a number order it by octaves and by 1024 parts of them, as buckets do. Both are found without a branch.
        let long = (rounded.to_bits() >> UNTOLD).wrapping_sub((FIRST as f64).to_bits() >> UNTOLD) as usize;
        let short = ((ticks + WHOLE).to_bits() - WHOLE.to_bits()) as usize;
        if rounded < FIRST as f64 { short } else { long.wrapping_add(FIRST) }
    }

    /// Length of a tick, in units of time.
    pub fn tick(&self) -> f64 {
        self.tick
    }

    /// The histogram of ticks.
    pub fn counts(&self) -> &Histogram<u64> {
        &self.counts
    }

    /// Exact moments of the delays.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// How many delays were too long to be told apart from the longest that can be counted.
    pub fn clamped(&self) -> u64 {
        self.clamped
    }

    /// The `q`-quantile, interpolated within its bucket and kept between the exact minimum and maximum.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let (min, max) = (self.moments.min()?, self.moments.max()?);
        let target = q * self.counts.len() as f64;
        let mut below = 0_u64;
        for bucket in self.counts.iter_recorded() {
            let here = bucket.count_at_value();
            if (below + here) as f64 >= target {
                let value = bucket.value_iterated_to();
                if value == 0 {
                    return Some(min);
                }
                let (low, high) = (self.counts.lowest_equivalent(value), self.counts.highest_equivalent(value));
                if self.whole && low == high {
                    return Some(low as f64 * self.tick);
                }
                let within = ((target - below as f64) / here as f64).max(0.0);
                // Rounding put delays from half a tick below `low` to half a tick above `high` into this bucket.
                let ticks = low as f64 - 0.5 + within * ((high - low) as f64 + 1.0);
                return Some((ticks * self.tick).clamp(min, max));
            }
            below += here;
        }
        Some(max)
    }

    /// Adds the delays of another histogram with the same tick.
    pub fn merge(&mut self, other: &Self) {
        debug_assert!(self.tick == other.tick, "histograms of different ticks cannot be merged");
        self.moments.merge(&other.moments);
        self.clamped += other.clamped;
        self.counts.add(&other.counts).expect("both histograms keep the same digits and grow");
    }
}

/// The counts in the V2 format of HdrHistogram, which keeps every one.
mod counts {
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Deserializer as Reader, Serializer as Writer, V2Serializer};
    use serde::{Deserializer, Serializer, de, ser};
    use std::fmt;

    pub(super) fn serialize<S: Serializer>(counts: &Histogram<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(counts, &mut bytes)
            .map_err(|error| ser::Error::custom(format!("the histogram cannot be written: {error:?}")))?;
        serializer.serialize_bytes(&bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Histogram<u64>, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Histogram<u64>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a histogram in the V2 format")
            }
            fn visit_bytes<E: de::Error>(self, mut bytes: &[u8]) -> Result<Histogram<u64>, E> {
                let mut counts: Histogram<u64> = Reader::new()
                    .deserialize(&mut bytes)
                    .map_err(|error| E::custom(format!("the histogram cannot be read: {error:?}")))?;
                // The format does not say that the histogram grows as needed.
                counts.auto(true);
                Ok(counts)
            }
        }
        deserializer.deserialize_bytes(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::delay_counter::DelayCounter;
    use crate::random::{Component, Stream};

    /// Delays of all sizes, of which some are too long to be counted.
    #[test]
    fn counted_as_they_come_they_make_the_same_histogram() {
        let mut stream = Stream::new(5, 0, Component::Sizes);
        let mut histogram = DelayHistogram::new(1e-3);
        let mut counter = DelayCounter::new(1e-3, false);
        for i in 0..20_000 {
            let delay = if i == 100 { 1e17 } else { (20.0 * stream.normal()).exp() };
            let delay = if i % 50 == 0 { 0.0 } else { delay };
            histogram.add_many(delay, 1 + i % 2);
            counter.add_many(delay, 1 + i % 2);
        }
        let counted = counter.into_histogram();
        assert_eq!((counted.clamped(), counted.counts().len()), (histogram.clamped(), histogram.counts().len()));
        assert!(counted.clamped() > 0);
        for i in 0..1000 {
            let q = f64::from(i) / 1000.0;
            assert_eq!(counted.quantile(q), histogram.quantile(q), "{q}");
        }
        assert_eq!(counted.moments().mean(), histogram.moments().mean());
    }

    #[test]
    fn quantiles_of_whole_slots_are_whole() {
        let mut counter = DelayCounter::new(1.0, true);
        [3.0, 3.0, 5.0, 7.0].into_iter().for_each(|slots| counter.add(slots));
        let histogram = counter.into_histogram();
        assert_eq!([0.25, 0.5, 0.75, 1.0].map(|q| histogram.quantile(q)), [3.0, 3.0, 5.0, 7.0].map(Some));
    }

    #[test]
    fn one_value_is_its_own_quantiles() {
        for value in [1.0, 35_071.0, 1e-3, 0.0] {
            let mut histogram = DelayHistogram::new(DelayHistogram::tick_for(1.0));
            histogram.add(value);
            for q in [0.0, 0.5, 0.999, 1.0] {
                assert_eq!(histogram.quantile(q), Some(value));
            }
            assert_eq!(histogram.moments().variance(), Some(0.0));
        }
    }

    #[test]
    fn nothing_has_no_quantile() {
        assert_eq!(DelayHistogram::new(1.0).quantile(0.5), None);
    }

    /// As after years: counts near the end of 64 bits, and delays of all lengths, of which none is clamped.
    #[test]
    fn counts_and_delays_grow_without_bounds_that_are_met() {
        let mut histogram = DelayHistogram::new(2_f64.powi(-20));
        let many = 1 << 59;
        let delays = [2_f64.powi(-20), 1.0, 1e3, 1e6, 1e9, 1e12];
        for &delay in &delays {
            histogram.add_many(delay, many);
        }
        let once = histogram.clone();
        histogram.merge(&once);
        assert_eq!((histogram.moments().count(), histogram.clamped()), (12 * many, 0));
        assert_eq!(histogram.moments().max(), Some(1e12));
        let mean = delays.iter().sum::<f64>() / 6.0;
        assert!(histogram.moments().mean().is_some_and(|found| (found - mean).abs() < 1e-12 * mean));
        for (i, &delay) in delays.iter().enumerate() {
            let quantile = histogram.quantile((i as f64 + 0.5) / 6.0).expect("there are delays");
            assert!((quantile - delay).abs() <= 1e-3 * delay, "{quantile} for {delay}");
        }
    }

    #[test]
    fn groups_are_merged_and_not_averaged() {
        let mut fast = DelayHistogram::new(DelayHistogram::tick_for(1.0));
        (0..1000).for_each(|_| fast.add(10.0));
        let mut slow = fast.clone();
        slow = DelayHistogram { counts: Histogram::new(DIGITS).expect("digits"), ..DelayHistogram::new(slow.tick) };
        (0..10).for_each(|_| slow.add(2000.0));
        fast.merge(&slow);
        let p95 = fast.quantile(0.95).expect("not empty");
        assert!((p95 - 10.0).abs() < 0.01, "{p95}");
    }

    #[test]
    fn exponential_quantiles_are_within_their_error() {
        let mut histogram = DelayHistogram::new(DelayHistogram::tick_for(1.0));
        let mut stream = Stream::new(3, 0, Component::Sizes);
        let n = 1_000_000_u32;
        (0..n).for_each(|_| histogram.add(5.0 * stream.exponential()));
        for q in [0.5_f64, 0.9, 0.99, 0.999, 0.9999] {
            let exact = -5.0 * (1.0 - q).ln();
            // Standard error of a sample quantile: sqrt(q (1 - q) / n) / density, here 5 sqrt(q / ((1 - q) n)).
            let error = 5.0 * (q / ((1.0 - q) * f64::from(n))).sqrt();
            let measured = histogram.quantile(q).expect("not empty");
            assert!((measured - exact).abs() < 4.0 * error + 1e-4 * exact, "{q}: {measured} {exact}");
        }
    }

    #[test]
    fn a_delay_beyond_counting_is_told() {
        let mut histogram = DelayHistogram::new(1e-6);
        histogram.add(1e15);
        assert_eq!(histogram.clamped(), 1);
        assert_eq!(histogram.moments().max(), Some(1e15));
    }

    #[test]
    fn buckets_are_those_of_the_histogram() {
        let mut histogram = DelayHistogram::new(1.0);
        histogram.add(1e12);
        let mut next = 0;
        for bucket in 0..40 * FIRST {
            let last = DelayHistogram::last_tick(bucket);
            assert_eq!(histogram.counts.lowest_equivalent(last), next);
            assert_eq!(histogram.counts.highest_equivalent(last), last);
            assert_eq!((DelayHistogram::bucket(next), DelayHistogram::bucket(last)), (bucket, bucket));
            next = last + 1;
        }
        assert!(DelayHistogram::last_tick(DelayHistogram::BUCKETS - 1) <= i64::MAX as u64);
    }

    /// From the bits of a delay comes the bucket of its ticks, on both sides of every bound of a bucket.
    #[test]
    fn delays_find_the_bucket_of_their_ticks() {
        for bucket in 0..DelayHistogram::BUCKETS {
            let last = DelayHistogram::last_tick(bucket);
            // Larger numbers do not hold halves of ticks.
            if last >= 1 << 51 {
                break;
            }
            let within =
                [last as f64, (last as f64 - 0.25).max(0.0), last as f64 * 0.9995].map(|ticks| (ticks, ticks.round()));
            for (ticks, rounded) in within {
                let found = DelayHistogram::bucket_of(ticks / 4.0, 4.0);
                assert_eq!(found, DelayHistogram::bucket(rounded as u64), "{ticks}");
            }
        }
        for delay in [i64::MAX as f64, 1e300, f64::INFINITY] {
            assert!(DelayHistogram::bucket_of(delay, 1.0) >= DelayHistogram::BUCKETS, "{delay}");
        }
        assert_eq!([0.0, 0.4, 0.6].map(|delay| DelayHistogram::bucket_of(delay, 1.0)), [0, 0, 1]);
    }

    #[test]
    fn ticks_scale_by_powers_of_two() {
        assert_eq!(DelayHistogram::tick_for(1.0), 2_f64.powi(-20));
        assert_eq!(DelayHistogram::tick_for(2_f64.powi(40)), 2_f64.powi(-60));
        assert_eq!(DelayHistogram::tick_for(3.0), 2_f64.powi(-22));
    }
}

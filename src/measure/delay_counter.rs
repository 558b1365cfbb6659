//! Delays as they come: counted in the buckets of the histogram that they will make.

use super::delay_histogram::DelayHistogram;
use super::moments::Moments;

/// Counts of delays, and their exact moments.
#[derive(Clone, Debug)]
pub(super) struct DelayCounter {
    tick: f64,
    ticks_per_unit: f64,
    /// Delays by bucket, as far as any was reached.
    buckets: Vec<u64>,
    moments: Moments,
    clamped: u64,
    whole: bool,
}

impl DelayCounter {
    /// For delays in ticks of the given length, in units of time; `whole` if every delay is a whole number of them.
    pub(super) fn new(tick: f64, whole: bool) -> Self {
        let moments = Moments::default();
        Self { tick, ticks_per_unit: tick.recip(), buckets: Vec::new(), moments, clamped: 0, whole }
    }

    pub(super) fn tick(&self) -> f64 {
        self.tick
    }

    /// Adds a delay.
    #[inline(always)]
    pub(super) fn add(&mut self, delay: f64) {
        self.add_many(delay, 1);
    }

    /// Adds a delay so many times.
    #[inline(always)]
    pub(super) fn add_many(&mut self, delay: f64, count: u64) {
        self.moments.add_many(delay, count);
        let bucket = DelayHistogram::bucket_of(delay, self.ticks_per_unit);
        match self.buckets.get_mut(bucket) {
            Some(here) => *here += count,
            None => self.add_beyond(bucket, count),
        }
    }

    /// Adds delays in a bucket that none has reached before, or that there is not.
    #[cold]
    fn add_beyond(&mut self, bucket: usize, count: u64) {
        self.clamped += if bucket < DelayHistogram::BUCKETS { 0 } else { count };
        let bucket = bucket.min(DelayHistogram::BUCKETS - 1);
        if bucket >= self.buckets.len() {
            // Half as many again, so that rare records do not move everything each time.
            self.buckets.resize((bucket + bucket / 2 + 1).min(DelayHistogram::BUCKETS), 0);
        }
        self.buckets[bucket] += count;
    }

    /// The histogram of all of them.
    pub(super) fn into_histogram(self) -> DelayHistogram {
        let counts = self.buckets.iter().enumerate().filter(|&(_, &count)| count > 0);
        DelayHistogram::of_buckets(self.tick, self.whole, self.moments, self.clamped, counts)
    }
}

//! Batch Poisson arrivals: batches come at the points of a Poisson process, with independent sizes.
//!
//! A batch reaches one dispatcher, which sends its jobs one after the other at the same moment.

use super::{Next, Reaches};
use crate::model::number::Fault;
use crate::random::Stream;

/// The most jobs that a batch may have, or have on average: as many as a queue can count.
const LARGEST: u32 = u32::MAX;

/// Poisson batches.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchPoisson {
    size: BatchSize,
}

/// The law of the number of jobs in a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BatchSize {
    /// Always so many.
    Constant(u64),
    /// Geometric on {1, 2, ...}: `P(X = k) = (1 - 1/mean)^(k - 1) / mean`.
    Geometric {
        /// The mean.
        mean: f64,
    },
}

impl BatchPoisson {
    /// Batches with this law of their size.
    ///
    /// # Errors
    /// If a size or mean is below 1 or more than a queue can hold.
    pub fn new(size: BatchSize) -> Result<Self, Fault> {
        let most = f64::from(LARGEST);
        let (path, mean) = match size {
            BatchSize::Constant(jobs) => ("size.constant", jobs as f64),
            BatchSize::Geometric { mean } => ("size.geometric.mean", mean),
        };
        if !(1.0..=most).contains(&mean) {
            let rule = format!("must be at least 1 and at most {most}: a batch has jobs, and a queue must hold them");
            return Err(Fault::at(path, rule, "write for example 3"));
        }
        Ok(Self { size })
    }

    /// The mean number of jobs in a batch.
    pub fn mean_size(&self) -> f64 {
        match self.size {
            BatchSize::Constant(jobs) => jobs as f64,
            BatchSize::Geometric { mean } => mean,
        }
    }
}

impl BatchSize {
    fn sample(self, stream: &mut Stream) -> u64 {
        match self {
            Self::Constant(jobs) => jobs,
            Self::Geometric { mean } if mean > 1.0 => {
                // The whole part of an exponential number E of this mean: P(E >= k) = (1 - 1/mean)^k.
                let exponential_mean = -1.0 / (-1.0 / mean).ln_1p();
                // The cast saturates; the engine then refuses the length of a queue, by name.
                1_u64.saturating_add((stream.exponential() * exponential_mean) as u64)
            }
            Self::Geometric { .. } => 1,
        }
    }
}

/// Batches as they come.
pub(super) struct Batches<'a> {
    process: &'a BatchPoisson,
    /// Mean time between batches.
    gap: f64,
    /// Jobs of the present batch that are still to be sent.
    left: u64,
}

impl<'a> Batches<'a> {
    /// Batches that bring `rate` jobs per unit of time.
    pub(super) fn new(process: &'a BatchPoisson, rate: f64) -> Self {
        Self { process, gap: process.mean_size() / rate, left: 0 }
    }

    #[inline(never)]
    pub(super) fn next(&mut self, now: f64, stream: &mut Stream) -> Next {
        if self.left > 0 {
            self.left -= 1;
            return Next { time: now, reaches: Reaches::Same, size: None };
        }
        self.left = self.process.size.sample(stream) - 1;
        Next::job(now + stream.exponential() * self.gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Component;

    #[test]
    fn geometric_sizes_have_their_law() {
        for mean in [1.0, 1.25, 3.0, 1e6] {
            let size = BatchSize::Geometric { mean };
            let mut stream = Stream::new(5, 0, Component::Arrivals);
            let n = 400_000;
            let draws: Vec<f64> = (0..n).map(|_| size.sample(&mut stream) as f64).collect();
            let n = f64::from(n);
            let found = draws.iter().sum::<f64>() / n;
            let variance = mean * (mean - 1.0);
            assert!((found - mean).abs() <= 4.0 * (variance / n).sqrt(), "mean {mean}: {found}");
            let p = 1.0 / mean;
            for k in 1..=3 {
                let exact = (1.0 - p).powi(k - 1) * p;
                let found = draws.iter().filter(|&&x| x == f64::from(k)).count() as f64 / n;
                assert!((found - exact).abs() <= 4.0 * (exact * (1.0 - exact) / n).sqrt(), "P(X = {k}), mean {mean}");
            }
        }
    }

    #[test]
    fn the_rate_is_that_of_jobs_and_batches_share_a_moment() {
        let process = BatchPoisson::new(BatchSize::Constant(3)).expect("a size");
        let mut stream = Stream::new(6, 0, Component::Arrivals);
        let mut batches = Batches::new(&process, 6.0);
        let mut now = 0.0;
        let count = 100_000;
        for _ in 0..count {
            let first = batches.next(now, &mut stream);
            assert!(first.reaches == Reaches::Drawn && first.time > now);
            now = first.time;
            for _ in 0..2 {
                assert_eq!(batches.next(now, &mut stream), Next { time: now, reaches: Reaches::Same, size: None });
            }
        }
        // Two batches per unit of time: the last comes at count / 2 with the standard deviation sqrt(count) / 2.
        let count = f64::from(count);
        assert!((now - count / 2.0).abs() < 4.0 * count.sqrt() / 2.0, "{now}");
    }

    #[test]
    fn sizes_beyond_their_range_are_refused() {
        for size in [BatchSize::Constant(0), BatchSize::Constant(1 << 32)] {
            assert_eq!(BatchPoisson::new(size).expect_err("out of range").path, "size.constant");
        }
        for mean in [0.0, 0.999, 1e300, f64::INFINITY, f64::NAN] {
            let fault = BatchPoisson::new(BatchSize::Geometric { mean }).expect_err("out of range");
            assert_eq!(fault.path, "size.geometric.mean");
        }
    }
}

//! Laws of delays, from what jobs found at first-come first-served queues with exponential services.
//!
//! A job that joins k jobs at a server of rate mu waits an Erlang(k, mu) time, and its response time is
//! Erlang(k + 1, mu), whatever else happens. The mixture of these laws over the jobs of a window estimates the law of
//! the delays without bias and with less variance than the delays themselves (conditioning).

use super::delay_histogram::DelayHistogram;
use super::moments::Moments;
use statrs::function::gamma::ln_gamma;

/// How many jobs found how many others at the servers of one class.
#[derive(Clone, Debug)]
pub(super) struct Found {
    rate: f64,
    counts: Vec<u64>,
}

impl Found {
    pub(super) fn new(rate: f64) -> Self {
        Self { rate, counts: Vec::new() }
    }

    /// A job found so many.
    #[inline]
    pub(super) fn add(&mut self, found: u32) {
        let found = found as usize;
        if found >= self.counts.len() {
            self.counts.resize(found + 1, 0);
        }
        self.counts[found] += 1;
    }

    /// These jobs instead, by the number they found.
    pub(super) fn take(&mut self, mut counts: Vec<u64>) {
        counts.truncate(counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1));
        self.counts = counts;
    }

    /// How many jobs found `position` others.
    pub(super) fn at(&self, position: usize) -> u64 {
        self.counts.get(position).copied().unwrap_or(0)
    }

    /// One more than the largest number found.
    pub(super) fn positions(&self) -> usize {
        self.counts.len()
    }

    pub(super) fn jobs(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// A mixture of Erlang laws, one for each job.
#[derive(Clone, Debug)]
pub(super) struct DelayLaw {
    jobs: u64,
    mean: f64,
    variance: f64,
    classes: Vec<Stages>,
}

/// The part of the mixture with stages of one rate.
#[derive(Clone, Debug)]
struct Stages {
    rate: f64,
    /// `longer[j]` = jobs with more than j stages; those beyond the end are 0.
    longer: Vec<f64>,
    /// `1 / j`, as long as `longer`: products are quicker than quotients.
    reciprocals: Vec<f64>,
}

/// Poisson probabilities below this are left out: all of them together are far below one job of any run.
const NEGLIGIBLE: f64 = 1e-18;

/// So few buckets span less than a hundredth of a delay: so few jobs in them lie as if on a straight line, to much less
/// than one job.
const STRAIGHT: usize = 8;
const FEW_JOBS: f64 = 64.0;

/// The largest mean of a Poisson number whose probability of 0 can be started from.
const LARGEST_FROM_ZERO: f64 = 600.0;

impl DelayLaw {
    /// The law of the response times: as many stages as jobs found, and one more.
    pub(super) fn of_response(classes: &[Found]) -> Self {
        Self::new(classes, 1)
    }

    /// The law of the waiting times: as many stages as jobs found.
    pub(super) fn of_waiting(classes: &[Found]) -> Self {
        Self::new(classes, 0)
    }

    fn new(classes: &[Found], more: usize) -> Self {
        let jobs: u64 = classes.iter().map(Found::jobs).sum();
        let (mut first, mut second) = (0.0, 0.0);
        for class in classes {
            for (found, &count) in class.counts.iter().enumerate() {
                let stages = (found + more) as f64;
                first += count as f64 * stages / class.rate;
                second += count as f64 * stages * (stages + 1.0) / class.rate / class.rate;
            }
        }
        let mean = first / jobs as f64;
        let stages = classes.iter().map(|class| {
            let mut left = class.jobs();
            let mut longer = vec![left as f64; more];
            longer.extend(class.counts.iter().map(|count| {
                left -= count;
                left as f64
            }));
            let reciprocals = (0..longer.len()).map(|j| (j as f64).recip()).collect();
            Stages { rate: class.rate, longer, reciprocals }
        });
        Self { jobs, mean, variance: (second / jobs as f64 - mean * mean).max(0.0), classes: stages.collect() }
    }

    /// Expected number of jobs with a longer delay.
    fn jobs_above(&self, delay: f64) -> f64 {
        self.classes.iter().map(|class| class.jobs_above(delay)).sum()
    }

    /// The shortest delay that at most so many jobs are expected to exceed.
    fn exceeded_by(&self, jobs: f64) -> f64 {
        if self.jobs_above(0.0) <= jobs {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, self.mean);
        while self.jobs_above(high) > jobs {
            (low, high) = (high, 2.0 * high);
        }
        while high - low > 1e-12 * high {
            let middle = low + (high - low) / 2.0;
            if self.jobs_above(middle) > jobs { low = middle } else { high = middle }
        }
        high
    }

    /// The `q`-quantile, up to where half a job is expected beyond.
    pub(super) fn quantile(&self, q: f64) -> f64 {
        self.exceeded_by(((1.0 - q) * self.jobs as f64).max(0.5))
    }

    /// Number of jobs, mean and variance of the law; the extremes are those that half a job is expected beyond.
    pub(super) fn moments(&self) -> Moments {
        let shortest = self.exceeded_by(self.jobs as f64 - 0.5);
        Moments::of_law(self.jobs, self.mean, self.variance, shortest, self.exceeded_by(0.5))
    }

    /// The histogram that is expected of the delays, in whole jobs: up to the end of each bucket it counts the expected
    /// number, rounded.
    pub(super) fn histogram(&self, tick: f64) -> DelayHistogram {
        let mut histogram = DelayHistogram::of_moments(tick, self.moments());
        // Delays are rounded to the nearest tick: the last tick of a bucket reaches half a tick further.
        let all = self.jobs as f64;
        let up_to = |bucket| all - self.jobs_above((DelayHistogram::last_tick(bucket) as f64 + 0.5) * tick);
        let mut end = 1;
        while up_to(end - 1).round() < all && end < DelayHistogram::BUCKETS {
            end = (2 * end).min(DelayHistogram::BUCKETS);
        }
        let mut count = |bucket: usize, below: f64, here: f64| {
            let jobs = here.round() - below.round();
            if jobs > 0.0 {
                histogram.count(bucket, jobs as u64);
            }
        };
        // Ranges of buckets, with the jobs expected below and up to the end of each; most are empty and need no look.
        let mut ranges: Vec<(usize, usize, f64, f64)> = vec![(0, end, 0.0, all)];
        while let Some((first, end, below, here)) = ranges.pop() {
            let width = end - first;
            if here.round() <= below.round() {
                continue;
            }
            if width <= STRAIGHT && here - below <= FEW_JOBS {
                let share = |bucket: usize| below + (here - below) * (bucket as f64 / width as f64);
                (0..width).for_each(|i| count(first + i, share(i), share(i + 1)));
                continue;
            }
            if width == 1 {
                count(first, below, here);
                continue;
            }
            let middle = first + width / 2;
            let up_to_middle = up_to(middle - 1).clamp(below, here);
            ranges.push((middle, end, up_to_middle, here));
            ranges.push((first, middle, below, up_to_middle));
        }
        histogram
    }
}

impl Stages {
    /// An Erlang time of m stages of rate mu exceeds x when a Poisson number of mean `mu x` is below m, so the jobs above
    /// x are the Poisson mean of `longer`.
    fn jobs_above(&self, delay: f64) -> f64 {
        let mean = self.rate * delay;
        if mean == 0.0 {
            return self.longer.first().copied().unwrap_or(0.0);
        }
        let Some(last) = self.longer.len().checked_sub(1) else { return 0.0 };
        if mean < LARGEST_FROM_ZERO {
            let mut probability = (-mean).exp();
            let mut sum = probability * self.longer[0];
            for (longer, reciprocal) in self.longer.iter().zip(&self.reciprocals).skip(1) {
                probability *= mean * reciprocal;
                sum += probability * longer;
                if probability < NEGLIGIBLE && *reciprocal * mean < 1.0 {
                    break;
                }
            }
            return sum;
        }
        // Summed outwards from the largest probability that counts.
        let start = (mean as usize).min(last);
        let j = start as f64;
        let largest = (j * mean.ln() - mean - ln_gamma(j + 1.0)).exp();
        let mut sum = largest * self.longer[start];
        let mut probability = largest;
        for j in (0..start).rev() {
            probability *= (j + 1) as f64 / mean;
            if probability < NEGLIGIBLE {
                break;
            }
            sum += probability * self.longer[j];
        }
        probability = largest;
        for (longer, reciprocal) in self.longer.iter().zip(&self.reciprocals).skip(start + 1) {
            probability *= mean * reciprocal;
            if probability < NEGLIGIBLE {
                break;
            }
            sum += probability * longer;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, Erlang};

    fn found(rate: f64, counts: &[u64]) -> Found {
        Found { rate, counts: counts.to_vec() }
    }

    /// Against the distribution functions of another library.
    #[test]
    fn the_law_is_the_mixture() {
        let classes = [found(1.0, &[500, 300, 0, 200]), found(4.0, &[0, 100])];
        let law = DelayLaw::of_response(&classes);
        for delay in [0.0, 0.01, 0.5, 1.0, 3.0, 10.0, 40.0] {
            let exact: f64 = [(500.0, 1, 1.0), (300.0, 2, 1.0), (200.0, 4, 1.0), (100.0, 2, 4.0)]
                .iter()
                .map(|&(jobs, stages, rate)| jobs * Erlang::new(stages, rate).expect("a law").sf(delay))
                .sum();
            assert!((law.jobs_above(delay) - exact).abs() < 1e-9, "{delay}: {} {exact}", law.jobs_above(delay));
        }
        let moments = law.moments();
        assert_eq!((moments.count(), moments.mean()), (1100, Some((500.0 + 600.0 + 800.0 + 50.0) / 1100.0)));
        let median = law.quantile(0.5);
        assert!((law.jobs_above(median) - 550.0).abs() < 1e-6, "{median}");
        // Of a thousand and a hundred, 500 do not wait.
        assert_eq!(DelayLaw::of_waiting(&classes).quantile(0.45), 0.0);
        assert!(DelayLaw::of_waiting(&classes).quantile(0.46) > 0.0);
    }

    /// A tally may list levels that no job found.
    #[test]
    fn counts_that_are_taken_end_with_the_last_job() {
        let mut all = found(1.0, &[7]);
        for (counts, positions, jobs) in [(vec![3, 0, 2, 0, 0], 3, 5), (vec![4, 1], 2, 5), (vec![0, 0], 0, 0)] {
            all.take(counts);
            assert_eq!((all.positions(), all.jobs()), (positions, jobs));
        }
    }

    #[test]
    fn long_queues_are_no_trouble() {
        let mut counts = vec![0; 100_000];
        counts[99_999] = 10;
        let law = DelayLaw::of_response(&[found(2.0, &counts)]);
        let exact = Erlang::new(100_000, 2.0).expect("a law");
        for q in [0.1, 0.5, 0.9] {
            assert!((law.quantile(q) / exact.inverse_cdf(q) - 1.0).abs() < 1e-6, "{q}: {}", law.quantile(q));
        }
        assert!((law.jobs_above(1.0) - 10.0).abs() < 1e-9);
        assert_eq!(law.jobs_above(1e6), 0.0);
    }

    #[test]
    fn the_histogram_holds_every_job_in_its_place() {
        let law = DelayLaw::of_response(&[found(1.0, &[700_000, 300_000])]);
        let tick = DelayHistogram::tick_for(1.0);
        let histogram = law.histogram(tick);
        assert_eq!(histogram.counts().len(), 1_000_000);
        for q in [0.001, 0.5, 0.9, 0.999, 0.99999] {
            let found = histogram.quantile(q).expect("not empty");
            let allowed = |share: f64| law.quantile(q + share);
            // A bucket is a thousandth wide, and counts are rounded by up to half a job at either end.
            assert!((allowed(-1e-6) * 0.999..allowed(1e-6) * 1.001).contains(&found), "{q}: {found}");
        }
        assert_eq!(histogram.moments().mean(), Some(1.3));
        // With ticks longer than most delays: those beyond half a tick fill the second bucket, and it is the last.
        let coarse = DelayLaw::of_response(&[found(1.0, &[1_000])]).histogram(10.0);
        let longer = 1_000.0 * (-5.0_f64).exp();
        let counts: Vec<_> = coarse.counts().iter_recorded().map(|bucket| bucket.count_at_value()).collect();
        assert_eq!(counts, [(1_000.0 - longer).round() as u64, longer.round() as u64]);
        let idle = DelayLaw::of_waiting(&[found(1.0, &[5])]).histogram(tick);
        assert_eq!((idle.counts().len(), idle.quantile(0.9), idle.moments().max()), (5, Some(0.0), Some(0.0)));
    }
}

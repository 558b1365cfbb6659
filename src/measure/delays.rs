//! Waiting and response times of the jobs that join in the window, and the lengths they find.

use super::delay_histogram::DelayHistogram;
use super::metric::{Metric, Reading};
use super::occupancy::LISTED;
use crate::engine::Joined;

/// Delays of jobs; known when they join, so those still inside at the end are counted.
#[derive(Clone, Debug)]
pub(super) struct Delays {
    pub(super) response: DelayHistogram,
    pub(super) waiting: DelayHistogram,
    /// Jobs by the number of jobs they found.
    found: Vec<u64>,
}

impl Delays {
    pub(super) fn new(tick: f64) -> Self {
        Self { response: DelayHistogram::new(tick), waiting: DelayHistogram::new(tick), found: Vec::new() }
    }

    /// Delays in whole slots.
    pub(super) fn of_slots() -> Self {
        Self { response: DelayHistogram::of_slots(), waiting: DelayHistogram::of_slots(), found: Vec::new() }
    }

    #[inline]
    pub(super) fn joined(&mut self, joined: &Joined) {
        self.response.add(joined.response());
        self.waiting.add(joined.queried + joined.wait);
        self.found(joined.found, 1);
    }

    /// In slotted time: jobs that arrived in a slot have left in another, or the same.
    #[inline]
    pub(super) fn left(&mut self, arrived: u64, departed: u64, jobs: u32) {
        // A job that is served in the slot of its arrival has been there for one slot, and has not waited.
        let waited = (departed - arrived) as f64;
        self.response.add_many(waited + 1.0, jobs);
        self.waiting.add_many(waited, jobs);
    }

    /// Jobs found so many others at the server they joined.
    #[inline]
    pub(super) fn found(&mut self, found: u32, jobs: u32) {
        let found = found as usize;
        if found >= self.found.len() {
            self.found.resize(found + 1, 0);
        }
        self.found[found] += u64::from(jobs);
    }

    pub(super) fn readings(&self, quantiles: &[f64], readings: &mut Vec<Reading>) {
        let response = self.response.moments();
        readings.push(Reading::plain(Metric::ResponseTimeMean, response.mean()));
        readings.push(Reading::plain(Metric::ResponseTimeVariance, response.variance()));
        for &q in quantiles {
            readings.push(Reading::keyed(Metric::ResponseTimeQuantile, format!("{q}"), self.response.quantile(q)));
        }
        readings.push(Reading::plain(Metric::WaitingTimeMean, self.waiting.moments().mean()));
        for &q in quantiles {
            readings.push(Reading::keyed(Metric::WaitingTimeQuantile, format!("{q}"), self.waiting.quantile(q)));
        }
        let jobs = response.count();
        let fraction = |count: u64| (jobs > 0).then(|| count as f64 / jobs as f64);
        let found_idle = self.found.first().copied().unwrap_or(0);
        readings.push(Reading::plain(Metric::WaitingProbability, fraction(jobs - found_idle)));
        for (position, &count) in self.found.iter().enumerate().take(LISTED) {
            readings.push(Reading::keyed(Metric::JoinPosition, format!("{position}"), fraction(count)));
        }
    }
}

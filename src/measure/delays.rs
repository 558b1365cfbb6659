//! Waiting and response times of the jobs that join in the window, and the lengths they find.

use super::delay_histogram::DelayHistogram;
use super::delay_law::{DelayLaw, Found};
use super::metric::{Metric, Reading};
use super::moments::Moments;
use super::occupancy::LISTED;
use crate::engine::{Admitted, Joined};
use crate::model::Servers;

/// Delays below so many slots are counted one by one before they go to the histograms.
const SHORT: usize = 1024;

/// Delays of jobs; known when they join, so those still inside at the end are counted.
#[derive(Clone, Debug)]
pub(super) struct Delays {
    response: DelayHistogram,
    waiting: DelayHistogram,
    /// Jobs by the number of jobs they found.
    found: Vec<u64>,
    /// In slotted time: jobs by the slots they waited, up to [`SHORT`], which are not in the histograms yet.
    waited: Vec<u64>,
    /// Jobs whose delays are known by law, by the class of their server and the number of jobs they found.
    by_law: Vec<Found>,
}

impl Delays {
    pub(super) fn new(tick: f64, servers: &Servers) -> Self {
        Self {
            response: DelayHistogram::new(tick),
            waiting: DelayHistogram::new(tick),
            found: Vec::new(),
            waited: Vec::new(),
            by_law: servers.classes().iter().map(|class| Found::new(class.rate)).collect(),
        }
    }

    /// Delays in whole slots.
    pub(super) fn of_slots() -> Self {
        let (response, waiting) = (DelayHistogram::of_slots(), DelayHistogram::of_slots());
        Self { response, waiting, found: Vec::new(), waited: vec![0; SHORT], by_law: Vec::new() }
    }

    #[inline]
    pub(super) fn joined(&mut self, joined: &Joined) {
        self.response.add(joined.response());
        self.waiting.add(joined.queried + joined.wait);
        self.found(joined.found, 1);
    }

    #[inline]
    pub(super) fn admitted(&mut self, admitted: &Admitted) {
        self.by_law[admitted.class as usize].add(admitted.found);
    }

    /// Jobs of one class, by the number of jobs they found.
    pub(super) fn take(&mut self, found: Vec<u64>) {
        self.by_law[0].take(found);
    }

    /// In slotted time: jobs that arrived in a slot have left in another, or the same.
    #[inline]
    pub(super) fn left(&mut self, arrived: u64, departed: u64, jobs: u32) {
        let waited = departed - arrived;
        match self.waited.get_mut(waited as usize) {
            Some(count) => *count += u64::from(jobs),
            None => self.waited_for(waited, u64::from(jobs)),
        }
    }

    fn waited_for(&mut self, slots: u64, jobs: u64) {
        // A job that is served in the slot of its arrival has been there for one slot, and has not waited.
        self.response.add_many(slots as f64 + 1.0, jobs);
        self.waiting.add_many(slots as f64, jobs);
    }

    /// The last job has been told of.
    pub(super) fn close(&mut self) {
        for (slots, jobs) in (0..).zip(std::mem::take(&mut self.waited)) {
            if jobs > 0 {
                self.waited_for(slots, jobs);
            }
        }
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

    /// The laws of the response and of the waiting time; `None` where the delays themselves are known.
    fn laws(&self) -> Option<(DelayLaw, DelayLaw)> {
        let known = self.by_law.iter().any(|found| found.jobs() > 0);
        known.then(|| (DelayLaw::of_response(&self.by_law), DelayLaw::of_waiting(&self.by_law)))
    }

    pub(super) fn readings(&self, quantiles: &[f64], readings: &mut Vec<Reading>) {
        let (response, waiting) = match self.laws() {
            Some((response, waiting)) => (Delay::Law(response), Delay::Law(waiting)),
            None => (Delay::Histogram(&self.response), Delay::Histogram(&self.waiting)),
        };
        let (moments, of_waiting) = (response.moments(), waiting.moments());
        readings.push(Reading::plain(Metric::ResponseTimeMean, moments.mean()));
        readings.push(Reading::plain(Metric::ResponseTimeVariance, moments.variance()));
        for &q in quantiles {
            readings.push(Reading::keyed(Metric::ResponseTimeQuantile, format!("{q}"), response.quantile(q)));
        }
        readings.push(Reading::plain(Metric::WaitingTimeMean, of_waiting.mean()));
        for &q in quantiles {
            readings.push(Reading::keyed(Metric::WaitingTimeQuantile, format!("{q}"), waiting.quantile(q)));
        }
        let jobs = moments.count();
        let fraction = |count: u64| (jobs > 0).then(|| count as f64 / jobs as f64);
        let by_law = |position: usize| self.by_law.iter().map(|found| found.at(position)).sum::<u64>();
        let found = |position: usize| self.found.get(position).copied().unwrap_or(0) + by_law(position);
        readings.push(Reading::plain(Metric::WaitingProbability, fraction(jobs - found(0))));
        let positions = self.by_law.iter().map(Found::positions).fold(self.found.len(), usize::max);
        for position in 0..positions.min(LISTED) {
            readings.push(Reading::keyed(Metric::JoinPosition, format!("{position}"), fraction(found(position))));
        }
    }

    /// The histograms of the response and of the waiting times.
    pub(super) fn into_histograms(self) -> (DelayHistogram, DelayHistogram) {
        match self.laws() {
            Some((response, waiting)) => {
                let tick = self.response.tick();
                (response.histogram(tick), waiting.histogram(tick))
            }
            None => (self.response, self.waiting),
        }
    }
}

/// Delays that were measured, or their law.
enum Delay<'a> {
    Histogram(&'a DelayHistogram),
    Law(DelayLaw),
}

impl Delay<'_> {
    fn moments(&self) -> Moments {
        match self {
            Self::Histogram(histogram) => *histogram.moments(),
            Self::Law(law) => law.moments(),
        }
    }

    fn quantile(&self, q: f64) -> Option<f64> {
        match self {
            Self::Histogram(histogram) => histogram.quantile(q),
            Self::Law(law) => Some(law.quantile(q)),
        }
    }
}

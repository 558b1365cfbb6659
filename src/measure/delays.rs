//! Waiting and response times of the jobs that join in the window, and the lengths they find.

use super::delay_counter::DelayCounter;
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
    response: DelayCounter,
    waiting: DelayCounter,
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
            response: DelayCounter::new(tick, false),
            waiting: DelayCounter::new(tick, false),
            found: Vec::new(),
            waited: Vec::new(),
            by_law: servers.classes().iter().map(|class| Found::new(class.rate)).collect(),
        }
    }

    /// Delays in whole slots.
    pub(super) fn of_slots() -> Self {
        let slots = DelayCounter::new(1.0, true);
        Self { response: slots.clone(), waiting: slots, found: Vec::new(), waited: vec![0; SHORT], by_law: Vec::new() }
    }

    #[inline(always)]
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

    /// Jobs found so many others at the server they joined.
    #[inline]
    pub(super) fn found(&mut self, found: u32, jobs: u32) {
        let found = found as usize;
        if found >= self.found.len() {
            self.found.resize(found + 1, 0);
        }
        self.found[found] += u64::from(jobs);
    }

    /// What was measured, after the last job has been told of.
    pub(super) fn finish(mut self) -> Measured {
        for (slots, jobs) in (0..).zip(std::mem::take(&mut self.waited)) {
            if jobs > 0 {
                self.waited_for(slots, jobs);
            }
        }
        let tick = self.response.tick();
        let (response, waiting) = if self.by_law.iter().any(|found| found.jobs() > 0) {
            let laws = (DelayLaw::of_response(&self.by_law), DelayLaw::of_waiting(&self.by_law));
            (Delay::Law(laws.0, tick), Delay::Law(laws.1, tick))
        } else {
            let histograms = (self.response.into_histogram(), self.waiting.into_histogram());
            (Delay::Histogram(histograms.0), Delay::Histogram(histograms.1))
        };
        let positions = self.by_law.iter().map(Found::positions).fold(self.found.len(), usize::max);
        self.found.resize(positions, 0);
        for (position, count) in self.found.iter_mut().enumerate() {
            *count += self.by_law.iter().map(|found| found.at(position)).sum::<u64>();
        }
        Measured { response, waiting, found: self.found }
    }
}

/// Delays of the jobs of a window.
#[derive(Debug)]
pub(super) struct Measured {
    response: Delay,
    waiting: Delay,
    /// Jobs by the number of jobs they found.
    found: Vec<u64>,
}

impl Measured {
    pub(super) fn readings(&self, quantiles: &[f64], readings: &mut Vec<Reading>) {
        let (moments, of_waiting) = (self.response.moments(), self.waiting.moments());
        readings.push(Reading::plain(Metric::ResponseTimeMean, moments.mean()));
        readings.push(Reading::plain(Metric::ResponseTimeVariance, moments.variance()));
        for &q in quantiles {
            readings.push(Reading::keyed(Metric::ResponseTimeQuantile, format!("{q}"), self.response.quantile(q)));
        }
        readings.push(Reading::plain(Metric::WaitingTimeMean, of_waiting.mean()));
        for &q in quantiles {
            readings.push(Reading::keyed(Metric::WaitingTimeQuantile, format!("{q}"), self.waiting.quantile(q)));
        }
        let jobs = moments.count();
        let fraction = |count: u64| (jobs > 0).then(|| count as f64 / jobs as f64);
        let at_once = self.found.first().copied().unwrap_or(0);
        readings.push(Reading::plain(Metric::WaitingProbability, fraction(jobs - at_once)));
        for (position, &count) in self.found.iter().enumerate().take(LISTED) {
            readings.push(Reading::keyed(Metric::JoinPosition, format!("{position}"), fraction(count)));
        }
    }

    /// The histograms of the response and of the waiting times.
    pub(super) fn into_histograms(self) -> (DelayHistogram, DelayHistogram) {
        (self.response.into_histogram(), self.waiting.into_histogram())
    }
}

/// Delays that were measured, or their law and the tick of its histogram.
#[derive(Debug)]
enum Delay {
    Histogram(DelayHistogram),
    Law(DelayLaw, f64),
}

impl Delay {
    fn moments(&self) -> Moments {
        match self {
            Self::Histogram(histogram) => *histogram.moments(),
            Self::Law(law, _) => law.moments(),
        }
    }

    fn quantile(&self, q: f64) -> Option<f64> {
        match self {
            Self::Histogram(histogram) => histogram.quantile(q),
            Self::Law(law, _) => Some(law.quantile(q)),
        }
    }

    fn into_histogram(self) -> DelayHistogram {
        match self {
            Self::Histogram(histogram) => histogram,
            Self::Law(law, tick) => law.histogram(tick),
        }
    }
}

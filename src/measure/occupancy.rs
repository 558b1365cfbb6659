//! The occupancy vector s_k: time averages, variances and histograms.

use super::census::Census;
use super::course::{Course, Ruler};
use super::metric::{Metric, Reading};
use crate::engine::LengthChange;
use crate::model::{TimeHistogram, Window};

/// The most levels that results list: an unstable system may reach millions.
pub(super) const LISTED: usize = 1000;

/// Time averages of s_k for every k reached.
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    ruler: Ruler,
    levels: Vec<Course>,
    /// The first levels have histograms, at most so many.
    most_histograms: usize,
    histograms: Vec<History>,
    opened: f64,
    servers: f64,
    /// Integrals of each count and of its square, once the window is over.
    integrals: Vec<[f64; 2]>,
}

/// How long a level has had each count.
#[derive(Clone, Debug, Default)]
struct History {
    since: f64,
    times: TimeHistogram,
}

impl Occupancy {
    pub(super) fn new(window: Window, census: &Census, histograms: usize) -> Self {
        let mut occupancy = Self {
            ruler: Ruler::new(window),
            levels: Vec::new(),
            most_histograms: histograms,
            histograms: Vec::new(),
            opened: window.open,
            servers: census.servers() as f64,
            integrals: Vec::new(),
        };
        for &count in census.counts() {
            occupancy.add_level(count);
        }
        occupancy
    }

    /// A level as if it had had this count since the window opened.
    #[cold]
    fn add_level(&mut self, count: u64) {
        self.levels.push(Course::new(count));
        if self.histograms.len() < self.most_histograms {
            self.histograms.push(History { since: self.opened, times: TimeHistogram::default() });
        }
    }

    /// A queue has changed at a tick.
    #[inline(always)]
    pub(super) fn change(&mut self, change: &LengthChange, tick: i64) {
        let index = change.old.min(change.new) as usize;
        if index >= self.levels.len() {
            self.add_level(0);
        }
        let level = &mut self.levels[index];
        if let Some(history) = self.histograms.get_mut(index) {
            history.leave(level.count() as u64, change.time);
        }
        if change.new > change.old { level.rise(tick) } else { level.fall(tick) }
    }

    /// In slotted time: the census holds for a slot.
    pub(super) fn hold(&mut self, begin: f64, end: f64, census: &Census) {
        while self.levels.len() < census.levels() {
            self.add_level(0);
            let with_histogram = self.levels.len() == self.histograms.len();
            if let Some(history) = self.histograms.last_mut().filter(|_| with_histogram) {
                history.leave(0, begin);
            }
        }
        let tick = self.ruler.ticks(begin);
        let counts = census.counts().iter().map(|&count| count as i64).chain(std::iter::repeat(0));
        for (level, count) in self.levels.iter_mut().zip(counts) {
            if level.count() != count {
                level.set(count, tick);
            }
        }
        for (history, level) in self.histograms.iter_mut().zip(&self.levels) {
            history.leave(level.count() as u64, end);
        }
    }

    /// Levels up to this have a histogram.
    pub(super) fn histograms(&self) -> usize {
        self.most_histograms
    }

    /// Takes over from an engine that has counted by itself, for k = 1, 2, ..., integrals over the window of the count and
    /// of its square, and histograms as far as there are any.
    pub(super) fn take(
        &mut self,
        levels: impl Iterator<Item = [f64; 2]>,
        histograms: impl Iterator<Item = TimeHistogram>,
    ) {
        self.levels.clear();
        self.integrals = levels.collect();
        self.histograms = histograms.map(|times| History { since: self.opened, times }).collect();
    }

    pub(super) fn close(&mut self, time: f64) {
        for (history, level) in self.histograms.iter_mut().zip(&self.levels) {
            history.leave(level.count() as u64, time);
        }
        let end = self.ruler.ticks(time);
        let integrals = |level: &Course| [level.area(end), level.area_of_square(end)].map(|sum| self.ruler.time(sum));
        self.integrals.extend(self.levels.iter().map(integrals));
        // A level that was reached for no time is not a state that was measured.
        let measured = self.integrals.iter().rposition(|&[area, _]| area != 0.0).map_or(0, |last| last + 1);
        self.integrals.truncate(measured);
    }

    pub(super) fn readings(&self, length: f64, readings: &mut Vec<Reading>) {
        let mean = |area: f64| area / length / self.servers;
        for (k, &[area, _]) in (1..).zip(&self.integrals).take(LISTED) {
            readings.push(Reading::keyed(Metric::TailFraction, format!("{k}"), Some(mean(area))));
        }
        for (k, &[area, squares]) in (1..).zip(&self.integrals).take(LISTED) {
            let second = squares / length / self.servers / self.servers;
            let variance = (second - mean(area).powi(2)).max(0.0);
            readings.push(Reading::keyed(Metric::TailFractionVariance, format!("{k}"), Some(variance)));
        }
        readings.push(Reading::plain(Metric::MaxQueue, Some(self.integrals.len() as f64)));
    }

    /// The histograms over time of the counts `N s_k`, k = 1, 2, ...
    pub(super) fn into_histograms(self) -> Vec<TimeHistogram> {
        self.histograms.into_iter().take(self.integrals.len()).map(|history| history.times).collect()
    }
}

impl History {
    /// The level has had a count until now.
    #[inline]
    fn leave(&mut self, count: u64, time: f64) {
        let elapsed = time - self.since;
        self.since = time;
        if elapsed > 0.0 {
            self.times.add(count, elapsed);
        }
    }
}

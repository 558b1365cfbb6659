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
    levels: Vec<Level>,
    /// The first levels have histograms, at most so many.
    most_histograms: usize,
    histograms: Vec<History>,
    opened: f64,
    servers: f64,
    /// Once the window is over, of each level: a count, and the integrals of the difference from it and of its square.
    integrals: Vec<(u64, [f64; 2])>,
}

/// The number of servers with at least so many jobs.
#[derive(Clone, Copy, Debug)]
struct Level {
    start: u64,
    course: Course,
}

/// How long a level has had each count.
#[derive(Clone, Debug, Default)]
struct History {
    since: f64,
    times: TimeHistogram,
}

impl Occupancy {
    pub(super) fn new(window: Window, ruler: Ruler, census: &Census, histograms: usize) -> Self {
        let mut occupancy = Self {
            ruler,
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
        self.levels.push(Level { start: count, course: Course::default() });
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
            history.leave(level.count(), change.time);
        }
        if change.new > change.old { level.course.rise(tick) } else { level.course.fall(tick) }
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
        let counts = census.counts().iter().copied().chain(std::iter::repeat(0));
        for (level, count) in self.levels.iter_mut().zip(counts) {
            if level.count() != count {
                level.course.set(count.wrapping_sub(level.start) as i64, tick);
            }
        }
        for (history, level) in self.histograms.iter_mut().zip(&self.levels) {
            history.leave(level.count(), end);
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
        self.integrals = levels.map(|integrals| (0, integrals)).collect();
        let measured = self.integrals.iter().rposition(|&(_, [area, _])| area != 0.0).map_or(0, |last| last + 1);
        self.integrals.truncate(measured);
        self.histograms = histograms.map(|times| History { since: self.opened, times }).collect();
    }

    pub(super) fn close(&mut self, time: f64) {
        for (history, level) in self.histograms.iter_mut().zip(&self.levels) {
            history.leave(level.count(), time);
        }
        let end = self.ruler.ticks(time);
        // A level that was reached for no time is not a state that was measured.
        let any = |level: &Level| level.course.area(end) + i128::from(level.start) * i128::from(end) != 0;
        let measured = self.levels.iter().rposition(any).map_or(0, |last| last + 1);
        self.integrals.extend(self.levels.drain(..measured).map(|Level { start, course }| {
            (start, [course.area(end), course.area_of_square(end)].map(|sum| self.ruler.time(sum)))
        }));
    }

    pub(super) fn readings(&self, length: f64, readings: &mut Vec<Reading>) {
        for (k, &(start, [area, _])) in (1..).zip(&self.integrals).take(LISTED) {
            let mean = (start as f64 + area / length) / self.servers;
            readings.push(Reading::keyed(Metric::TailFraction, format!("{k}"), Some(mean)));
        }
        for (k, (_, integrals)) in (1..).zip(&self.integrals).take(LISTED) {
            // The variance is that of the difference.
            let [mean, square] = integrals.map(|integral| integral / length / self.servers);
            let variance = (square / self.servers - mean * mean).max(0.0);
            readings.push(Reading::keyed(Metric::TailFractionVariance, format!("{k}"), Some(variance)));
        }
        readings.push(Reading::plain(Metric::MaxQueue, Some(self.integrals.len() as f64)));
    }

    /// The histograms over time of the counts `N s_k`, k = 1, 2, ...
    pub(super) fn into_histograms(self) -> Vec<TimeHistogram> {
        self.histograms.into_iter().take(self.integrals.len()).map(|history| history.times).collect()
    }
}

impl Level {
    #[inline]
    fn count(&self) -> u64 {
        self.start.wrapping_add_signed(self.course.difference())
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

//! The occupancy vector s_k: time averages, variances and histograms.

use super::census::Census;
use super::metric::{Metric, Reading};
use crate::engine::LengthChange;
use crate::model::{TimeHistogram, TwoSums};

/// The most levels that results list: an unstable system may reach millions.
pub(super) const LISTED: usize = 1000;

/// Time averages of s_k for every k reached; each level is brought up to date only when its count changes.
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    levels: Vec<Level>,
    /// Levels up to this have a histogram.
    histograms: usize,
    opened: f64,
    servers: f64,
}

#[derive(Clone, Debug, Default)]
struct Level {
    count: u64,
    since: f64,
    /// Integrals of the count and of its square.
    areas: TwoSums,
    /// In slotted time: both sums over whole slots, which are whole.
    slots: (u64, u128),
    histogram: TimeHistogram,
}

impl Occupancy {
    pub(super) fn new(time: f64, census: &Census, histograms: usize) -> Self {
        let mut occupancy = Self { levels: Vec::new(), histograms, opened: time, servers: census.servers() as f64 };
        for k in 1..=census.levels() {
            occupancy.add_level(census.at_least(k as u32));
        }
        occupancy
    }

    /// A level as if it had had this count since the window opened.
    fn add_level(&mut self, count: u64) {
        self.levels.push(Level {
            count,
            since: self.opened,
            areas: TwoSums::default(),
            slots: (0, 0),
            histogram: TimeHistogram::default(),
        });
    }

    #[inline]
    pub(super) fn change(&mut self, change: &LengthChange) {
        let k = change.old.max(change.new) as usize;
        if k > self.levels.len() {
            self.add_level(0);
        }
        let with_histogram = k <= self.histograms;
        let level = &mut self.levels[k - 1];
        level.advance(change.time, with_histogram);
        if change.new > change.old {
            level.count += 1;
        } else {
            level.count -= 1;
        }
    }

    /// In slotted time: the census holds for the slot that ends at `end`.
    pub(super) fn hold(&mut self, end: f64, census: &Census) {
        while self.levels.len() < census.levels() {
            let begun = self.levels.first().map_or(self.opened, |level| level.since);
            self.add_level(0);
            let with_histogram = self.levels.len() <= self.histograms;
            if let Some(level) = self.levels.last_mut() {
                // It has been 0 until now.
                level.advance(begun, with_histogram);
            }
        }
        let counts = census.counts().iter().copied().chain(std::iter::repeat(0));
        for (level, count) in self.levels.iter_mut().zip(counts) {
            level.count = count;
            level.since = end;
            level.slots.0 += count;
            level.slots.1 += u128::from(count) * u128::from(count);
        }
        for level in self.levels.iter_mut().take(self.histograms) {
            level.histogram.add(level.count, 1.0);
        }
    }

    /// Levels up to this have a histogram.
    pub(super) fn histograms(&self) -> usize {
        self.histograms
    }

    /// Takes over, for k = 1, 2, ..., the count at a time, its integral and that of its square, and histograms as far as
    /// there are any.
    pub(super) fn take(
        &mut self,
        time: f64,
        levels: impl Iterator<Item = (u64, f64, f64)>,
        histograms: impl Iterator<Item = TimeHistogram>,
    ) {
        self.levels.clear();
        let histograms = histograms.chain(std::iter::repeat_with(TimeHistogram::default));
        for ((count, area, squares), histogram) in levels.zip(histograms) {
            let mut level = Level { count, since: time, histogram, ..Level::default() };
            level.areas.add([area, squares]);
            self.levels.push(level);
        }
    }

    pub(super) fn close(&mut self, time: f64) {
        for (i, level) in self.levels.iter_mut().enumerate() {
            level.advance(time, i < self.histograms);
            let (area, squares) = std::mem::take(&mut level.slots);
            level.areas.add([area as f64, squares as f64]);
        }
        // A level that was reached for no time is not a state that was measured.
        while self.levels.last().is_some_and(|level| level.area() == 0.0) {
            self.levels.pop();
        }
    }

    pub(super) fn readings(&self, length: f64, readings: &mut Vec<Reading>) {
        let mean = |level: &Level| level.area() / length / self.servers;
        for (k, level) in (1..).zip(&self.levels).take(LISTED) {
            readings.push(Reading::keyed(Metric::TailFraction, format!("{k}"), Some(mean(level))));
        }
        for (k, level) in (1..).zip(&self.levels).take(LISTED) {
            let second = level.areas.values()[1] / length / self.servers / self.servers;
            let variance = (second - mean(level).powi(2)).max(0.0);
            readings.push(Reading::keyed(Metric::TailFractionVariance, format!("{k}"), Some(variance)));
        }
        readings.push(Reading::plain(Metric::MaxQueue, Some(self.levels.len() as f64)));
    }

    /// The histograms over time of the counts `N s_k`, k = 1, 2, ...
    pub(super) fn into_histograms(self) -> Vec<TimeHistogram> {
        self.levels.into_iter().take(self.histograms).map(|level| level.histogram).collect()
    }
}

impl Level {
    /// The integral of the count.
    fn area(&self) -> f64 {
        self.areas.values()[0]
    }

    #[inline]
    fn advance(&mut self, time: f64, with_histogram: bool) {
        let elapsed = time - self.since;
        self.since = time;
        let count = self.count as i64 as f64;
        self.areas.add([count * elapsed, count * count * elapsed]);
        if with_histogram && elapsed > 0.0 {
            self.histogram.add(self.count, elapsed);
        }
    }
}

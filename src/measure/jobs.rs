//! The total number of jobs: mean, variance, time empty, and whether it still drifts.

use super::census::Census;
use super::metric::{Metric, Reading};
use crate::model::{Sum, TwoSums, Window};

/// Time integrals of the total number of jobs L.
#[derive(Clone, Debug)]
pub(super) struct Jobs {
    window: Window,
    since: f64,
    /// L when the window opened; the integrals are of differences from it, which are small.
    start: u64,
    /// Of the difference and of its square.
    sums: TwoSums,
    empty: Sum,
    middle: f64,
    /// Integral over the first half of the window, once that is over.
    first_half: Option<f64>,
}

impl Jobs {
    pub(super) fn new(window: Window, census: &Census) -> Self {
        Self {
            window,
            since: window.open,
            start: census.total(),
            sums: TwoSums::default(),
            empty: Sum::default(),
            middle: window.open + window.length() / 2.0,
            first_half: None,
        }
    }

    /// Takes over integrals up to a time: of the difference from the start, of its square, of itself over the first half
    /// of the window, and of the time without jobs.
    pub(super) fn take(&mut self, time: f64, [sum, squares, first_half, empty]: [f64; 4]) {
        self.since = time;
        (self.sums, self.empty) = (TwoSums::default(), Sum::default());
        self.sums.add([sum, squares]);
        self.empty.add(empty);
        self.first_half = Some(first_half);
    }

    /// Brings the integrals up to a time at which the census is about to change.
    #[inline]
    pub(super) fn advance(&mut self, time: f64, census: &Census) {
        if time >= self.middle && self.first_half.is_none() {
            self.integrate(self.middle, census);
            self.first_half = Some(self.sum());
        }
        self.integrate(time, census);
    }

    #[inline]
    fn integrate(&mut self, time: f64, census: &Census) {
        let elapsed = time - self.since;
        self.since = time;
        let difference = census.total().wrapping_sub(self.start) as i64 as f64;
        self.sums.add([difference * elapsed, difference * difference * elapsed]);
        if census.total() == 0 {
            self.empty.add(elapsed);
        }
    }

    fn sum(&self) -> f64 {
        self.sums.values()[0]
    }

    /// The integral of L over the window.
    pub(super) fn integral(&self) -> f64 {
        self.start as f64 * self.window.length() + self.sum()
    }

    /// Mean of L over each half of the window.
    pub(super) fn halves(&self) -> [f64; 2] {
        let half = self.window.length() / 2.0;
        let first = self.first_half.unwrap_or_default();
        [first, self.sum() - first].map(|integral| self.start as f64 + integral / half)
    }

    pub(super) fn readings(&self, servers: u64, readings: &mut Vec<Reading>) {
        let length = self.window.length();
        let [mean, square] = self.sums.values().map(|sum| sum / length);
        let variance = (square - mean * mean).max(0.0);
        let per_server = (self.start as f64 + mean) / servers as f64;
        readings.push(Reading::plain(Metric::MeanJobs, Some(per_server)));
        readings.push(Reading::plain(Metric::JobsVariance, Some(variance)));
        readings.push(Reading::plain(Metric::EmptyProbability, Some(self.empty.value() / length)));
    }
}

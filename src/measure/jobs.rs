//! The total number of jobs: mean, variance, time empty, and whether it still drifts.

use super::census::Census;
use super::metric::{Metric, Reading};
use crate::model::{Sum, Window};

/// Time integrals of the total number of jobs L.
#[derive(Clone, Debug)]
pub(super) struct Jobs {
    window: Window,
    since: f64,
    /// L when the window opened; the integrals are of differences from it, which are small.
    start: u64,
    sum: Sum,
    squares: Sum,
    empty: Sum,
    /// Integral over the first half of the window, once that is over.
    first_half: Option<f64>,
}

impl Jobs {
    pub(super) fn new(window: Window, census: &Census) -> Self {
        Self {
            window,
            since: window.open,
            start: census.total(),
            sum: Sum::default(),
            squares: Sum::default(),
            empty: Sum::default(),
            first_half: None,
        }
    }

    /// Takes over integrals up to a time: of the difference from the start, of its square, of itself over the first half
    /// of the window, and of the time without jobs.
    pub(super) fn take(&mut self, time: f64, [sum, squares, first_half, empty]: [f64; 4]) {
        let exactly = |x: f64| {
            let mut sum = Sum::default();
            sum.add(x);
            sum
        };
        self.since = time;
        (self.sum, self.squares, self.empty) = (exactly(sum), exactly(squares), exactly(empty));
        self.first_half = Some(first_half);
    }

    /// Brings the integrals up to a time at which the census is about to change.
    #[inline]
    pub(super) fn advance(&mut self, time: f64, census: &Census) {
        let middle = self.window.open + self.window.length() / 2.0;
        if self.first_half.is_none() && time >= middle {
            self.integrate(middle, census);
            self.first_half = Some(self.sum.value());
        }
        self.integrate(time, census);
    }

    #[inline]
    fn integrate(&mut self, time: f64, census: &Census) {
        let elapsed = time - self.since;
        self.since = time;
        let difference = census.total() as f64 - self.start as f64;
        self.sum.add(difference * elapsed);
        self.squares.add(difference * difference * elapsed);
        if census.total() == 0 {
            self.empty.add(elapsed);
        }
    }

    /// The integral of L over the window.
    pub(super) fn integral(&self) -> f64 {
        self.start as f64 * self.window.length() + self.sum.value()
    }

    /// Mean of L over each half of the window.
    pub(super) fn halves(&self) -> [f64; 2] {
        let half = self.window.length() / 2.0;
        let first = self.first_half.unwrap_or_default();
        [first, self.sum.value() - first].map(|integral| self.start as f64 + integral / half)
    }

    pub(super) fn readings(&self, servers: u64, readings: &mut Vec<Reading>) {
        let length = self.window.length();
        let mean = self.sum.value() / length;
        let variance = (self.squares.value() / length - mean * mean).max(0.0);
        let per_server = (self.start as f64 + mean) / servers as f64;
        readings.push(Reading::plain(Metric::MeanJobs, Some(per_server)));
        readings.push(Reading::plain(Metric::JobsVariance, Some(variance)));
        readings.push(Reading::plain(Metric::EmptyProbability, Some(self.empty.value() / length)));
    }
}

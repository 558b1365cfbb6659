//! The total number of jobs: mean, variance, time empty, and whether it still drifts.

use super::census::Census;
use super::course::{Course, Ruler};
use super::metric::{Metric, Reading};
use crate::model::Window;

/// Time integrals of the total number of jobs L.
#[derive(Clone, Debug)]
pub(super) struct Jobs {
    window: Window,
    ruler: Ruler,
    /// L when the window opened; the integrals are of differences from it, which are small.
    start: i64,
    course: Course,
    /// Ticks without jobs, less the present one if there are none now.
    empty: i128,
    /// The tick in the middle of the window, until that is over.
    middle: Option<i64>,
    /// The integral of the difference over the first half of the window, once that is over.
    first_half: f64,
    /// Integrals of the difference and of its square and the time without jobs, once the window is over.
    integrals: Option<[f64; 3]>,
}

impl Jobs {
    pub(super) fn new(window: Window, ruler: Ruler, census: &Census) -> Self {
        Self {
            window,
            ruler,
            start: census.total() as i64,
            course: Course::default(),
            empty: 0,
            middle: Some(ruler.ticks(window.open + window.length() / 2.0)),
            first_half: 0.0,
            integrals: None,
        }
    }

    /// A job joins.
    #[inline(always)]
    pub(super) fn join(&mut self, tick: i64) {
        self.pass_middle(tick);
        if self.total() == 0 {
            self.empty += i128::from(tick);
        }
        self.course.rise(tick);
    }

    /// A job leaves.
    #[inline(always)]
    pub(super) fn leave(&mut self, tick: i64) {
        self.pass_middle(tick);
        self.course.fall(tick);
        if self.total() == 0 {
            self.empty -= i128::from(tick);
        }
    }

    /// In slotted time: from now on there are so many.
    pub(super) fn set(&mut self, total: u64, tick: i64) {
        self.pass_middle(tick);
        let empty = [self.total(), total as i64].map(|total| i128::from(total == 0));
        self.empty += (empty[0] - empty[1]) * i128::from(tick);
        self.course.set(total as i64 - self.start, tick);
    }

    #[inline(always)]
    fn total(&self) -> i64 {
        self.start + self.course.difference()
    }

    #[inline(always)]
    fn pass_middle(&mut self, tick: i64) {
        if let Some(middle) = self.middle
            && tick >= middle
        {
            self.first_half = self.ruler.time(self.course.area(middle));
            self.middle = None;
        }
    }

    /// Takes over integrals over the window, by an engine that has counted by itself: of the difference from the start, of
    /// its square, of itself over the first half of the window, and the time without jobs.
    pub(super) fn take(&mut self, [sum, squares, first_half, empty]: [f64; 4]) {
        self.first_half = first_half;
        self.integrals = Some([sum, squares, empty]);
    }

    /// The window is over.
    pub(super) fn close(&mut self, time: f64) {
        if self.integrals.is_some() {
            return;
        }
        let end = self.ruler.ticks(time);
        self.pass_middle(end);
        let empty = self.empty + i128::from(self.total() == 0) * i128::from(end);
        let sums = [self.course.area(end), self.course.area_of_square(end), empty];
        self.integrals = Some(sums.map(|sum| self.ruler.time(sum)));
    }

    fn integrals(&self) -> [f64; 3] {
        self.integrals.unwrap_or_default()
    }

    /// The integral of L over the window.
    pub(super) fn integral(&self) -> f64 {
        self.start as f64 * self.window.length() + self.integrals()[0]
    }

    /// Mean of L over each half of the window.
    pub(super) fn halves(&self) -> [f64; 2] {
        let half = self.window.length() / 2.0;
        let [sum, ..] = self.integrals();
        [self.first_half, sum - self.first_half].map(|integral| self.start as f64 + integral / half)
    }

    pub(super) fn readings(&self, servers: u64, readings: &mut Vec<Reading>) {
        let [mean, square, empty] = self.integrals().map(|integral| integral / self.window.length());
        let variance = (square - mean * mean).max(0.0);
        let per_server = (self.start as f64 + mean) / servers as f64;
        readings.push(Reading::plain(Metric::MeanJobs, Some(per_server)));
        readings.push(Reading::plain(Metric::JobsVariance, Some(variance)));
        readings.push(Reading::plain(Metric::EmptyProbability, Some(empty)));
    }
}

//! The time course of a replication, read on a grid of moments.

use super::census::Census;
use super::metric::Metric;
use crate::model::{Positive, Window};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Levels of s_k that are recorded.
const LEVELS: usize = 16;

/// A grid over the measuring window: its opening, one step later, and so on while the window lasts.
///
/// Memory per replication at work: up to 16 bytes for each of some 20 metrics and moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trajectory {
    /// Time from one moment to the next.
    pub step: Positive,
}

impl Trajectory {
    /// The most moments of a grid.
    pub const MOST_POINTS: u64 = 1_000_000;

    /// The number of moments in a window, which includes its close if the step divides it; at least 1.
    pub fn points(&self, window: Window) -> u64 {
        // A quotient that rounding left just below a whole number is that number.
        ((window.length() / self.step.get() * (1.0 + 4.0 * f64::EPSILON)).floor() as u64).saturating_add(1)
    }

    /// The moments.
    pub fn times(&self, window: Window) -> Vec<f64> {
        (0..self.points(window)).map(|i| self.time(i, window)).collect()
    }

    /// Products of the step drift less than sums of it.
    fn time(&self, point: u64, window: Window) -> f64 {
        window.open + point as f64 * self.step.get()
    }
}

/// The values of a metric at the moments of a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The metric.
    pub metric: Metric,
    /// Which of its values; see [`Metric::key`].
    pub key: String,
    /// A value for each moment; `None` where there was nothing to measure.
    pub values: Vec<Option<f64>>,
}

/// Reads the state at each moment of the grid, just before what happens at that very moment.
///
/// O(1) per event, O(16) per moment.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    grid: Trajectory,
    window: Window,
    points: u64,
    /// The next moment: its number and its time, infinite after the last.
    point: u64,
    next: f64,
    /// For k = 1, 2, ...: s_k.
    levels: Vec<Vec<Option<f64>>>,
    mean_jobs: Vec<Option<f64>>,
    imbalance: Vec<Option<f64>>,
    range: Vec<Option<f64>>,
    error: Vec<Option<f64>>,
    regret: Vec<Option<f64>>,
    /// Since the last moment.
    jobs: u64,
    sum_of_regret: u64,
}

impl Recorder {
    pub(super) fn new(grid: &Trajectory, window: Window) -> Self {
        let points = grid.points(window);
        let room = || Vec::with_capacity(points as usize);
        Self {
            grid: grid.clone(),
            window,
            points,
            point: 0,
            next: window.open,
            levels: Vec::new(),
            mean_jobs: room(),
            imbalance: room(),
            range: room(),
            error: room(),
            regret: room(),
            jobs: 0,
            sum_of_regret: 0,
        }
    }

    /// Whether moments of the grid lie at or before a time at which the state is about to change.
    #[inline]
    pub(super) fn is_due(&self, time: f64) -> bool {
        time >= self.next
    }

    /// Reads the state for all moments up to `time`; `error` is the mean error of the estimates.
    #[cold]
    pub(super) fn record(&mut self, time: f64, census: &Census, error: Option<f64>) {
        while self.is_due(time) {
            self.record_one(census, error);
        }
    }

    fn record_one(&mut self, census: &Census, error: Option<f64>) {
        let servers = census.servers() as f64;
        let passed = self.mean_jobs.len();
        while self.levels.len() < LEVELS.min(census.levels()) {
            // A level that is reached for the first time was empty before.
            let mut level = Vec::with_capacity(self.points as usize);
            level.resize(passed, Some(0.0));
            self.levels.push(level);
        }
        for (k, level) in (1..).zip(&mut self.levels) {
            level.push(Some(census.at_least(k) as f64 / servers));
        }
        self.mean_jobs.push(Some(census.total() as f64 / servers));
        self.imbalance.push(Some(census.scaled_imbalance() as f64 / servers));
        self.range.push(Some(f64::from(census.range())));
        self.error.push(error);
        self.regret.push((self.jobs > 0).then(|| self.sum_of_regret as f64 / self.jobs as f64));
        (self.jobs, self.sum_of_regret) = (0, 0);
        self.point += 1;
        self.next = if self.point < self.points { self.grid.time(self.point, self.window) } else { f64::INFINITY };
    }

    /// Jobs that one dispatcher gives at once to a server which holds `regret` more than the shortest queue.
    #[inline]
    pub(super) fn add_jobs(&mut self, regret: u32, jobs: u64) {
        self.jobs += jobs;
        self.sum_of_regret += u64::from(regret) * jobs;
    }

    /// Reads what is left of the grid: rounding may put its last moment just behind the close.
    pub(super) fn close(&mut self, census: &Census, error: Option<f64>) {
        while self.point < self.points {
            self.record_one(census, error);
        }
    }

    pub(super) fn into_series(self) -> Vec<Series> {
        let plain = |metric, values| Series { metric, key: String::new(), values };
        let mut series: Vec<Series> = (1..)
            .zip(self.levels)
            .map(|(k, values)| Series { metric: Metric::TailFraction, key: format!("{k}"), values })
            .collect();
        series.push(plain(Metric::MeanJobs, self.mean_jobs));
        series.push(plain(Metric::EstimateError, self.error));
        series.push(plain(Metric::RegretMean, self.regret));
        series.push(plain(Metric::Imbalance, self.imbalance));
        series.push(plain(Metric::QueueRangeMean, self.range));
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::census::walk;

    fn grid(step: f64) -> Trajectory {
        Trajectory { step: Positive::new(step).expect("positive") }
    }

    #[test]
    fn grids_have_their_ends() {
        let points = |open, close, step| grid(step).points(Window { open, close });
        assert_eq!(points(0.0, 10.0, 1.0), 11);
        assert_eq!(points(0.0, 10.0, 3.0), 4);
        assert_eq!(points(5.0, 6.0, 0.1), 11);
        assert_eq!(points(0.0, 0.3, 0.1), 4);
        assert_eq!(points(0.0, 1.0, 7.0), 1);
        assert_eq!(grid(0.5).times(Window { open: 2.0, close: 3.2 }), [2.0, 2.5, 3.0]);
    }

    #[test]
    fn agrees_with_a_plain_reading() {
        let window = Window { open: 0.0, close: 600.0 };
        let grid = grid(0.7);
        let mut recorder = Recorder::new(&grid, window);
        let mut path: Vec<(f64, Vec<u32>)> = Vec::new();
        let mut last = None;
        walk(4, 2_000, |time, lengths, census, next| {
            if time < window.close {
                if recorder.is_due(time) {
                    recorder.record(time, census, Some(2.5));
                }
                recorder.add_jobs(3, 2);
                path.push((time, lengths.to_vec()));
                last = Some(next.clone());
            }
        });
        recorder.close(&last.expect("a path"), Some(2.5));
        let series = recorder.into_series();
        let times = grid.times(window);
        let find = |metric, key: &str| {
            let found = series.iter().find(|series| series.metric == metric && series.key == key);
            &found.expect("recorded").values
        };
        assert!(series.iter().all(|series| series.values.len() == times.len()));
        for (i, &time) in times.iter().enumerate() {
            // The lengths before the first change at or after this moment.
            let Some((_, lengths)) = path.iter().find(|(change, _)| *change >= time) else { break };
            let servers = lengths.len() as f64;
            let mean = lengths.iter().sum::<u32>() as f64 / servers;
            assert_eq!(find(Metric::MeanJobs, "")[i], Some(mean));
            for k in 1..=4 {
                let count = lengths.iter().filter(|&&length| length >= k).count();
                assert_eq!(find(Metric::TailFraction, &k.to_string())[i], Some(count as f64 / servers), "{k} {time}");
            }
            let imbalance: f64 = lengths.iter().map(|&length| (f64::from(length) - mean).powi(2)).sum();
            assert!(find(Metric::Imbalance, "")[i].is_some_and(|found| (found - imbalance).abs() < 1e-9));
            let range = lengths.iter().max().expect("servers") - lengths.iter().min().expect("servers");
            assert_eq!(find(Metric::QueueRangeMean, "")[i], Some(f64::from(range)));
            assert_eq!(find(Metric::EstimateError, "")[i], Some(2.5));
            let since = if i == 0 { f64::NEG_INFINITY } else { times[i - 1] };
            let busy = path.iter().any(|(change, _)| (since..time).contains(change));
            assert_eq!(find(Metric::RegretMean, "")[i], busy.then_some(3.0));
        }
    }
}

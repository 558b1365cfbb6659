//! Gathers the records of replications, in order, into one result.

use super::columns::columns;
use super::distance::squared_distance;
use super::estimates::{estimates, of_batches};
use super::pooled::{Pooled, Quantiles, is_pooled};
use super::time_course::Courses;
use crate::measure::{Balance, DelayHistogram, Lengths, Metric, Outlines, Reading, Record};
use crate::model::TimeHistogram;
use crate::model::Window;
use crate::output::{Cell, Estimate, Jobs, Manifest, Replication, Results};
use crate::scenario::{Plan, Study};
use crate::stats::{BatchMeans, Confidence, Interval, Warning, paired_t};
use crate::theory::MeanField;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// Percent by which the number of jobs has grown from the first half of the window to the second when the backlog is said
/// to grow: that of an unstable system that starts empty grows by 200, one of a too short warm-up by less.
const BACKLOG: f64 = 50.0;

/// Relative standard error of the part of the jobs above a quantile at which its interval is doubted: as for 25
/// independent jobs above it. Measured on the M/M/1 queue at load 0.9, 300 experiments of ten replications: intervals of
/// 95 % held the 0.9-quantile (error about 0.08) in 94 %, the 0.99-quantile (0.3) in 89 %, the 0.999-quantile (0.6) in 72 %.
const ERROR_ABOVE: f64 = 0.2;

/// Doubts that leave no steady state to estimate.
const UNSTEADY: [&str; 4] = ["not_stable", "not_balanced", "backlog_grows", "no_jobs"];

/// Records so far. Histograms are merged at once, in the order of the replications, so that memory does not grow
/// with their number and sums do not depend on who finished first.
pub(super) struct Gather<'a> {
    plan: &'a Plan,
    window: Window,
    /// Replications that are wanted.
    wanted: u64,
    /// What was doubtful before the replications.
    doubts: Vec<Warning>,
    /// Finished before an earlier one, and waiting for it.
    early: BTreeMap<u64, Record>,
    next: u64,
    replications: Vec<Replication>,
    outlines: Vec<Outlines>,
    occupancy: Vec<TimeHistogram>,
    response: Option<DelayHistogram>,
    waiting: Option<DelayHistogram>,
    jobs: Jobs,
    halves: Vec<[f64; 2]>,
    courses: Courses,
    snapshots: Option<Lengths>,
    /// The parts of a single run.
    parts: Vec<Replication>,
    outlines_of_parts: Vec<Outlines>,
    limit: Option<MeanField>,
}

impl<'a> Gather<'a> {
    pub(super) fn new(plan: &'a Plan, window: Window, wanted: u64) -> Self {
        Self {
            plan,
            window,
            wanted,
            doubts: Vec::new(),
            early: BTreeMap::new(),
            next: 0,
            replications: Vec::new(),
            outlines: Vec::new(),
            occupancy: Vec::new(),
            response: None,
            waiting: None,
            jobs: Jobs::default(),
            halves: Vec::new(),
            courses: Courses::default(),
            snapshots: None,
            parts: Vec::new(),
            outlines_of_parts: Vec::new(),
            limit: plan.mean_field(),
        }
    }

    pub(super) fn add(&mut self, index: u64, record: Record) {
        self.early.insert(index, record);
        while let Some(record) = self.early.remove(&self.next) {
            self.merge(self.next, record);
            self.next += 1;
        }
    }

    /// Adds a doubt that was there before the replications.
    pub(super) fn doubt(&mut self, doubt: Warning) {
        self.doubts.push(doubt);
    }

    fn merge(&mut self, index: u64, record: Record) {
        for (k, histogram) in record.occupancy.iter().enumerate() {
            match self.occupancy.get_mut(k) {
                Some(merged) => merged.merge(histogram),
                None => {
                    // Earlier replications never got here: all their time was at 0.
                    let mut fresh = TimeHistogram::default();
                    let earlier = self.replications.len() as f64 * self.window.length();
                    if earlier > 0.0 {
                        fresh.add(0, earlier);
                    }
                    fresh.merge(histogram);
                    self.occupancy.push(fresh);
                }
            }
        }
        for merged in self.occupancy.iter_mut().skip(record.occupancy.len()) {
            merged.add(0, self.window.length());
        }
        self.outlines.push(record.outlines());
        merge_delays(&mut self.response, record.response);
        merge_delays(&mut self.waiting, record.waiting);
        self.jobs.add(&record.balance);
        self.halves.push(record.halves);
        self.courses.add(&record.trajectory);
        self.snapshots = self.snapshots.take().or(record.snapshots);
        for (i, part) in (0..).zip(record.parts) {
            self.parts.push(of_replication(i, &part.balance, part.readings));
            self.outlines_of_parts.push(part.outlines);
        }
        let mut readings = record.readings;
        if let Some(limit) = &self.limit {
            readings.extend(squared_distance(&readings, limit, self.plan.system.servers.len() as f64));
        }
        self.replications.push(of_replication(index, &record.balance, readings));
    }

    /// The result; replications that finished behind a missing one count too.
    pub(super) fn finish(mut self, started: SystemTime, duration: Duration) -> Results {
        for (index, record) in std::mem::take(&mut self.early) {
            self.merge(index, record);
        }
        let plan = self.plan;
        let mut warnings = self.warnings();
        let steady = !warnings.iter().any(|warning| UNSTEADY.contains(&warning.code.as_str()));
        let pooled = Pooled {
            response: self.response.as_ref(),
            waiting: self.waiting.as_ref(),
            servers: plan.system.servers.len() as f64,
        };
        let measured = (&mut self.replications[..], &self.outlines[..]);
        let parts = (&self.parts[..], &self.outlines_of_parts[..]);
        let (estimates, quantiles) = estimates(plan, &pooled, measured, parts, steady);
        warnings.extend(self.thin_quantiles(&quantiles));
        warnings.extend(self.imprecise(&estimates));
        let tick = DelayHistogram::tick_for(plan.system.servers.largest_rate());
        Results {
            point: 0,
            labels: Vec::new(),
            scenario_yaml: plan.to_yaml(),
            manifest: Manifest {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                name: plan.name.clone(),
                seed: plan.seed,
                engine: plan.engine.kind.name().to_owned(),
                engine_reason: plan.engine.why.clone(),
                started: humantime::format_rfc3339_seconds(started).to_string(),
                duration_seconds: duration.as_secs_f64(),
                replications_requested: self.wanted,
                replications: self.replications.len() as u64,
                window_open: self.window.open,
                window_close: self.window.close,
                confidence: plan.confidence.get(),
                interval_method: self.method(),
                tick,
                arrival_rate: plan.system.arrivals.rate,
                service_rate: plan.system.servers.total_rate(),
                load: plan.system.load(),
                jobs: self.jobs,
                steady,
                warnings,
            },
            estimates,
            servers: plan.system.servers.len(),
            replications: self.replications,
            occupancy: self.occupancy,
            response: self.response,
            snapshots: self.snapshots,
            time_course: plan.measure.trajectory.as_ref().map(|grid| self.courses.finish(grid.times(self.window))),
        }
    }

    /// The batches of a single run, as the mean number of jobs has them.
    fn batches(&self) -> Option<BatchMeans> {
        let columns = columns(&self.parts);
        let column = columns.get(&Metric::MeanJobs)?.values().next()?;
        of_batches(Metric::MeanJobs, column, &self.parts, self.plan.batching?, self.plan.confidence)
    }

    /// How intervals are made.
    fn method(&self) -> String {
        let replications = "Student t over independent replications; means over jobs as ratios, variances about the mean of all, \
             quantiles of pooled jobs with Woodruff's interval";
        self.batches().map_or(replications.to_owned(), |batches| batches.interval.method.to_string())
    }

    /// Batches that still depend on each other.
    fn correlated_batches(&self) -> Option<Warning> {
        self.batches().filter(|batches| batches.correlated).map(|_| {
            Warning::new(
                "batches_correlated",
                "batches of this run depend on each other, so intervals are too narrow; run longer, or replications",
            )
        })
    }

    /// Doubts about the results.
    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.plan.warnings();
        let done = self.replications.len() as u64;
        warnings.extend(self.doubts.iter().cloned());
        if done < self.wanted {
            warnings.push(Warning::new(
                "interrupted",
                format!("the run was stopped: {done} of {} replications count", self.wanted),
            ));
        }
        let clamped = self.response.as_ref().map_or(0, DelayHistogram::clamped);
        if clamped > 0 {
            warnings.push(Warning::new(
                "values_clamped",
                format!("{clamped} response times were beyond the histogram; its highest quantiles are too low"),
            ));
        }
        warnings.extend(self.correlated_batches());
        warnings.extend(self.silence());
        warnings.extend(self.drift());
        warnings.extend(self.balance());
        if !warnings.iter().any(|warning| UNSTEADY.contains(&warning.code.as_str())) {
            warnings.extend(self.width());
        }
        warnings
    }

    /// Windows into which no job fell say nothing of those that do come.
    fn silence(&self) -> Option<Warning> {
        let rate = self.plan.system.arrivals.rate;
        (self.jobs.arrived == 0 && rate > 0.0).then(|| {
            let message = format!("no job arrived in the windows, at a rate of {rate}: the run is too short");
            Warning::new("no_jobs", message)
        })
    }

    /// Steady state has no trend: compares the halves of the window over replications.
    fn drift(&self) -> Option<Warning> {
        let differences: Vec<f64> = self.halves.iter().map(|[first, second]| second - first).collect();
        let drift = paired_t(&differences, 0.001)?;
        let first = self.halves.iter().map(|[first, _]| first).sum::<f64>() / self.halves.len() as f64;
        let percent = 100.0 * drift / first;
        // Once in a thousand by chance is a doubt; a trend that large besides leaves nothing to estimate.
        let code = if percent > BACKLOG { "backlog_grows" } else { "drift" };
        Some(Warning::new(
            code,
            format!(
                "the number of jobs still drifts: {percent:+.2} % from the first half of the window to the second, \
                 which chance explains once in a thousand; the warm-up of {} is too short or the system is not stable",
                self.window.open
            ),
        ))
    }

    /// In a steady state as much leaves as arrives: compares the change of the number of jobs with the number that
    /// arrived. One replication is enough for that.
    fn balance(&self) -> Option<Warning> {
        let jobs = &self.jobs;
        let arrived = jobs.arrived as f64;
        let gained = jobs.inside_at_close as f64 - jobs.inside_at_open as f64;
        // By chance alone, arrivals and services differ by about the square root of their number.
        let chance = 5.0 * (2.0 * arrived).sqrt();
        (gained.abs() > 0.05 * arrived + chance && !self.plan.is_overloaded()).then(|| {
            Warning::new(
                "not_balanced",
                format!(
                    "{} jobs arrived in the windows and the number inside changed by {gained:+}: this is no steady \
                     state; the warm-up of {} is too short or the system is not stable",
                    jobs.arrived, self.window.open
                ),
            )
        })
    }

    /// Intervals that say little.
    fn width(&self) -> Option<Warning> {
        let metric = Metric::MeanJobs;
        let values: Vec<f64> = self
            .replications
            .iter()
            .filter_map(|replication| replication.readings.iter().find(|reading| reading.metric == metric)?.value)
            .collect();
        let interval = Interval::of_mean(&values, self.plan.confidence)?;
        let relative = interval.half_width? / interval.mean;
        (relative > 0.1).then(|| {
            Warning::new(
                "wide_interval",
                format!(
                    "the interval of the mean number of jobs is +-{:.0} % wide; run longer or more replications",
                    100.0 * relative
                ),
            )
        })
    }

    /// Replications are added until the values of each are precise enough, and what is pooled may be less precise.
    fn imprecise(&self, estimates: &[Estimate]) -> Option<Warning> {
        let goal = self.plan.goal.as_ref()?;
        let wide = estimates.iter().filter(|estimate| {
            let is_wanted = goal.metrics.iter().any(|(metric, key)| *metric == estimate.metric && *key == estimate.key);
            let half_width = estimate.interval().map(|(low, high)| (high - low) / 2.0);
            let precise = half_width.zip(estimate.estimate).is_none_or(|(half, x)| half <= goal.relative * x.abs());
            is_pooled(estimate.metric) && is_wanted && !precise
        });
        let wide: Vec<String> = wide.map(|estimate| format!("{} {}", estimate.metric.name(), estimate.key)).collect();
        (!wide.is_empty()).then(|| {
            Warning::new(
                "precision_not_reached",
                format!("run.precision is not reached for {}: run longer replications", wide.join(", ")),
            )
        })
    }

    /// Quantiles beyond what the jobs can tell: fewer than ten are expected above them, or not enough that are independent.
    fn thin_quantiles(&self, quantiles: &Quantiles) -> Option<Warning> {
        let jobs = self.response.as_ref()?.moments().count();
        let is_thin = |q: f64| {
            let above = (1.0 - q) * jobs as f64;
            let quantile = quantiles.get(&(Metric::ResponseTimeQuantile, q.to_string()));
            let error = quantile.and_then(|(_, interval)| interval.map(|interval| interval.error_above));
            jobs > 0 && q < 1.0 && (above < 10.0 || error.is_some_and(|error| error > ERROR_ABOVE))
        };
        let thin: Vec<String> =
            self.plan.measure.quantiles.iter().filter(|&&q| is_thin(q)).map(f64::to_string).collect();
        (!thin.is_empty()).then(|| {
            Warning::new(
                "thin_quantiles",
                format!(
                    "too few independent jobs, of {jobs} in all, lie above the quantiles {}: their intervals may be too \
                     narrow; run longer",
                    thin.join(", ")
                ),
            )
        })
    }
}

fn of_replication(index: u64, balance: &Balance, readings: Vec<Reading>) -> Replication {
    let joined = balance.arrived - balance.blocked;
    Replication { replication: index, arrived: balance.arrived, joined, readings, pooled: Vec::new() }
}

fn merge_delays(merged: &mut Option<DelayHistogram>, histogram: Option<DelayHistogram>) {
    match (merged, histogram) {
        (Some(merged), Some(histogram)) => merged.merge(&histogram),
        (merged @ None, histogram) => *merged = histogram,
        (Some(_), None) => {}
    }
}

/// Relative widths of the intervals of the mean number of jobs so far, for whoever watches.
#[derive(Debug)]
pub(super) struct Widths {
    confidence: Vec<Confidence>,
    values: Vec<Vec<f64>>,
    widths: Vec<Option<f64>>,
}

impl Widths {
    pub(super) fn new(study: &Study) -> Self {
        let points = study.points.len();
        Self {
            confidence: study.points.iter().map(|point| point.plan.confidence).collect(),
            values: vec![Vec::new(); points],
            widths: vec![None; points],
        }
    }

    /// Adds a cell; the widest interval so far.
    pub(super) fn add(&mut self, cell: Cell, record: &Record) -> Option<f64> {
        let p = cell.point as usize;
        let reading = record.readings.iter().find(|reading| reading.metric == Metric::MeanJobs);
        self.values[p].extend(reading.and_then(|reading| reading.value));
        let interval = Interval::of_mean(&self.values[p], self.confidence[p]);
        self.widths[p] = interval.and_then(|interval| interval.relative_half_width());
        self.widths.iter().flatten().copied().reduce(f64::max)
    }
}

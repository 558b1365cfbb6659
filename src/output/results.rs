//! The plain result of an experiment.

use super::axis::OfPoint;
use super::manifest::Manifest;
use crate::measure::{DelayHistogram, Lengths, Metric, Reading};
use crate::model::TimeHistogram;
use crate::scenario::Label;
use crate::theory::Kind;
use serde::Serialize;

/// An estimate of one metric, over all replications.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The metric.
    pub metric: Metric,
    /// Which of its values; see [`Metric::key`].
    pub key: String,
    /// The mean over replications; for variances and quantiles, that of all of them together. `None` where nothing was
    /// measured.
    pub estimate: Option<f64>,
    /// Lower end of the confidence interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Standard error of the estimate.
    pub std_error: Option<f64>,
    /// Replications that gave a value.
    pub replications: u64,
    /// What theory says, where it is known.
    pub theory: Option<f64>,
    /// How far that can be trusted.
    pub theory_kind: Option<Kind>,
}

impl Estimate {
    /// How far the theory can be trusted; where it is exact, how many standard errors the estimate is off.
    pub fn standing(&self) -> String {
        let Some(kind) = self.theory_kind else { return String::new() };
        let errors = match (self.estimate, self.theory, self.std_error) {
            (Some(value), Some(theory), Some(error)) if error > 0.0 => Some((value - theory) / error),
            _ => None,
        };
        match (kind, errors) {
            (Kind::Exact, Some(errors)) => format!("exact, {errors:+.1} s.e."),
            (Kind::Bound, _) => "a lower bound".to_owned(),
            (kind, _) => kind.to_string(),
        }
    }

    /// The ends of the confidence interval.
    pub fn interval(&self) -> Option<(f64, f64)> {
        Some((self.low?, self.high?))
    }
}

/// The values of one replication.
#[derive(Clone, Debug, PartialEq)]
pub struct Replication {
    /// Its number.
    pub replication: u64,
    /// Jobs that arrived.
    pub arrived: u64,
    /// Jobs that joined a queue.
    pub joined: u64,
    /// All values.
    pub readings: Vec<Reading>,
    /// What it contributes to the variances and quantiles of all replications together, where that is not its own: the
    /// estimates are the means of these.
    pub pooled: Vec<Reading>,
}

/// The mean of a metric over replications at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean; `None` where nothing was measured.
    pub estimate: Option<f64>,
    /// Its standard error.
    pub std_error: Option<f64>,
    /// Replications that gave a value.
    pub replications: u64,
}

/// A metric in the course of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The metric.
    pub metric: Metric,
    /// Which of its values; see [`Metric::key`].
    pub key: String,
    /// The mean at each moment.
    pub means: Vec<Mean>,
}

/// The course of time on a grid of moments.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeCourse {
    /// The moments.
    pub times: Vec<f64>,
    /// Metrics with a mean for each of them.
    pub curves: Vec<Curve>,
}

/// A policy against a baseline, on common random numbers: one metric, over pairs of replications.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Number of the group of points that differ in the policy only; 0 without any other sweep.
    pub point: u64,
    /// The other swept keys there.
    pub labels: Vec<Label>,
    /// The policy.
    pub policy: String,
    /// What it is compared with.
    pub baseline: String,
    /// The metric.
    pub metric: Metric,
    /// Which of its values; see [`Metric::key`].
    pub key: String,
    /// Policy minus baseline. `None`, here and below, where it is not known.
    pub difference: Option<f64>,
    /// Lower end of the confidence interval of the difference.
    pub difference_low: Option<f64>,
    /// Upper end.
    pub difference_high: Option<f64>,
    /// Standard error of the difference.
    pub difference_std_error: Option<f64>,
    /// Policy over baseline.
    pub ratio: Option<f64>,
    /// Lower end of the confidence interval of the ratio.
    pub ratio_low: Option<f64>,
    /// Upper end.
    pub ratio_high: Option<f64>,
    /// Half width that the interval of the difference would have if the replications were not paired.
    pub unpaired_half_width: Option<f64>,
    /// Unpaired half width over paired: what pairing saved.
    pub saving: Option<f64>,
    /// Pairs of replications that gave a value.
    pub replications: u64,
}

impl OfPoint for Comparison {
    fn point(&self) -> u64 {
        self.point
    }

    fn labels(&self) -> &[Label] {
        &self.labels
    }
}

/// The result of one point of an experiment.
#[derive(Clone, Debug)]
pub struct Results {
    /// Number of the point in the order of the grid; 0 without a sweep.
    pub point: u64,
    /// The value of each swept key here, in the order of the axes; empty without a sweep.
    pub labels: Vec<Label>,
    /// The resolved scenario.
    pub scenario_yaml: String,
    /// Where the numbers come from.
    pub manifest: Manifest,
    /// All estimates, metric by metric.
    pub estimates: Vec<Estimate>,
    /// The values of each replication.
    pub replications: Vec<Replication>,
    /// Number of servers N.
    pub servers: u64,
    /// For k = 1, 2, ...: time at each number of servers with at least k jobs, all replications together.
    pub occupancy: Vec<TimeHistogram>,
    /// Response times of all replications together.
    pub response: Option<DelayHistogram>,
    /// The time course, if it was asked for.
    pub time_course: Option<TimeCourse>,
    /// The lengths of the queues in the first replication, if they were asked for.
    pub snapshots: Option<Lengths>,
}

impl OfPoint for Results {
    fn point(&self) -> u64 {
        self.point
    }

    fn labels(&self) -> &[Label] {
        &self.labels
    }
}

impl Results {
    /// The numbers without the histograms, which are large.
    pub fn without_histograms(&self) -> Self {
        Self {
            point: self.point,
            labels: self.labels.clone(),
            scenario_yaml: String::new(),
            manifest: self.manifest.clone(),
            estimates: self.estimates.clone(),
            replications: self.replications.clone(),
            servers: self.servers,
            occupancy: Vec::new(),
            response: None,
            time_course: None,
            snapshots: None,
        }
    }

    /// The estimate of a metric, if there is one.
    pub fn estimate(&self, metric: Metric, key: &str) -> Option<&Estimate> {
        self.estimates.iter().find(|estimate| estimate.metric == metric && estimate.key == key)
    }
}

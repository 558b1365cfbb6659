//! The plain result of an experiment.

use super::manifest::Manifest;
use crate::measure::{DelayHistogram, Metric, Reading, TimeHistogram};
use crate::theory::Kind;
use serde::Serialize;

/// An estimate of one metric, over all replications.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The point of a sweep; 0 without one.
    pub point: u64,
    /// The metric.
    pub metric: Metric,
    /// Which of its values; see [`Metric::key`].
    pub key: String,
    /// The mean over replications; for a quantile, that of the merged histogram. `None` where nothing was measured.
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

/// The values of one replication.
#[derive(Clone, Debug, PartialEq)]
pub struct Replication {
    /// Its number.
    pub replication: u64,
    /// All values.
    pub readings: Vec<Reading>,
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

/// The result of an experiment.
#[derive(Clone, Debug)]
pub struct Results {
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
}

impl Results {
    /// The estimate of a metric, if there is one.
    pub fn estimate(&self, metric: Metric, key: &str) -> Option<&Estimate> {
        self.estimates.iter().find(|estimate| estimate.metric == metric && estimate.key == key)
    }
}

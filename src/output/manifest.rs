//! `manifest.json`: where the numbers come from.

use super::results::Results;
use crate::measure::Balance;
use crate::scenario::{Axis, Label};
use crate::stats::Warning;
use serde::Serialize;
use std::io::{self, Write};

/// The name of the file.
pub const MANIFEST: &str = "manifest.json";

/// Where the numbers come from. All but the start and the duration repeats with the scenario and the seed.
#[derive(Clone, Debug, Serialize)]
pub struct Manifest {
    /// Version of the program.
    pub version: String,
    /// Name of the scenario.
    pub name: String,
    /// The seed.
    pub seed: u64,
    /// The engine.
    pub engine: String,
    /// Why it was this one.
    pub engine_reason: String,
    /// When the run started (UTC).
    pub started: String,
    /// Seconds it took.
    pub duration_seconds: f64,
    /// Replications asked for.
    pub replications_requested: u64,
    /// Replications finished, which are those that count.
    pub replications: u64,
    /// When measuring starts in each replication, in units of time.
    pub window_open: f64,
    /// When it ends.
    pub window_close: f64,
    /// Level of the confidence intervals.
    pub confidence: f64,
    /// How the intervals are made.
    pub interval_method: String,
    /// Length of a tick of the delay histograms, in units of time.
    pub tick: f64,
    /// Total arrival rate.
    pub arrival_rate: f64,
    /// Total service rate.
    pub service_rate: f64,
    /// The load.
    pub load: f64,
    /// The books of all replications together.
    pub jobs: Jobs,
    /// Whether nothing speaks against a steady state; without one there are no intervals.
    pub steady: bool,
    /// Doubts about the results.
    pub warnings: Vec<Warning>,
}

/// The books of all replications together.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Jobs {
    /// Jobs inside when the windows opened.
    pub inside_at_open: u64,
    /// Jobs that arrived in the windows.
    pub arrived: u64,
    /// Jobs lost at full buffers.
    pub blocked: u64,
    /// Jobs that left after service.
    pub completed: u64,
    /// Jobs inside when the windows closed.
    pub inside_at_close: u64,
    /// Largest relative difference, over replications, between the integral of the number of jobs and the summed
    /// time of jobs in the window.
    pub largest_relative_gap: f64,
}

impl Jobs {
    /// Adds the books of a replication.
    pub fn add(&mut self, balance: &Balance) {
        self.inside_at_open += balance.inside_at_open;
        self.arrived += balance.arrived;
        self.blocked += balance.blocked;
        self.completed += balance.completed;
        self.inside_at_close += balance.inside_at_close;
        self.largest_relative_gap = self.largest_relative_gap.max(balance.relative_gap());
    }
}

/// A doubt about the results of a point.
#[derive(Clone, Debug, Serialize)]
pub struct Doubt {
    /// The point; 0 without a sweep.
    pub point: u64,
    /// The values of the swept keys there, as `key=value`; empty without a sweep.
    pub place: String,
    /// The doubt.
    #[serde(flatten)]
    pub warning: Warning,
}

/// The manifest of an experiment: without a sweep that of its only point.
#[derive(Clone, Debug)]
pub struct Summary {
    axes: Vec<String>,
    points: Vec<PointManifest>,
}

#[derive(Clone, Debug, Serialize)]
struct PointManifest {
    point: u64,
    labels: serde_json::Map<String, serde_json::Value>,
    #[serde(flatten)]
    manifest: Manifest,
}

#[derive(Serialize)]
struct SweepManifest<'a> {
    version: &'a str,
    name: &'a str,
    seed: u64,
    started: &'a str,
    duration_seconds: f64,
    swept: &'a [String],
    warnings: Vec<Doubt>,
    points: &'a [PointManifest],
}

impl Summary {
    pub(super) fn new(axes: &[Axis]) -> Self {
        Self { axes: axes.iter().map(|axis| axis.key.clone()).collect(), points: Vec::new() }
    }

    pub(super) fn add(&mut self, results: &Results) {
        let value = |label: &Label| match label {
            Label::Integer(n) => (*n).into(),
            Label::Real(x) => (*x).into(),
            Label::Text(text) => text.clone().into(),
        };
        let labels = self.axes.iter().cloned().zip(results.labels.iter().map(value)).collect();
        self.points.push(PointManifest { point: results.point, labels, manifest: results.manifest.clone() });
    }

    /// The manifests of the points that have results, in grid order.
    pub fn manifests(&self) -> impl Iterator<Item = &Manifest> {
        self.points.iter().map(|point| &point.manifest)
    }

    /// All doubts, point by point.
    pub fn doubts(&self) -> Vec<Doubt> {
        let place = |point: &PointManifest| {
            let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let pairs: Vec<String> = point.labels.iter().map(|(key, value)| format!("{key}={}", text(value))).collect();
            pairs.join(", ")
        };
        let of = |point: &PointManifest| {
            let doubt = |warning: &Warning| Doubt { point: point.point, place: place(point), warning: warning.clone() };
            point.manifest.warnings.iter().map(doubt).collect::<Vec<_>>()
        };
        self.points.iter().flat_map(of).collect()
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match (&self.axes[..], &self.points[..]) {
            ([], [only]) => serde_json::to_writer_pretty(&mut *out, &only.manifest)?,
            (_, []) => serde_json::to_writer_pretty(&mut *out, &serde_json::json!({ "points": [] }))?,
            (_, [first, ..]) => {
                let manifest = &first.manifest;
                let sweep = SweepManifest {
                    version: &manifest.version,
                    name: &manifest.name,
                    seed: manifest.seed,
                    started: &manifest.started,
                    duration_seconds: manifest.duration_seconds,
                    swept: &self.axes,
                    warnings: self.doubts(),
                    points: &self.points,
                };
                serde_json::to_writer_pretty(&mut *out, &sweep)?;
            }
        }
        writeln!(out)
    }
}

//! `manifest.json`: where the numbers come from.

use super::results::Results;
use crate::measure::Balance;
use crate::stats::Warning;
use serde::Serialize;
use std::io::{self, Write};

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

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &results.manifest)?;
    writeln!(out)
}

//! The record of one replication.

use super::balance::Balance;
use super::delay_histogram::DelayHistogram;
use super::metric::Reading;
use super::outline::Outline;
use super::snapshots::Lengths;
use super::trajectory::Series;
use crate::model::TimeHistogram;
use serde::{Deserialize, Serialize};

/// What one replication has measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The values of all metrics.
    pub readings: Vec<Reading>,
    /// Number of servers N.
    pub servers: u64,
    /// For k = 1, 2, ...: histogram over time of the number of servers with at least k jobs.
    pub occupancy: Vec<TimeHistogram>,
    /// Response times, unless switched off.
    pub response: Option<DelayHistogram>,
    /// Waiting times, unless switched off.
    pub waiting: Option<DelayHistogram>,
    /// The books.
    pub balance: Balance,
    /// Mean number of jobs in the first and in the second half of the window.
    pub halves: [f64; 2],
    /// The window in parts, one after the other, if intervals are to come from a single run.
    pub parts: Vec<Part>,
    /// The time course, if it was asked for: series of equal length.
    pub trajectory: Vec<Series>,
    /// The lengths of the queues at some moments, if they were asked for and this is the replication that shows them.
    pub snapshots: Option<Lengths>,
}

/// What was measured in a part of the window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// The values of all metrics.
    pub readings: Vec<Reading>,
    /// The books.
    pub balance: Balance,
    /// How response and waiting times are spread, unless switched off.
    pub outlines: Outlines,
}

/// How delays are spread, as far as they were measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outlines {
    /// Response times.
    pub response: Option<Outline>,
    /// Waiting times.
    pub waiting: Option<Outline>,
}

impl Record {
    /// How the delays are spread.
    pub fn outlines(&self) -> Outlines {
        let of = |delays: &Option<DelayHistogram>| delays.as_ref().map(Outline::of);
        Outlines { response: of(&self.response), waiting: of(&self.waiting) }
    }
}

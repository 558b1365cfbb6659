//! What a scenario asks to be measured.

use super::snapshots::Snapshots;
use super::trajectory::Trajectory;
use crate::model::{NonNegative, System};
use crate::policy::Policy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which probes are on. The books, the number of jobs, messages, utilization and regret are always kept; no probe
/// influences a run or another probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// Time averages and variances of s_k.
    pub tail_fraction: bool,
    /// Histograms over time of s_k for k up to this; 0 switches them off.
    pub tail_histogram_levels: u64,
    /// Waiting and response times.
    pub delays: bool,
    /// Quantiles of the delays, each between 0 and 1.
    #[schemars(inner(range(min = 0, max = 1)))]
    pub quantiles: Vec<f64>,
    /// Queue lengths and response times per server class.
    pub classes: bool,
    /// Jobs per dispatcher.
    pub dispatchers: bool,
    /// Errors of the dispatchers' estimates; memory for one more copy of all estimates.
    pub estimates: bool,
    /// Imbalance of the queues.
    pub imbalance: bool,
    /// Longest queue minus shortest.
    pub queue_range: bool,
    /// True ranks of the chosen servers.
    pub chosen_rank: bool,
    /// Sizes of bursts: consecutive jobs that go to one server.
    pub burst_size: bool,
    /// How soon after each other two jobs from different dispatchers must come for a coincidence; 0 switches the probe
    /// off. Costs some ten nanoseconds per job, and memory for the jobs of that time and 8 bytes per server.
    pub coincidence_window: NonNegative,
    /// Ages of the local estimates acted on; memory of 8 bytes per dispatcher and server.
    pub estimate_age: bool,
    /// A time course on a grid, written to trajectory.csv; off by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trajectory: Option<Trajectory>,
    /// The lengths of the queues at moments of the first replication, written to snapshots.csv; off by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<Snapshots>,
}

impl Default for Measure {
    fn default() -> Self {
        Self {
            tail_fraction: true,
            tail_histogram_levels: 64,
            delays: true,
            quantiles: vec![0.5, 0.9, 0.99, 0.999],
            classes: true,
            dispatchers: true,
            estimates: true,
            imbalance: true,
            queue_range: true,
            chosen_rank: true,
            burst_size: true,
            coincidence_window: NonNegative::new(0.1).expect("0.1 is not negative"),
            estimate_age: true,
            trajectory: None,
            snapshots: None,
        }
    }
}

impl Measure {
    /// All probes off.
    pub fn nothing() -> Self {
        Self {
            tail_fraction: false,
            tail_histogram_levels: 0,
            delays: false,
            quantiles: Vec::new(),
            classes: false,
            dispatchers: false,
            estimates: false,
            imbalance: false,
            queue_range: false,
            chosen_rank: false,
            burst_size: false,
            coincidence_window: NonNegative::new(0.0).expect("0 is not negative"),
            estimate_age: false,
            trajectory: None,
            snapshots: None,
        }
    }

    /// Whether all that is measured are counts and averages that a memoryless engine can keep by itself.
    pub fn can_be_counted(&self, system: &System, policy: &Policy) -> bool {
        let looks_at_estimates = policy.information.is_local() && (self.estimates || self.estimate_age);
        policy.information.is_prompt()
            && !looks_at_estimates
            && system.servers.classes().len() == 1
            && self.trajectory.is_none()
            && self.snapshots.is_none()
            && !(self.coincidence_window.get() > 0.0 && system.dispatchers.len() > 1)
    }
}

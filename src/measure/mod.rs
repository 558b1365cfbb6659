//! What is recorded inside the measuring window: one file per probe, behind the observer that engines report to.

mod balance;
mod bursts;
mod census;
mod chosen_rank;
mod classes;
mod coincidences;
mod delay_histogram;
mod delay_law;
mod delays;
mod estimate_age;
mod herding;
mod imbalance;
mod jobs;
mod jobs_course;
mod messages;
mod metric;
mod moments;
mod occupancy;
mod probes;
mod queue_range;
mod record;
mod snapshots;
mod staleness;
mod trajectory;
mod utilization;

pub use balance::Balance;
pub use delay_histogram::DelayHistogram;
pub use estimate_age::Refreshes;
pub use jobs_course::JobsCourse;
pub use metric::{Metric, Reading, SYMBOLS, Weight};
pub use moments::Moments;
pub use probes::{Measure, Probes};
pub use record::{Part, Record};
pub use snapshots::{Lengths, Snapshots};
pub use trajectory::{Series, Trajectory};

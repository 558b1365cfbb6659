//! Estimates from replications; this module knows nothing of queues.

mod interval;
mod warning;

pub use interval::{Confidence, Interval, paired_t, student_quantile};
pub use warning::Warning;

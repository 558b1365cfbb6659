//! Estimates from replications; this module knows nothing of queues.

mod interval;
mod method;
mod ratio;
mod sample;
mod warning;

pub use interval::{Confidence, Interval, paired_t, student_quantile};
pub use method::Method;
pub use sample::Sample;
pub use warning::Warning;

//! Estimates from replications; this module knows nothing of queues.

mod batch_means;
mod interval;
mod method;
mod paired;
mod ratio;
mod sample;
mod warning;

pub use batch_means::{BatchMeans, Batching, batch_means, von_neumann};
pub use interval::{Confidence, Interval, paired_t, student_quantile};
pub use method::Method;
pub use paired::{Comparison, compare};
pub use sample::Sample;
pub use warning::Warning;

//! Estimates from replications; this module knows nothing of queues.

mod batch_means;
mod interval;
mod method;
mod paired;
mod quantile;
mod ratio;
mod sample;
mod sequential;
mod warm_up;
mod warning;

pub use batch_means::{BatchMeans, Batching, batch_means, von_neumann};
pub use interval::{Confidence, Interval, paired_t, student_quantile};
pub use method::Method;
pub use paired::{Comparison, compare};
pub use quantile::QuantileInterval;
pub use sample::Sample;
pub use sequential::{Decision, Precision, widest};
pub use warm_up::{Trend, Truncation, WarmUp, average, judge_warm_up, mser5, remaining_trend};
pub use warning::Warning;

//! What the simulation should give: limits, formulas and theorems, without looking at an engine.

mod exact;
mod formulas;
mod heavy_traffic;
mod mean_field;
mod noise;
mod overload;
mod predictions;
mod preference;
mod refresh;
mod regime;
mod report;
mod theorems;

pub use exact::{Exact, NotSolved};
pub use formulas::{HalfinWhitt, MG1, MMN};
pub use heavy_traffic::HeavyTraffic;
pub use mean_field::{MeanField, NEGLIGIBLE, Trajectory, TrajectoryError, Truncated};
pub use noise::Noise;
pub use overload::Overload;
pub use predictions::{Kind, Prediction, Predictions, QUICK};
pub use preference::Preference;
pub use refresh::{Bound, Refresh};
pub use regime::{Regime, SubHalfinWhitt};
pub use report::{Known, Level, ManyServerLoad, Report, Statement, Unknown};
pub use theorems::{Theorems, Verdict};

/// A number with four significant digits, for messages.
fn short(x: f64) -> String {
    format!("{x:.3e}").parse::<f64>().unwrap_or(x).to_string()
}

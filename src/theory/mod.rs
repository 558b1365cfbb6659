//! What the simulation should give: limits, formulas and theorems, without looking at an engine.

mod exact;
mod mean_field;
mod overload;
mod preference;
mod refresh;
mod theorems;

pub use exact::{Exact, NotSolved};
pub use mean_field::MeanField;
pub use overload::Overload;
pub use preference::Preference;
pub use refresh::{Bound, Refresh};
pub use theorems::{Theorems, Verdict};

/// A number with four significant digits, for messages.
fn short(x: f64) -> String {
    format!("{x:.3e}").parse::<f64>().unwrap_or(x).to_string()
}

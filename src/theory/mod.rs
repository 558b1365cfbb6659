//! What the simulation should give: limits and formulas, without looking at an engine.

mod mean_field;

pub use mean_field::MeanField;

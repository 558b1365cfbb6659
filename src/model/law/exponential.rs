//! The exponential law: density `exp(-x / mean) / mean` for x >= 0, variance `mean^2`.

use crate::model::number::NonNegative;
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Exponential with a given mean; a mean of 0 is the constant 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exponential {
    /// The mean.
    pub mean: NonNegative,
}

impl Default for Exponential {
    fn default() -> Self {
        Self { mean: NonNegative::new(1.0).expect("1 is not negative") }
    }
}

impl Exponential {
    #[inline]
    pub(super) fn sample(&self, stream: &mut Stream) -> f64 {
        self.mean.get() * stream.exponential()
    }

    pub(crate) fn mean(&self) -> f64 {
        self.mean.get()
    }

    pub(super) fn variance(&self) -> f64 {
        self.mean.get().powi(2)
    }
}

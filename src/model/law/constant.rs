//! The constant law: `P(X = value) = 1`.

use crate::model::number::NonNegative;
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Always the same value; it draws no random number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Constant(pub NonNegative);

impl Constant {
    pub(super) fn sample(&self, _: &mut Stream) -> f64 {
        self.0.get()
    }

    pub(super) fn mean(&self) -> f64 {
        self.0.get()
    }

    pub(super) fn variance(&self) -> f64 {
        0.0
    }
}

//! Delayed information: the view at time t is Q(t - D), the same for all dispatchers.

use crate::model::NonNegative;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The view is the queue lengths of `age` ago. Own jobs are not added: all dispatchers look at one old picture, for
/// which no messages are counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delayed {
    /// How old the picture is, in units of time or in slots.
    pub age: NonNegative,
}

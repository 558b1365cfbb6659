//! Exact information: the view is the true queue lengths; asking for them may take time.

use super::instantaneous;
use crate::model::Law;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The view is Q.
///
/// With a query delay the servers that the strategy asks answer at once, each answer takes a time of its own, and the
/// job waits at its dispatcher for the last one; it is then sent by the lengths as they were when the servers
/// answered. The wait is part of its response time. A strategy that asks nobody does not wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Exact {
    /// Law of the time an answer takes; in a slotted system it must be 0.
    pub query_delay: Law,
}

impl Default for Exact {
    fn default() -> Self {
        Self { query_delay: instantaneous() }
    }
}

//! On idle: a server that becomes idle tells one dispatcher, drawn uniformly (classical JIQ).

use super::{Channel, instantaneous, never};
use crate::model::{Law, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A server that becomes idle tells one dispatcher; a report is one message. With own jobs counted, the dispatcher
/// forgets that the server is idle when it uses it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OnIdle {
    /// Law of the time a report takes.
    pub delay: Law,
    /// Probability that a report is lost.
    pub loss: Probability,
}

impl Default for OnIdle {
    fn default() -> Self {
        Self { delay: instantaneous(), loss: never() }
    }
}

impl OnIdle {
    /// How the reports travel.
    pub fn channel(&self) -> Channel<'_> {
        Channel { delay: &self.delay, loss: self.loss.get() }
    }
}

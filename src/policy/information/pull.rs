//! Pull: at each completion the server may report to one dispatcher, and surely does when it is now idle.

use super::{Channel, always, instantaneous, never};
use crate::model::{Law, Probability};
use crate::random::split;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// At each completion the server picks a dispatcher uniformly and reports its length: surely when it is now idle,
/// else with this probability. A report is one message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pull {
    /// Probability of a report while jobs remain.
    pub probability: Probability,
    /// Law of the time a report takes.
    pub delay: Law,
    /// Probability that a report is lost.
    pub loss: Probability,
}

impl Default for Pull {
    fn default() -> Self {
        Self { probability: always(), delay: instantaneous(), loss: never() }
    }
}

impl Pull {
    /// The dispatcher, one of so many, to which a server reports that holds `length` jobs after a completion; none if it does
    /// not report. Random bits decide.
    #[inline(always)]
    pub fn draw(&self, length: u32, dispatchers: u32, bits: u64) -> Option<u32> {
        let (dispatcher, chance) = split(bits, dispatchers);
        (length == 0 || chance < self.probability.get()).then_some(dispatcher)
    }

    /// How the reports travel.
    pub fn channel(&self) -> Channel<'_> {
        Channel { delay: &self.delay, loss: self.loss.get() }
    }
}

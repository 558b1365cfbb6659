//! Periodic updates: the bulletin board of Mitzenmacher's old-information model.

use super::{Channel, instantaneous, never};
use crate::model::{Fault, Law, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every server tells every dispatcher its length, from time to time: N messages per period and dispatcher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Periodic {
    /// Law of the time between reports, of positive mean: a number T for a period, exponential for a Poisson process.
    pub period: Law,
    /// Whether all servers report together or each at its own phase.
    #[serde(default)]
    pub phase: Phase,
    /// Law of the time a report takes.
    #[serde(default = "instantaneous")]
    pub delay: Law,
    /// Probability that a report to a dispatcher is lost.
    #[serde(default = "never")]
    pub loss: Probability,
}

/// When the servers report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// All together, first one period after time 0.
    #[default]
    Common,
    /// Each by itself, first at a time uniform on the first period.
    Own,
}

impl Periodic {
    /// How the reports travel.
    pub fn channel(&self) -> Channel<'_> {
        Channel { delay: &self.delay, loss: self.loss.get() }
    }

    pub(super) fn validate(&self) -> Result<(), Fault> {
        if self.period.mean() > 0.0 {
            return Ok(());
        }
        Err(Fault::at("periodic.period", "must have a mean above 0", "write for example period: 1"))
    }
}

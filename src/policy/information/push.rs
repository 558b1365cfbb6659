//! Push: at each arrival, just after the job joined, the dispatcher asks d servers with probability p.

use super::{Channel, always, instantaneous, never};
use crate::model::{Count, Fault, Law, Probability, Servers};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// With this probability a dispatcher that just sent a job samples d distinct servers and learns their lengths.
///
/// The servers answer at once, each in a message of its own that takes a time of its own and carries the length at
/// the moment it was sent. An update costs 2d messages: d requests and d answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Push {
    /// The number of servers asked.
    pub d: Count,
    /// Probability of asking after a job.
    pub probability: Probability,
    /// Law of the time an answer takes.
    pub delay: Law,
    /// Probability that an answer is lost.
    pub loss: Probability,
    /// Whether the answers travel together: one delay and one fate for all. They are counted as without it.
    pub joint: bool,
}

impl Default for Push {
    fn default() -> Self {
        Self {
            d: Count::new(1).expect("1 is a count"),
            probability: always(),
            delay: instantaneous(),
            loss: never(),
            joint: false,
        }
    }
}

impl Push {
    /// Whether the dispatcher asks after this job; certain outcomes take no draw.
    #[inline]
    pub fn happens(&self, stream: &mut Stream) -> bool {
        self.probability.get() == 1.0 || stream.chance(self.probability.get())
    }

    /// How the answers travel.
    pub fn channel(&self) -> Channel<'_> {
        Channel { delay: &self.delay, loss: self.loss.get() }
    }

    pub(super) fn validate(&self, servers: &Servers) -> Result<(), Fault> {
        let n = servers.len();
        if self.d.get() > n {
            return Err(Fault::at(
                "push.d",
                format!("d distinct servers cannot be sampled from {n}"),
                format!("use d of at most {n}"),
            ));
        }
        Ok(())
    }
}

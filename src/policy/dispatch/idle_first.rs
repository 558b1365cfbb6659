//! Join the idle queue: a server of length 0 in view, uniformly; when there is none, a random one.

use super::{Choose, Strategy, weighted_random};
use crate::model::{Dispatchers, Servers};
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a job goes when no idle server is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// Any server, uniformly.
    #[default]
    Random,
    /// A server in proportion to its rate.
    WeightedRandom,
}

/// An idle server if one is in view, else a random one (JIQ).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IdleFirst {
    /// Where a job goes when no idle server is in view.
    pub fallback: Fallback,
}

/// The fallback made ready.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    weighted: Option<weighted_random::Ready>,
    servers: u32,
}

impl Strategy for IdleFirst {
    type Chooser = Ready;

    fn need(&self, _: &Servers) -> Need {
        Need::Sorted
    }

    fn prepare(&self, servers: &Servers, _: &Dispatchers, _: &mut Stream) -> Ready {
        let weighted = (self.fallback == Fallback::WeightedRandom).then(|| weighted_random::Ready::new(servers));
        Ready { weighted, servers: servers.len() }
    }
}

impl Choose for Ready {
    #[inline]
    fn choose(&mut self, _: u32, view: &View, stream: &mut Stream) -> u32 {
        let servers = view.sorted();
        if servers.min() == 0 {
            return servers.at(stream.below(u64::from(servers.count_min())) as u32);
        }
        match &self.weighted {
            Some(weighted) => weighted.draw(stream),
            None => stream.below(u64::from(self.servers)) as u32,
        }
    }
}

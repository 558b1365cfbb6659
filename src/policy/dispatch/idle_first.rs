//! Join the idle queue: a server of length 0 in view, uniformly; when there is none, a random one.

use super::fallback::{Anyone, Fallback};
use super::{Choose, Strategy};
use crate::model::{Dispatchers, Servers};
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An idle server if one is in view, else a random one (JIQ).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IdleFirst {
    /// Where a job goes when no idle server is in view.
    pub fallback: Fallback,
}

/// The fallback made ready.
#[derive(Clone, Debug)]
pub(crate) struct Ready(Anyone);

impl Strategy for IdleFirst {
    type Chooser = Ready;

    fn need(&self, _: &Servers) -> Need {
        Need::Sorted
    }

    fn prepare(&self, servers: &Servers, _: &Dispatchers, _: &mut Stream) -> Ready {
        Ready(self.fallback.prepare(servers))
    }
}

impl Choose for Ready {
    #[inline]
    fn choose(&mut self, _: u32, view: &View, stream: &mut Stream) -> u32 {
        let servers = view.sorted();
        if servers.min() == 0 {
            return servers.at(stream.below(u64::from(servers.count_min())) as u32);
        }
        self.0.draw(stream)
    }
}

//! Random routing: every server with probability `1 / N`.

use super::{Choose, Strategy};
use crate::model::{Dispatchers, Servers};
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Any server, uniformly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {}

/// The number of servers to draw from.
#[derive(Clone, Debug)]
pub(crate) struct Ready(u32);

impl Strategy for Random {
    type Chooser = Ready;

    fn need(&self, _: &Servers) -> Need {
        Need::Nothing
    }

    fn prepare(&self, servers: &Servers, _: &Dispatchers, _: &mut Stream) -> Ready {
        Ready(servers.numbered())
    }
}

impl Choose for Ready {
    #[inline]
    fn choose(&mut self, _: u32, _: &View, stream: &mut Stream) -> u32 {
        stream.below(u64::from(self.0)) as u32
    }
}

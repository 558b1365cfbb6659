//! Round robin: each dispatcher goes round the servers in order, from a start of its own drawn at random.

use super::{Choose, Strategy};
use crate::model::{Dispatchers, Servers};
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each dispatcher goes round the servers from a random start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundRobin {}

/// The next server of each dispatcher.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    next: Vec<u32>,
    servers: u32,
}

impl Strategy for RoundRobin {
    type Chooser = Ready;

    fn need(&self, _: &Servers) -> Need {
        Need::Nothing
    }

    fn prepare(&self, servers: &Servers, dispatchers: &Dispatchers, stream: &mut Stream) -> Ready {
        let servers = servers.numbered();
        Ready { next: (0..dispatchers.len()).map(|_| stream.below(u64::from(servers)) as u32).collect(), servers }
    }
}

impl Choose for Ready {
    #[inline]
    fn choose(&mut self, dispatcher: u32, _: &View, _: &mut Stream) -> u32 {
        let next = &mut self.next[dispatcher as usize];
        let server = *next;
        *next = if server + 1 == self.servers { 0 } else { server + 1 };
        server
    }
}

//! Join the shortest queue: `argmin v_n`, ties uniformly; the job in service counts.

use super::{Choose, Strategy};
use crate::model::{Dispatchers, Servers};
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shortest queue in view, ties uniformly (JSQ; on local estimates L-JSQ).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shortest {}

/// Nothing to remember: the view keeps the servers sorted.
#[derive(Clone, Debug)]
pub(crate) struct Ready;

impl Strategy for Shortest {
    type Chooser = Ready;

    fn need(&self, _: &Servers) -> Need {
        Need::Sorted
    }

    fn prepare(&self, _: &Servers, _: &Dispatchers, _: &mut Stream) -> Ready {
        Ready
    }
}

impl Choose for Ready {
    #[inline]
    fn choose(&mut self, _: u32, view: &View, stream: &mut Stream) -> u32 {
        let servers = view.sorted();
        servers.at(stream.below(u64::from(servers.count_min())) as u32)
    }

    /// Who is shortest is known with its place in the order, which need not be looked up.
    #[inline(always)]
    fn choose_and_count(&mut self, _: u32, view: &mut View, stream: &mut Stream) -> Result<u32, u32> {
        let rank = stream.below(u64::from(view.sorted().count_min())) as u32;
        view.add_to_shortest(rank)
    }
}

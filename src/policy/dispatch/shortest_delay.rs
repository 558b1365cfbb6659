//! Shortest expected delay: `argmin (v_n + 1) / mu_n`, ties uniformly.

use super::{Choose, Strategy};
use crate::model::{Dispatchers, Servers};
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The smallest `(length + 1) / rate` in view, ties uniformly (SED).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortestDelay {}

/// The rate of each class, and what is added to a length before it is divided by the rate.
///
/// A choice looks at the shortest servers of each class: it costs O(number of classes), not O(N).
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    rates: Vec<f64>,
    extra: u32,
}

impl Ready {
    pub(super) fn new(servers: &Servers, extra: u32) -> Self {
        Self { rates: servers.classes().iter().map(|class| class.rate).collect(), extra }
    }
}

impl Strategy for ShortestDelay {
    type Chooser = Ready;

    fn need(&self, _: &Servers) -> Need {
        Need::SortedByClass
    }

    fn prepare(&self, servers: &Servers, _: &Dispatchers, _: &mut Stream) -> Ready {
        Ready::new(servers, 1)
    }
}

impl Choose for Ready {
    fn choose(&mut self, _: u32, view: &View, stream: &mut Stream) -> u32 {
        let classes = view.sorted_by_class();
        let cost = |class: usize| (f64::from(classes[class].min()) + f64::from(self.extra)) / self.rates[class];
        let mut best = f64::INFINITY;
        let mut tied = 0_u64;
        for (class, servers) in classes.iter().enumerate() {
            let cost = cost(class);
            if cost < best {
                best = cost;
                tied = 0;
            }
            if cost == best {
                tied += u64::from(servers.count_min());
            }
        }
        let mut rank = stream.below(tied);
        for (class, servers) in classes.iter().enumerate() {
            if cost(class) == best {
                let here = u64::from(servers.count_min());
                if rank < here {
                    return servers.at(rank as u32);
                }
                rank -= here;
            }
        }
        unreachable!("a rank below the number of tied servers lies in one of their classes")
    }
}

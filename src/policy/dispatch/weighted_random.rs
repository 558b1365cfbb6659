//! Weighted random routing: server n with probability `mu_n / mu_sum`.

use super::{Choose, Strategy};
use crate::model::{Dispatchers, Servers};
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A server in proportion to its rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightedRandom {}

/// The classes with the summed rate and the number of servers up to and including each.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    rates: Vec<f64>,
    servers: Vec<u32>,
}

impl Ready {
    pub(super) fn new(servers: &Servers) -> Self {
        let (mut rate, mut count) = (0.0, 0);
        let (mut rates, mut counts) = (Vec::new(), Vec::new());
        for class in servers.classes() {
            rate += class.count as f64 * class.rate;
            count += class.count;
            rates.push(rate);
            counts.push(count as u32);
        }
        Self { rates, servers: counts }
    }

    /// Draws a class by its total rate, then a server of it uniformly.
    pub(super) fn draw(&self, stream: &mut Stream) -> u32 {
        let last = self.rates.len() - 1;
        let class = if last == 0 {
            0
        } else {
            let target = stream.uniform() * self.rates[last];
            self.rates.partition_point(|&sum| sum <= target).min(last)
        };
        let first = if class == 0 { 0 } else { self.servers[class - 1] };
        first + stream.below(u64::from(self.servers[class] - first)) as u32
    }
}

impl Strategy for WeightedRandom {
    type Chooser = Ready;

    fn need(&self, _: &Servers) -> Need {
        Need::Nothing
    }

    fn prepare(&self, servers: &Servers, _: &Dispatchers, _: &mut Stream) -> Ready {
        Ready::new(servers)
    }
}

impl Choose for Ready {
    #[inline]
    fn choose(&mut self, _: u32, _: &View, stream: &mut Stream) -> u32 {
        self.draw(stream)
    }
}

//! Tidal water filling: a batch is spread so as to level the view (Goren, Vargaftik, Moses: Distributed dispatching in
//! the parallel server model, 2020; Stochastic coordination in heterogeneous load balancing systems, 2021).

use super::{Choose, Strategy};
use crate::model::{Dispatchers, Servers};
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each job of a batch goes to server n with the probability that levels the view in the mean.
///
/// A dispatcher with share p that receives a jobs takes the arrivals of all to be `a / p`. They would fill the queues,
/// in units of the rate, up to the water level L with `sum_n max(0, mu_n L - v_n) = a / p`; each of its jobs goes to
/// server n with probability `max(0, mu_n L - v_n) p / a`, independently, so that dispatchers which do not talk to
/// each other do not run to the same server. A choice costs O(N log N).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tidal {}

/// What levelling needs.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    rates: Vec<f64>,
    shares: Vec<f64>,
    /// Servers by increasing length in units of the rate.
    order: Vec<u32>,
    /// Room below the water, summed over the servers in that order.
    filled: Vec<f64>,
    /// Jobs given to each server in that order.
    given: Vec<u32>,
}

impl Strategy for Tidal {
    type Chooser = Ready;

    fn need(&self, _: &Servers) -> Need {
        Need::Lengths
    }

    fn splits_batches(&self) -> bool {
        true
    }

    fn prepare(&self, servers: &Servers, dispatchers: &Dispatchers, _: &mut Stream) -> Ready {
        Ready {
            rates: (0..servers.numbered()).map(|server| servers.rate(server)).collect(),
            shares: dispatchers.shares().to_vec(),
            order: (0..servers.numbered()).collect(),
            filled: Vec::new(),
            given: Vec::new(),
        }
    }
}

impl Ready {
    /// Finds the servers below the water, and the room that they have up to each.
    fn level(&mut self, arrivals: f64, view: &View) {
        let height = |server: u32| f64::from(view.length(server)) / self.rates[server as usize];
        self.order.sort_unstable_by(|&a, &b| height(a).total_cmp(&height(b)).then(a.cmp(&b)));
        let (mut jobs, mut rate, mut level) = (arrivals, 0.0, f64::INFINITY);
        let mut below = 0;
        for &server in &self.order {
            if height(server) >= level {
                break;
            }
            jobs += f64::from(view.length(server));
            rate += self.rates[server as usize];
            level = jobs / rate;
            below += 1;
        }
        self.filled.clear();
        let mut filled = 0.0;
        for &server in &self.order[..below] {
            filled += (self.rates[server as usize] * level - f64::from(view.length(server))).max(0.0);
            self.filled.push(filled);
        }
    }
}

impl Choose for Ready {
    fn choose(&mut self, dispatcher: u32, view: &View, stream: &mut Stream) -> u32 {
        let mut shares = Vec::new();
        self.split(dispatcher, 1, view, stream, &mut shares);
        shares[0].0
    }

    fn split(
        &mut self,
        dispatcher: u32,
        jobs: u32,
        view: &View,
        stream: &mut Stream,
        shares: &mut Vec<(u32, u32)>,
    ) {
        self.level(f64::from(jobs) / self.shares[dispatcher as usize], view);
        self.given.clear();
        self.given.resize(self.filled.len(), 0);
        let last = self.filled.len() - 1;
        for _ in 0..jobs {
            let target = stream.uniform() * self.filled[last];
            self.given[self.filled.partition_point(|&filled| filled <= target).min(last)] += 1;
        }
        let given = self.order.iter().zip(&self.given).filter(|&(_, &jobs)| jobs > 0);
        shares.extend(given.map(|(&server, &jobs)| (server, jobs)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ServerClass;
    use crate::random::Component;

    /// Lengths 0, 1, 4 at rates 1, 1, 2 and 5 jobs of the only dispatcher: the level is (5 + 5) / 4 = 2.5, so the room
    /// is 2.5, 1.5 and 1. Chi-square with 2 degrees of freedom: 18.4 is exceeded with probability 1e-4.
    #[test]
    fn jobs_fill_the_room_below_the_water() {
        let class = |name: &str, count, rate| ServerClass { name: name.into(), count, rate };
        let servers = Servers::new(vec![class("slow", 2, 1.0), class("fast", 1, 2.0)]).expect("valid");
        let dispatchers = Dispatchers::equal(1).expect("one");
        let mut stream = Stream::new(5, 0, Component::Dispatch);
        let mut ready = Tidal {}.prepare(&servers, &dispatchers, &mut stream);
        let view = View::truth(vec![0, 1, 4], Need::Lengths, &servers);
        let mut counts = [0_u32; 3];
        for _ in 0..100_000 {
            let mut shares = Vec::new();
            ready.split(0, 5, &view, &mut stream, &mut shares);
            assert_eq!(shares.iter().map(|&(_, jobs)| jobs).sum::<u32>(), 5);
            for (server, jobs) in shares {
                counts[server as usize] += jobs;
            }
        }
        let expected = [250_000.0, 150_000.0, 100_000.0];
        let chi_square: f64 =
            counts.iter().zip(expected).map(|(&count, e)| (f64::from(count) - e).powi(2) / e).sum();
        assert!(chi_square < 18.4, "{counts:?}");
    }

    /// A long queue above the water gets nothing, and two dispatchers each take the other's jobs into account.
    #[test]
    fn servers_above_the_water_are_spared() {
        let servers = Servers::homogeneous(3).expect("valid");
        let dispatchers = Dispatchers::equal(2).expect("two");
        let mut stream = Stream::new(6, 0, Component::Dispatch);
        let mut ready = Tidal {}.prepare(&servers, &dispatchers, &mut stream);
        let view = View::truth(vec![0, 9, 1], Need::Lengths, &servers);
        ready.level(3.0 / 0.5, &view);
        assert_eq!(ready.order[..ready.filled.len()], [0, 2]);
        // The level is (6 + 0 + 1) / 2 = 3.5.
        assert_eq!(ready.filled, [3.5, 6.0]);
    }
}

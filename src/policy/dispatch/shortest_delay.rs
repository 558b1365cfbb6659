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

/// Whether a cost is the least one. Rates such as 0.1 and 0.3 are not binary fractions, so that costs that are equal on
/// paper can differ in their last digits; no two lengths of a queue are as close as this.
#[inline]
pub(crate) fn is_equal(cost: f64, least: f64) -> bool {
    cost <= least * (1.0 + 1e-12)
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
        let least = (0..classes.len()).map(cost).fold(f64::INFINITY, f64::min);
        let is_tied = |class: usize| is_equal(cost(class), least);
        let tied = (0..classes.len()).filter(|&class| is_tied(class)).map(|class| u64::from(classes[class].count_min()));
        let mut rank = stream.below(tied.sum());
        for (class, servers) in classes.iter().enumerate() {
            if is_tied(class) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ServerClass;
    use crate::random::Component;

    /// One job at 0.1 takes as long as three at 0.3, though 0.3 is not three times 0.1 in binary.
    #[test]
    fn ties_on_paper_are_ties() {
        let class = |rate: f64| ServerClass { name: rate.to_string(), count: 1, rate };
        for (rates, lengths, extra) in [([0.1, 0.3], [0, 2], 1), ([0.1, 0.3], [1, 3], 0), ([0.7, 2.1], [1, 5], 1)] {
            let servers = Servers::new(rates.map(class).to_vec()).expect("servers");
            let view = View::truth(lengths.to_vec(), Need::SortedByClass, &servers);
            let mut stream = Stream::new(5, 0, Component::Dispatch);
            let mut ready = Ready::new(&servers, extra);
            let first = (0..1000).filter(|_| ready.choose(0, &view, &mut stream) == 0).count();
            assert!((400..600).contains(&first), "{rates:?}: {first} of 1000");
        }
        assert!(is_equal(0.0, 0.0) && !is_equal(1.0, 0.0) && !is_equal(1.0 + 1e-9, 1.0));
    }
}

//! Join below average: among `{n : v_n <= mean(v)}`, in proportion to the rate or uniformly.

use super::{Choose, Strategy};
use crate::model::{Dispatchers, Servers};
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How servers that qualify are weighed against each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weighting {
    /// In proportion to the rate `mu_n`.
    #[default]
    Rate,
    /// All alike.
    Uniform,
}

/// A server whose length in view does not exceed the average in view (JBA; on local estimates L-JBA).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BelowAverage {
    /// How the servers that qualify are weighed.
    pub weighting: Weighting,
}

/// The rate of each class, when they differ and count.
///
/// A choice costs O(number of classes).
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    servers: u64,
    rates: Vec<f64>,
}

impl Strategy for BelowAverage {
    type Chooser = Ready;

    fn need(&self, servers: &Servers) -> Need {
        if self.weighting == Weighting::Uniform || servers.are_homogeneous() {
            Need::Sorted
        } else {
            Need::SortedByClass
        }
    }

    fn prepare(&self, servers: &Servers, _: &Dispatchers, _: &mut Stream) -> Ready {
        let rates = match self.need(servers) {
            Need::SortedByClass => servers.classes().iter().map(|class| class.rate).collect(),
            _ => Vec::new(),
        };
        Ready { servers: u64::from(servers.len()), rates }
    }
}

impl Choose for Ready {
    fn choose(&mut self, _: u32, view: &View, stream: &mut Stream) -> u32 {
        // Lengths are whole, so the largest that does not exceed the mean is its whole part.
        let average = (view.total() / self.servers) as u32;
        if self.rates.is_empty() {
            let servers = view.sorted();
            return servers.at(stream.below(u64::from(servers.count_at_most(average))) as u32);
        }
        let classes = view.sorted_by_class();
        let weight = |class: usize| self.rates[class] * f64::from(classes[class].count_at_most(average));
        let total: f64 = (0..classes.len()).map(weight).sum();
        let mut target = stream.uniform() * total;
        let mut chosen = 0;
        for class in 0..classes.len() {
            let weight = weight(class);
            if weight > 0.0 {
                // Rounding may leave a target beyond the last class: the last one that qualifies takes it.
                chosen = class;
                if target < weight {
                    break;
                }
                target -= weight;
            }
        }
        classes[chosen].at(stream.below(u64::from(classes[chosen].count_at_most(average))) as u32)
    }
}

//! How servers that qualify are weighed against each other, and a draw among those not longer than a bound.

use crate::model::Servers;
use crate::policy::sample::in_proportion;
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

impl Weighting {
    /// The order of the view that a draw among servers not longer than a bound needs.
    pub(super) fn need(self, servers: &Servers) -> Need {
        if self == Self::Uniform || servers.are_homogeneous() { Need::Sorted } else { Need::SortedByClass }
    }
}

/// Draws among the servers not longer than a bound, in O(number of classes).
#[derive(Clone, Debug)]
pub(super) struct NotLonger {
    /// The rate of each class, when they differ and count; else empty.
    rates: Vec<f64>,
}

impl NotLonger {
    pub(super) fn new(weighting: Weighting, servers: &Servers) -> Self {
        let rates = match weighting.need(servers) {
            Need::SortedByClass => servers.classes().iter().map(|class| class.rate).collect(),
            _ => Vec::new(),
        };
        Self { rates }
    }

    /// A server of length at most `bound`, in proportion to its weight; none, and no draw, when all are longer.
    #[inline]
    pub(super) fn draw(&self, bound: u32, view: &View, stream: &mut Stream) -> Option<u32> {
        let servers = if self.rates.is_empty() {
            view.sorted()
        } else {
            let classes = view.sorted_by_class();
            let weight = |class: usize| self.rates[class] * f64::from(classes[class].count_at_most(bound));
            &classes[in_proportion(classes.len(), weight, stream)?]
        };
        let count = servers.count_at_most(bound);
        (count > 0).then(|| servers.at(stream.below(u64::from(count)) as u32))
    }
}

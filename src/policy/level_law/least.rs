//! One of the servers of least cost, ties uniformly.

use super::{Law, NOTHING, State};
use crate::policy::dispatch::is_equal;

/// What a server costs, from its length and rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cost {
    /// The length.
    Length,
    /// (length + 1) / rate.
    Delay,
    /// length / rate.
    Normalized,
}

impl Cost {
    fn of(self, length: usize, rate: f64) -> f64 {
        match self {
            Self::Length => length as f64,
            Self::Delay => (length as f64 + 1.0) / rate,
            Self::Normalized => length as f64 / rate,
        }
    }
}

/// The groups of servers of one class and length.
pub(super) struct Least<'a> {
    cost: Cost,
    state: &'a State<'a>,
}

impl<'a> Least<'a> {
    pub(super) fn new(cost: Cost, state: &'a State<'a>) -> Self {
        Self { cost, state }
    }

    fn cost(&self, class: usize, k: usize) -> f64 {
        self.cost.of(k, self.state.classes[class].0)
    }

    /// Class and length of the groups that hold more than `least` servers.
    fn groups(&self, least: f64) -> Vec<(usize, usize)> {
        let levels = |class: usize| (0..self.state.tails[class].len()).map(move |k| (class, k));
        let all = (0..self.state.classes.len()).flat_map(levels);
        all.filter(|&(class, k)| self.state.at(class, k) > least).collect()
    }

    /// Adds a part of the jobs, spread evenly over the groups of this cost.
    fn add(&self, part: f64, groups: &[(usize, usize)], cost: f64, law: &mut Law) {
        let tied = || groups.iter().filter(|&&(class, k)| is_equal(self.cost(class, k), cost));
        let total: f64 = tied().map(|&(class, k)| self.state.at(class, k)).sum();
        for &(class, k) in tied() {
            law[class][k] += part * self.state.at(class, k) / total;
        }
    }

    fn least(&self, groups: &[(usize, usize)]) -> f64 {
        groups.iter().map(|&(class, k)| self.cost(class, k)).fold(f64::INFINITY, f64::min)
    }

    pub(super) fn of_counts(&self) -> Law {
        let groups = self.groups(0.0);
        let mut law = self.state.empty_law();
        self.add(1.0, &groups, self.least(&groups), &mut law);
        law
    }

    /// Servers that a departure makes cheaper than all others get a job at once, the cheapest first.
    pub(super) fn in_the_limit(&self, arrival_rate: f64) -> Law {
        let groups = self.groups(NOTHING);
        let least = self.least(&groups);
        let mut falling: Vec<(f64, usize, usize, f64)> = groups
            .iter()
            .filter(|&&(class, k)| k > 0 && !is_equal(least, self.cost(class, k - 1)))
            .map(|&(class, k)| {
                let flow = self.state.classes[class].0 * self.state.at(class, k);
                (self.cost(class, k - 1), class, k - 1, flow)
            })
            .collect();
        falling.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut law = self.state.empty_law();
        let mut left = 1.0;
        for group in falling.chunk_by(|a, b| is_equal(b.0, a.0)) {
            let flow: f64 = group.iter().map(|falling| falling.3).sum();
            let part = if flow < left * arrival_rate { flow / arrival_rate } else { left };
            for &(_, class, k, own) in group {
                law[class][k] += part * own / flow;
            }
            left -= part;
        }
        self.add(left, &groups, least, &mut law);
        law
    }
}

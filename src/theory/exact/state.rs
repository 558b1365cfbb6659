//! A state of a small system, as a short list of whole numbers, and which states are alike.

use super::not_solved::NotSolved;
use crate::model::Servers;

/// Whole numbers in a state.
pub(super) const SLOTS: usize = 12;

/// A state: queue lengths, then estimates dispatcher by dispatcher, then what the clock needs; the rest is 0.
pub(super) type State = [u16; SLOTS];

/// Where things stand in a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Servers N.
    pub(super) servers: usize,
    /// Dispatchers that keep estimates; 0 if none does.
    pub(super) believers: usize,
    /// The first place after queues and estimates.
    pub(super) rest: usize,
}

impl Layout {
    /// The layout with `extra` places after queues and estimates.
    ///
    /// # Errors
    /// If a state has not as many places.
    pub(super) fn new(servers: u64, believers: u32, extra: usize) -> Result<Self, NotSolved> {
        let places = servers.saturating_mul(1 + u64::from(believers));
        let rest = usize::try_from(places).unwrap_or(usize::MAX);
        if rest.saturating_add(extra) > SLOTS {
            let of = if believers > 0 { format!(" and {believers} dispatchers") } else { String::new() };
            return Err(NotSolved::too_large(format!("a state of {servers} servers{of} has too many parts")));
        }
        Ok(Self { servers: servers as usize, believers: believers as usize, rest })
    }

    pub(super) fn queues<'a>(&self, state: &'a State) -> &'a [u16] {
        &state[..self.servers]
    }

    /// The estimates of a dispatcher.
    pub(super) fn estimates<'a>(&self, state: &'a State, dispatcher: usize) -> &'a [u16] {
        &state[self.estimate(dispatcher, 0)..][..self.servers]
    }

    /// The place of an estimate.
    pub(super) fn estimate(&self, dispatcher: usize, server: usize) -> usize {
        (1 + dispatcher) * self.servers + server
    }

    /// The length of the longest queue.
    pub(super) fn longest(&self, state: &State) -> usize {
        self.queues(state).iter().copied().max().map_or(0, usize::from)
    }

    /// All jobs.
    pub(super) fn jobs(&self, state: &State) -> usize {
        self.queues(state).iter().map(|&length| usize::from(length)).sum()
    }
}

/// Servers of one rate, and dispatchers of one share, can change places: of the states that differ by that, one stands
/// for all.
#[derive(Clone, Debug)]
pub(super) enum Symmetry {
    /// Every state stands for itself.
    None,
    /// Queues are sorted within these ranges.
    Sorted(Vec<std::ops::Range<usize>>),
    /// The least of the states under these orders of servers and of dispatchers.
    Least { servers: Vec<Vec<usize>>, dispatchers: Vec<Vec<usize>> },
}

/// The most orders that are compared for each state.
const MOST_ORDERS: usize = 24;

impl Symmetry {
    /// Without estimates, queues of equal rate are exchangeable when equal rates stand side by side.
    pub(super) fn of_queues(servers: &Servers) -> Self {
        let rates: Vec<f64> = (0..servers.numbered()).map(|server| servers.rate(server)).collect();
        let mut ranges = Vec::new();
        let mut first = 0;
        for n in 1..=rates.len() {
            if n == rates.len() || rates[n] != rates[first] {
                ranges.push(first..n);
                first = n;
            }
        }
        Self::Sorted(ranges)
    }

    /// With estimates, servers of equal rate and dispatchers of equal share are exchangeable.
    pub(super) fn of_estimates(servers: &Servers, shares: &[f64]) -> Self {
        let rates: Vec<f64> = (0..servers.numbered()).map(|server| servers.rate(server)).collect();
        let (servers, dispatchers) = (orders(&rates), orders(shares));
        if servers.len() * dispatchers.len() > MOST_ORDERS {
            return Self::None;
        }
        Self::Least { servers, dispatchers }
    }

    /// The state that stands for all that are alike. What comes after the estimates is moved by `moved`, which is told
    /// where each server and dispatcher of the new state comes from.
    pub(super) fn representative(
        &self,
        layout: &Layout,
        state: &State,
        moved: impl Fn(&mut State, &[usize], &[usize]),
    ) -> State {
        match self {
            Self::None => *state,
            Self::Sorted(ranges) => {
                let mut sorted = *state;
                ranges.iter().for_each(|range| sorted[range.clone()].sort_unstable());
                sorted
            }
            Self::Least { servers, dispatchers } => {
                let candidate = |of_servers: &[usize], of_dispatchers: &[usize]| {
                    let mut other = *state;
                    for (n, &from) in of_servers.iter().enumerate() {
                        other[n] = state[from];
                        for (m, &by) in of_dispatchers.iter().enumerate() {
                            other[layout.estimate(m, n)] = state[layout.estimate(by, from)];
                        }
                    }
                    moved(&mut other, of_servers, of_dispatchers);
                    other
                };
                let all = servers.iter().flat_map(|s| dispatchers.iter().map(|d| candidate(s, d)));
                all.min().unwrap_or(*state)
            }
        }
    }
}

/// All orders of the items that keep the value at each place.
fn orders(values: &[f64]) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new()];
    for place in 0..values.len() {
        let mut longer = Vec::new();
        for order in &found {
            for item in (0..values.len()).filter(|item| values[*item] == values[place]) {
                if !order.contains(&item) {
                    let mut next: Vec<usize> = order.clone();
                    next.push(item);
                    longer.push(next);
                }
            }
        }
        // Too many to be compared anyway: the caller will do without.
        if longer.len() > MOST_ORDERS * values.len() {
            return longer;
        }
        found = longer;
    }
    found
}

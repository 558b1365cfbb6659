//! The dispatching preference of a strategy: how much it favours servers that are short in view (the LED paper, 4-6).

use super::short;
use crate::model::Servers;
use crate::policy::Dispatch;
use crate::policy::dispatch::{Fallback, PowerOfD, Ranked, Weighting};
use std::fmt;

/// Differences smaller than this part of what is compared are rounding.
const ROUNDING: f64 = 1e-9;

/// How a strategy prefers servers by their place in the view.
///
/// With the servers sorted by the view, `Delta_n` is the probability of the n-th shortest minus its part of the total
/// rate, `mu / mu_sum` (Definition 4 of the LED paper). The strategy is tilted if `Delta` changes its sign once at
/// most, from plus to minus (Definition 5), and delta-tilted if besides `Delta_1 >= delta` and `Delta_N <= -delta`
/// (Definition 6). What is said holds for every view, that is for every order of servers of different rates; the
/// rank at which the sign changes may depend on the view, as it does in the paper's Example 2.
///
/// Ties do not matter: in the proofs `Delta` enters through `sum_n v_n Delta_n`, where only the summed probability of
/// servers of equal length counts. A view in which all lengths are equal makes that sum 0 under any strategy.
#[derive(Clone, Debug, PartialEq)]
pub enum Preference {
    /// `Delta = 0`: as random routing by rate, whatever the view.
    Neutral,
    /// Tilted, but there is no delta.
    Tilted(&'static str),
    /// Delta-tilted with a delta of at least this.
    DeltaTilted {
        /// The delta.
        delta: f64,
        /// What is to be known about it; mostly nothing.
        note: &'static str,
    },
    /// Not tilted in some view.
    NotTilted(&'static str),
    /// The choice depends on more than the view of the moment, so that there is no `Delta`.
    NotOfView(&'static str),
}

impl Preference {
    /// The preference of a strategy among these servers.
    pub fn new(dispatch: &Dispatch, servers: &Servers) -> Self {
        let rates = Rates::new(servers);
        let even = servers.are_homogeneous();
        if rates.servers == 1 {
            return Self::Neutral;
        }
        match dispatch {
            Dispatch::WeightedRandom(_) => Self::Neutral,
            Dispatch::Random(_) => rates.decreasing(|_| 1.0 / rates.servers as f64),
            Dispatch::RoundRobin(_) => Self::NotOfView("turns are taken whatever the view"),
            Dispatch::BestOfMemory(_) => Self::NotOfView("the choice depends on what is remembered"),
            Dispatch::Tidal(_) => Self::NotOfView("a batch is split over servers, by its size"),
            Dispatch::Shortest(_) => rates.decreasing(first_only),
            Dispatch::ShortestDelay(_) | Dispatch::ShortestNormalized(_) if even => rates.decreasing(first_only),
            Dispatch::ShortestDelay(_) => Self::NotTilted("it goes by (length + 1) / rate, not by length"),
            Dispatch::ShortestNormalized(_) => Self::NotTilted("it goes by length / rate, not by length"),
            Dispatch::PowerOfD(power) => rates.power_of_d(power, even),
            Dispatch::OnePlusBeta(choices) => {
                let beta = choices.beta.get();
                let pair = |rank| if beta > 0.0 { win_distinct(2, rank, rates.servers) } else { 0.0 };
                rates.decreasing(|rank| (1.0 - beta) / rates.servers as f64 + beta * pair(rank))
            }
            Dispatch::BelowAverage(below) => rates.below_average(below.weighting == Weighting::Rate || even),
            Dispatch::BelowThreshold(below) => {
                // At r = 0 all that qualify tie, so that their weights do not matter.
                let fair = below.weighting == Weighting::Rate || below.r == 0;
                threshold(below.fallback, fair || even, even)
            }
            Dispatch::IdleFirst(idle) => threshold(idle.fallback, true, even),
            Dispatch::Ranked(ranked) => rates.ranked(ranked),
        }
    }

    /// Whether the strategy is tilted; neutral ones are.
    pub fn is_tilted(&self) -> bool {
        matches!(self, Self::Neutral | Self::Tilted(_) | Self::DeltaTilted { .. })
    }

    /// The delta, if there is one.
    pub fn delta(&self) -> Option<f64> {
        match self {
            Self::DeltaTilted { delta, .. } => Some(*delta),
            _ => None,
        }
    }
}

impl fmt::Display for Preference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Neutral => f.write_str("none: every server gets its part of the total rate, whatever the view"),
            Self::Tilted(why) => write!(f, "tilted, but not delta-tilted: {why}"),
            Self::DeltaTilted { delta, note: "" } => write!(f, "delta-tilted with delta = {}", short(*delta)),
            Self::DeltaTilted { delta, note } => write!(f, "delta-tilted with delta = {} ({note})", short(*delta)),
            Self::NotTilted(why) => write!(f, "not tilted: {why}"),
            Self::NotOfView(why) => write!(f, "not a function of the view: {why}"),
        }
    }
}

/// What the strategies need to know of the rates: parts of the total.
#[derive(Clone, Copy, Debug)]
struct Rates {
    servers: u64,
    least: f64,
    /// The least of all but one server of the least.
    second: f64,
    most: f64,
}

impl Rates {
    fn new(servers: &Servers) -> Self {
        let total = servers.total_rate();
        let (mut least, mut second, mut most) = (f64::INFINITY, f64::INFINITY, 0.0_f64);
        for class in servers.classes() {
            let part = class.rate / total;
            for _ in 0..class.count.min(2) {
                if part < least {
                    (least, second) = (part, least);
                } else {
                    second = second.min(part);
                }
            }
            most = most.max(part);
        }
        Self { servers: servers.len(), least, second, most }
    }

    /// For probabilities of the ranks 1 to N that do not increase.
    fn decreasing(&self, probability: impl Fn(u64) -> f64) -> Preference {
        // The first rank whose probability is less than the largest part of the rate.
        let (mut low, mut high) = (1, self.servers);
        while low < high {
            let middle = low + (high - low) / 2;
            if probability(middle) < self.most * (1.0 - ROUNDING) { high = middle } else { low = middle + 1 }
        }
        let behind = if low < self.servers { probability(low + 1) } else { 0.0 };
        self.by_rank(probability(1), probability(self.servers), behind)
    }

    /// From the probabilities of the first and of the last rank, and the largest `behind` the first rank that has less
    /// than the largest part of the rate.
    ///
    /// Any rates may stand at any ranks. `Delta` can go from minus to plus only at two ranks n < m with
    /// `P_n < mu_max / mu_sum` and `P_m > mu_min / mu_sum`, and then does when the fastest and the slowest server are
    /// there. `Delta_1` is least with the fastest server first, and `Delta_N` largest with the slowest last.
    fn by_rank(&self, first: f64, last: f64, behind: f64) -> Preference {
        if behind > self.least * (1.0 + ROUNDING) {
            return Preference::NotTilted("a longer server may get more than its part of the rate, a shorter one less");
        }
        let delta = (first - self.most).min(self.least - last);
        if delta > ROUNDING * self.least {
            return Preference::DeltaTilted { delta, note: "" };
        }
        let even = self.most - self.least <= ROUNDING * self.most;
        if even && (first - last).abs() <= ROUNDING * self.most {
            return Preference::Neutral;
        }
        Preference::Tilted("the shortest or the longest in view may get just its part of the rate")
    }

    fn ranked(&self, ranked: &Ranked) -> Preference {
        let total: f64 = ranked.weights.iter().map(|weight| weight.get()).sum();
        let weights: Vec<f64> = ranked.weights.iter().map(|weight| weight.get() / total).collect();
        let short_of = weights.iter().position(|&weight| weight < self.most * (1.0 - ROUNDING));
        let behind = short_of.map_or(0.0, |at| weights[at + 1..].iter().copied().fold(0.0, f64::max));
        let last = weights.get(self.servers as usize - 1).copied().unwrap_or(0.0);
        self.by_rank(weights.first().copied().unwrap_or(0.0), last, behind)
    }

    fn power_of_d(&self, power: &PowerOfD, even: bool) -> Preference {
        let (d, n) = (power.d.get(), self.servers);
        if power.weighting == Weighting::Uniform || even {
            return if power.replacement {
                self.decreasing(|rank| win_independent(d, rank, n))
            } else {
                self.decreasing(|rank| win_distinct(d, rank, n))
            };
        }
        if d == 1 {
            return Preference::Neutral;
        }
        // Delta_n divided by the rate falls with n, under either way of sampling, hence it is tilted. With the part s
        // of the first or the last server, |Delta| is at least the concave function below, whose least value is at
        // the least or the largest s.
        let d = if power.replacement { d as f64 } else { 2.0 };
        let first = |s: f64| (1.0 - s) * (1.0 - (1.0 - s).powf(d - 1.0));
        let last = |s: f64| s * (1.0 - s.powf(d - 1.0));
        let delta = [self.least, self.most].into_iter().map(|s| first(s).min(last(s))).fold(1.0, f64::min);
        Preference::DeltaTilted { delta, note: if power.replacement { "" } else { "at least" } }
    }

    /// The servers that qualify may be any from the shortest on, except all of them, unless all lengths are equal.
    fn below_average(&self, by_rate: bool) -> Preference {
        let note = "unless all lengths in view are equal";
        if by_rate {
            // Delta_1 is least when all but the slowest server qualify and the second slowest is first.
            let delta = self.least * self.second / (1.0 - self.least);
            return Preference::DeltaTilted { delta, note };
        }
        // When all but one qualify, the fastest gets least compared with its part.
        match self.by_rank(1.0 / (self.servers - 1) as f64, 0.0, 0.0) {
            Preference::DeltaTilted { delta, .. } => Preference::DeltaTilted { delta, note },
            _ => Preference::NotTilted("the fastest server may get less than its part; weigh by rate"),
        }
    }
}

/// The strategies that take a server under a threshold, or else any.
fn threshold(fallback: Fallback, fair: bool, even: bool) -> Preference {
    if !even && fallback == Fallback::Random {
        return Preference::NotTilted("when no server qualifies, slow servers get as many jobs as fast ones");
    }
    if !fair {
        return Preference::NotTilted("servers that qualify get the same, whatever their rates; weigh by rate");
    }
    Preference::Tilted("when no server qualifies, none is preferred")
}

/// All to the shortest.
fn first_only(rank: u64) -> f64 {
    if rank == 1 { 1.0 } else { 0.0 }
}

/// The probability that d distinct servers of N all belong to a group: `C(g, d) / C(N, d)`.
pub(super) fn of_distinct_sample(d: u64, group: u64, servers: u64) -> f64 {
    if d > group {
        return 0.0;
    }
    (0..d).map(|i| (group as f64 - i as f64) / (servers as f64 - i as f64)).product()
}

/// The probability that d servers drawn from N one by one all belong to a group: `(g / N)^d`.
pub(super) fn of_independent_sample(d: u64, group: u64, servers: u64) -> f64 {
    (group as f64 / servers as f64).powf(d as f64)
}

/// The probability that the server of a rank is the shortest of d distinct ones: it is sampled, and no shorter one.
fn win_distinct(d: u64, rank: u64, servers: u64) -> f64 {
    let rest = servers - rank;
    if d > rest + 1 {
        return 0.0;
    }
    // C(N - n, d - 1) / C(N, d), factor by factor.
    let product: f64 = (1..d).map(|i| (rest as f64 + 1.0 - i as f64) / (servers as f64 - i as f64)).product();
    product * d as f64 / servers as f64
}

/// The same for d servers drawn one by one.
fn win_independent(d: u64, rank: u64, servers: u64) -> f64 {
    let from_here = servers - rank + 1;
    let all_from_here = of_independent_sample(d, from_here, servers);
    // The chance that none of those is the server itself, without cancellation.
    let none = if from_here == 1 { -1.0 } else { (d as f64 * (-1.0 / from_here as f64).ln_1p()).exp_m1() };
    -all_from_here * none
}

//! Probability that an arrival joins a queue of length k, for exchangeable policies on exact information.
//!
//! Servers of one class that hold equally many jobs are alike to such a strategy, so that counts decide. The counts may
//! be those of a system of N servers, or fractions as N grows to infinity. Engines that keep every server do not use
//! this: that they agree with it proves something.

use super::dispatch::{Dispatch, Fallback, Weighting};
use crate::model::Servers;

mod falling;
mod least;
mod sample;

pub use falling::falling_ratio;
use least::{Cost, Least};
use sample::Sample;

/// Fractions of servers up to this count as none in the limit.
pub(super) const NOTHING: f64 = 1e-13;

/// The law of the class and of the length that an arrival finds at the server it joins, before it joins.
///
/// The state is given by `at_least[class][k]`, the number of servers of a class with at least k jobs, k = 0, 1, ...,
/// `K`: `at_least[class][0]` is all of them, and nothing is held beyond the last level listed. The law comes as
/// `law[class][k]`, of the same shape; it sums to 1. Buffers are not its business: the law tells where the job is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelLaw {
    rule: Rule,
    /// Rate and number of servers of each class.
    classes: Vec<(f64, f64)>,
}

/// How a strategy chooses, apart from the state.
#[derive(Clone, Debug, PartialEq)]
enum Rule {
    /// The shortest of a sample, ties uniformly; of several kinds of sample, each with its probability.
    Samples(Vec<(f64, Sample)>),
    /// One of those not longer than a bound, else any.
    Below { bound: Bound, by_rate: bool, else_by_rate: bool },
    /// One of those of least cost.
    Least(Cost),
    /// By rank: the summed weight up to and including each rank, the shortest first.
    Ranked(Vec<f64>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    Length(usize),
    Average,
}

/// The probabilities of joining, by class and length.
pub type Law = Vec<Vec<f64>>;

impl LevelLaw {
    /// The law under a strategy among these servers.
    ///
    /// # Errors
    /// Why there is none: the choice depends on more than the counts, or costs too much to tell.
    pub fn new(dispatch: &Dispatch, servers: &Servers) -> Result<Self, &'static str> {
        let law = Self::for_the_limit(dispatch, servers)?;
        match &law.rule {
            Rule::Samples(parts) if !parts.iter().all(|(_, sample)| sample.is_affordable(law.classes.len())) => {
                Err("sampling so many distinct servers by rate has too many cases to sum over")
            }
            _ => Ok(law),
        }
    }

    /// The same for [`LevelLaw::in_the_limit`] alone, where sampling distinct servers by rate costs no more than other
    /// sampling.
    ///
    /// # Errors
    /// Why there is none.
    pub fn for_the_limit(dispatch: &Dispatch, servers: &Servers) -> Result<Self, &'static str> {
        let even = servers.are_homogeneous();
        let by_rate = |weighting: Weighting| weighting == Weighting::Rate && !even;
        let else_by_rate = |fallback: Fallback| fallback == Fallback::WeightedRandom && !even;
        let one = |by_rate| Sample { d: 1, replacement: true, by_rate };
        let rule = match dispatch {
            Dispatch::Random(_) => Rule::Samples(vec![(1.0, one(false))]),
            Dispatch::WeightedRandom(_) => Rule::Samples(vec![(1.0, one(!even))]),
            Dispatch::PowerOfD(power) => {
                let by_rate = by_rate(power.weighting);
                let sample = Sample { d: power.d.get(), replacement: power.replacement, by_rate };
                Rule::Samples(vec![(1.0, sample)])
            }
            Dispatch::OnePlusBeta(choices) => {
                let beta = choices.beta.get();
                let pair = Sample { d: 2, replacement: false, by_rate: false };
                Rule::Samples(vec![(1.0 - beta, one(false)), (beta, pair)])
            }
            Dispatch::BelowAverage(below) => {
                Rule::Below { bound: Bound::Average, by_rate: by_rate(below.weighting), else_by_rate: false }
            }
            Dispatch::BelowThreshold(below) => Rule::Below {
                bound: Bound::Length(below.r as usize),
                by_rate: by_rate(below.weighting),
                else_by_rate: else_by_rate(below.fallback),
            },
            Dispatch::IdleFirst(idle) => {
                Rule::Below { bound: Bound::Length(0), by_rate: false, else_by_rate: else_by_rate(idle.fallback) }
            }
            Dispatch::Shortest(_) => Rule::Least(Cost::Length),
            Dispatch::ShortestDelay(_) => Rule::Least(Cost::Delay),
            Dispatch::ShortestNormalized(_) => Rule::Least(Cost::Normalized),
            Dispatch::Ranked(ranked) => {
                let total: f64 = ranked.weights.iter().map(|weight| weight.get()).sum();
                let summed = ranked.weights.iter().scan(0.0, |sum, weight| {
                    *sum += weight.get() / total;
                    Some(*sum)
                });
                Rule::Ranked(summed.collect())
            }
            Dispatch::RoundRobin(_) => return Err("turns are taken whatever the lengths"),
            Dispatch::BestOfMemory(_) => return Err("the choice depends on what is remembered"),
            Dispatch::Tidal(_) => return Err("the jobs of a slot are spread together"),
        };
        let classes = servers.classes().iter().map(|class| (class.rate, class.count as f64)).collect();
        Ok(Self { rule, classes })
    }

    /// The number of servers N.
    fn servers(&self) -> f64 {
        self.classes.iter().map(|class| class.1).sum()
    }

    /// The law in a system of N servers with these counts, of which each list must be as long as the others.
    pub fn of_counts(&self, at_least: &[Vec<u64>]) -> Law {
        let tails: Vec<Vec<f64>> =
            at_least.iter().map(|counts| counts.iter().map(|&count| count as f64).collect()).collect();
        let state = State::new(&tails, &self.classes);
        match &self.rule {
            Rule::Samples(parts) => self.of_samples(parts, &state, Some(self.servers())),
            Rule::Below { bound, by_rate, else_by_rate } => {
                let bound = self.bound(*bound, &state, self.servers());
                let law = self.among(&state, bound, *by_rate);
                law.unwrap_or_else(|| self.anyone(&state, *else_by_rate))
            }
            Rule::Least(cost) => Least::new(*cost, &state).of_counts(),
            Rule::Ranked(cumulative) => self.of_ranks(cumulative, &state, 1.0),
        }
    }

    /// The law as the number of servers grows: `at_least[class][k]` are fractions of all servers, so that the parts of
    /// the classes, at k = 0, sum to 1; `arrival_rate` is the rate of arrivals per server.
    ///
    /// Where no server qualifies but some are about to, those that a departure makes qualify get jobs as fast as they
    /// appear, at most at the rate of arrivals, and the rest goes on as the strategy says: the fluid limit on the
    /// boundary, as for join the shortest queue in Mukherjee, Borst, van Leeuwaarden, Whiting (2018). Weights of ranks
    /// are read as a density on the quantiles.
    pub fn in_the_limit(&self, at_least: &[Vec<f64>], arrival_rate: f64) -> Law {
        let state = State::new(at_least, &self.classes);
        match &self.rule {
            Rule::Samples(parts) => self.of_samples(parts, &state, None),
            Rule::Below { bound, by_rate, else_by_rate } => {
                let bound = self.bound(*bound, &state, 1.0);
                if let Some(law) = self.among(&state, bound, *by_rate) {
                    return law;
                }
                self.as_they_fall(&state, bound, arrival_rate, *else_by_rate)
            }
            Rule::Least(cost) => Least::new(*cost, &state).in_the_limit(arrival_rate),
            Rule::Ranked(cumulative) => self.of_ranks(cumulative, &state, self.servers()),
        }
    }

    /// The probability that an arrival joins one of at least k jobs, when that is a function of the fraction s_k of
    /// servers with at least k jobs alone, in the limit: d choices (`s^d`), mixtures of them, and ranks.
    pub fn tail(&self, fraction: f64) -> Option<f64> {
        let s = fraction.clamp(0.0, 1.0);
        match &self.rule {
            Rule::Samples(parts) if self.is_uniform(parts) => {
                Some(parts.iter().map(|(part, sample)| part * s.powf(sample.d as f64)).sum())
            }
            Rule::Ranked(cumulative) => Some(1.0 - interpolated(cumulative, (1.0 - s) * self.servers())),
            _ => None,
        }
    }

    /// The same in a system of N servers of which `count` have at least k jobs.
    pub fn tail_of_count(&self, count: u64) -> Option<f64> {
        let (count, n) = (count as f64, self.servers());
        match &self.rule {
            Rule::Samples(parts) if self.is_uniform(parts) => {
                Some(parts.iter().map(|(part, sample)| part * sample.all_among(count, n, Some(n))).sum())
            }
            Rule::Ranked(cumulative) => Some(1.0 - interpolated(cumulative, n - count)),
            _ => None,
        }
    }

    /// The samples (probability, d, with replacement) of a strategy that takes the shortest of a uniform sample.
    pub fn uniform_samples(&self) -> Option<Vec<(f64, u64, bool)>> {
        match &self.rule {
            Rule::Samples(parts) if self.is_uniform(parts) => {
                Some(parts.iter().map(|(part, sample)| (*part, sample.d, sample.replacement)).collect())
            }
            _ => None,
        }
    }

    fn is_uniform(&self, parts: &[(f64, Sample)]) -> bool {
        parts.iter().all(|(_, sample)| !sample.by_rate)
    }

    fn of_samples(&self, parts: &[(f64, Sample)], state: &State, servers: Option<f64>) -> Law {
        let mut law = state.empty_law();
        for (part, sample) in parts.iter().filter(|(part, _)| *part > 0.0) {
            sample.add(*part, state, servers, &mut law);
        }
        law
    }

    fn bound(&self, bound: Bound, state: &State, servers: f64) -> usize {
        match bound {
            Bound::Length(r) => r,
            Bound::Average => {
                let jobs: f64 = state.tails.iter().flat_map(|tail| &tail[1..]).sum();
                (jobs / servers).floor() as usize
            }
        }
    }

    /// One of those that hold at most `bound` jobs; none when there are none.
    fn among(&self, state: &State, bound: usize, by_rate: bool) -> Option<Law> {
        let mut law = state.empty_law();
        let mut total = 0.0;
        for (class, law) in law.iter_mut().enumerate() {
            let weight = if by_rate { self.classes[class].0 } else { 1.0 };
            for (k, law) in law.iter_mut().enumerate().take(bound.saturating_add(1)) {
                *law = weight * state.at(class, k);
                total += *law;
            }
        }
        if total <= NOTHING {
            return None;
        }
        law.iter_mut().flatten().for_each(|law| *law /= total);
        Some(law)
    }

    fn anyone(&self, state: &State, by_rate: bool) -> Law {
        self.among(state, state.levels(), by_rate).unwrap_or_else(|| state.empty_law())
    }

    /// In the limit, when all servers are longer than `bound`: those that fall to it get a job at once.
    fn as_they_fall(&self, state: &State, bound: usize, arrival_rate: f64, else_by_rate: bool) -> Law {
        let flow = |class: usize| self.classes[class].0 * state.at(class, bound + 1);
        let total: f64 = (0..self.classes.len()).map(flow).sum();
        let part = if arrival_rate > total { total / arrival_rate } else { 1.0 };
        let mut law = self.anyone(state, else_by_rate);
        law.iter_mut().flatten().for_each(|law| *law *= 1.0 - part);
        if total > 0.0 {
            for (class, law) in law.iter_mut().enumerate() {
                if let Some(law) = law.get_mut(bound) {
                    *law += part * flow(class) / total;
                }
            }
        }
        law
    }

    /// Ranks, where `scale` servers stand for one unit of the state.
    fn of_ranks(&self, cumulative: &[f64], state: &State, scale: f64) -> Law {
        let mut law = state.empty_law();
        let mut shorter = 0.0;
        for k in 0..state.levels() {
            let here: f64 = (0..law.len()).map(|class| state.at(class, k)).sum();
            if here > 0.0 {
                let rank = |servers: f64| interpolated(cumulative, servers * scale);
                let part = rank(shorter + here) - rank(shorter);
                for (class, law) in law.iter_mut().enumerate() {
                    law[k] = part * state.at(class, k) / here;
                }
            }
            shorter += here;
        }
        law
    }
}

/// The summed weight of the first `servers` ranks; within a rank in proportion.
fn interpolated(cumulative: &[f64], servers: f64) -> f64 {
    let whole = servers.max(0.0).floor();
    let sum = |ranks: f64| match ranks as usize {
        0 => 0.0,
        ranks => cumulative.get(ranks - 1).copied().unwrap_or(1.0),
    };
    sum(whole) + (servers.max(0.0) - whole) * (sum(whole + 1.0) - sum(whole))
}

/// A state, as seen by the rules.
struct State<'a> {
    /// `tails[class][k]`.
    tails: &'a [Vec<f64>],
    classes: &'a [(f64, f64)],
}

impl<'a> State<'a> {
    fn new(tails: &'a [Vec<f64>], classes: &'a [(f64, f64)]) -> Self {
        Self { tails, classes }
    }

    /// The number of lengths listed.
    fn levels(&self) -> usize {
        self.tails.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// How many servers of a class hold just k jobs.
    fn at(&self, class: usize, k: usize) -> f64 {
        self.tail(class, k) - self.tail(class, k + 1)
    }

    /// How many servers of a class hold at least k jobs.
    fn tail(&self, class: usize, k: usize) -> f64 {
        self.tails[class].get(k).copied().unwrap_or(0.0)
    }

    fn empty_law(&self) -> Law {
        self.tails.iter().map(|tail| vec![0.0; tail.len()]).collect()
    }
}

#[cfg(test)]
mod tests;

//! Joining probabilities: which server a strategy chooses on a view, from the definition of each strategy.
//!
//! Nothing here is sampled or shared with the strategies as they run: this is what they are judged by.

use super::not_solved::NotSolved;
use crate::model::Servers;
use crate::policy::Dispatch;
use crate::policy::dispatch::{Fallback, PowerOfD, Weighting};

/// Costs that differ by less, relatively, are equal: rates such as 0.1 and 0.3 are not binary fractions.
const EQUAL: f64 = 1e-12;

/// The most sets of servers that a strategy may sample from.
const MOST_SETS: usize = 1_000;

/// A strategy as probabilities over servers.
#[derive(Clone, Debug)]
pub(super) struct Joining {
    rates: Vec<f64>,
    rule: Rule,
}

#[derive(Clone, Debug)]
enum Rule {
    /// Whatever the view, with these weights.
    Fixed(Vec<f64>),
    /// The smallest `(length + extra) / rate`, or with `by_rate` off the smallest length; ties uniformly.
    Smallest { extra: f64, by_rate: bool },
    /// Not longer than the average, with these weights.
    Average(Vec<f64>),
    /// Not longer than r, with these weights; else any, with the others.
    Threshold { r: u16, weights: Vec<f64>, fallback: Vec<f64> },
    /// A set of servers with its probability; the shortest of the set, ties uniformly.
    Sets(Vec<(Vec<usize>, f64)>),
    /// The first of the shortest of d independent samples with these weights.
    Independent { d: i32, weights: Vec<f64> },
    /// The server of a rank with its weight; equal servers share their ranks.
    Ranked(Vec<f64>),
    /// Two rules: the first with this probability.
    Mixed(f64, Box<Rule>, Box<Rule>),
}

impl Joining {
    /// The strategy on these servers.
    ///
    /// # Errors
    /// If its choice depends on more than a view.
    pub(super) fn new(dispatch: &Dispatch, servers: &Servers) -> Result<Self, NotSolved> {
        let rates: Vec<f64> = (0..servers.numbered()).map(|server| servers.rate(server)).collect();
        let uniform = vec![1.0; rates.len()];
        let weights = |weighting: Weighting| match weighting {
            Weighting::Rate => rates.clone(),
            Weighting::Uniform => uniform.clone(),
        };
        let others = |fallback: Fallback| match fallback {
            Fallback::Random => uniform.clone(),
            Fallback::WeightedRandom => rates.clone(),
        };
        let rule = match dispatch {
            Dispatch::Random(_) => Rule::Fixed(uniform),
            Dispatch::WeightedRandom(_) => Rule::Fixed(rates.clone()),
            Dispatch::Shortest(_) => Rule::Smallest { extra: 0.0, by_rate: false },
            Dispatch::ShortestDelay(_) => Rule::Smallest { extra: 1.0, by_rate: true },
            Dispatch::ShortestNormalized(_) => Rule::Smallest { extra: 0.0, by_rate: true },
            Dispatch::BelowAverage(below) => Rule::Average(weights(below.weighting)),
            Dispatch::BelowThreshold(below) => Rule::Threshold {
                r: u16::try_from(below.r).unwrap_or(u16::MAX),
                weights: weights(below.weighting),
                fallback: others(below.fallback),
            },
            Dispatch::IdleFirst(idle) => {
                let fallback = others(idle.fallback);
                Rule::Threshold { r: 0, weights: uniform, fallback }
            }
            Dispatch::PowerOfD(power) => power_of_d(power, weights(power.weighting))?,
            Dispatch::OnePlusBeta(choice) if choice.beta.get() == 0.0 => Rule::Fixed(uniform),
            Dispatch::OnePlusBeta(choice) => {
                let two = Rule::Sets(sets(2, &uniform)?);
                Rule::Mixed(choice.beta.get(), Box::new(two), Box::new(Rule::Fixed(uniform)))
            }
            Dispatch::Ranked(ranked) => Rule::Ranked(ranked.weights.iter().map(|weight| weight.get()).collect()),
            Dispatch::RoundRobin(_) | Dispatch::BestOfMemory(_) | Dispatch::Tidal(_) => {
                let why = format!("the choice of {} depends on more than the queue lengths in view", dispatch.tag());
                return Err(NotSolved::not_covered(why));
            }
        };
        Ok(Self { rates, rule })
    }

    /// Whether the choice is the same whatever the view; then its probabilities.
    pub(super) fn fixed(&self) -> Option<Vec<f64>> {
        match &self.rule {
            Rule::Fixed(weights) => Some(normalized(weights)),
            Rule::Independent { d: 1, weights } => Some(normalized(weights)),
            _ => None,
        }
    }

    /// Lengths from this one on are all alike to the strategy; none if it tells all lengths apart.
    pub(super) fn indistinct_from(&self) -> Option<u16> {
        match &self.rule {
            Rule::Threshold { r, .. } => r.checked_add(1),
            _ => None,
        }
    }

    /// The probability of each server on this view.
    pub(super) fn probabilities(&self, view: &[u16]) -> Vec<f64> {
        let mut chosen = vec![0.0; view.len()];
        self.add(&self.rule, view, 1.0, &mut chosen);
        chosen
    }

    fn add(&self, rule: &Rule, view: &[u16], factor: f64, chosen: &mut [f64]) {
        let all = |_: usize| true;
        match rule {
            Rule::Fixed(weights) => share(chosen, factor, weights, all),
            Rule::Smallest { extra, by_rate } => {
                let cost = |n: usize| (f64::from(view[n]) + extra) / if *by_rate { self.rates[n] } else { 1.0 };
                let least = (0..view.len()).map(cost).fold(f64::INFINITY, f64::min);
                share(chosen, factor, &vec![1.0; view.len()], |n| cost(n) <= least * (1.0 + EQUAL));
            }
            Rule::Average(weights) => {
                let total: usize = view.iter().map(|&length| usize::from(length)).sum();
                share(chosen, factor, weights, |n| usize::from(view[n]) * view.len() <= total);
            }
            Rule::Threshold { r, weights, fallback } => {
                if view.iter().any(|length| length <= r) {
                    share(chosen, factor, weights, |n| view[n] <= *r);
                } else {
                    share(chosen, factor, fallback, all);
                }
            }
            Rule::Sets(sets) => {
                for (members, probability) in sets {
                    let least = members.iter().map(|&n| view[n]).min().unwrap_or(0);
                    let tied = members.iter().filter(|&&n| view[n] == least);
                    let each = factor * probability / tied.clone().count() as f64;
                    tied.for_each(|&n| chosen[n] += each);
                }
            }
            Rule::Independent { d, weights } => independent(*d, weights, view, factor, chosen),
            Rule::Ranked(ranks) => {
                let total: f64 = ranks.iter().sum();
                for (n, length) in view.iter().enumerate() {
                    let before = view.iter().filter(|other| *other < length).count();
                    let equal = view.iter().filter(|other| *other == length).count();
                    let weight: f64 = ranks.iter().skip(before).take(equal).sum();
                    chosen[n] += factor * weight / total / equal as f64;
                }
            }
            Rule::Mixed(first, one, other) => {
                self.add(one, view, factor * first, chosen);
                self.add(other, view, factor * (1.0 - first), chosen);
            }
        }
    }
}

/// The first of the shortest of d independent samples: the least length sampled is l with probability
/// `P(none below l) - P(none at most l)`, and then server n of that length is met first in proportion to its weight.
fn independent(d: i32, weights: &[f64], view: &[u16], factor: f64, chosen: &mut [f64]) {
    let total: f64 = weights.iter().sum();
    let weight_of = |qualifies: &dyn Fn(u16) -> bool| -> f64 {
        view.iter().zip(weights).filter(|(length, _)| qualifies(**length)).map(|(_, weight)| weight).sum()
    };
    for (n, &length) in view.iter().enumerate() {
        let at_least = weight_of(&|other| other >= length) / total;
        let above = weight_of(&|other| other > length) / total;
        let here = weight_of(&|other| other == length);
        chosen[n] += factor * (at_least.powi(d) - above.powi(d)) * weights[n] / here;
    }
}

/// Gives those that qualify their shares, in proportion to the weights.
fn share(chosen: &mut [f64], factor: f64, weights: &[f64], qualifies: impl Fn(usize) -> bool) {
    let total: f64 = (0..weights.len()).filter(|&n| qualifies(n)).map(|n| weights[n]).sum();
    for n in (0..weights.len()).filter(|&n| qualifies(n)) {
        chosen[n] += factor * weights[n] / total;
    }
}

fn normalized(weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

fn power_of_d(power: &PowerOfD, weights: Vec<f64>) -> Result<Rule, NotSolved> {
    let d = power.d.get();
    if d == 1 {
        return Ok(Rule::Fixed(weights));
    }
    if power.replacement {
        let d = i32::try_from(d).map_err(|_| NotSolved::too_large(format!("{d} choices")))?;
        return Ok(Rule::Independent { d, weights });
    }
    Ok(Rule::Sets(sets(d as usize, &weights)?))
}

/// All sets of `size` servers that are drawn one after the other, each in proportion to the weights of those left,
/// with their probabilities: `P(S) = sum over n in S of P(S without n) w_n / (weight outside S without n)`.
fn sets(size: usize, weights: &[f64]) -> Result<Vec<(Vec<usize>, f64)>, NotSolved> {
    let servers = weights.len();
    let total: f64 = weights.iter().sum();
    let mut drawn: Vec<(Vec<usize>, f64)> = vec![(Vec::new(), 1.0)];
    for _ in 0..size {
        let mut larger: std::collections::BTreeMap<Vec<usize>, f64> = std::collections::BTreeMap::new();
        for (set, probability) in &drawn {
            let left = total - set.iter().map(|&n| weights[n]).sum::<f64>();
            for n in (0..servers).filter(|n| !set.contains(n)) {
                let mut with = set.clone();
                with.push(n);
                with.sort_unstable();
                *larger.entry(with).or_insert(0.0) += probability * weights[n] / left;
            }
        }
        if larger.len() > MOST_SETS {
            return Err(NotSolved::too_large(format!("{size} of {servers} servers can be sampled in too many ways")));
        }
        drawn = larger.into_iter().collect();
    }
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ServerClass;

    fn servers(rates: &[f64]) -> Servers {
        let class = |(i, &rate): (usize, &f64)| ServerClass { name: format!("class {i}"), count: 1, rate };
        Servers::new(rates.iter().enumerate().map(class).collect()).expect("servers")
    }

    #[track_caller]
    fn assert_chosen(dispatch: &str, rates: &[f64], view: &[u16], expected: &[f64]) {
        let dispatch: Dispatch = serde_json::from_str(dispatch).expect("a strategy");
        let joining = Joining::new(&dispatch, &servers(rates)).expect("it looks at a view only");
        let chosen = joining.probabilities(view);
        for (p, q) in chosen.iter().zip(expected) {
            assert!((p - q).abs() < 1e-14, "{chosen:?}, expected {expected:?}");
        }
    }

    #[test]
    fn strategies_choose_as_defined() {
        let equal = [1.0; 3];
        let rates = [2.0, 1.0, 1.0];
        assert_chosen(r#"{"random": {}}"#, &rates, &[4, 1, 9], &[1.0 / 3.0; 3]);
        assert_chosen(r#"{"weighted_random": {}}"#, &rates, &[4, 1, 9], &[0.5, 0.25, 0.25]);
        assert_chosen(r#"{"shortest": {}}"#, &rates, &[4, 1, 1], &[0.0, 0.5, 0.5]);
        // (1 + 1) / 2 = (0 + 1) / 1.
        assert_chosen(r#"{"shortest_delay": {}}"#, &rates, &[1, 0, 1], &[0.5, 0.5, 0.0]);
        // 0.3 / 0.1 is not 3 in binary.
        assert_chosen(r#"{"shortest_delay": {}}"#, &[0.1, 0.3, 1.0], &[0, 2, 99], &[0.5, 0.5, 0.0]);
        assert_chosen(r#"{"shortest_normalized": {}}"#, &rates, &[2, 1, 2], &[0.5, 0.5, 0.0]);
        assert_chosen(r#"{"below_average": {}}"#, &rates, &[2, 2, 5], &[2.0 / 3.0, 1.0 / 3.0, 0.0]);
        assert_chosen(r#"{"below_threshold": {"r": 1}}"#, &rates, &[1, 0, 5], &[2.0 / 3.0, 1.0 / 3.0, 0.0]);
        assert_chosen(r#"{"below_threshold": {"r": 1}}"#, &rates, &[2, 3, 5], &[0.5, 0.25, 0.25]);
        assert_chosen(r#"{"idle_first": {}}"#, &rates, &[0, 0, 5], &[0.5, 0.5, 0.0]);
        assert_chosen(r#"{"idle_first": {}}"#, &rates, &[1, 2, 5], &[1.0 / 3.0; 3]);
        assert_chosen(r#"{"ranked": {"weights": [0.6, 0.1, 0.3]}}"#, &equal, &[1, 0, 1], &[0.2, 0.6, 0.2]);
        assert_chosen(r#"{"one_plus_beta": {"beta": 0.5}}"#, &equal, &[0, 1, 2], &[0.5, 1.0 / 3.0, 1.0 / 6.0]);
    }

    #[test]
    fn samples_are_with_and_without_replacement_and_by_rate() {
        let equal = [1.0; 3];
        let rates = [2.0, 1.0, 1.0];
        assert_chosen(r#"{"power_of_d": {"d": 2}}"#, &equal, &[0, 1, 1], &[2.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0]);
        assert_chosen(
            r#"{"power_of_d": {"d": 2, "replacement": true}}"#,
            &equal,
            &[0, 1, 2],
            &[5.0 / 9.0, 3.0 / 9.0, 1.0 / 9.0],
        );
        assert_chosen(
            r#"{"power_of_d": {"d": 2, "replacement": true, "weighting": "rate"}}"#,
            &rates,
            &[0, 1, 1],
            &[0.75, 0.125, 0.125],
        );
        // {0, 1} has 1/2 1/2 + 1/4 2/3 = 5/12, as has {0, 2}; {1, 2} has 1/6.
        assert_chosen(r#"{"power_of_d": {"d": 2, "weighting": "rate"}}"#, &rates, &[1, 0, 0], &[0.0, 0.5, 0.5]);
        assert_chosen(
            r#"{"power_of_d": {"d": 2, "weighting": "rate"}}"#,
            &rates,
            &[1, 0, 1],
            &[5.0 / 24.0, 7.0 / 12.0, 5.0 / 24.0],
        );
    }
}

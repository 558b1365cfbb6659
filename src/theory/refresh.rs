//! How often an estimate is set to the true length: the condition on updates of the LED paper's theorems.

use super::short;
use crate::model::law::Constant;
use crate::model::{CountLaw, Law, Slots, Split, System};
use crate::policy::Policy;
use crate::policy::information::{Information, Periodic, Pull, Push, Rules};
use std::fmt;

/// A lower bound of how often an estimate is set to the true length, whatever the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// The view is true at every moment: p = 1.
    Always,
    /// The probability in every slot.
    PerSlot(f64),
    /// The mean number of times in a unit of continuous time.
    PerTime(f64),
}

/// The refresh of estimates under an information rule: conditions (5) and (6) of the LED paper.
#[derive(Clone, Debug, PartialEq)]
pub enum Refresh {
    /// Every estimate is refreshed at least so often, whatever the state.
    AtLeast(Bound),
    /// So often at least while the server is busy. An idle server that gets no job completes none and reports nothing,
    /// so that in such a state an estimate may stay too long and condition (5) fails as it is written; the paper takes
    /// it as met under pull (Definition 8, which refers to the study of LSQ).
    WhileBusy(Bound),
    /// There is no bound above 0, for this reason.
    Unbounded(&'static str),
}

const LATE: &str = "late messages tell lengths of the past";

impl Refresh {
    /// The refresh of the estimates of a policy; in slotted time with these laws of a slot.
    ///
    /// Of several rules the one that does most for the slowest refreshed estimate counts, since they are not
    /// independent. Dispatchers that never receive a job are left out.
    pub fn new(system: &System, policy: &Policy, slots: Option<&Slots>) -> Self {
        match &policy.information {
            Information::None => Self::Unbounded("nothing refreshes the estimates"),
            information if information.is_exact() => Self::AtLeast(Bound::Always),
            Information::Exact(_) => Self::Unbounded("the answers are old when the last of them arrives"),
            Information::Delayed(_) => Self::Unbounded("the view is old and never the length of the moment"),
            Information::Rules(rules) => Self::of_rules(rules, system, slots),
        }
    }

    fn of_rules(rules: &Rules, system: &System, slots: Option<&Slots>) -> Self {
        let Rules { push, pull, on_idle, periodic, .. } = rules;
        let delays = [
            push.as_ref().map(|rule| &rule.delay),
            pull.as_ref().map(|rule| &rule.delay),
            on_idle.as_ref().map(|rule| &rule.delay),
            periodic.as_ref().map(|rule| &rule.delay),
        ];
        // One late message spoils what the others have set right.
        if delays.into_iter().flatten().any(|delay| !delay.is_zero()) {
            return Self::Unbounded(LATE);
        }
        let steady = [
            push.as_ref().map(|push| push_bound(push, system, slots)),
            periodic.as_ref().and_then(|periodic| periodic_bound(periodic, slots.is_some())),
        ];
        let steady = steady.into_iter().flatten().fold(0.0, f64::max);
        let bound = |x: f64| if slots.is_some() { Bound::PerSlot(x) } else { Bound::PerTime(x) };
        if steady > 0.0 {
            return Self::AtLeast(bound(steady));
        }
        let busy = pull.as_ref().map_or(0.0, |pull| pull_bound(pull, system, slots));
        if busy > 0.0 {
            return Self::WhileBusy(bound(busy));
        }
        Self::Unbounded(if periodic.is_some() {
            "reports come at fixed times, not in every slot"
        } else if push.is_some() {
            "no question is ever answered"
        } else {
            "a server that stays busy does not report"
        })
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always => f.write_str("p = 1"),
            Self::PerSlot(p) => write!(f, "p = {}", short(*p)),
            Self::PerTime(rate) => write!(f, "refresh rate {}", short(*rate)),
        }
    }
}

impl fmt::Display for Refresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(Bound::Always) => write!(f, "{}: the view is true", Bound::Always),
            Self::AtLeast(bound) => write!(f, "at least {bound}"),
            Self::WhileBusy(bound) => write!(f, "at least {bound} while the server is busy"),
            Self::Unbounded(why) => write!(f, "no bound: {why}"),
        }
    }
}

/// Push: a dispatcher with arrivals asks d of N servers with probability p. The dispatcher with the fewest counts.
fn push_bound(push: &Push, system: &System, slots: Option<&Slots>) -> f64 {
    let least = system.dispatchers.shares().iter().copied().filter(|&share| share > 0.0).fold(1.0, f64::min);
    let arrivals = system.arrivals.rate;
    let asked = slots.map_or(arrivals * least, |slots| any_arrival(&slots.arrivals, slots.split, arrivals, least));
    let d = push.d.get() as f64 / system.servers.len() as f64;
    asked * push.probability.get() * d * (1.0 - push.loss.get())
}

/// Pull: a completion, which a busy server has whenever it is offered a service, is reported with probability p to one
/// of M dispatchers. The slowest server counts.
fn pull_bound(pull: &Pull, system: &System, slots: Option<&Slots>) -> f64 {
    let completes = |rate: f64| slots.map_or(rate, |slots| any_arrival(&slots.service, Split::Independent, rate, 1.0));
    let slowest = system.servers.classes().iter().map(|class| completes(class.rate)).fold(f64::INFINITY, f64::min);
    slowest * pull.probability.get() * (1.0 - pull.loss.get()) / f64::from(system.dispatchers.len())
}

/// Periodic: the chance of a report does not depend on the time since the last if the times are a Poisson process, or
/// every slot has room for a period.
fn periodic_bound(periodic: &Periodic, slotted: bool) -> Option<f64> {
    let mean = periodic.period.mean();
    let arrives = 1.0 - periodic.loss.get();
    match &periodic.period {
        Law::Exponential(_) if !slotted => Some(arrives / mean),
        Law::Exponential(_) => Some(arrives * -(-1.0 / mean).exp_m1()),
        Law::Constant(Constant(period)) if slotted && period.get() <= 1.0 => Some(arrives),
        _ => None,
    }
}

/// `P(A_m > 0)` in a slot for a dispatcher with this share, where the law has this mean over all dispatchers.
fn any_arrival(law: &CountLaw, split: Split, mean: f64, share: f64) -> f64 {
    let own = mean * share;
    1.0 - match law {
        CountLaw::Poisson => (-own).exp(),
        CountLaw::Geometric => 1.0 / (1.0 + own),
        CountLaw::Bernoulli => 1.0 - own,
        CountLaw::Binomial(binomial) => (1.0 - own / binomial.trials.get() as f64).powf(binomial.trials.get() as f64),
        CountLaw::Constant if split == Split::Multinomial => (1.0 - share).powf(mean),
        CountLaw::Constant => f64::from(u8::from(own == 0.0)),
        CountLaw::Batch(batch) => {
            let size = batch.size.get() as f64;
            // A batch misses the dispatcher when each of its jobs does.
            let hit = if split == Split::Multinomial { 1.0 - (1.0 - share).powf(size) } else { share };
            (-mean / size * hit).exp()
        }
        CountLaw::Empirical(table) => {
            let weights: f64 = table.weights.iter().map(|weight| weight.get()).sum();
            let missed = |value: u32| match split {
                Split::Multinomial => (1.0 - share).powf(f64::from(value)),
                Split::Independent => f64::from(u8::from(value == 0)),
            };
            table.values.iter().zip(&table.weights).map(|(&value, w)| w.get() * missed(value)).sum::<f64>() / weights
        }
    }
}

/// Whether a slot may pass without a job, which the paper assumes.
pub(super) fn may_be_empty(law: &CountLaw, mean: f64) -> bool {
    match law {
        CountLaw::Poisson | CountLaw::Geometric | CountLaw::Batch(_) => true,
        CountLaw::Bernoulli => mean < 1.0,
        CountLaw::Constant => mean == 0.0,
        CountLaw::Binomial(binomial) => mean < binomial.trials.get() as f64,
        CountLaw::Empirical(table) => {
            table.values.iter().zip(&table.weights).any(|(&value, weight)| value == 0 && weight.get() > 0.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(A_m > 0) against the expectation of `1 - (1 - share)^A` over the law itself, drawn.
    #[test]
    fn arrivals_at_a_dispatcher() {
        use crate::random::{Component, Stream};
        let laws = [
            (r#""poisson""#, 3.0),
            (r#""geometric""#, 3.0),
            (r#""bernoulli""#, 0.7),
            (r#""constant""#, 3.0),
            (r#"{"binomial": {"trials": 5}}"#, 3.0),
            (r#"{"batch": {"size": 2}}"#, 3.0),
            (r#"{"empirical": {"values": [0, 2, 10], "weights": [5, 2, 3]}}"#, 3.4),
        ];
        for (text, mean) in laws {
            let law: CountLaw = serde_json::from_str(text).expect("a law");
            let counts = law.with_mean(mean).expect("the law can have the mean");
            let mut stream = Stream::new(5, 0, Component::Dispatchers);
            let draws = 100_000;
            let hit = (0..draws).map(|_| 1.0 - 0.75_f64.powf(f64::from(counts.draw(&mut stream)))).sum::<f64>();
            let exact = any_arrival(&law, Split::Multinomial, mean, 0.25);
            // Values lie in [0, 1]: 4 standard errors are at most 4 * 0.5 / sqrt(draws).
            assert!((hit / f64::from(draws) - exact).abs() < 0.0064, "{text}: {exact}");
            let table = matches!(law, CountLaw::Empirical(_));
            if !table && let Ok(own) = law.with_mean(mean * 0.25) {
                let hit = (0..draws).filter(|_| own.draw(&mut stream) > 0).count() as f64;
                let exact = any_arrival(&law, Split::Independent, mean, 0.25);
                assert!((hit / f64::from(draws) - exact).abs() < 0.0064, "{text}: {exact}");
            }
        }
    }
}

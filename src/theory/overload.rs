//! Groups of servers that get more work than they can do, whatever the dispatchers see.

use super::preference::{of_distinct_sample, of_independent_sample};
use super::short;
use crate::model::arrivals::Process;
use crate::model::{Servers, System};
use crate::policy::Dispatch;
use crate::policy::dispatch::{PowerOfD, Weighting};
use std::fmt;

/// What may be lost by rounding in a load that is exactly 1.
const ROUNDING: f64 = 1e-12;

/// Slow servers that are sent at least as much work as they can do, whatever the dispatchers see.
#[derive(Clone, Debug, PartialEq)]
pub struct Overload {
    /// How many servers are overloaded together.
    pub servers: u64,
    /// The largest rate among them.
    pub rate: f64,
    /// The fraction of the jobs that goes to them at least.
    pub share: f64,
    /// The load of the group at least, from 1 on.
    pub load: f64,
}

impl Overload {
    /// The group of slowest servers with the largest load that no view can turn away, if that is at least 1.
    ///
    /// A job goes to a group of g servers for sure when all servers that the strategy looks at belong to the group:
    /// with probability `g / N` under random routing and round robin, `C(g, d) / C(N, d)` under d choices without
    /// replacement, `(g / N)^d` with it. The group is overloaded when that part of the work is at least its rate.
    pub fn new(system: &System, dispatch: &Dispatch) -> Option<Self> {
        // The turns of round robin may go in step with the sizes of a trace.
        let in_step = matches!((dispatch, &system.arrivals.process), (Dispatch::RoundRobin(_), Process::Trace(_)));
        let group = Self::at(system.arrivals.work_rate(), &system.servers, dispatch)?;
        (!in_step && group.load >= 1.0 - ROUNDING).then_some(group)
    }

    /// The load of the whole system, below 1, from which on some group is overloaded.
    pub fn least_load(servers: &Servers, dispatch: &Dispatch) -> Option<f64> {
        let group = Self::at(servers.total_rate(), servers, dispatch)?;
        (group.load > 1.0 + ROUNDING).then(|| 1.0 / group.load)
    }

    /// The group with the largest load, when this much work arrives.
    fn at(work: f64, servers: &Servers, dispatch: &Dispatch) -> Option<Self> {
        if servers.are_homogeneous() {
            return None;
        }
        let mut classes: Vec<(f64, u64)> = servers.classes().iter().map(|class| (class.rate, class.count)).collect();
        classes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut group, mut capacity) = (0, 0.0);
        let loads = classes.iter().filter_map(|&(rate, count)| {
            group += count;
            capacity += count as f64 * rate;
            let share = inescapable(dispatch, group, servers)?;
            Some(Self { servers: group, rate, share, load: work * share / capacity })
        });
        loads.max_by(|a, b| a.load.total_cmp(&b.load))
    }
}

impl fmt::Display for Overload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { servers, rate, share, load } = self;
        let (rate, share, load) = (short(*rate), short(100.0 * share), short(*load));
        let noun = if *servers == 1 { "server" } else { "servers" };
        write!(
            f,
            "whatever the view, {share} % of the jobs go to the {servers} {noun} of rate {rate} or less: load {load}"
        )
    }
}

/// The probability that a job goes to a group of servers whatever the view; none where that is not known.
fn inescapable(dispatch: &Dispatch, group: u64, servers: &Servers) -> Option<f64> {
    let n = servers.len();
    let alone = group as f64 / n as f64;
    match dispatch {
        Dispatch::Random(_) | Dispatch::RoundRobin(_) => Some(alone),
        Dispatch::PowerOfD(PowerOfD { d, replacement, weighting: Weighting::Uniform }) => Some(if *replacement {
            of_independent_sample(d.get(), group, n)
        } else {
            of_distinct_sample(d.get(), group, n)
        }),
        Dispatch::OnePlusBeta(choices) => {
            let beta = choices.beta.get();
            Some((1.0 - beta) * alone + beta * of_distinct_sample(2, group, n))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::theorems::tests::{dispatch, system};

    #[test]
    fn blind_strategies_overload_the_slow() {
        // Rates 1 and 3, total 8: at load 0.5 each of the 4 servers gets 1 per unit of time.
        let classes = [(2, 1.0), (2, 3.0)];
        for blind in [
            r#"{"random": {}}"#,
            r#"{"round_robin": {}}"#,
            r#"{"power_of_d": {"d": 1}}"#,
            r#"{"power_of_d": {"d": 1, "replacement": true}}"#,
            r#"{"one_plus_beta": {"beta": 0}}"#,
        ] {
            let blind = dispatch(blind);
            for (load, expected) in [(0.499, None), (0.5, Some(1.0)), (0.75, Some(1.5))] {
                let overload = Overload::new(&system(&classes, load), &blind);
                let found = overload.as_ref().map(|overload| (overload.servers, overload.rate, overload.share));
                assert_eq!(found, expected.map(|_| (2, 1.0, 0.5)), "{blind:?} at {load}");
                assert!(overload.is_none_or(|overload| Some(overload.load) == expected), "{blind:?} at {load}");
            }
            assert_eq!(Overload::new(&system(&[(4, 2.0)], 0.99), &blind), None, "{blind:?}");
        }
    }

    #[test]
    fn few_choices_cannot_escape_many_slow_servers() {
        // Of the 6 pairs of 4 servers, 3 are slow: half of the jobs go to servers that do 3 of 13 parts of the work.
        let classes = [(3, 1.0), (1, 10.0)];
        let two = dispatch(r#"{"power_of_d": {"d": 2}}"#);
        assert_eq!(Overload::new(&system(&classes, 0.46), &two), None);
        assert!(Overload::new(&system(&classes, 0.47), &two).is_some_and(|overload| overload.share == 0.5));
        let half = dispatch(r#"{"one_plus_beta": {"beta": 0.5}}"#);
        assert!(Overload::new(&system(&classes, 0.4), &half).is_some_and(|overload| overload.share == 0.625));
        for sighted in
            [r#"{"shortest": {}}"#, r#"{"weighted_random": {}}"#, r#"{"power_of_d": {"d": 2, "weighting": "rate"}}"#]
        {
            assert_eq!(Overload::new(&system(&classes, 0.999), &dispatch(sighted)), None, "{sighted}");
        }
    }
}

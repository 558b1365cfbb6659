//! Which theorem of the LED paper covers a scenario, and which of its conditions fails.

use super::overload::Overload;
use super::preference::Preference;
use super::refresh::{Bound, Refresh, may_be_empty};
use super::short;
use crate::model::{Slots, System};
use crate::policy::dispatch::{Fallback, IdleFirst};
use crate::policy::{Dispatch, Policy};
use std::fmt;

/// What the two theorems of the LED paper say about a system under a policy.
///
/// - Theorem 1: if the strategy is tilted and every estimate is set to the true length with probability at least
///   p > 0 at the end of every slot, whatever the state, then the policy is throughput optimal: at every load below 1
///   the system is positive recurrent and all moments of the queue lengths are finite.
/// - Theorem 2: if besides the strategy is delta-tilted, and delta and p do not depend on how far the load is from 1,
///   then the policy is heavy-traffic delay optimal.
///
/// Both are sufficient conditions: where one fails, the property is not shown, which does not mean that it is lost.
/// They are stated for slotted time, unlimited buffers, and numbers of jobs per slot that are independent, light-tailed
/// and may be 0; all laws of a slot are light-tailed here.
#[derive(Clone, Debug, PartialEq)]
pub struct Theorems {
    /// How the strategy prefers servers.
    pub preference: Preference,
    /// How often estimates are refreshed.
    pub refresh: Refresh,
    /// Theorem 1.
    pub throughput: Verdict,
    /// Theorem 2.
    pub delay: Verdict,
    /// What is known against the stability of the policy.
    pub unstable: Option<String>,
}

/// Whether a theorem applies.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// All conditions hold.
    Applies {
        /// The delta, where the theorem needs one.
        delta: Option<f64>,
        /// The refresh; none where estimates do not count.
        refresh: Option<Bound>,
        /// Whether the refresh is bounded only while the server is busy, which the paper takes as enough.
        while_busy: bool,
        /// Whether time is slotted, for which the theorem is stated.
        slotted: bool,
    },
    /// A condition fails, and nothing follows.
    NotShown(&'static str),
}

impl Theorems {
    /// The verdicts on a policy; in slotted time with these laws of a slot.
    pub fn new(system: &System, policy: &Policy, slots: Option<&Slots>) -> Self {
        let preference = Preference::new(&policy.dispatch, &system.servers);
        let refresh = Refresh::new(system, policy, slots);
        let throughput = verdict(&preference, &refresh, outside(system, slots), slots.is_some());
        let delay = match (throughput.clone(), preference.delta()) {
            (Verdict::Applies { refresh, while_busy, slotted, .. }, Some(delta)) => {
                Verdict::Applies { delta: Some(delta), refresh, while_busy, slotted }
            }
            (Verdict::Applies { .. }, None) => Verdict::NotShown("the strategy is not delta-tilted"),
            (not_shown, _) => not_shown,
        };
        Self { preference, refresh, throughput, delay, unstable: unstable(system, &policy.dispatch) }
    }

    /// The findings, a line each.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("dispatching preference: {}", self.preference)];
        if self.preference != Preference::Neutral {
            lines.push(format!("refresh of an estimate: {}", self.refresh));
        }
        lines.push(format!("theorem 1 (throughput optimal): {}", self.throughput));
        lines.push(format!("theorem 2 (heavy-traffic delay optimal): {}", self.delay));
        if matches!(self.throughput, Verdict::Applies { slotted: false, .. }) {
            lines.push("the theorems are stated for slotted time, and proved for nothing else".to_owned());
        }
        lines.extend(self.unstable.iter().map(|why| format!("known: {why}")));
        lines
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotShown(why) => write!(f, "not shown, since {why}"),
            Self::Applies { delta, refresh, while_busy, slotted } => {
                f.write_str(if *slotted { "applies" } else { "its conditions hold" })?;
                let values = [delta.map(|delta| format!("delta = {}", short(delta))), refresh.map(|p| p.to_string())];
                let values: Vec<String> = values.into_iter().flatten().collect();
                if !values.is_empty() {
                    write!(f, " with {}", values.join(", "))?;
                }
                f.write_str(if *while_busy { " while busy (Definition 8)" } else { "" })
            }
        }
    }
}

/// Theorem 1 from its conditions.
fn verdict(preference: &Preference, refresh: &Refresh, outside: Option<&'static str>, slotted: bool) -> Verdict {
    if let Some(why) = outside {
        return Verdict::NotShown(why);
    }
    if matches!(preference, Preference::NotOfView(_)) {
        return Verdict::NotShown("the choice is not a function of the view");
    }
    if !preference.is_tilted() {
        return Verdict::NotShown("the strategy is not tilted");
    }
    let (refresh, while_busy) = match (preference, refresh) {
        // Who does not look at estimates may be taken to have true ones.
        (Preference::Neutral, _) => (None, false),
        (_, Refresh::AtLeast(bound)) => (Some(*bound), false),
        (_, Refresh::WhileBusy(bound)) => (Some(*bound), true),
        (_, Refresh::Unbounded(why)) => return Verdict::NotShown(why),
    };
    Verdict::Applies { delta: None, refresh, while_busy, slotted }
}

/// What the system has that the paper's has not.
fn outside(system: &System, slots: Option<&Slots>) -> Option<&'static str> {
    if system.buffer.is_some() {
        return Some("buffers are limited");
    }
    match slots {
        None if !system.is_memoryless() => Some("arrivals and sizes are not Poisson and exponential"),
        Some(slots) if !may_be_empty(&slots.arrivals, system.arrivals.rate) => Some("no slot is without arrivals"),
        _ => None,
    }
}

/// What is known against the stability of a strategy at loads below 1.
fn unstable(system: &System, dispatch: &Dispatch) -> Option<String> {
    if let Some(load) = Overload::least_load(&system.servers, dispatch) {
        return Some(format!("not stable from load {} on, since slow servers get more than they can do", short(load)));
    }
    let uniform = matches!(dispatch, Dispatch::IdleFirst(IdleFirst { fallback: Fallback::Random }));
    (uniform && !system.servers.are_homogeneous()).then(|| {
        "an idle server first, else any alike, is in general not stable at high load when rates differ".to_owned()
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::{Arrivals, Dispatchers, Initial, Law, ServerClass, Servers};
    use crate::policy::Information;

    pub(in super::super) fn dispatch(text: &str) -> Dispatch {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn servers(classes: &[(u64, f64)]) -> Servers {
        let class = |(i, &(count, rate)): (usize, &(u64, f64))| ServerClass { name: format!("{i}"), count, rate };
        Servers::new(classes.iter().enumerate().map(class).collect()).expect("servers")
    }

    /// Two dispatchers, a third and two thirds of the jobs.
    pub(in super::super) fn system(classes: &[(u64, f64)], load: f64) -> System {
        let servers = servers(classes);
        System {
            arrivals: Arrivals::poisson(load * servers.total_rate()),
            servers,
            dispatchers: Dispatchers::with_shares(vec![0.25, 0.75]).expect("shares"),
            service: Law::standard_exponential(),
            buffer: None,
            initial: Initial::Empty,
        }
    }

    fn policy(strategy: &str, information: &str) -> Policy {
        let information: Information = serde_json::from_str(information).expect("information");
        Policy { dispatch: dispatch(strategy), information, count_own_jobs: true, per_probe: 2 }
    }

    /// All orders of the servers.
    fn orders(n: usize) -> Vec<Vec<usize>> {
        if n == 0 {
            return vec![vec![]];
        }
        let longer = |order: Vec<usize>| {
            (0..n).map(move |at| {
                let mut order = order.clone();
                order.insert(at, n - 1);
                order
            })
        };
        orders(n - 1).into_iter().flat_map(longer).collect()
    }

    /// All lists of d servers with their probabilities, drawn in turn by weight.
    fn samples(d: usize, weights: &[f64], again: bool) -> Vec<(Vec<usize>, f64)> {
        let mut lists = vec![(Vec::new(), 1.0)];
        for _ in 0..d {
            let mut longer = Vec::new();
            for (list, probability) in lists {
                let free = |i: &usize| again || !list.contains(i);
                let total: f64 = (0..weights.len()).filter(free).map(|i| weights[i]).sum();
                for i in (0..weights.len()).filter(free) {
                    let mut list = list.clone();
                    list.push(i);
                    longer.push((list, probability * weights[i] / total));
                }
            }
            lists = longer;
        }
        lists
    }

    /// The probability of each server, which are listed from the shortest in view on, by going through all cases.
    fn probabilities(dispatch: &Dispatch, rates: &[f64], lengths: &[u32]) -> Vec<f64> {
        let n = rates.len();
        let mut found = vec![0.0; n];
        let even = vec![1.0; n];
        let mut best_of = |d: usize, weights: &[f64], again: bool, part: f64| {
            for (list, probability) in samples(d, weights, again) {
                found[*list.iter().min().expect("a sample")] += part * probability;
            }
        };
        match dispatch {
            Dispatch::Shortest(_) => best_of(n, &even, false, 1.0),
            Dispatch::Random(_) => best_of(1, &even, false, 1.0),
            Dispatch::WeightedRandom(_) => best_of(1, rates, false, 1.0),
            Dispatch::PowerOfD(power) => {
                let by_rate = serde_json::to_string(&power.weighting).expect("a word").contains("rate");
                best_of(power.d.get() as usize, if by_rate { rates } else { &even }, power.replacement, 1.0);
            }
            Dispatch::OnePlusBeta(choices) => {
                best_of(1, &even, false, 1.0 - choices.beta.get());
                best_of(2, &even, false, choices.beta.get());
            }
            Dispatch::Ranked(ranked) => {
                ranked.weights.iter().zip(&mut found).for_each(|(weight, found)| *found = weight.get());
            }
            Dispatch::BelowAverage(below) => {
                let by_rate = serde_json::to_string(&below.weighting).expect("a word").contains("rate");
                let total: u32 = lengths.iter().sum();
                let weight = |i: usize| {
                    let short = lengths[i] * n as u32 <= total;
                    if !short {
                        0.0
                    } else if by_rate {
                        rates[i]
                    } else {
                        1.0
                    }
                };
                let all: f64 = (0..n).map(weight).sum();
                found = (0..n).map(|i| weight(i) / all).collect();
            }
            _ => panic!("no cases for {dispatch:?}"),
        }
        found
    }

    /// Whether the strategy is tilted in all views, and the largest delta, by going through orders and views.
    fn brute_force(dispatch: &Dispatch, rates: &[f64]) -> (bool, f64) {
        let n = rates.len();
        let total: f64 = rates.iter().sum();
        let (mut tilted, mut delta) = (true, f64::INFINITY);
        for order in orders(n) {
            let rates: Vec<f64> = order.iter().map(|&i| rates[i]).collect();
            // For lengths only which of them are above the average counts; not all are equal.
            for longer in 1..n {
                let lengths: Vec<u32> = (0..n).map(|i| u32::from(i >= n - longer)).collect();
                let probabilities = probabilities(dispatch, &rates, &lengths);
                let preference: Vec<f64> =
                    probabilities.iter().zip(&rates).map(|(probability, rate)| probability - rate / total).collect();
                let negative = preference.iter().position(|&x| x < -1e-12).unwrap_or(n);
                tilted &= preference[negative..].iter().all(|&x| x < 1e-12);
                delta = delta.min(preference[0]).min(-preference[n - 1]);
            }
        }
        (tilted, delta)
    }

    fn all_strategies(n: usize) -> Vec<String> {
        let mut all: Vec<String> =
            [r#"{"shortest": {}}"#, r#"{"random": {}}"#, r#"{"weighted_random": {}}"#].map(String::from).into();
        for beta in ["0", "0.1", "0.5", "1"] {
            all.push(format!(r#"{{"one_plus_beta": {{"beta": {beta}}}}}"#));
        }
        for weighting in ["rate", "uniform"] {
            all.push(format!(r#"{{"below_average": {{"weighting": "{weighting}"}}}}"#));
            for (d, again) in (1..=n).flat_map(|d| [(d, false), (d, true)]) {
                all.push(format!(
                    r#"{{"power_of_d": {{"d": {d}, "replacement": {again}, "weighting": "{weighting}"}}}}"#
                ));
            }
        }
        for weights in
            ["[1]", "[0.6, 0.4]", "[0.4, 0.6]", "[0.5, 0.3, 0.2]", "[0.3, 0.2, 0.5]", "[0.25, 0.25, 0.25, 0.25]"]
        {
            if weights.matches('.').count() <= n {
                all.push(format!(r#"{{"ranked": {{"weights": {weights}}}}}"#));
            }
        }
        all
    }

    #[test]
    fn preferences_are_those_of_all_orders() {
        let systems: [&[(u64, f64)]; 9] = [
            &[(2, 1.0)],
            &[(3, 2.0)],
            &[(4, 0.3)],
            &[(1, 1.0), (1, 3.0)],
            &[(2, 1.0), (1, 1.2)],
            &[(1, 1.0), (2, 5.0)],
            &[(2, 1.0), (2, 1.1)],
            &[(3, 1.0), (1, 10.0)],
            &[(1, 1.0), (1, 2.0), (2, 4.0)],
        ];
        for classes in systems {
            let rates: Vec<f64> =
                classes.iter().flat_map(|&(count, rate)| std::iter::repeat_n(rate, count as usize)).collect();
            for text in all_strategies(rates.len()) {
                let strategy = dispatch(&text);
                let (tilted, delta) = brute_force(&strategy, &rates);
                let preference = Preference::new(&strategy, &servers(classes));
                assert_eq!(preference.is_tilted(), tilted, "{text} on {classes:?}: {preference:?}");
                match preference {
                    Preference::DeltaTilted { delta: found, note: "at least" } => {
                        assert!(0.0 < found && found <= delta + 1e-12, "{text} on {classes:?}: {found} > {delta}");
                    }
                    Preference::DeltaTilted { delta: found, .. } => {
                        assert!((found - delta).abs() < 1e-12, "{text} on {classes:?}: {found} for {delta}");
                    }
                    _ => assert!(!tilted || delta < 1e-12, "{text} on {classes:?}: {preference:?} for {delta}"),
                }
            }
        }
    }

    #[test]
    fn preferences_of_the_paper() {
        let led = servers(&[(50, 1.0), (50, 10.0)]);
        let delta = |text: &str, servers: &Servers| Preference::new(&dispatch(text), servers).delta();
        // Examples 1 and 3.
        assert_eq!(delta(r#"{"shortest": {}}"#, &led), Some(1.0 / 550.0));
        let close = |found: Option<f64>, delta: f64| found.is_some_and(|found| (found - delta).abs() < 1e-12);
        assert!(close(delta(r#"{"power_of_d": {"d": 2}}"#, &servers(&[(100, 1.0)])), 0.01));
        assert!(close(delta(r#"{"power_of_d": {"d": 2}}"#, &servers(&[(1_000_000, 1.0)])), 1e-6));
        assert_eq!(delta(r#"{"power_of_d": {"d": 2}}"#, &led), None);
        for (text, even, uneven) in [
            (r#"{"idle_first": {}}"#, true, false),
            (r#"{"idle_first": {"fallback": "weighted_random"}}"#, true, true),
            (r#"{"below_threshold": {}}"#, true, true),
            (r#"{"below_threshold": {"fallback": "random"}}"#, true, false),
            (r#"{"below_threshold": {"weighting": "uniform"}}"#, true, false),
            (r#"{"shortest_delay": {}}"#, true, false),
            (r#"{"shortest_normalized": {}}"#, true, false),
            (r#"{"round_robin": {}}"#, false, false),
            (r#"{"best_of_memory": {}}"#, false, false),
        ] {
            let tilted = |servers| Preference::new(&dispatch(text), servers).is_tilted();
            assert_eq!((tilted(&servers(&[(10, 2.0)])), tilted(&led)), (even, uneven), "{text}");
            assert_eq!(Preference::new(&dispatch(text), &servers(&[(1, 2.0)])), Preference::Neutral, "{text}");
        }
    }

    #[test]
    fn refresh_of_each_rule() {
        let system = system(&[(4, 1.0), (1, 4.0)], 0.5);
        let slots = Slots::default();
        let refresh =
            |information: &str, slots| Refresh::new(&system, &policy(r#"{"shortest": {}}"#, information), slots);
        // 4 jobs per slot, 1 of them at the dispatcher with least.
        let some = 1.0 - (-1.0_f64).exp();
        for (information, slotted, continuous) in [
            (r#""push""#, some / 5.0, 0.2),
            (r#"{"push": {"d": 2, "probability": 0.5, "loss": 0.1}}"#, some * 0.18, 0.18),
            (r#"{"periodic": {"period": "exponential"}}"#, some, 1.0),
        ] {
            let found = [refresh(information, Some(&slots)), refresh(information, None)];
            let [Refresh::AtLeast(Bound::PerSlot(p)), Refresh::AtLeast(Bound::PerTime(rate))] = found else {
                panic!("{information}: {found:?}");
            };
            assert!((p - slotted).abs() < 1e-12 && (rate - continuous).abs() < 1e-12, "{information}: {p}, {rate}");
        }
        // A server of rate 1 is offered a service with probability 1/2, and tells one of 2 dispatchers.
        let pull = r#"{"pull": {"probability": 0.2}}"#;
        assert!(
            matches!(refresh(pull, Some(&slots)), Refresh::WhileBusy(Bound::PerSlot(p)) if (p - 0.05).abs() < 1e-12)
        );
        assert!(matches!(refresh(pull, None), Refresh::WhileBusy(Bound::PerTime(p)) if (p - 0.1).abs() < 1e-12));
        for information in [r#""exact""#, r#"{"delayed": {"age": 0}}"#] {
            assert_eq!(refresh(information, Some(&slots)), Refresh::AtLeast(Bound::Always), "{information}");
        }
        let every_slot = r#"{"periodic": {"period": 1, "loss": 0.25}}"#;
        assert_eq!(refresh(every_slot, Some(&slots)), Refresh::AtLeast(Bound::PerSlot(0.75)));
        assert!(matches!(refresh(every_slot, None), Refresh::Unbounded(_)));
        for information in [
            r#""none""#,
            r#""on_idle""#,
            r#"{"delayed": {"age": 1}}"#,
            r#"{"exact": {"query_delay": 1}}"#,
            r#"{"push": {"delay": 1}}"#,
            r#"{"push": {"probability": 0}}"#,
            r#"{"pull": {"probability": 0}}"#,
            r#"{"pull": {"loss": 1}}"#,
            r#"{"pull": {}, "periodic": {"period": 3, "delay": "exponential"}}"#,
            r#"{"periodic": {"period": 3}}"#,
        ] {
            assert!(matches!(refresh(information, Some(&slots)), Refresh::Unbounded(_)), "{information}");
        }
    }

    #[test]
    fn verdicts() {
        let slots = Slots::default();
        let led = system(&[(4, 1.0), (1, 4.0)], 0.5);
        let of = |system: &System, strategy: &str, information: &str| {
            let found = Theorems::new(system, &policy(strategy, information), Some(&slots));
            let applies = |verdict: &Verdict| matches!(verdict, Verdict::Applies { .. });
            (applies(&found.throughput), applies(&found.delay), found.unstable.is_some())
        };
        assert_eq!(of(&led, r#"{"shortest": {}}"#, r#""push""#), (true, true, false));
        assert_eq!(of(&led, r#"{"shortest": {}}"#, r#""none""#), (false, false, false));
        assert_eq!(of(&led, r#"{"weighted_random": {}}"#, r#""none""#), (true, false, false));
        assert_eq!(of(&led, r#"{"random": {}}"#, r#""exact""#), (false, false, true));
        assert_eq!(of(&led, r#"{"idle_first": {}}"#, r#""exact""#), (false, false, true));
        assert_eq!(of(&led, r#"{"idle_first": {"fallback": "weighted_random"}}"#, r#""exact""#), (true, false, false));
        let limited = System { buffer: Some(9), ..led };
        assert_eq!(of(&limited, r#"{"shortest": {}}"#, r#""push""#), (false, false, false));
    }
}

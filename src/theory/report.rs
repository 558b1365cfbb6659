//! All that theory says of a scenario, without simulating it, as a plain value.

use super::predictions::{Kind, Predictions};
use super::{HalfinWhitt, MMN, Regime, SubHalfinWhitt, Theorems, short};
use crate::measure::Metric;
use crate::model::{Slots, System};
use crate::policy::{Dispatch, LevelLaw, Policy};
use serde::Serialize;

/// All that is known, and why the rest is not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Number of servers N.
    pub servers: u64,
    /// The load.
    pub load: f64,
    /// What is predicted for the metrics of a run, best first known.
    pub predictions: Vec<Known>,
    /// Level by level: the limit and its fluctuations.
    pub levels: Vec<Level>,
    /// What else is known: moments, regimes, bounds.
    pub statements: Vec<Statement>,
    /// What the theorems of the LED paper say, in words.
    pub theorems: Vec<String>,
    /// What is not known, and why.
    pub unknown: Vec<Unknown>,
}

/// A predicted metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Known {
    /// The metric.
    pub metric: Metric,
    /// Which of its values; see [`Metric::key`].
    pub key: String,
    /// The value.
    pub value: f64,
    /// How far it can be trusted.
    pub kind: Kind,
    /// Where it is from.
    pub source: &'static str,
}

/// A level k of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Level {
    /// The level.
    pub k: usize,
    /// s*_k, the fixed point.
    pub fixed_point: f64,
    /// V_k: `E s_k = s*_k + V_k / N + ...`
    pub first: Option<f64>,
    /// The coefficient of 1 / N^2.
    pub second: Option<f64>,
    /// W_kk, the limit of N times the variance of s_k.
    pub variance: Option<f64>,
    /// An upper bound of `E s_k` for every N.
    pub upper_bound: Option<f64>,
}

/// A value with its meaning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
    /// What it is.
    pub name: String,
    /// The value; none for a finding in words.
    pub value: Option<f64>,
    /// `exact`, `asymptotic`, `lower_bound` or `expansion`.
    pub kind: &'static str,
    /// Where it is from, or the finding.
    pub source: String,
}

/// What is not known, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unknown {
    /// What.
    pub what: &'static str,
    /// Why.
    pub why: String,
}

/// Levels that are reported: those of a run, at most.
const LEVELS: usize = 64;

/// Servers from which on a load that was not given as that of a regime is placed in one.
const MANY: f64 = 100.0;

/// The load as a scenario may give it, `rho = 1 - beta N^(-gamma)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManyServerLoad {
    /// The factor.
    pub beta: f64,
    /// The exponent.
    pub gamma: f64,
}

impl Report {
    /// The report on a system under a policy; `quantiles` are those of the response time that are wanted, and
    /// `most_states` as in [`Predictions::new`].
    pub fn new(
        system: &System,
        policy: &Policy,
        slots: Option<&Slots>,
        regime: Option<ManyServerLoad>,
        quantiles: &[f64],
        most_states: usize,
    ) -> Self {
        let predictions = Predictions::new(system, policy, slots, most_states);
        let levels = levels(system, policy, &predictions);
        let mut statements = Vec::new();
        moments(&predictions, &mut statements);
        if slots.is_none() {
            pooled(system, &mut statements);
            if system.servers.are_homogeneous() {
                many_servers(system, policy, regime, &mut statements);
            }
        }
        heavy_traffic(&predictions, &mut statements);
        let unknown = [
            ("exact stationary law", predictions.exact.as_ref().err()),
            ("mean-field limit", predictions.limit.as_ref().err()),
            ("fluctuations and corrections", predictions.noise.as_ref().err()),
        ];
        Self {
            servers: system.servers.len(),
            load: system.load(),
            predictions: known(system, &predictions, quantiles),
            levels,
            statements,
            theorems: Theorems::new(system, policy, slots).lines(),
            unknown: unknown
                .into_iter()
                .filter_map(|(what, why)| why.map(|why| Unknown { what, why: why.clone() }))
                .collect(),
        }
    }
}

fn known(system: &System, predictions: &Predictions, quantiles: &[f64]) -> Vec<Known> {
    let mut wanted: Vec<(Metric, String)> = [
        Metric::MeanJobs,
        Metric::JobsVariance,
        Metric::EmptyProbability,
        Metric::SquaredDistance,
        Metric::ResponseTimeMean,
        Metric::ResponseTimeVariance,
    ]
    .map(|metric| (metric, String::new()))
    .into();
    wanted.extend(quantiles.iter().map(|q| (Metric::ResponseTimeQuantile, q.to_string())));
    wanted.extend(
        [
            Metric::WaitingTimeMean,
            Metric::WaitingProbability,
            Metric::MessagesPerJob,
            Metric::BlockedFraction,
            Metric::Utilization,
            Metric::Throughput,
            Metric::UnusedService,
            Metric::RegretMean,
            Metric::Imbalance,
        ]
        .map(|metric| (metric, String::new())),
    );
    wanted.extend((1..=8).map(|k: u32| (Metric::TailFraction, k.to_string())));
    if system.servers.classes().len() > 1 {
        for metric in [Metric::Utilization, Metric::ClassMeanJobs, Metric::ClassShare, Metric::ClassResponseTimeMean] {
            wanted.extend(system.servers.classes().iter().map(|class| (metric, class.name.clone())));
        }
    }
    let find = |(metric, key): (Metric, String)| {
        let found = predictions.of(metric, &key)?;
        // What is nothing in every system says nothing.
        let nothing = found.value == 0.0 && matches!(metric, Metric::BlockedFraction | Metric::TailFraction);
        (!nothing).then_some(Known { metric, key, value: found.value, kind: found.kind, source: found.source })
    };
    wanted.into_iter().filter_map(find).collect()
}

fn levels(system: &System, policy: &Policy, predictions: &Predictions) -> Vec<Level> {
    let Ok(limit) = &predictions.limit else { return Vec::new() };
    let noise = predictions.noise.as_ref().ok();
    let bounded = is_bounded_by_random(system, policy);
    let load = system.load();
    let level = |(k, fixed_point): (usize, f64)| Level {
        k,
        fixed_point,
        first: noise.and_then(|noise| noise.first.get(k - 1).copied()),
        second: noise.and_then(|noise| noise.second.as_ref()?.get(k - 1).copied()),
        variance: noise.and_then(|noise| noise.covariance.get(k - 1).map(|row| row[k - 1])),
        upper_bound: bounded.then(|| load.powi(k as i32)),
    };
    (1..).zip(limit.tail()).take(LEVELS).map(level).collect()
}

/// Whether `E s_k <= rho^k` is known, as in the paper on the rate of convergence: choices among servers of one rate on
/// exact information keep the queues more even than random routing does.
fn is_bounded_by_random(system: &System, policy: &Policy) -> bool {
    let even = system.is_memoryless() && system.servers.are_homogeneous() && system.buffer.is_none();
    let chooses = match LevelLaw::for_the_limit(&policy.dispatch, &system.servers) {
        Ok(law) => law.uniform_samples().is_some() || matches!(policy.dispatch, Dispatch::Shortest(_)),
        Err(_) => false,
    };
    even && chooses && policy.information.is_exact() && system.load() < 1.0
}

fn moments(predictions: &Predictions, statements: &mut Vec<Statement>) {
    // One level: an idle server is always found, and all corrections are 0 to every order.
    let Some(noise) = predictions.noise.as_ref().ok().filter(|noise| noise.fixed_point.len() > 1) else { return };
    let mut add = |name: &str, value: Option<f64>, source: &str| {
        if let Some(value) = value {
            let (name, source) = (name.to_owned(), source.to_owned());
            statements.push(Statement { name, value: Some(value), kind: "expansion", source });
        }
    };
    add("trace(W), limit of N E sum_k |s_k - s*_k|^2", Some(noise.trace()), "A W + W A^T + B = 0");
    let distance = Some(noise.mean_square_error()).filter(|_| noise.second_square.is_some());
    add("the same with its term of order 1/N", distance, "moments to the fourth order");
    add("mean jobs per server, mean field", noise.mean_jobs(0), "sum of s*_k");
    add("mean jobs per server, to order 1/N", noise.mean_jobs(1), "Gast and Van Houdt 2017");
    add("mean jobs per server, to order 1/N^2", noise.mean_jobs(2), "Gast, Bortolussi, Tribastone 2019");
}

/// One queue before all servers: no policy does better.
fn pooled(system: &System, statements: &mut Vec<Statement>) {
    let servers = &system.servers;
    if !system.is_memoryless() || system.buffer.is_some() || !servers.are_homogeneous() {
        return;
    }
    let Some(queue) = MMN::new(servers.len(), system.load(), servers.classes()[0].rate) else { return };
    for (name, value) in [
        ("one queue before all servers: mean jobs per server", queue.jobs() / servers.len() as f64),
        ("one queue before all servers: mean response time", queue.response_time()),
        ("one queue before all servers: probability of a wait", queue.waiting_probability()),
    ] {
        statements.push(Statement {
            name: name.to_owned(),
            value: Some(value),
            kind: "lower_bound",
            source: "M/M/N (Erlang C)".to_owned(),
        });
    }
}

fn many_servers(system: &System, policy: &Policy, regime: Option<ManyServerLoad>, statements: &mut Vec<Statement>) {
    let n = system.servers.len() as f64;
    let load = system.load();
    let many = regime.is_some() || n >= MANY;
    if !many || n < 2.0 || !(load > 0.0 && load < 1.0) {
        return;
    }
    let mut add = |name: String, value: Option<f64>, source: String| {
        statements.push(Statement { name, value, kind: "asymptotic", source });
    };
    // With beta = 1; a beta is taken in by moving gamma.
    let gamma = -(1.0 - load).ln() / n.ln();
    let stated = regime.map_or(gamma, |regime| regime.gamma);
    let name = Regime::of(stated);
    let (beta, what) = match regime {
        Some(regime) => (regime.beta, String::new()),
        None => (1.0, format!(", if the load is taken as 1 - N^(-{})", short(gamma))),
    };
    add(format!("regime: {name}{what}"), None, name.shortest_queue().to_owned());
    if name == Regime::HalfinWhitt {
        let limit = HalfinWhitt { beta };
        let value = Some(limit.waiting_probability());
        add("one queue before all servers: probability of a wait".into(), value, "Halfin and Whitt 1981".into());
    }
    if regime.is_some() && name == Regime::SubHalfinWhitt {
        sub_halfin_whitt(SubHalfinWhitt { servers: n, gamma }, policy, &mut add);
    }
}

fn sub_halfin_whitt(regime: SubHalfinWhitt, policy: &Policy, add: &mut impl FnMut(String, Option<f64>, String)) {
    let paper = "power of d in the sub-Halfin-Whitt regime";
    for m in 1..=3 {
        let name = format!("d for queues of {m}, d^{m} = 2 * {m} N^gamma log d");
        match regime.choices(m) {
            Ok(d) => add(name, Some(d), paper.to_owned()),
            Err(why) => add(name, None, why),
        }
    }
    let vanishing = regime.servers.powf(regime.gamma) * regime.servers.ln();
    add("d for a vanishing delay, N^gamma log N".into(), Some(vanishing), paper.to_owned());
    let d = match &policy.dispatch {
        Dispatch::PowerOfD(power) if policy.information.is_exact() => power.d.get() as f64,
        _ => return,
    };
    let Some(length) = regime.length(d) else {
        add("most queues hold m jobs".into(), None, format!("no m solves d^m = 2 m N^gamma log d at d = {d}"));
        return;
    };
    add(format!("most queues hold m jobs at d = {d}: m"), Some(length), paper.to_owned());
    let m = length.round().max(1.0);
    for (i, s) in (1..).zip(regime.prediction(m as u32, d)) {
        let far = if s < 0.0 { "; N is too small for it" } else { "" };
        add(format!("S_{i} / N at m = {m}, to leading order"), Some(s), format!("{paper}{far}"));
    }
}

fn heavy_traffic(predictions: &Predictions, statements: &mut Vec<Statement>) {
    let Some(heavy) = &predictions.heavy_traffic else { return };
    let mut add = |name: &str, value: Option<f64>, kind: &'static str, source: &str| {
        if value.is_some() {
            statements.push(Statement { name: name.to_owned(), value, kind, source: source.to_owned() });
        }
    };
    add("epsilon, mean unused service per slot in steady state", Some(heavy.epsilon), "exact", "what comes goes");
    add("zeta, variance per slot of arrivals and services", Some(heavy.zeta), "exact", "the laws of a slot");
    let optimal = "limit of a delay-optimal policy, lower bound of all (LED paper)";
    add("zeta / 2, limit of epsilon E[sum Q]", Some(heavy.limit()), "asymptotic", optimal);
    add("zeta / (2 epsilon), jobs at the start of a slot", heavy.jobs(), "asymptotic", optimal);
}

#[cfg(test)]
mod tests {
    use super::super::theorems::tests::{dispatch, system};
    use super::*;

    fn report(classes: &[(u64, f64)], load: f64, strategy: &str, regime: Option<ManyServerLoad>) -> Report {
        let information = crate::policy::Information::exact();
        let policy = Policy { dispatch: dispatch(strategy), information, count_own_jobs: true, per_probe: 2 };
        Report::new(&system(classes, load), &policy, None, regime, &[0.5, 0.99], super::super::QUICK)
    }

    #[test]
    fn what_is_not_known_says_why() {
        for strategy in ["random", "round_robin", "shortest", "best_of_memory", "idle_first", "below_average"] {
            for classes in [&[(10, 1.0)][..], &[(5, 1.0), (5, 3.0)], &[(1000, 1.0), (500, 2.0)]] {
                let report = report(classes, 0.9, &format!("{{\"{strategy}\": {{}}}}"), None);
                let limit = report.unknown.iter().any(|unknown| unknown.what == "mean-field limit");
                assert_eq!(report.levels.is_empty(), limit, "{strategy}");
                assert!(report.unknown.iter().all(|unknown| !unknown.why.is_empty()));
            }
        }
    }

    #[test]
    fn a_billion_servers_are_no_more_than_ten() {
        let load = ManyServerLoad { beta: 1.0, gamma: 0.4 };
        let rho = 1.0 - 1e9_f64.powf(-0.4);
        for d in [1, 2, 30, 1_000_000] {
            let report =
                report(&[(1_000_000_000, 1.0)], rho, &format!(r#"{{"power_of_d": {{"d": {d}}}}}"#), Some(load));
            assert!(!report.levels.is_empty() && report.statements.len() > 5, "{d}: {report:?}");
        }
    }

    #[test]
    fn the_supermarket_is_bounded_by_random_routing() {
        let report = report(&[(100, 1.0)], 0.9, r#"{"power_of_d": {"d": 2}}"#, None);
        let level = report.levels[2];
        assert!((level.upper_bound.expect("known") - 0.729).abs() < 1e-12);
        assert!(report.levels.iter().all(|level| level.fixed_point <= level.upper_bound.expect("known") + 1e-15));
    }
}

//! Theory against values of others, to the digits given: fixed points, trajectories, corrections, formulas, regimes.
//!
//! `cases/theory.json` is from a program that shares nothing with this one; each value comes with its trusted error,
//! beside which a relative error of 1e-10 is allowed for.

use herdsim::experiment::{self, Unwatched};
use herdsim::measure::Metric;
use herdsim::policy::LevelLaw;
use herdsim::scenario::Plan;
use herdsim::theory::{HalfinWhitt, HeavyTraffic, Kind, MMN, MeanField, Noise, SubHalfinWhitt, Trajectory, Truncated};
use serde_json::Value;
use std::num::NonZeroUsize;

const CASES: &str = include_str!("cases/theory.json");
const SLOW_CASES: &str = include_str!("cases/exact.json");

fn plan(text: &str) -> Plan {
    Plan::read(text, "case", "case", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The number behind a prefix, in one of the parts of an id.
fn part(id: &str, prefix: &str) -> f64 {
    let number = |part: &str| part.strip_prefix(prefix).and_then(|rest| rest.parse().ok());
    id.split('/').find_map(number).unwrap_or_else(|| panic!("{id} has no {prefix}"))
}

struct Judge {
    id: String,
    judged: usize,
    failures: Vec<String>,
}

impl Judge {
    fn new() -> Self {
        Self { id: String::new(), judged: 0, failures: Vec::new() }
    }

    fn value(&mut self, name: &str, found: f64, exact: f64, trusted: f64) {
        self.judged += 1;
        let allowed = trusted + 1e-10 * exact.abs() + 1e-12;
        if (found - exact).abs() > allowed || !found.is_finite() {
            self.failures.push(format!("{}: {name} is {found}, not {exact} ± {allowed:e}", self.id));
        }
    }

    fn list(&mut self, name: &str, found: impl Fn(usize) -> f64, entry: &Value) {
        let trusted = entry["abs_err"].as_f64().expect("an error");
        for (i, exact) in entry["value"].as_array().expect("a list").iter().enumerate() {
            self.value(&format!("{name}[{i}]"), found(i), exact.as_f64().expect("a number"), trusted);
        }
    }

    fn one(&mut self, name: &str, found: f64, entry: &Value) {
        let trusted = entry["abs_err"].as_f64().expect("an error");
        self.value(name, found, entry["value"].as_f64().expect("a number"), trusted);
    }

    fn end(self, least: usize) {
        assert!(self.failures.is_empty(), "of {}:\n{}", self.judged, self.failures.join("\n"));
        assert!(self.judged >= least, "only {} values were judged", self.judged);
    }
}

/// All values of the cases whose id begins so.
fn judge(prefix: &str, least: usize, of: impl Fn(&mut Judge, &Value)) {
    let cases: Vec<Value> =
        [CASES, SLOW_CASES].iter().flat_map(|text| serde_json::from_str::<Vec<Value>>(text).expect("JSON")).collect();
    let mut judge = Judge::new();
    for case in cases.iter().filter(|case| case["id"].as_str().is_some_and(|id| id.starts_with(prefix))) {
        judge.id = case["id"].as_str().expect("an id").to_owned();
        of(&mut judge, case);
    }
    judge.end(least);
}

fn judge_limit(judge: &mut Judge, case: &Value, limit: &MeanField, load: f64) {
    let of = |metric, key: &str| limit.value(metric, key).expect("known");
    for (name, entry) in case["values"].as_object().expect("values") {
        match &**name {
            "s_k" => judge.list(name, |i| of(Metric::TailFraction, &(i + 1).to_string()), entry),
            "EQ_per_server" | "EQ" => judge.one(name, of(Metric::MeanJobs, ""), entry),
            "W" => judge.one(name, of(Metric::ResponseTimeMean, ""), entry),
            "P_wait" => judge.one(name, of(Metric::WaitingProbability, ""), entry),
            "sojourn_p50" => judge.one(name, of(Metric::ResponseTimeQuantile, "0.5"), entry),
            "sojourn_p90" => judge.one(name, of(Metric::ResponseTimeQuantile, "0.9"), entry),
            "sojourn_p99" => judge.one(name, of(Metric::ResponseTimeQuantile, "0.99"), entry),
            // Averages over a phase are given; its start is not kept.
            "EQ_at_refresh" => {}
            other => panic!("{other} at load {load}"),
        }
    }
}

#[test]
fn fixed_points() {
    judge("D/fixed/", 200, |judge, case| {
        let load = part(&judge.id, "lam");
        let strategies = match case["params"]["d"].as_u64() {
            Some(d) => vec![format!("{{power_of_d: {{d: {d}}}}}")],
            None => vec!["shortest".to_owned(), "idle_first".to_owned()],
        };
        for dispatch in strategies {
            let plan = plan(&format!("{{servers: 100, load: {load}, policy: {{dispatch: {dispatch}}}}}"));
            judge_limit(judge, case, &plan.mean_field().expect("a limit"), load);
        }
    });
}

#[test]
fn boards() {
    judge("F/periodic-meanfield/", 50, |judge, case| {
        let (load, d, period) = (part(&judge.id, "lam"), part(&judge.id, "d"), part(&judge.id, "T"));
        let plan = plan(&format!(
            "{{servers: 100, load: {load}, policy: {{dispatch: {{power_of_d: {{d: {d}, replacement: true}}}}, \
             information: {{periodic: {{period: {period}}}}}, count_own_jobs: false}}}}"
        ));
        let limit = plan.limit().unwrap_or_else(|why| panic!("{}: {why}", judge.id));
        judge_limit(judge, case, &limit, load);
    });
}

fn start(id: &str) -> Vec<f64> {
    match id.split('/').find(|part| ["empty", "three-each", "one-in-ten-has-10"].contains(part)) {
        Some("empty") => vec![],
        Some("three-each") => vec![1.0; 3],
        _ => vec![0.1; 10],
    }
}

#[test]
fn trajectories() {
    judge("D/transient/", 300, |judge, case| {
        let (load, d, time) = (part(&judge.id, "lam"), part(&judge.id, "d"), part(&judge.id, "t"));
        let plan = plan(&format!(
            "{{servers: 100, load: {load}, policy: {{dispatch: {{power_of_d: {{d: {d}, replacement: true}}}}}}}}"
        ));
        let law = LevelLaw::new(&plan.policy.dispatch, &plan.system.servers).expect("a law");
        let course = Trajectory::new(&plan.system, &law, &[start(&judge.id)], &[time], 1e-14).expect("an end");
        let tail = &course.tails[0];
        for (name, entry) in case["values"].as_object().expect("values") {
            match &**name {
                "s_k(t)" => judge.list(name, |i| tail[i], entry),
                "EQ_per_server(t)" => judge.one(name, tail.iter().sum(), entry),
                other => panic!("{other}"),
            }
        }
    });
}

#[test]
fn truncated_systems() {
    judge("D/truncated-ode/", 80, |judge, case| {
        let levels = part(&judge.id, "n") as usize;
        let system = Truncated { load: part(&judge.id, "lam"), choices: 2.0, levels };
        let mut start = start(&judge.id);
        start.resize(levels, 0.0);
        let end = system.at(&start, part(&judge.id, "t"), 1e-14).expect("an end");
        judge.list("s_k(t)", |i| end[i], &case["values"]["s_k(t)"]);
    });
}

#[test]
fn corrections_of_order_one_over_n() {
    judge("D/rmf/", 60, |judge, case| {
        let load = part(&judge.id, "lam");
        let d = case["params"]["d"].as_u64().unwrap_or(2);
        let servers = case["params"]["N"].as_u64().unwrap_or(1000);
        let replacement = &case["params"]["replacement"];
        let plan = plan(&format!(
            "{{servers: {servers}, load: {load}, \
             policy: {{dispatch: {{power_of_d: {{d: {d}, replacement: {replacement}}}}}}}}}"
        ));
        let noise = Noise::new(&plan.system, &plan.policy).expect("an expansion");
        let refined = noise.mean_jobs(1).expect("of the first order");
        let at = |list: &[f64], i: usize| list.get(i).copied().unwrap_or(0.0);
        for (name, entry) in case["values"].as_object().expect("values") {
            match &**name {
                "EQ_per_server_rmf" => judge.one(name, refined, entry),
                "W_rmf" => judge.one(name, refined / load, entry),
                "V_sum" => judge.one(name, noise.first.iter().sum(), entry),
                "V_k" => judge.list(name, |i| at(&noise.first, i), entry),
                "N*Var(s_k)" => judge.list(name, |i| noise.covariance.get(i).map_or(0.0, |row| row[i]), entry),
                other => panic!("{other}"),
            }
        }
    });
}

#[test]
fn one_queue_before_n_servers() {
    judge("E/MM", 80, |judge, case| {
        let servers = case["params"]["N"].as_u64().expect("a number");
        let queue = MMN::new(servers, part(&judge.id, "load"), 1.0).expect("stable");
        for (name, entry) in case["values"].as_object().expect("values") {
            let found = match &**name {
                "P_wait" => queue.waiting_probability(),
                "W" => queue.response_time(),
                "EL" => queue.jobs(),
                "var_L" => queue.jobs_variance(),
                "sojourn_p50" => queue.response_quantile(0.5),
                "sojourn_p90" => queue.response_quantile(0.9),
                "sojourn_p99" => queue.response_quantile(0.99),
                other => panic!("{other}"),
            };
            judge.one(name, found, entry);
        }
    });
}

#[test]
fn halfin_and_whitt() {
    judge("E/halfin-whitt/", 7, |judge, case| {
        let beta = part(&judge.id, "beta");
        let servers = judge.id.split("/n").nth(1).and_then(|n| n.parse::<u64>().ok());
        for (name, entry) in case["values"].as_object().expect("values") {
            let limit = HalfinWhitt { beta };
            let found = match (&**name, servers) {
                ("P_wait", Some(n)) => {
                    let load = 1.0 - beta / (n as f64).sqrt();
                    MMN::new(n, load, 1.0).expect("stable").waiting_probability()
                }
                ("P_wait", None) => limit.waiting_probability(),
                ("sqrt(n)*E[wait]", None) => limit.scaled_wait(),
                other => panic!("{other:?}"),
            };
            judge.one(name, found, entry);
        }
    });
}

#[test]
fn sub_halfin_whitt() {
    judge("E/many-server/", 100, |judge, case| {
        let (servers, gamma) = (part(&judge.id, "n"), part(&judge.id, "g"));
        let m = part(&judge.id, "m") as u32;
        let regime = SubHalfinWhitt { servers, gamma };
        let d = regime.choices(m).expect("a solution");
        let predicted = regime.prediction(m, d);
        // The fixed points given are for d rounded up.
        let rounded = d.ceil();
        let load = 1.0 - servers.powf(-gamma);
        let fixed = |i: usize| load.powf((0..=i as i32).map(|j| rounded.powi(j)).sum());
        for (name, entry) in case["values"].as_object().expect("values") {
            match &**name {
                "d" => judge.one(name, d, entry),
                "s_i/n, i=1..m" => judge.list(name, |i| predicted[i], entry),
                "s_i/n, i=1..m+3" => judge.list(name, fixed, entry),
                _ => judge.one(name, (servers.powf(gamma) * servers.ln()).powf(1.0 / f64::from(m)), entry),
            }
        }
    });
}

/// Two servers in slots under join the shortest queue: the lower bound is below the exact number of jobs and keeps its
/// distance as epsilon falls, zeta / (2 epsilon) comes near it.
#[test]
fn heavy_traffic_in_slots() {
    let mut distances = Vec::new();
    let cases: Vec<Value> = serde_json::from_str(SLOW_CASES).expect("JSON");
    for case in cases.iter().filter(|case| case["id"].as_str().is_some_and(|id| id.starts_with("C/heavy/"))) {
        let (exact, rate) = (&case["values"]["EQ_begin"]["value"], &case["params"]["arrival_pmf_mean"]);
        let exact = exact.as_f64().expect("a number");
        let plan = plan(&format!(
            "{{clock: slotted, slots: {{arrivals: {{binomial: {{trials: 2}}}}, service: bernoulli}}, \
             servers: [{{count: 2, rate: 0.5}}], arrival_rate: {rate}, policy: {{dispatch: shortest}}}}"
        ));
        let slots = plan.slots.as_ref().expect("slotted");
        let heavy = HeavyTraffic::new(&plan.system, slots);
        let bound = heavy.lower_bound(&plan.system, slots).expect("log-concave services");
        assert!(bound > 0.0 && bound < exact, "{bound} for {exact}");
        let relative = heavy.jobs().expect("stable") / exact - 1.0;
        distances.push((heavy.epsilon, exact - bound, relative.abs()));
    }
    assert_eq!(distances.len(), 4);
    for (epsilon, distance, relative) in distances {
        assert!(distance < 1.0 && relative < epsilon, "{epsilon}: {distance} {relative}");
    }
}

/// N E sum |s - s*|^2 of a thousand servers is trace(W) with its term of order 1/N, and refined means are met; scores by
/// |z| < 4 over 40 replications (one false alarm in 3,600 each; there are eight, and the seed is fixed).
#[test]
fn noise_and_corrections_agree_with_simulation() {
    for (load, time, replacement) in [(0.7, 300.0, true), (0.9, 600.0, false)] {
        for servers in [50, 1000] {
            let plan = plan(&format!(
                "{{servers: {servers}, load: {load}, initial: fixed_point, \
                 policy: {{dispatch: {{power_of_d: {{d: 2, replacement: {replacement}}}}}}}, \
                 run: {{warmup: 100, time: {time}, replications: 40, seed: 7}}}}"
            ));
            let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
            let results = experiment::run(&plan, threads, &Unwatched).expect("the run ends well");
            for metric in [Metric::SquaredDistance, Metric::MeanJobs] {
                let found = results.estimate(metric, "").expect("measured");
                let (value, error) = (found.estimate.expect("a value"), found.std_error.expect("replications"));
                let theory = found.theory.expect("known");
                assert_eq!(found.theory_kind, Some(Kind::RefinedMeanField));
                // What is left out is of the next order in 1/N.
                let left = 10.0 * theory / f64::from(servers * servers);
                let (z, name) = ((value - theory).abs() - left, metric.name());
                assert!(error < 0.1 * theory, "{name} at {load}, N = {servers}: the test is too weak");
                assert!(z < 4.0 * error, "{name} at {load}, N = {servers}: {value} ± {error}, not {theory}");
            }
        }
    }
}

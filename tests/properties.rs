//! Whatever scenario is accepted, runs in every engine that claims it, and its books agree.
//!
//! Scenarios are put together at random from everything that can stand in one; a failure is made smaller and printed
//! as a scenario. The seed is fixed, so that a failure here is one for everybody.

use herdsim::experiment::run_replication;
use herdsim::measure::{Balance, DelayHistogram, Metric, Record};
use herdsim::policy::Information;
use herdsim::scenario::{Plan, ScenarioError};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeMap;

/// Scenarios that are tried; `HERDSIM_CASES` asks for more.
const CASES: u32 = 400;

/// One of some texts.
fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(texts).prop_map(str::to_owned)
}

fn servers() -> impl Strategy<Value = String> {
    let class = (1..4_u32, select(&["0.1", "0.3", "1", "2.5", "1e-3"][..]));
    let classes = prop::collection::vec(class, 1..4).prop_map(|classes| {
        let one = |(count, rate): &(u32, &str)| format!("{{count: {count}, rate: {rate}}}");
        format!("[{}]", classes.iter().map(one).collect::<Vec<_>>().join(", "))
    });
    prop_oneof![(1..6_u32).prop_map(|n| n.to_string()), classes]
}

/// A time that a message or a question takes.
fn delay() -> impl Strategy<Value = String> {
    one_of(&[
        "0",
        "0.7",
        "{exponential: {mean: 0.5}}",
        "{uniform: {low: 0, high: 2}}",
        "{pareto: {alpha: 1.5, mean: 1}}",
        "{empirical: {values: [0, 3]}}",
    ])
}

/// A law of mean 1.
fn law() -> impl Strategy<Value = String> {
    one_of(&[
        "exponential",
        "1",
        "{uniform: {low: 0, high: 2}}",
        "{erlang: {shape: 3, mean: 1}}",
        "{hyperexponential: {mean: 1, scv: 9}}",
        "{lognormal: {mean: 1, scv: 3}}",
        "{weibull: {shape: 0.4, mean: 1}}",
        "{pareto: {alpha: 1.2, mean: 1}}",
        "{empirical: {values: [0, 2]}}",
    ])
}

fn strategy() -> impl Strategy<Value = String> {
    one_of(&[
        "random",
        "weighted_random",
        "round_robin",
        "shortest",
        "shortest_delay",
        "shortest_normalized",
        "below_average",
        "{below_average: {weighting: uniform}}",
        "{below_threshold: {r: 0}}",
        "{below_threshold: {r: 2, fallback: random}}",
        "{power_of_d: {d: 1}}",
        "{power_of_d: {d: 2}}",
        "{power_of_d: {d: 3, replacement: true, weighting: rate}}",
        "{best_of_memory: {d: 1, memory: 2}}",
        "{one_plus_beta: {beta: 0.3}}",
        "idle_first",
        "tidal",
        "{ranked: {weights: [0.2, 0.8]}}",
    ])
}

fn information() -> impl Strategy<Value = String> {
    let chance = || one_of(&["0", "0.3", "1"]);
    let push =
        (1..3_u32, chance(), delay(), chance(), any::<bool>()).prop_map(|(d, probability, delay, loss, joint)| {
            format!("push: {{d: {d}, probability: {probability}, delay: {delay}, loss: {loss}, joint: {joint}}}")
        });
    let pull = (chance(), delay(), chance()).prop_map(|(probability, delay, loss)| {
        format!("pull: {{probability: {probability}, delay: {delay}, loss: {loss}}}")
    });
    let on_idle = (delay(), chance()).prop_map(|(delay, loss)| format!("on_idle: {{delay: {delay}, loss: {loss}}}"));
    let periodic = (one_of(&["1", "0.3", "{exponential: {mean: 2}}"]), one_of(&["common", "own"]), delay(), chance())
        .prop_map(|(period, phase, delay, loss)| {
            format!("periodic: {{period: {period}, phase: {phase}, delay: {delay}, loss: {loss}}}")
        });
    let maybe = |rule: BoxedStrategy<String>| prop::option::of(rule);
    let settings = one_of(&["overtaking: drop", "overtaking: keep", "in_flight: replay", "in_flight: forget"]);
    let rules = (maybe(push.boxed()), maybe(pull.boxed()), maybe(on_idle.boxed()), maybe(periodic.boxed()), settings)
        .prop_map(|(push, pull, on_idle, periodic, setting)| {
            let mut rules: Vec<String> = [push, pull, on_idle, periodic].into_iter().flatten().collect();
            rules.push(setting);
            format!("{{{}}}", rules.join(", "))
        });
    prop_oneof![
        3 => Just("exact".to_owned()),
        2 => one_of(&["none", "{delayed: {age: 0}}", "{delayed: {age: 3}}"]),
        1 => delay().prop_map(|delay| format!("{{exact: {{query_delay: {delay}}}}}")),
        4 => rules,
    ]
}

fn arrivals() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just("poisson".to_owned()),
        2 => law().prop_map(|law| format!("{{renewal: {law}}}")),
        1 => one_of(&[
            "{batch_poisson: {size: {constant: 4}}}",
            "{batch_poisson: {size: {geometric: {mean: 2}}}}",
            "{markov_modulated: {rates: [0, 3], switching: [[0, 0.1], [0.2, 0]]}}",
        ]),
    ]
}

fn slots() -> impl Strategy<Value = String> {
    let count = || one_of(&["poisson", "geometric", "{binomial: {trials: 30}}", "{batch: {size: 2}}"]);
    (count(), count(), one_of(&["multinomial", "independent"])).prop_map(|(arrivals, service, split)| {
        format!("clock: slotted\nslots: {{arrivals: {arrivals}, service: {service}, split: {split}}}\n")
    })
}

fn measure() -> impl Strategy<Value = String> {
    let key = one_of(&[
        "trajectory: {step: 1}",
        "snapshots: {count: 7}",
        "snapshots: {step: 2, from: 1}",
        "tail_histogram_levels: 0",
        "delays: false",
        "estimates: false",
        "burst_size: false, coincidence_window: 0",
        "coincidence_window: 5",
        "estimate_age: false",
        "quantiles: [0, 0.5, 1]",
    ]);
    // Half of the time the probes are off that need to know servers by name.
    let first = one_of(&["burst_size: false, coincidence_window: 0", "tail_fraction: true"]);
    (first, prop::collection::btree_set(key, 0..3)).prop_map(|(first, keys)| {
        let mut seen = BTreeMap::from([(first.split(':').next().unwrap_or_default().to_owned(), first)]);
        if seen.contains_key("burst_size") {
            seen.insert("coincidence_window".to_owned(), String::new());
            seen.insert("snapshots".to_owned(), String::new());
        }
        for key in keys {
            seen.entry(key.split(':').next().unwrap_or_default().to_owned()).or_insert(key);
        }
        let keys: Vec<String> = seen.into_values().filter(|key| !key.is_empty()).collect();
        format!("{{{}}}", keys.join(", "))
    })
}

/// A scenario in which only the engine is left open.
fn scenario() -> impl Strategy<Value = String> {
    let time = prop_oneof![
        4 => (arrivals(), law()).prop_map(|(arrivals, law)| format!("arrivals: {arrivals}\nservice: {law}\n")),
        4 => Just(String::new()),
        4 => slots(),
    ];
    let dispatchers = one_of(&["1", "2", "5", "{shares: [0.7, 0.3]}", "{shares: [1, 0]}"]);
    let load = one_of(&["0", "0.05", "0.5", "0.9", "1", "1.5"]);
    let buffer = one_of(&["", "", "buffer: 1\n", "buffer: 4\n"]);
    let initial = one_of(&["empty", "empty", "empty", "empty", "empty", "{length: 1}", "{length: 4}", "fixed_point"]);
    let window = one_of(&["warmup: 0, time: 1", "warmup: 0, time: 40", "warmup: 13, time: 30", "warmup: 1e3, time: 7"]);
    let policy = (strategy(), information(), any::<bool>(), 1..3_u32);
    let run = (window, one_of(&["replications", "batch_means"]), any::<u64>());
    (time, servers(), dispatchers, load, buffer, initial, (policy, measure(), run)).prop_map(
        |(time, servers, dispatchers, load, buffer, initial, (policy, measure, run))| {
            let (strategy, information, own_jobs, per_probe) = policy;
            let (window, interval, seed) = run;
            format!(
                "{time}servers: {servers}\ndispatchers: {dispatchers}\nload: {load}\n{buffer}policy:\n  dispatch: {strategy}\n  \
                 information: {information}\n  count_own_jobs: {own_jobs}\n  per_probe: {per_probe}\ninitial: {initial}\n\
                 run: {{{window}, replications: 1, interval: {interval}, seed: {seed}}}\nmeasure: {measure}\n"
            )
        },
    )
}

/// What may be below 0.
fn is_signed(metric: Metric) -> bool {
    matches!(metric, Metric::EstimateBias)
}

/// What a delay cannot be.
fn check_delays(delays: &DelayHistogram, record: &Record, plan: &Plan) {
    let moments = delays.moments();
    let count = moments.count();
    assert!(moments.min().is_none_or(|least| least >= 0.0), "a delay below 0: {moments:?}");
    let finite = [moments.mean(), moments.variance(), moments.max()];
    assert!(finite.into_iter().flatten().all(|x| x.is_finite() && x >= 0.0), "{moments:?}");
    let Balance { arrived, blocked, inside_at_open, .. } = record.balance;
    match &plan.policy.information {
        // Jobs that still ask have not joined, and some that join had asked before.
        Information::Exact(exact) if !exact.query_delay.is_zero() => assert!(count <= arrived + inside_at_open),
        _ => assert_eq!(count, arrived - blocked, "each job that joined has a delay"),
    }
    let mut before = 0.0;
    for &q in &plan.measure.quantiles {
        let quantile = delays.quantile(q);
        assert_eq!(quantile.is_some(), count > 0);
        let quantile = quantile.unwrap_or(before);
        assert!(quantile.is_finite() && quantile >= before, "quantile {q} is {quantile} after {before}");
        before = quantile;
    }
}

/// What holds for every record.
fn check(plan: &Plan, record: &Record) {
    let balance = &record.balance;
    assert!(balance.counts_agree(), "{balance:?}");
    assert!(balance.relative_gap() < 1e-8, "{balance:?}");
    assert!(plan.system.buffer.is_some() || balance.blocked == 0, "{balance:?}");
    for reading in &record.readings {
        let fits = |x: f64| x.is_finite() && (x >= 0.0 || is_signed(reading.metric));
        assert!(reading.value.is_none_or(fits), "{reading:?}");
    }
    let values = |metric: Metric| record.readings.iter().filter(move |reading| reading.metric == metric);
    for metric in [Metric::Utilization, Metric::TailFraction, Metric::BlockedFraction, Metric::WaitingProbability] {
        assert!(values(metric).filter_map(|reading| reading.value).all(|x| x <= 1.0 + 1e-9), "{metric:?} above 1");
    }
    let tail: Vec<f64> = values(Metric::TailFraction).filter_map(|reading| reading.value).collect();
    assert!(tail.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9), "{tail:?}");
    for delays in [&record.response, &record.waiting].into_iter().flatten() {
        check_delays(delays, record, plan);
    }
    for series in &record.trajectory {
        assert!(series.values.iter().flatten().all(|x| x.is_finite()), "{series:?}");
    }
    let cells = postcard::to_stdvec(record).expect("a record can be kept");
    let again: Record = postcard::from_bytes(&cells).expect("and read");
    assert_eq!(postcard::to_stdvec(&again).expect("and kept"), cells, "a kept record is another one");
}

/// Runs a scenario in an engine; false if it is refused, which must be in plain words.
fn run(text: &str, engine: Option<&str>) -> Result<bool, ScenarioError> {
    let engine = engine.map_or(String::new(), |engine| format!("engine: {engine}\n"));
    let plan = Plan::read(&format!("{text}{engine}"), "case.yaml", "case", &[])?;
    let again = Plan::read(&plan.to_yaml(), "case.yaml", "case", &[])?;
    assert_eq!(again, plan, "a resolved scenario reads back as itself");
    assert!(plan.memory() < 1e9, "{} bytes", plan.memory());
    let record = run_replication(&plan, 0).expect("short queues stay within their range");
    check(&plan, &record);
    Ok(true)
}

#[test]
fn every_engine_runs_what_it_claims() {
    let cases = std::env::var("HERDSIM_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 2000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[8; 32]));
    let ran = std::cell::RefCell::new(BTreeMap::<&str, u32>::new());
    let outcome = runner.run(&scenario(), |text| {
        let engines: &[Option<&'static str>] = if text.starts_with("clock: slotted") {
            &[None]
        } else {
            &[Some("event"), Some("clock"), Some("occupancy"), Some("auto")]
        };
        for &engine in engines {
            match run(&text, engine) {
                Ok(_) => *ran.borrow_mut().entry(engine.unwrap_or("slotted")).or_default() += 1,
                Err(error) => {
                    let message = error.to_string();
                    prop_assert!(!error.rule.is_empty() && !error.remedy.is_empty(), "{message}");
                    prop_assert!(error.mark.line > 0 && message.len() < 1000, "{message}");
                }
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    let ran = ran.into_inner();
    // A generator whose scenarios are all refused shows nothing.
    for (engine, share) in [("event", 4), ("clock", 10), ("occupancy", 60), ("auto", 4), ("slotted", 30)] {
        let runs = ran.get(engine).copied().unwrap_or(0);
        assert!(runs >= cases / share, "only {runs} of {cases} scenarios ran in {engine}: {ran:?}");
    }
}

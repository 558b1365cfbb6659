//! The exact solver and the engines over a random sample of small scenarios.
//!
//! Policy, information, rates, buffers and load are drawn from a fixed seed until 60 scenarios are solved. Each is run
//! in 40 replications; the mean response time gives one score, (estimate - exact) / standard error, per scenario. Of 60
//! independent Student t numbers with 39 degrees of freedom, one is beyond 4 with probability 1.6 %, and their squares
//! sum to less than 27 or more than 120 with probability 0.1 %. The other metrics, some 950 scores that depend on each
//! other, are judged by 5: a false alarm of at most 1.2 %.

use herdsim::experiment::{self, Unwatched};
use herdsim::measure::Metric;
use herdsim::random::{Component, Stream};
use herdsim::scenario::Plan;
use herdsim::theory::{Exact, NotSolved};
use std::num::NonZeroUsize;

const SCENARIOS: usize = 60;

/// States that are followed at most; what needs more is not part of the sample.
const STATES: usize = 40_000;

/// One of these.
fn pick<'a>(stream: &mut Stream, among: &[&'a str]) -> &'a str {
    among[stream.below(among.len() as u64) as usize]
}

fn whole(stream: &mut Stream, low: u64, high: u64) -> u64 {
    low + stream.below(high - low + 1)
}

/// A number between, with two digits.
fn between(stream: &mut Stream, low: f64, high: f64) -> f64 {
    ((low + (high - low) * stream.uniform()) * 100.0).round() / 100.0
}

/// A strategy for so many servers.
fn strategy(stream: &mut Stream, servers: u64) -> String {
    let weighting = pick(stream, &["rate", "uniform"]);
    let fallback = pick(stream, &["random", "weighted_random"]);
    match stream.below(12) {
        0 => "weighted_random".to_owned(),
        1 => "random".to_owned(),
        2 => "shortest".to_owned(),
        3 => "shortest_delay".to_owned(),
        4 => "shortest_normalized".to_owned(),
        5 => format!("{{below_average: {{weighting: {weighting}}}}}"),
        6 => {
            let r = whole(stream, 0, 2);
            format!("{{below_threshold: {{r: {r}, weighting: {weighting}, fallback: {fallback}}}}}")
        }
        7 => {
            let d = whole(stream, 2, servers);
            format!("{{power_of_d: {{d: {d}, weighting: {weighting}}}}}")
        }
        8 => {
            let d = whole(stream, 2, 4);
            format!("{{power_of_d: {{d: {d}, replacement: true, weighting: {weighting}}}}}")
        }
        9 => format!("{{one_plus_beta: {{beta: {}}}}}", between(stream, 0.2, 0.9)),
        10 => {
            let first = between(stream, 0.5, 0.9);
            format!("{{ranked: {{weights: [{first}, {}]}}}}", 1.0 - first)
        }
        _ => format!("{{idle_first: {{fallback: {fallback}}}}}"),
    }
}

/// Update rules; messages that take time where they may.
fn rules(stream: &mut Stream, servers: u64, slotted: bool) -> String {
    let channel = |stream: &mut Stream| {
        let delay = if !slotted && stream.chance(0.3) {
            format!("{{exponential: {{mean: {}}}}}", between(stream, 0.1, 0.5))
        } else {
            "0".to_owned()
        };
        let loss = if stream.chance(0.3) { between(stream, 0.05, 0.3) } else { 0.0 };
        format!("delay: {delay}, loss: {loss}")
    };
    let p = between(stream, 0.3, 1.0);
    let d = whole(stream, 1, servers);
    let first = match stream.below(if slotted { 3 } else { 4 }) {
        0 => format!("push: {{d: {d}, probability: {p}, {}}}", channel(stream)),
        1 => format!("pull: {{probability: {p}, {}}}", channel(stream)),
        2 => format!("push: {{d: 1, probability: {p}}}, on_idle: {{{}}}", channel(stream)),
        _ => {
            let phase = pick(stream, &["common", "own"]);
            let mean = between(stream, 0.5, 2.0);
            format!("periodic: {{period: {{exponential: {{mean: {mean}}}}}, phase: {phase}, {}}}", channel(stream))
        }
    };
    format!("{{{first}, overtaking: {}}}", pick(stream, &["drop", "keep"]))
}

/// A scenario, without its run.
fn scenario(stream: &mut Stream) -> String {
    let slotted = stream.chance(0.3);
    let local = stream.chance(0.5);
    let servers = whole(stream, 2, if local || slotted { 2 } else { 4 });
    let dispatchers = whole(stream, 1, 2);
    let rates: Vec<f64> = if stream.chance(0.5) {
        vec![if slotted { 0.5 } else { 1.0 }; servers as usize]
    } else {
        (0..servers).map(|_| between(stream, 0.3, if slotted { 0.9 } else { 3.0 })).collect()
    };
    let classes: Vec<String> =
        rates.iter().enumerate().map(|(i, rate)| format!("{{name: c{i}, count: 1, rate: {rate}}}")).collect();
    let load = between(stream, 0.3, if local { 0.6 } else { 0.8 });
    let buffer = if stream.chance(0.5) { format!("buffer: {}\n", whole(stream, 1, 5)) } else { String::new() };
    let dispatch = if !local && stream.chance(0.1) { "round_robin".to_owned() } else { strategy(stream, servers) };
    let information = if local { rules(stream, servers, slotted) } else { "exact".to_owned() };
    let shares = if stream.chance(0.5) && dispatchers == 2 { "{shares: [0.7, 0.3]}" } else { "" };
    let clock = if slotted {
        let arrivals = pick(stream, &["poisson", "geometric", "{binomial: {trials: 4}}", "{batch: {size: 2}}"]);
        let service = pick(stream, &["bernoulli", "geometric", "poisson"]);
        let split = pick(stream, &["multinomial", "independent"]);
        format!("clock: slotted\nslots: {{arrivals: {arrivals}, service: {service}, split: {split}}}\n")
    } else {
        String::new()
    };
    format!(
        "{clock}servers: [{}]\ndispatchers: {}\nload: {load}\n{buffer}\
         policy: {{dispatch: {dispatch}, information: {information}, count_own_jobs: {}}}\n",
        classes.join(", "),
        if shares.is_empty() { dispatchers.to_string() } else { shares.to_owned() },
        stream.chance(0.7),
    )
}

/// The metrics compared beside the mean response time, with their keys.
fn others() -> Vec<(Metric, &'static str)> {
    vec![
        (Metric::MeanJobs, ""),
        (Metric::TailFraction, "1"),
        (Metric::TailFraction, "2"),
        (Metric::EmptyProbability, ""),
        (Metric::WaitingTimeMean, ""),
        (Metric::WaitingProbability, ""),
        (Metric::JoinPosition, "1"),
        (Metric::MessagesPerJob, ""),
        (Metric::BlockedFraction, ""),
        (Metric::Throughput, ""),
        (Metric::UnusedService, ""),
        (Metric::ClassMeanJobs, "c0"),
        (Metric::ClassShare, "c0"),
        (Metric::ClassResponseTimeMean, "c0"),
        (Metric::EstimateError, ""),
        (Metric::EstimateBias, ""),
        (Metric::RegretMean, ""),
        (Metric::Imbalance, ""),
        (Metric::QueueRangeMean, ""),
        (Metric::ChosenShortestProbability, ""),
    ]
}

/// The score of an estimate, unless it is too rarely met to be judged or not known.
fn score(results: &herdsim::output::Results, exact: &Exact, metric: Metric, key: &str) -> Option<f64> {
    let expected = exact.value(metric, key)?;
    let estimate = results.estimate(metric, key)?;
    let (value, error) = (estimate.estimate?, estimate.std_error?);
    let trusted = exact.error() * exact.most_jobs() as f64 + 1e-9 * expected.abs();
    if error <= 1e-9 * value.abs() {
        // What does not vary must agree; what was never met need not be 0.
        return (value != 0.0).then_some((value - expected) / (trusted + 1e-9));
    }
    // A bias is a difference of nearly equal numbers, and small without being rare.
    let rare = metric != Metric::EstimateBias && error > 0.05 * value.abs();
    (!rare).then_some((value - expected) / (error + trusted))
}

#[test]
fn engines_agree_with_the_exact_solver_on_random_scenarios() {
    let mut stream = Stream::new(2024, 0, Component::Initial);
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let (mut solved, mut judged, mut drawn) = (0, 0, 0);
    let mut squares = 0.0;
    let mut failures = Vec::new();
    while solved < SCENARIOS {
        drawn += 1;
        assert!(drawn < 4 * SCENARIOS, "only {solved} of {drawn} scenarios were solved");
        let text = scenario(&mut stream);
        let seed = drawn;
        let mut text = format!("{text}run: {{warmup: 500, time: 1, replications: 40, seed: {seed}}}\n");
        let Ok(plan) = Plan::read(&text, "random", "random", &[]) else { continue };
        let exact = match Exact::solve_within(&plan.system, plan.slots.as_ref(), &plan.policy, STATES) {
            Ok(exact) => exact,
            Err(NotSolved::TooLarge(_) | NotSolved::NoSteadyState(_)) => continue,
            Err(why) => panic!("{why}:\n{text}"),
        };
        solved += 1;
        let time = (8_000.0 / plan.system.arrivals.rate).ceil();
        text = text.replace("time: 1,", &format!("time: {time},"));
        let plan = Plan::read(&text, "random", "random", &[]).expect("only its time is another");
        let results = experiment::run(&plan, threads, &Unwatched).expect("the run ends well");
        let main = score(&results, &exact, Metric::ResponseTimeMean, "").expect("there are jobs");
        squares += main * main;
        if main.abs() >= 4.0 {
            failures.push(format!("response time has z = {main:.2} in\n{text}"));
        }
        for (metric, key) in others() {
            let Some(z) = score(&results, &exact, metric, key) else { continue };
            judged += 1;
            if z.abs() >= 5.0 {
                failures.push(format!("{} {key} has z = {z:.2} in\n{text}", metric.name()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(judged > 500, "only {judged} scores were judged");
    assert!((27.0..120.0).contains(&squares), "the squares of {SCENARIOS} scores sum to {squares}");
}

//! Strategies against each other at their limits, and on two servers against chains solved here.
//!
//! Some 60 scores are judged by |z| < 4, each over 100 replications or more: were they independent normal numbers, one
//! run in 260 would raise a false alarm. Seeds are fixed.

use herdsim::experiment::{self, Unwatched, run_replication};
use herdsim::measure::{Metric, Reading};
use herdsim::output::Results;
use herdsim::scenario::Plan;
use std::num::NonZeroUsize;

const Z_LIMIT: f64 = 4.0;

fn plan(servers: &str, load: f64, dispatch: &str, run: &str) -> Plan {
    let text = format!(
        "servers: {servers}\nload: {load}\ndispatchers: 1\npolicy: {{dispatch: {dispatch}}}\nrun: {run}\n\
         measure: {{tail_histogram_levels: 1}}\n"
    );
    Plan::read(&text, "test", "test", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn results(servers: &str, load: f64, dispatch: &str, run: &str) -> Results {
    let threads = NonZeroUsize::new(2).expect("2 is not 0");
    experiment::run(&plan(servers, load, dispatch, run), threads, &Unwatched).expect("lengths stay within their range")
}

/// Estimate and standard error.
fn estimate(results: &Results, metric: Metric, key: &str) -> (f64, f64) {
    let estimate = results.estimate(metric, key).expect("the metric is measured");
    (estimate.estimate.expect("something was measured"), estimate.std_error.expect("there are several replications"))
}

/// Holds an estimate against an exact value; its standard error must be within 1 % of that.
#[track_caller]
fn assert_exact(results: &Results, metric: Metric, key: &str, exact: f64) {
    let (value, error) = estimate(results, metric, key);
    assert!(error < 0.01 * exact, "{metric:?} {key}: the test is too weak, {value} +- {error}, exact {exact}");
    assert!((value - exact).abs() < Z_LIMIT * error, "{metric:?} {key}: {value} +- {error}, exact {exact}");
}

const TWO_SPEEDS: &str = "[{name: slow, count: 6, rate: 1}, {name: fast, count: 2, rate: 5}]";

/// Strategies that make the same choices by the same draws: every reading is the same.
#[test]
fn limits_that_are_other_strategies() {
    let readings = |servers: &str, dispatch: &str| -> Vec<Reading> {
        let plan = plan(servers, 0.85, dispatch, "{warmup: 50, time: 500, replications: 1, seed: 4}");
        let readings = run_replication(&plan, 0).expect("lengths stay within their range").readings;
        assert!(readings.len() > 10);
        readings
    };
    for servers in ["10", TWO_SPEEDS] {
        for (one, other) in [
            ("{ranked: {weights: [1]}}", "shortest"),
            ("{ranked: {weights: [1, 0, 0]}}", "shortest"),
            ("{one_plus_beta: {beta: 0}}", "random"),
            ("{one_plus_beta: {beta: 1}}", "{power_of_d: {d: 2}}"),
            ("{below_threshold: {r: 0, weighting: uniform, fallback: random}}", "idle_first"),
            ("{below_threshold: {r: 0, weighting: uniform}}", "{idle_first: {fallback: weighted_random}}"),
        ] {
            assert_eq!(readings(servers, one), readings(servers, other), "{one} on {servers}");
        }
    }
}

/// Where the choice does not depend on the lengths, each server is a queue M/M/1 of its own.
#[test]
fn limits_that_are_independent_queues() {
    let load: f64 = 0.7;
    let run = "{warmup: 300, time: 5000, replications: 100, seed: 6}";
    for (servers, dispatch) in [
        ("5", "{ranked: {weights: [0.2, 0.2, 0.2, 0.2, 0.2]}}"),
        ("5", "{below_threshold: {r: 1000000}}"),
        (TWO_SPEEDS, "{below_threshold: {r: 1000000, fallback: random}}"),
    ] {
        let results = results(servers, load, dispatch, run);
        assert_exact(&results, Metric::MeanJobs, "", load / (1.0 - load));
        for k in 1..=4 {
            assert_exact(&results, Metric::TailFraction, &k.to_string(), load.powi(k));
        }
    }
}

/// The chain of two servers and one remembered server, cut off at a length that is hardly ever reached.
struct Pair<'a> {
    rates: [f64; 2],
    arrival_rate: f64,
    /// The probabilities of (server, server remembered next), given the lengths and the server remembered.
    choice: &'a dyn Fn([usize; 2], usize) -> Vec<(f64, usize, usize)>,
}

impl Pair<'_> {
    /// Jobs are refused at this length.
    const TOP: usize = 45;
    const STATES: usize = (Self::TOP + 1) * (Self::TOP + 1) * 2;

    fn state(lengths: [usize; 2], remembered: usize) -> usize {
        (lengths[0] * (Self::TOP + 1) + lengths[1]) * 2 + remembered
    }

    /// Transitions as (rate, from, to).
    fn transitions(&self) -> Vec<(f64, usize, usize)> {
        let mut transitions = Vec::new();
        for state in 0..Self::STATES {
            let lengths = [state / 2 / (Self::TOP + 1), state / 2 % (Self::TOP + 1)];
            for server in 0..2 {
                let mut after = lengths;
                if lengths[server] > 0 {
                    after[server] -= 1;
                    transitions.push((self.rates[server], state, Self::state(after, state % 2)));
                }
            }
            for (probability, server, remembered) in (self.choice)(lengths, state % 2) {
                let mut after = lengths;
                if after[server] < Self::TOP {
                    after[server] += 1;
                    transitions.push((self.arrival_rate * probability, state, Self::state(after, remembered)));
                }
            }
        }
        transitions
    }

    /// The fraction of servers with at least 1, 2, 3 and 4 jobs, and the mean number of jobs per server: powers of the
    /// uniformised chain, until nothing changes.
    fn solve(&self) -> ([f64; 4], f64) {
        let transitions = self.transitions();
        let fastest = self.arrival_rate + self.rates[0] + self.rates[1];
        let mut law = vec![0.0; Self::STATES];
        law[0] = 1.0;
        loop {
            let mut next = law.clone();
            for &(rate, from, to) in &transitions {
                let flow = law[from] * rate / fastest;
                next[from] -= flow;
                next[to] += flow;
            }
            let change: f64 = law.iter().zip(&next).map(|(old, new)| (old - new).abs()).sum();
            law = next;
            if change < 1e-9 {
                break;
            }
        }
        let (mut tail, mut mean) = ([0.0; 4], 0.0);
        for (state, probability) in law.iter().enumerate() {
            for length in [state / 2 / (Self::TOP + 1), state / 2 % (Self::TOP + 1)] {
                tail[..length.min(4)].iter_mut().for_each(|level| *level += probability / 2.0);
                mean += probability / 2.0 * length as f64;
            }
        }
        (tail, mean)
    }
}

const PAIR_LOAD: f64 = 0.7;

#[track_caller]
fn assert_pair(rates: [f64; 2], dispatch: &str, choice: &dyn Fn([usize; 2], usize) -> Vec<(f64, usize, usize)>) {
    let arrival_rate = PAIR_LOAD * (rates[0] + rates[1]);
    let (tail, mean) = Pair { rates, arrival_rate, choice }.solve();
    let servers = format!("[{{name: a, count: 1, rate: {}}}, {{name: b, count: 1, rate: {}}}]", rates[0], rates[1]);
    let results = results(&servers, PAIR_LOAD, dispatch, "{warmup: 300, time: 12000, replications: 100, seed: 8}");
    assert_exact(&results, Metric::MeanJobs, "", mean);
    assert_exact(&results, Metric::ResponseTimeMean, "", 2.0 * mean / arrival_rate);
    for (k, level) in (1..).zip(tail) {
        assert_exact(&results, Metric::TailFraction, &format!("{k}"), level);
    }
}

/// Server 0 with this probability, memory unused.
fn first_with(probability: f64) -> Vec<(f64, usize, usize)> {
    vec![(probability, 0, 0), (1.0 - probability, 1, 0)]
}

/// The shorter with this probability, ties evenly.
fn shorter_with(lengths: [usize; 2], probability: f64) -> Vec<(f64, usize, usize)> {
    first_with(match lengths[0].cmp(&lengths[1]) {
        std::cmp::Ordering::Less => probability,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Greater => 1.0 - probability,
    })
}

#[test]
fn ranked_on_two_servers() {
    assert_pair([1.0, 1.0], "{ranked: {weights: [0.8, 0.2]}}", &|lengths, _| shorter_with(lengths, 0.8));
    assert_pair([1.0, 2.0], "{ranked: {weights: [0.9, 0.1]}}", &|lengths, _| shorter_with(lengths, 0.9));
}

#[test]
fn one_plus_beta_on_two_servers() {
    assert_pair([1.0, 2.0], "{one_plus_beta: {beta: 0.7}}", &|lengths, _| shorter_with(lengths, 0.85));
}

#[test]
fn below_threshold_on_two_servers() {
    let threshold = |lengths: [usize; 2], weight: f64, fallback: f64| match (lengths[0] <= 1, lengths[1] <= 1) {
        (true, true) => first_with(weight),
        (true, false) => first_with(1.0),
        (false, true) => first_with(0.0),
        (false, false) => first_with(fallback),
    };
    assert_pair([1.0, 2.0], "{below_threshold: {r: 1}}", &|lengths, _| threshold(lengths, 1.0 / 3.0, 1.0 / 3.0));
    assert_pair([1.0, 2.0], "{below_threshold: {r: 1, weighting: uniform}}", &|lengths, _| {
        threshold(lengths, 0.5, 1.0 / 3.0)
    });
    assert_pair([1.0, 1.2], "{below_threshold: {r: 1, fallback: random}}", &|lengths, _| {
        threshold(lengths, 1.0 / 2.2, 0.5)
    });
}

#[test]
fn best_of_memory_on_two_servers() {
    let choice = |lengths: [usize; 2], remembered: usize| {
        let mut outcomes = Vec::new();
        for sampled in 0..2 {
            if sampled == remembered {
                outcomes.push((0.5, sampled, sampled));
                continue;
            }
            // Both are looked at: the shorter gets the job, and the one that is then shorter is remembered.
            for (server, probability) in [(0, 0.5), (1, 0.5)] {
                let probability = match lengths[server].cmp(&lengths[1 - server]) {
                    std::cmp::Ordering::Less => 2.0 * probability,
                    std::cmp::Ordering::Equal => probability,
                    std::cmp::Ordering::Greater => 0.0,
                };
                let (same, other) = match (lengths[server] + 1).cmp(&lengths[1 - server]) {
                    std::cmp::Ordering::Less => (1.0, 0.0),
                    std::cmp::Ordering::Equal => (0.5, 0.5),
                    std::cmp::Ordering::Greater => (0.0, 1.0),
                };
                outcomes.push((0.5 * probability * same, server, server));
                outcomes.push((0.5 * probability * other, server, 1 - server));
            }
        }
        outcomes
    };
    assert_pair([1.0, 1.0], "{best_of_memory: {d: 1, memory: 1}}", &choice);
    assert_pair([1.0, 1.5], "{best_of_memory: {d: 1, memory: 1}}", &choice);
}

/// Remembering one server is better than not, and remembering more is better still.
#[test]
fn memory_helps() {
    let run = "{warmup: 200, time: 1000, replications: 20, seed: 9}";
    let mean = |dispatch: &str| estimate(&results("100", 0.9, dispatch, run), Metric::ResponseTimeMean, "");
    let without = mean("{power_of_d: {d: 2}}");
    let one = mean("{best_of_memory: {d: 2, memory: 1}}");
    let four = mean("{best_of_memory: {d: 2, memory: 4}}");
    for (better, worse) in [(one, without), (four, one)] {
        assert!((worse.0 - better.0) > Z_LIMIT * better.1.hypot(worse.1), "{better:?} is not below {worse:?}");
    }
}

/// Two servers sampled by their rates with replacement: each server twice, or both, in which case the shorter.
#[test]
fn power_of_two_by_rate_on_two_servers() {
    let share: f64 = 1.0 / 3.0;
    let twice = [share * share, (1.0 - share).powi(2)];
    let both = 1.0 - twice[0] - twice[1];
    assert_pair([1.0, 2.0], "{power_of_d: {d: 2, replacement: true, weighting: rate}}", &|lengths, _| {
        let wins = shorter_with(lengths, 1.0)[0].0;
        first_with(twice[0] + both * wins)
    });
    // Without replacement both are always sampled.
    assert_pair([1.0, 2.0], "{power_of_d: {d: 2, weighting: rate}}", &|lengths, _| shorter_with(lengths, 1.0));
}

/// Sampled by rate, d = 1 is weighted random, and d = N the shortest of all.
#[test]
fn power_of_d_by_rate_at_its_ends() {
    let run = "{warmup: 300, time: 5000, replications: 100, seed: 6}";
    for replacement in [false, true] {
        let dispatch = format!("{{power_of_d: {{d: 1, replacement: {replacement}, weighting: rate}}}}");
        assert_exact(&results(TWO_SPEEDS, 0.7, &dispatch, run), Metric::MeanJobs, "", 0.7 / 0.3);
    }
    let mean = |dispatch: &str| estimate(&results(TWO_SPEEDS, 0.7, dispatch, run), Metric::MeanJobs, "");
    let (all, shortest) = (mean("{power_of_d: {d: 8, weighting: rate}}"), mean("shortest"));
    assert!((all.0 - shortest.0).abs() < Z_LIMIT * all.1.hypot(shortest.1), "{all:?}, {shortest:?}");
}

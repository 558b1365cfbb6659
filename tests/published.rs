//! Published values of others, within their errors and ours.

use herdsim::experiment::{self, Unwatched};
use herdsim::measure::Metric;
use herdsim::output::Results;
use herdsim::scenario::Plan;
use std::num::NonZeroUsize;

fn run(yaml: &str) -> Results {
    let plan = Plan::read(yaml, "test", "test", &[]).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    experiment::run(&plan, threads, &Unwatched).expect("the run ends well")
}

fn supermarket(servers: u32, d: u32, load: f64, replacement: bool, time: f64) -> Results {
    run(&format!(
        "{{servers: {servers}, load: {load}, policy: {{dispatch: {{power_of_d: {{d: {d}, replacement: {replacement}}}}}}}, \
         run: {{warmup: 300, time: {time}, replications: 50, seed: 3}}}}"
    ))
}

/// The score of an estimate against a published value with a 95 % half-width or a rounding error.
fn score(results: &Results, metric: Metric, key: &str, published: f64, half_width: f64) -> f64 {
    let estimate = results.estimate(metric, key).expect("measured");
    let ours = estimate.std_error.expect("several replications");
    (estimate.estimate.expect("measured") - published) / ours.hypot(half_width / 1.96)
}

/// Mean jobs per server with replacement (N. Gast's rmf_tool: stored replications); d, load, N = 10 and 100, and the
/// largest half-width.
const WITH_REPLACEMENT: [(u32, f64, [f64; 2], f64); 5] = [
    (2, 0.7, [1.2193, 1.1387], 0.0003),
    (2, 0.9, [2.8003, 2.3931], 0.0015),
    (2, 0.95, [4.2993, 3.3066], 0.0054),
    (3, 0.9, [2.3143, 1.8672], 0.0009),
    (3, 0.95, [3.5997, 2.5029], 0.0033),
];

/// Ten scores by |z| < 4: a false alarm once in a thousand, at 50 replications each.
fn judge_with_replacement(effort: f64) {
    for (d, load, means, half_width) in WITH_REPLACEMENT {
        for (servers, mean) in [10, 100].into_iter().zip(means) {
            // The noise of the mean falls with the number of jobs and grows with the load.
            let time = effort * 2e4 / f64::from(servers) * if load > 0.8 { 5.0 } else { 1.0 };
            let results = supermarket(servers, d, load, true, time);
            let z = score(&results, Metric::MeanJobs, "", mean, half_width);
            assert!(z.abs() < 4.0, "N = {servers}, d = {d}, load {load}: z = {z:.2}");
        }
    }
}

#[test]
fn supermarket_means_with_replacement_in_short_runs() {
    judge_with_replacement(0.2);
}

/// `cargo test --release --test published -- --ignored`.
#[test]
#[ignore = "takes minutes; the short runs above judge the same values"]
fn supermarket_means_with_replacement_at_the_published_precision() {
    judge_with_replacement(10.0);
}

/// Tails s_2 to s_7 for N = 10, d = 2, load 0.9, published to three digits.
#[test]
fn supermarket_tails_of_ten_servers() {
    let results = supermarket(10, 2, 0.9, true, 10_000.0);
    for (k, tail) in (2..).zip([0.741, 0.534, 0.327, 0.170, 0.077, 0.032]) {
        let estimate = results.estimate(Metric::TailFraction, &format!("{k}")).expect("measured");
        let error = 4.0 * estimate.std_error.expect("several replications") + 0.0005;
        assert!((estimate.estimate.expect("measured") - tail).abs() < error, "{k}: {estimate:?}");
    }
}

/// Without replacement, d = 2, load 0.9: N and mean jobs per server with its half-width.
#[test]
fn supermarket_means_without_replacement() {
    for (servers, mean, half_width) in [(10, 2.687, 0.005), (20, 2.504, 0.004), (50, 2.409, 0.004), (100, 2.382, 0.003)]
    {
        let results = supermarket(servers, 2, 0.9, false, 1e5 / f64::from(servers));
        let z = score(&results, Metric::MeanJobs, "", mean, half_width);
        assert!(z.abs() < 4.0, "N = {servers}: z = {z:.2}");
    }
}

/// Mean waiting times of two servers of rate 1 under JSQ, exact.
#[test]
fn two_servers_join_the_shortest_queue() {
    for (load, waiting, time) in [(0.5, 0.426_321, 4e3), (0.7, 1.108_197, 1e4), (0.8, 1.955_737, 3e4)] {
        let results = run(&format!(
            "{{servers: 2, load: {load}, policy: {{dispatch: shortest}}, run: {{warmup: 1000, time: {time}, \
             replications: 50, seed: 4}}}}"
        ));
        let z = score(&results, Metric::WaitingTimeMean, "", waiting, 1e-6);
        assert!(z.abs() < 4.0, "load {load}: z = {z:.2}");
    }
}

/// M/M/1 at load 0.8: the response time is exponential of mean 5. Six scores at 100 replications.
#[test]
fn one_server_has_exponential_response_times() {
    let results = run(
        "{servers: 1, load: 0.8, policy: {dispatch: random}, measure: {quantiles: [0.5, 0.9, 0.99, 0.999, 0.9999]}, \
         run: {warmup: 1000, time: 100000, replications: 100, seed: 5}}",
    );
    for (q, exact) in [("0.5", 3.4657), ("0.9", 11.5129), ("0.99", 23.0259), ("0.999", 34.5388), ("0.9999", 46.0517)] {
        let z = score(&results, Metric::ResponseTimeQuantile, q, exact, 1e-4);
        assert!(z.abs() < 4.0, "{q}: z = {z:.2}");
        let theory = results.estimate(Metric::ResponseTimeQuantile, q).and_then(|estimate| estimate.theory);
        assert!(theory.is_some_and(|theory| (theory - exact).abs() < 1e-4));
    }
    let z = score(&results, Metric::ResponseTimeMean, "", 5.0, 0.0);
    assert!(z.abs() < 4.0, "mean: z = {z:.2}");
}

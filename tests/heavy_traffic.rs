//! Heavy traffic in short: near the limit, delay-optimal policies have the delay of one pooled queue, others have not.
//!
//! With epsilon = service rate - arrival rate, squaring one slot of the total queue gives in steady state
//!
//! epsilon E[sum Q] = zeta / 2 + epsilon^2 / 2 - E[U^2] / 2 + E[sum over n of U_n (jobs at the other servers)],
//!
//! U_n the services unused at n, U their sum. One pooled queue lacks the last term, and is a lower bound on every path:
//! its value is computed below. U_n has mean below epsilon, and is positive only when n is empty: with two servers the
//! last term is epsilon times the mean difference of the queues that an unused service meets, which stays bounded for
//! delay-optimal policies. It is taken as at most `DIFFERENCE` jobs, the allowance. Scores are judged by four standard
//! errors over 40 replications (Student t, one false alarm in 3,600 each); there are a dozen, and seeds are fixed.

use herdsim::experiment::{self, Unwatched};
use herdsim::measure::Metric;
use herdsim::scenario::Plan;
use std::num::NonZeroUsize;

const SCENARIO: &str = include_str!("../scenarios/heavy-traffic.yaml");

const EPSILON: f64 = 0.1;
const ARRIVAL_RATE: f64 = 1.5 - EPSILON;

/// How many more jobs may be at the other server, on average, when a service goes unused.
const DIFFERENCE: f64 = 6.0;

const Z_LIMIT: f64 = 4.0;

/// epsilon E[sum Q] and its standard error.
fn scaled_jobs(overrides: &[&str]) -> (f64, f64) {
    let all = [
        format!("arrival_rate={ARRIVAL_RATE}"),
        "run={warmup: 5000, time: 80000, replications: 40, seed: 1}".to_owned(),
        // What the number of jobs does not need would take most of the time.
        "measure={delays: false, tail_fraction: false, tail_histogram_levels: 0, classes: false, estimates: false, \
         imbalance: false, queue_range: false, chosen_rank: false, burst_size: false, coincidence_window: 0, \
         estimate_age: false}"
            .to_owned(),
    ];
    let overrides: Vec<String> = all.into_iter().chain(overrides.iter().map(|&text| text.to_owned())).collect();
    let plan = Plan::read(SCENARIO, "heavy", "heavy", &overrides).unwrap_or_else(|error| panic!("{error}"));
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let results = experiment::run(&plan, threads, &Unwatched).expect("the run ends well");
    let jobs = results.estimate(Metric::MeanJobs, "").expect("measured");
    let scale = EPSILON * results.servers as f64;
    (scale * jobs.estimate.expect("measured"), scale * jobs.std_error.expect("several replications"))
}

/// Half the variance of arrivals and offered services of a slot.
fn limit(rates: &[f64]) -> f64 {
    (ARRIVAL_RATE + rates.iter().map(|rate| rate * (1.0 + rate)).sum::<f64>()) / 2.0
}

/// The first probabilities of a law whose successive values are `next` of the index and the value before.
fn law(first: f64, next: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    let mut probabilities = vec![first];
    for k in 1..LARGEST_STEP {
        probabilities.push(next(k, probabilities[k - 1]));
    }
    probabilities
}

/// Arrivals and services of a slot are below this, but for a probability of 1e-12.
const LARGEST_STEP: usize = 64;

/// epsilon E[q] of the pooled queue: all services of a slot serve one queue. Its law is iterated from the exponential
/// one of the limit until the mean stands still.
fn pooled(rates: &[f64]) -> f64 {
    let mut change = vec![0.0; 2 * LARGEST_STEP];
    // change[LARGEST_STEP + a - s] for a arrivals and s services.
    let arrivals = law((-ARRIVAL_RATE).exp(), |k, before| before * ARRIVAL_RATE / k as f64);
    let services = rates.iter().map(|rate| law(1.0 / (1.0 + rate), |_, before| before * rate / (1.0 + rate)));
    let total = services.reduce(|x, y| (0..LARGEST_STEP).map(|k| (0..=k).map(|i| x[i] * y[k - i]).sum()).collect());
    for (s, offered) in total.expect("servers").into_iter().enumerate() {
        for (a, arrived) in arrivals.iter().enumerate() {
            change[LARGEST_STEP + a - s] += arrived * offered;
        }
    }
    let mean = limit(rates) / EPSILON;
    // exp(-30) of the mass is beyond.
    let states = (30.0 * mean) as usize;
    let mut law: Vec<f64> = (0..states).map(|q| (-(q as f64) / mean).exp()).collect();
    let mut before = f64::INFINITY;
    loop {
        for _ in 0..100 {
            let mut next = vec![0.0; states];
            for (q, mass) in law.iter().enumerate() {
                for (step, probability) in change.iter().enumerate() {
                    next[(q + step).saturating_sub(LARGEST_STEP).min(states - 1)] += mass * probability;
                }
            }
            law = next;
        }
        let total: f64 = law.iter().sum();
        let now = law.iter().enumerate().map(|(q, mass)| q as f64 * mass).sum::<f64>() / total;
        if (now - before).abs() < 1e-5 * now {
            return EPSILON * now;
        }
        before = now;
    }
}

#[test]
fn delay_optimal_policies_come_near_the_pooled_queue() {
    let rates = [0.5, 1.0];
    let (limit, bound) = (limit(&rates), pooled(&rates));
    // The pooled queue itself is within O(epsilon): its unused services have a bounded mean square, times epsilon.
    assert!(bound > limit - 3.0 * EPSILON && bound < limit + EPSILON * EPSILON / 2.0, "{bound} beside {limit}");
    for overrides in [
        vec!["policy.information={pull: {probability: 0.5}}"],
        vec!["policy.information={push: {d: 1, probability: 1}}"],
        vec!["policy.dispatch=below_average"],
    ] {
        let (value, error) = scaled_jobs(&overrides);
        assert!(error < 0.02 * limit, "{overrides:?}: the test is too weak, {value} ± {error}");
        assert!(value > bound - Z_LIMIT * error, "{overrides:?}: {value} ± {error} is below the pooled queue, {bound}");
        let allowance = DIFFERENCE * EPSILON + EPSILON * EPSILON / 2.0;
        let off = (value - limit).abs();
        assert!(off < Z_LIMIT * error + allowance, "{overrides:?}: {value} ± {error}, the limit is {limit}");
    }
}

#[test]
fn random_routing_stays_clearly_above() {
    let rates = [0.75, 0.75];
    let servers = "servers=[{count: 2, rate: 0.75}]";
    let (value, error) = scaled_jobs(&[servers, "policy={dispatch: random, information: none}"]);
    let allowed = limit(&rates) + DIFFERENCE * EPSILON + EPSILON * EPSILON / 2.0;
    assert!((value - allowed) / error > Z_LIMIT, "{value} ± {error}, allowed for an optimal policy is {allowed}");
}

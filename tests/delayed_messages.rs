//! Ten dispatchers, 100 servers, late messages: the later the news, the worse everything gets.

use herdsim::experiment::{self, Unwatched};
use herdsim::measure::Metric;
use herdsim::scenario::Plan;
use std::num::NonZeroUsize;

/// Each metric at each delay exceeds the one before by four standard errors of the difference.
fn rises_with_the_delay(scenario: &str, rule: &str) {
    let metrics = [Metric::ResponseTimeMean, Metric::EstimateError, Metric::RegretMean, Metric::Imbalance];
    let mut before: Option<Vec<(f64, f64)>> = None;
    for delay in ["0", "0.1", "1", "10"] {
        let overrides = [
            format!("policy.information.{rule}.delay.exponential.mean={delay}"),
            "run={warmup: 300, time: 2000, replications: 12, seed: 2}".to_owned(),
        ];
        let plan = Plan::read(scenario, rule, rule, &overrides).unwrap_or_else(|error| panic!("{error}"));
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let results = experiment::run(&plan, threads, &Unwatched).expect("the run ends well");
        let values: Vec<(f64, f64)> = metrics
            .iter()
            .map(|&metric| {
                let estimate = results.estimate(metric, "").expect("measured");
                (estimate.estimate.expect("measured"), estimate.std_error.expect("several replications"))
            })
            .collect();
        for (metric, (earlier, now)) in metrics.iter().zip(before.iter().flatten().zip(&values)) {
            let z = (now.0 - earlier.0) / now.1.hypot(earlier.1);
            assert!(z > 4.0, "{rule}, delay {delay}: {} went from {earlier:?} to {now:?}", metric.name());
        }
        before = Some(values);
    }
}

#[test]
fn everything_rises_with_the_delay_of_pull_messages() {
    rises_with_the_delay(include_str!("../scenarios/led-pull-late.yaml"), "pull");
}

#[test]
fn everything_rises_with_the_delay_of_push_messages() {
    rises_with_the_delay(include_str!("../scenarios/led-push-late.yaml"), "push");
}

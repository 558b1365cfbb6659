//! Results that are hard to write.

use herdsim::experiment::{self, Unwatched};
use herdsim::measure::{DelayHistogram, Lengths, Metric, Reading};
use herdsim::model::TimeHistogram;
use herdsim::output::{Comparison, Curve, Estimate, Mean, Replication, Results, TimeCourse};
use herdsim::scenario::{Axis, Kind, Label, Plan};
use std::num::NonZeroUsize;
use std::sync::LazyLock;

/// Texts that break careless writers.
pub(crate) const TEXTS: [&str; 6] = ["plain", "a, b", "say \"so\"", "two\nlines\r\n", "", "\u{3b2} \u{1f40e}"];

/// Numbers that need all their digits.
pub(crate) const NUMBERS: [f64; 6] = [0.1, -1.0 / 3.0, 5e-324, f64::MAX, 1e16, -0.0];

pub(crate) fn axes() -> Vec<Axis> {
    let axis = |key: &str, kind| Axis { key: key.to_owned(), kind };
    vec![axis("load", Kind::Real), axis("servers", Kind::Integer), axis("policy.dispatch", Kind::Text)]
}

fn labels(point: u64) -> Vec<Label> {
    let i = point as usize;
    vec![
        Label::Real(NUMBERS[i % NUMBERS.len()]),
        Label::Integer(10_i64.pow(point as u32 % 18)),
        Label::Text(TEXTS[i % TEXTS.len()].to_owned()),
    ]
}

/// What a small run gives.
static RUN: LazyLock<Results> = LazyLock::new(|| {
    let text = "servers: 10\nload: 0.5\npolicy: {dispatch: random}\nrun: {warmup: 0, time: 10, replications: 1}";
    let plan = Plan::read(text, "tables", "tables", &[]).unwrap_or_else(|error| panic!("{error}"));
    experiment::run(&plan, NonZeroUsize::MIN, &Unwatched).expect("the run ends well")
});

/// Estimates with and without values, among them texts and numbers that are hard to write.
pub(crate) fn estimate(i: u64) -> Estimate {
    let number = |shift: u64| (!(i + shift).is_multiple_of(3)).then(|| NUMBERS[(i + shift) as usize % NUMBERS.len()]);
    let mut estimate = RUN.estimates[0].clone();
    estimate.metric = Metric::ALL[i as usize % Metric::ALL.len()];
    estimate.key = TEXTS[(i + 1) as usize % TEXTS.len()].to_owned();
    estimate.estimate = number(0);
    estimate.low = number(1);
    estimate.high = number(2);
    estimate.std_error = number(3);
    estimate.replications = i;
    estimate.theory = None;
    estimate
}

pub(crate) fn results(point: u64, swept: bool) -> Results {
    let mut occupancy = TimeHistogram::default();
    occupancy.add(2, 3.0);
    occupancy.add(point + 3, 1.0);
    let mut response = DelayHistogram::new(0.25);
    [0.0, 1.0, 1.0, point as f64 + 2.5].iter().for_each(|&delay| response.add(delay));
    let reading = |value| Reading { metric: Metric::MeanJobs, key: String::new(), value };
    let replication = |(number, value)| {
        let mut replication: Replication = RUN.replications[0].clone();
        replication.replication = number;
        replication.readings = vec![reading(value)];
        replication
    };
    let mean = |estimate| Mean { estimate, std_error: None, replications: 2 };
    Results {
        point,
        labels: if swept { labels(point) } else { Vec::new() },
        estimates: (0..3).map(|i| estimate(3 * point + i)).collect(),
        replications: [(0, Some(1.5)), (1, None)].map(replication).into(),
        servers: 10,
        occupancy: vec![occupancy],
        response: Some(response),
        time_course: Some(TimeCourse {
            times: vec![0.0, 0.5],
            curves: vec![Curve {
                metric: Metric::TailFraction,
                key: "1".to_owned(),
                means: vec![mean(None), mean(Some(0.75))],
            }],
        }),
        snapshots: Some(Lengths {
            times: vec![0.0, 0.5],
            servers: vec![3, 7],
            jobs: vec![vec![1, 0], vec![2, u32::MAX]],
        }),
        ..RUN.clone()
    }
}

pub(crate) fn comparison(point: u64) -> Comparison {
    let i = point as usize;
    let number = |shift: usize| (!(i + shift).is_multiple_of(4)).then(|| NUMBERS[(i + shift) % NUMBERS.len()]);
    Comparison {
        point,
        labels: labels(point),
        policy: TEXTS[(i + 1) % TEXTS.len()].to_owned(),
        baseline: TEXTS[(i + 2) % TEXTS.len()].to_owned(),
        metric: Metric::ResponseTimeMean,
        key: String::new(),
        difference: number(0),
        difference_low: number(1),
        difference_high: number(2),
        difference_std_error: number(3),
        ratio: number(4),
        ratio_low: number(5),
        ratio_high: number(6),
        unpaired_half_width: number(7),
        saving: number(8),
        replications: point,
    }
}

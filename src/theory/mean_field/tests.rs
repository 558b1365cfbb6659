//! Fixed points against published and independent values.

use super::*;
use crate::model::{Arrivals, Count, Dispatchers, Initial, Law, Servers};
use crate::policy::Dispatch;
use crate::policy::dispatch::{PowerOfD, Random};

fn limit(load: f64, dispatch: Dispatch) -> MeanField {
    let system = System {
        servers: Servers::homogeneous(10).expect("ten servers"),
        dispatchers: Dispatchers::equal(1).expect("one dispatcher"),
        arrivals: Arrivals::poisson(10.0 * load),
        service: Law::standard_exponential(),
        buffer: None,
        initial: Initial::Empty,
    };
    let information = crate::policy::Information::exact();
    let policy = Policy { dispatch, information, count_own_jobs: true, per_probe: 2 };
    MeanField::new(&system, &policy).expect("a limit is known")
}

fn power(d: u64) -> Dispatch {
    Dispatch::PowerOfD(PowerOfD {
        d: Count::new(d).expect("positive"),
        replacement: false,
        weighting: crate::policy::dispatch::Weighting::Uniform,
    })
}

#[test]
fn two_choices_have_their_published_means() {
    // Predictions of Mitzenmacher's table.
    for (load, d, response) in [
        (0.5, 2, 1.2657),
        (0.7, 2, 1.6145),
        (0.8, 2, 1.9474),
        (0.9, 2, 2.6141),
        (0.95, 2, 3.3830),
        (0.99, 2, 5.4320),
        (0.9, 3, 2.0279),
        (0.99, 5, 2.9017),
    ] {
        let limit = limit(load, power(d));
        let value = limit.value(Metric::ResponseTimeMean, "").expect("known");
        assert!((value - response).abs() < 5.1e-5, "{load} {d}: {value}");
        // Little's law ties the two means, which are summed apart.
        let jobs = limit.value(Metric::MeanJobs, "").expect("known");
        assert!((jobs - load * value).abs() < 1e-12);
    }
}

#[test]
fn the_fixed_point_is_the_closed_form() {
    let limit = limit(0.9, power(2));
    for (k, s) in (1..).zip(&limit.tail()) {
        let closed = 0.9_f64.powf(2_f64.powi(k) - 1.0);
        assert!((s - closed).abs() < 1e-14, "{k}");
    }
    assert_eq!(limit.value(Metric::TailFraction, "50"), Some(0.0));
}

#[test]
fn random_routing_is_m_m_1() {
    let limit = limit(0.8, Dispatch::Random(Random {}));
    let value = |metric, key| limit.value(metric, key).expect("known");
    assert!((value(Metric::ResponseTimeMean, "") - 5.0).abs() < 1e-12);
    assert!((value(Metric::WaitingTimeMean, "") - 4.0).abs() < 1e-12);
    for (q, time) in [("0.5", 3.4657), ("0.9", 11.5129), ("0.99", 23.0259), ("0.999", 34.5388), ("0.9999", 46.0517)] {
        let quantile = value(Metric::ResponseTimeQuantile, q);
        assert!((quantile - time).abs() < 1e-4, "{q}: {quantile}");
    }
}

fn policy(dispatch: &str) -> Policy {
    Policy {
        dispatch: serde_json::from_str(dispatch).unwrap_or_else(|error| panic!("{dispatch}: {error}")),
        information: crate::policy::Information::exact(),
        count_own_jobs: true,
        per_probe: 2,
    }
}

fn system(classes: &[(u64, f64)], load: f64, buffer: Option<u32>) -> System {
    let class = |(i, &(count, rate)): (usize, &(u64, f64))| crate::model::ServerClass {
        name: format!("class {i}"),
        count,
        rate,
    };
    let servers = Servers::new(classes.iter().enumerate().map(class).collect()).expect("servers");
    System {
        arrivals: Arrivals::poisson(load * servers.total_rate()),
        servers,
        dispatchers: Dispatchers::equal(1).expect("one dispatcher"),
        service: Law::standard_exponential(),
        buffer,
        initial: Initial::Empty,
    }
}

/// To 1e-12 of the closed form, which is summed with its own exponents.
#[test]
fn d_choices_to_twelve_digits() {
    for d in [2_u64, 3, 5] {
        for load in [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999] {
            let limit = limit(load, power(d));
            let mut exponent = 0.0;
            for (k, s) in (1..).zip(limit.tail()) {
                exponent += (d as f64).powi(k - 1);
                let closed = f64::powf(load, exponent);
                assert!((s - closed).abs() < 1e-12, "d = {d}, load {load}, k = {k}: {s} for {closed}");
            }
        }
    }
}

/// Every fixed point is where the mean-field equation leads from the empty system, which knows only the law of the level
/// that an arrival joins; also with classes and with limited buffers.
#[test]
fn fixed_points_are_where_trajectories_lead() {
    let even: &[(u64, f64)] = &[(10, 1.0)];
    let uneven: &[(u64, f64)] = &[(60, 1.0), (40, 2.0)];
    let third: &[(u64, f64)] = &[(30, 1.0), (30, 2.0), (40, 2.5)];
    let all = [
        (r#"{"random": {}}"#, even, None),
        (r#"{"random": {}}"#, even, Some(4)),
        (r#"{"weighted_random": {}}"#, uneven, Some(3)),
        (r#"{"power_of_d": {"d": 2}}"#, even, Some(3)),
        (r#"{"power_of_d": {"d": 2}}"#, uneven, None),
        (r#"{"power_of_d": {"d": 2}}"#, uneven, Some(3)),
        (r#"{"power_of_d": {"d": 3, "weighting": "rate"}}"#, third, None),
        (r#"{"one_plus_beta": {"beta": 0.7}}"#, even, None),
        (r#"{"one_plus_beta": {"beta": 0.9}}"#, uneven, None),
        (r#"{"ranked": {"weights": [0.2, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05]}}"#, even, None),
        (r#"{"idle_first": {}}"#, uneven, None),
        (r#"{"shortest": {}}"#, even, Some(2)),
        (r#"{"shortest": {}}"#, third, None),
        (r#"{"shortest_delay": {}}"#, uneven, None),
        (r#"{"shortest_delay": {}}"#, third, None),
        (r#"{"shortest_normalized": {}}"#, third, None),
        (r#"{"below_threshold": {"r": 1}}"#, even, None),
        (r#"{"below_threshold": {"r": 2, "weighting": "uniform"}}"#, uneven, None),
    ];
    for (text, classes, buffer) in all {
        let (system, policy) = (system(classes, 0.7, buffer), policy(text));
        let limit = MeanField::new(&system, &policy).unwrap_or_else(|why| panic!("{text} {classes:?}: {why}"));
        let law = crate::policy::LevelLaw::new(&policy.dispatch, &system.servers).expect("a law");
        let start = vec![Vec::new(); classes.len()];
        let course = Trajectory::new(&system, &law, &start, &[0.0, 400.0], 1e-9).expect("an end");
        assert!(course.beyond < 1e-9 || buffer.is_some());
        for (k, s) in course.tails[1].iter().enumerate() {
            let fixed = limit.tail().get(k).copied().unwrap_or(0.0);
            assert!((s - fixed).abs() < 1e-6, "{text} {classes:?} {buffer:?}, k = {}: {s} for {fixed}", k + 1);
        }
    }
}

/// What flows in is what flows out, class by class, whatever the way a fixed point was found.
#[test]
fn means_agree_by_little() {
    let classes: &[(u64, f64)] = &[(60, 1.0), (40, 2.0)];
    for text in [r#"{"power_of_d": {"d": 2}}"#, r#"{"shortest_delay": {}}"#, r#"{"below_threshold": {"r": 1}}"#] {
        let limit = MeanField::new(&system(classes, 0.7, None), &policy(text)).expect("known");
        let value = |metric, key: &str| limit.value(metric, key).expect("known");
        assert!((value(Metric::Throughput, "") - 98.0).abs() < 1e-9, "{text}");
        assert!((value(Metric::Utilization, "") - 0.7).abs() < 1e-11, "{text}");
        let shares = value(Metric::ClassShare, "class 0") + value(Metric::ClassShare, "class 1");
        assert!((shares - 1.0).abs() < 1e-12, "{text}");
        assert!(value(Metric::BlockedFraction, "") < 1e-11, "{text}");
        let positions: f64 = (0..20).map(|k| value(Metric::JoinPosition, &k.to_string())).sum();
        assert!((positions - 1.0).abs() < 1e-12, "{text}");
    }
}

#[test]
fn what_has_no_limit_says_why() {
    let even: &[(u64, f64)] = &[(10, 1.0)];
    let because = |system: &System, text: &str, why: &str| {
        let found = MeanField::new(system, &policy(text)).expect_err(text);
        assert!(found.contains(why), "{text}: {found}");
    };
    because(&system(even, 1.0, None), r#"{"shortest": {}}"#, "load of 1");
    because(&system(even, 0.0, None), r#"{"shortest": {}}"#, "no jobs");
    because(&system(even, 0.9, None), r#"{"round_robin": {}}"#, "turns");
    because(&system(even, 0.9, None), r#"{"best_of_memory": {}}"#, "remembered");
    because(&system(even, 0.9, None), r#"{"below_average": {}}"#, "fixed points, with mean lengths 0.9000, 1.54");
    because(&system(&[(50, 1.0), (50, 10.0)], 0.9, None), r#"{"power_of_d": {"d": 2}}"#, "no steady state");
}

/// With room for b jobs and one choice, the M/M/1/b queue.
#[test]
fn limited_buffers_of_one_choice() {
    for load in [0.5, 1.0, 2.0] {
        let limit = MeanField::new(&system(&[(10, 1.0)], load, Some(3)), &policy(r#"{"random": {}}"#)).expect("known");
        let weights: Vec<f64> = (0..4).map(|k| f64::powi(load, k)).collect();
        let lost = weights[3] / weights.iter().sum::<f64>();
        let found = limit.value(Metric::BlockedFraction, "").expect("known");
        assert!((found - lost).abs() < 1e-12, "{load}: {found} for {lost}");
    }
}

/// To first order, the change of the end is the sensitivity times that of the start.
#[test]
fn sensitivity_is_the_derivative_of_the_truncated_system() {
    let system = Truncated { load: 0.9, choices: 2.0, levels: 5 };
    let start = [0.8, 0.5, 0.3, 0.1, 0.0];
    let direction = [0.1, -0.2, 0.1, 0.3, 0.1];
    let (_, sensitivity) = system.with_sensitivity(&start, &direction, 3.0, 1e-13).expect("an end");
    let h = 1e-5;
    let moved = |sign: f64| -> Vec<f64> {
        let start: Vec<f64> = start.iter().zip(direction).map(|(s, z)| s + sign * h * z).collect();
        system.at(&start, 3.0, 1e-13).expect("an end")
    };
    for ((above, below), exact) in moved(1.0).iter().zip(moved(-1.0)).zip(sensitivity) {
        assert!(((above - below) / (2.0 * h) - exact).abs() < 1e-7);
    }
    // The equilibrium stands still.
    let still = system.equilibrium();
    let end = system.at(&still, 10.0, 1e-13).expect("an end");
    assert!(still.iter().zip(end).all(|(s, t)| (s - t).abs() < 1e-11));
}

/// Idle servers that report are as good as seen; when dispatchers take unequal shares some lists run empty.
#[test]
fn reports_of_idle_servers_are_enough() {
    let on_idle = |shares: Vec<f64>, loss: f64| {
        let mut system = system(&[(100, 1.0)], 0.9, None);
        system.dispatchers = Dispatchers::with_shares(shares).expect("shares");
        let information = serde_json::from_str(&format!(r#"{{"on_idle": {{"loss": {loss}}}}}"#)).expect("a rule");
        MeanField::new(&system, &Policy { information, ..policy(r#"{"idle_first": {}}"#) })
    };
    let tail = on_idle(vec![0.5, 0.5], 0.0).expect("known").tail();
    assert!(tail.len() == 1 && (tail[0] - 0.9).abs() < 1e-12, "{tail:?}");
    assert!(on_idle(vec![0.4, 0.6], 0.0).is_err() && on_idle(vec![0.5, 0.5], 0.1).is_err());
}

//! Fixed points against published and independent values.

use super::*;
use crate::model::{Arrivals, Count, Dispatchers, Initial, Law, Servers};
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
    for (q, time) in [("0.5", 3.4657), ("0.9", 11.5129), ("0.99", 23.0259), ("0.999", 34.5388), ("0.9999", 46.0517)]
    {
        let quantile = value(Metric::ResponseTimeQuantile, q);
        assert!((quantile - time).abs() < 1e-4, "{q}: {quantile}");
    }
}

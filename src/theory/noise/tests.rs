//! Published values of the refined mean field, and what must hold.

use super::*;

fn noise(load: f64, servers: f64, d: u64, replacement: bool) -> Noise {
    Noise::of_samples(load, servers, &[(1.0, d, replacement)]).expect("an expansion")
}

/// Gast and Van Houdt's table, mean jobs per server: 1/N for N = 10, 20, then 1/N^2.
#[test]
fn published_expansions() {
    for (load, first, second) in [
        (0.7, [1.2150, 1.1726], [1.2191, 1.1736]),
        (0.9, [2.7513, 2.5520], [2.8045, 2.5653]),
        (0.95, [4.1017, 3.6578], [4.3265, 3.7140]),
    ] {
        for (i, servers) in [10.0, 20.0].into_iter().enumerate() {
            let noise = noise(load, servers, 2, true);
            let found = [1, 2].map(|order| noise.mean_jobs(order).expect("of few levels"));
            assert!((found[0] - first[i]).abs() < 5.1e-5, "{load}, {servers}: {found:?}");
            assert!((found[1] - second[i]).abs() < 5.1e-5, "{load}, {servers}: {found:?}");
        }
    }
}

/// The expansion lies closer to simulated values (N. Gast's stored replications; others for distinct servers) than the limit, in every case.
#[test]
fn expansions_are_closer_to_simulation() {
    for (d, load, means) in [
        (2, 0.7, [1.2193, 1.1737, 1.1587, 1.1471, 1.1387]),
        (2, 0.9, [2.8003, 2.5662, 2.4918, 2.4350, 2.3931]),
        (2, 0.95, [4.2993, 3.7123, 3.5332, 3.3983, 3.3066]),
        (3, 0.9, [2.3143, 2.0517, 1.9715, 1.9106, 1.8672]),
        (3, 0.95, [3.5997, 2.9421, 2.7480, 2.6022, 2.5029]),
    ] {
        for (servers, mean) in [10.0, 20.0, 30.0, 50.0, 100.0].into_iter().zip(means) {
            let noise = noise(load, servers, d, true);
            let error = |order| (noise.mean_jobs(order).expect("of few levels") - mean).abs();
            assert!(error(1) < error(0), "{d} {load} {servers}: {} {}", error(1), error(0));
        }
    }
    for (servers, mean) in [(10.0, 2.687), (20.0, 2.504), (50.0, 2.409), (100.0, 2.382)] {
        let noise = noise(0.9, servers, 2, false);
        let error = |order| (noise.mean_jobs(order).expect("of few levels") - mean).abs();
        assert!(error(1) < error(0) && error(2) < error(1) + 0.004, "{servers}: {} {}", error(1), error(2));
    }
}

/// One choice: independent queues, whose occupancy is a mean of indicators.
#[test]
fn one_choice_is_a_mean_of_independent_queues() {
    let noise = noise(0.5, 100.0, 1, true);
    for j in 0..10 {
        for k in 0..10 {
            let (s, t) = (noise.fixed_point[j], noise.fixed_point[k]);
            let exact = s.min(t) - s * t;
            assert!((noise.covariance[j][k] - exact).abs() < 1e-12, "{j} {k}");
        }
    }
    assert!(noise.first.iter().all(|v| v.abs() < 1e-12));
}

#[test]
fn the_lyapunov_equation_is_solved() {
    for (load, d) in [(0.5, 2), (0.9, 2), (0.99, 2), (0.999, 2), (0.9, 3), (0.95, 10), (0.99, 100), (0.9, 1_000_000)] {
        let noise = noise(load, 1e6, d, false);
        assert!(noise.residual < 1e-11, "{load} {d}: {}", noise.residual);
        assert!(noise.covariance.iter().enumerate().all(|(k, row)| row[k] >= 0.0));
    }
}

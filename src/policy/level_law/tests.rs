//! The law against the chooser that the per-server engines use, by chi-square, in states of several shapes.

use super::*;
use crate::model::{Dispatchers, ServerClass};
use crate::policy::View;
use crate::random::{Component, Stream};
use statrs::distribution::{ChiSquared, ContinuousCDF};

const DRAWS: u32 = 100_000;

fn servers(classes: &[(u64, f64)]) -> Servers {
    let class = |(i, &(count, rate)): (usize, &(u64, f64))| ServerClass { name: format!("{i}"), count, rate };
    Servers::new(classes.iter().enumerate().map(class).collect()).expect("servers")
}

fn counts(servers: &Servers, lengths: &[u32]) -> Vec<Vec<u64>> {
    let top = *lengths.iter().max().expect("servers");
    let at_least = |class: u32, k: u32| {
        let own = (0..servers.numbered()).filter(|&server| servers.class_of(server) == class);
        own.filter(|&server| lengths[server as usize] >= k).count() as u64
    };
    (0..servers.classes().len() as u32).map(|class| (0..=top).map(|k| at_least(class, k)).collect()).collect()
}

fn strategies() -> Vec<Dispatch> {
    [
        r#"{"random": {}}"#,
        r#"{"weighted_random": {}}"#,
        r#"{"shortest": {}}"#,
        r#"{"shortest_delay": {}}"#,
        r#"{"shortest_normalized": {}}"#,
        r#"{"below_average": {}}"#,
        r#"{"below_average": {"weighting": "uniform"}}"#,
        r#"{"below_threshold": {"r": 1}}"#,
        r#"{"below_threshold": {"r": 1, "weighting": "uniform", "fallback": "random"}}"#,
        r#"{"power_of_d": {"d": 2}}"#,
        r#"{"power_of_d": {"d": 3}}"#,
        r#"{"power_of_d": {"d": 3, "replacement": true}}"#,
        r#"{"power_of_d": {"d": 3, "weighting": "rate"}}"#,
        r#"{"power_of_d": {"d": 2, "weighting": "rate", "replacement": true}}"#,
        r#"{"one_plus_beta": {"beta": 0.4}}"#,
        r#"{"idle_first": {}}"#,
        r#"{"idle_first": {"fallback": "weighted_random"}}"#,
        r#"{"ranked": {"weights": [0.5, 0.1, 0.3, 0.1]}}"#,
    ]
    .map(|text| serde_json::from_str(text).expect("a strategy"))
    .into()
}

/// Each of some hundred comparisons raises a false alarm with probability 1e-5; seeds are fixed.
#[test]
fn the_law_is_that_of_the_choosers() {
    for classes in
        [vec![(6, 1.0)], vec![(4, 1.0), (3, 3.0)], vec![(2, 0.5), (2, 1.0), (2, 2.0)], vec![(3, 0.1), (3, 0.3)]]
    {
        let servers = servers(&classes);
        let n = servers.len() as usize;
        for lengths in [&[0, 0, 1, 2, 2, 5, 3][..n], &[2, 1, 3, 3, 1, 1, 2][..n], &[4, 4, 2, 4, 2, 9, 2][..n]] {
            for dispatch in strategies() {
                let law = LevelLaw::new(&dispatch, &servers).expect("a law").of_counts(&counts(&servers, lengths));
                let total: f64 = law.iter().flatten().sum();
                assert!((total - 1.0).abs() < 1e-12, "{dispatch:?}: {total}");
                judge(&dispatch, &servers, lengths, &law);
            }
        }
    }
}

fn judge(dispatch: &Dispatch, servers: &Servers, lengths: &[u32], law: &Law) {
    let view = View::truth(lengths.to_vec(), dispatch.need(servers), servers);
    let dispatchers = Dispatchers::equal(1).expect("one dispatcher");
    let mut stream = Stream::new(31, 0, Component::Dispatch);
    let mut ready = dispatch.prepare(servers, &dispatchers, &mut stream);
    let mut found: Vec<Vec<u32>> = law.iter().map(|levels| vec![0; levels.len()]).collect();
    for _ in 0..DRAWS {
        let server = ready.choose(0, &view, &mut stream);
        found[servers.class_of(server) as usize][lengths[server as usize] as usize] += 1;
    }
    let (mut chi_square, mut possible) = (0.0, 0);
    for (found, expected) in found.iter().flatten().zip(law.iter().flatten()) {
        if *expected < 1e-15 {
            assert_eq!(*found, 0, "{dispatch:?} in {lengths:?}: {law:?}");
            continue;
        }
        let mean = expected * f64::from(DRAWS);
        chi_square += (f64::from(*found) - mean).powi(2) / mean;
        possible += 1;
    }
    if possible > 1 {
        let limit = ChiSquared::new(f64::from(possible - 1)).expect("freedom").inverse_cdf(1.0 - 1e-5);
        assert!(chi_square < limit, "{dispatch:?} in {lengths:?}: {chi_square} over {limit}, {law:?}");
    }
}

/// One job at rate 0.1 takes as long as three at 0.3, though 0.3 is not three times 0.1 in binary.
#[test]
fn ties_on_paper_are_ties_in_the_law() {
    let servers = servers(&[(1, 0.1), (1, 0.3)]);
    for (text, lengths) in [(r#"{"shortest_delay": {}}"#, [0, 2]), (r#"{"shortest_normalized": {}}"#, [1, 3])] {
        let dispatch: Dispatch = serde_json::from_str(text).expect("a strategy");
        let law = LevelLaw::new(&dispatch, &servers).expect("a law").of_counts(&counts(&servers, &lengths));
        let found = [law[0][lengths[0] as usize], law[1][lengths[1] as usize]];
        assert_eq!(found, [0.5, 0.5], "{text}: {law:?}");
    }
}

/// Counts of many servers have nearly the law of their fractions.
#[test]
fn many_servers_have_the_law_of_the_limit() {
    let classes = [(600_000, 1.0), (400_000, 3.0)];
    let servers = servers(&classes);
    let at_least: Vec<Vec<u64>> = vec![vec![600_000, 500_000, 200_000, 0], vec![400_000, 100_000, 1000, 10]];
    let fractions: Vec<Vec<f64>> =
        at_least.iter().map(|counts| counts.iter().map(|&count| count as f64 / 1e6).collect()).collect();
    for dispatch in strategies().into_iter().filter(|dispatch| !matches!(dispatch, Dispatch::Ranked(_))) {
        let law = LevelLaw::new(&dispatch, &servers).expect("a law");
        let (finite, limit) = (law.of_counts(&at_least), law.in_the_limit(&fractions, 1.0));
        for (x, y) in finite.iter().flatten().zip(limit.iter().flatten()) {
            assert!((x - y).abs() < 1e-5, "{dispatch:?}: {finite:?}, in the limit {limit:?}");
        }
    }
}

/// All servers hold two jobs: those that fall to one get a job at once, and the rest goes to servers of two.
#[test]
fn departures_are_filled_on_the_boundary() {
    let servers = servers(&[(10, 1.0)]);
    let full = vec![vec![1.0, 1.0, 1.0, 0.0]];
    for (text, rest) in
        [(r#"{"shortest": {}}"#, 2), (r#"{"below_threshold": {"r": 1}}"#, 2), (r#"{"shortest_delay": {}}"#, 2)]
    {
        let dispatch: Dispatch = serde_json::from_str(text).expect("a strategy");
        let law = LevelLaw::new(&dispatch, &servers).expect("a law").in_the_limit(&full, 4.0);
        assert!((law[0][1] - 0.25).abs() < 1e-12 && (law[0][rest] - 0.75).abs() < 1e-12, "{text}: {law:?}");
    }
}

#[test]
fn strategies_with_a_memory_have_none() {
    for text in [r#"{"round_robin": {}}"#, r#"{"best_of_memory": {}}"#, r#"{"tidal": {}}"#] {
        let dispatch: Dispatch = serde_json::from_str(text).expect("a strategy");
        assert!(LevelLaw::new(&dispatch, &servers(&[(10, 1.0)])).is_err(), "{text}");
    }
}

#[test]
fn many_distinct_servers_by_rate_have_a_law_in_the_limit_only() {
    let dispatch: Dispatch =
        serde_json::from_str(r#"{"power_of_d": {"d": 100, "weighting": "rate"}}"#).expect("a strategy");
    let servers = servers(&[(600, 1.0), (400, 3.0)]);
    assert!(LevelLaw::new(&dispatch, &servers).is_err());
    let law = LevelLaw::for_the_limit(&dispatch, &servers).expect("a law");
    let total: f64 = law.in_the_limit(&[vec![0.6, 0.1], vec![0.4, 0.2]], 1.0).iter().flatten().sum();
    assert!((total - 1.0).abs() < 1e-12);
}

/// The tail by itself is the sum of the law from its level on.
#[test]
fn tails_are_sums_of_the_law() {
    let servers = servers(&[(20, 1.0)]);
    let at_least = vec![vec![20_u64, 15, 15, 6, 1]];
    let fractions: Vec<Vec<f64>> = vec![at_least[0].iter().map(|&count| count as f64 / 20.0).collect()];
    for dispatch in strategies() {
        let law = LevelLaw::new(&dispatch, &servers).expect("a law");
        let (finite, limit) = (law.of_counts(&at_least), law.in_the_limit(&fractions, 1.0));
        // Engines are chosen by whether there is one.
        if law.uniform_samples().is_some() {
            assert!(law.tail_of_count(6).is_some() && law.tail(0.3).is_some(), "{dispatch:?}");
        }
        for k in 0..5 {
            if let (Some(tail), Some(limit_tail)) = (law.tail_of_count(at_least[0][k]), law.tail(fractions[0][k])) {
                assert!((tail - finite[0][k..].iter().sum::<f64>()).abs() < 1e-12, "{dispatch:?}, {k}");
                assert!((limit_tail - limit[0][k..].iter().sum::<f64>()).abs() < 1e-12, "{dispatch:?}, {k}");
            }
        }
    }
}

//! For tests: how often each server is chosen, against the exact probabilities.

use super::Dispatch;
use crate::model::{Dispatchers, ServerClass, Servers};
use crate::policy::view::View;
use crate::random::{Component, Stream};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// A comparison that holds fails by chance with this probability. Seeds are fixed.
const FALSE_ALARM: f64 = 1e-4;

const DRAWS: u32 = 200_000;

/// Servers in classes of these counts and rates.
pub(super) fn classes(counts_and_rates: &[(u64, f64)]) -> Servers {
    let class = |(i, &(count, rate)): (usize, &(u64, f64))| ServerClass { name: format!("class {i}"), count, rate };
    Servers::new(counts_and_rates.iter().enumerate().map(class).collect()).expect("servers")
}

/// Asserts that a strategy made ready afresh chooses each server with its expected probability.
#[track_caller]
pub(super) fn assert_choices(dispatch: &Dispatch, servers: &Servers, lengths: &[u32], expected: &[f64]) {
    dispatch.validate(servers).expect("the strategy suits the servers");
    let view = View::truth(lengths.to_vec(), dispatch.need(servers), servers);
    let dispatchers = Dispatchers::equal(1).expect("one dispatcher");
    let ready = dispatch.prepare(servers, &dispatchers, &mut Stream::new(3, 0, Component::Initial));
    assert_frequencies(expected, |stream| ready.clone().choose(0, &view, stream));
}

/// Asserts by chi-square that draws have the expected probabilities, and that what has none is never drawn.
#[track_caller]
pub(super) fn assert_frequencies(expected: &[f64], mut draw: impl FnMut(&mut Stream) -> u32) {
    assert!((expected.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{expected:?} are no probabilities");
    let mut stream = Stream::new(11, 0, Component::Dispatch);
    let mut counts = vec![0_u32; expected.len()];
    for _ in 0..DRAWS {
        counts[draw(&mut stream) as usize] += 1;
    }
    let (mut chi_square, mut possible) = (0.0, 0);
    for (&count, &probability) in counts.iter().zip(expected) {
        if probability == 0.0 {
            assert_eq!(count, 0, "{counts:?}, expected {expected:?}");
            continue;
        }
        let mean = probability * f64::from(DRAWS);
        chi_square += (f64::from(count) - mean).powi(2) / mean;
        possible += 1;
    }
    if possible > 1 {
        let law = ChiSquared::new(f64::from(possible - 1)).expect("a positive number of degrees of freedom");
        let limit = law.inverse_cdf(1.0 - FALSE_ALARM);
        assert!(chi_square < limit, "chi-square {chi_square} over {limit}: {counts:?}, expected {expected:?}");
    }
}

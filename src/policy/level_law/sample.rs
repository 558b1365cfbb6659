//! The shortest of a sample, ties uniformly among the samples.

use super::{Law, State, falling_ratio};
use std::collections::BTreeMap;

/// How a sample is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) d: u64,
    pub(super) replacement: bool,
    /// In proportion to the rates instead of uniformly.
    pub(super) by_rate: bool,
}

/// The most cases that are summed over when distinct servers are drawn by rate.
const CASES: f64 = 20_000.0;

impl Sample {
    /// Whether the law in a finite system can be had: distinct servers by rate are drawn case by case.
    pub(super) fn is_affordable(&self, classes: usize) -> bool {
        if !self.by_rate || self.replacement || self.d == 1 {
            return true;
        }
        // C(d + 2C, 2C) numbers drawn from each class, longer or not.
        let cases: f64 = (1..=2 * classes).map(|i| (self.d as f64 + i as f64) / i as f64).product();
        cases <= CASES
    }

    /// The probability that all of a uniform sample are among `group` of `all`; `servers` is none in the limit.
    pub(super) fn all_among(&self, group: f64, all: f64, servers: Option<f64>) -> f64 {
        match servers {
            Some(_) if !self.replacement => falling_ratio(group, all, self.d as f64),
            _ => (group / all).clamp(0.0, 1.0).powf(self.d as f64),
        }
    }

    /// Adds `part` times the law of the shortest of the sample.
    pub(super) fn add(&self, part: f64, state: &State, servers: Option<f64>, law: &mut Law) {
        if self.by_rate && !self.replacement && servers.is_some() && self.d > 1 {
            return self.add_distinct_by_rate(part, state, law);
        }
        let classes = state.classes.len();
        let weight = |class: usize| if self.by_rate { state.classes[class].0 } else { 1.0 };
        let mass = |k: usize| (0..classes).map(|class| weight(class) * state.tail(class, k)).sum::<f64>();
        let all = mass(0);
        let mut longer = 1.0;
        for k in 0..state.levels() {
            let from_here = longer;
            longer = self.all_among(mass(k + 1), all, servers);
            let here = mass(k) - mass(k + 1);
            if here <= 0.0 {
                continue;
            }
            for (class, law) in law.iter_mut().enumerate().filter(|(_, law)| k < law.len()) {
                law[k] += part * (from_here - longer) * weight(class) * state.at(class, k) / here;
            }
        }
    }

    /// Servers drawn one after the other, each in proportion to the rates of those left, case by case: how many were
    /// drawn of each class that are longer than k, and how many that hold just k.
    fn add_distinct_by_rate(&self, part: f64, state: &State, law: &mut Law) {
        let classes = state.classes.len();
        for k in 0..state.levels() {
            if (0..classes).all(|class| state.at(class, k) <= 0.0) {
                continue;
            }
            let left = |class: usize, just: bool| if just { state.at(class, k) } else { state.tail(class, k + 1) };
            let mut cases = BTreeMap::from([(vec![0_u32; 2 * classes], part)]);
            for _ in 0..self.d {
                let mut next = BTreeMap::new();
                for (drawn, probability) in cases {
                    let taken = |class: usize| f64::from(drawn[2 * class] + drawn[2 * class + 1]);
                    let rate: f64 =
                        (0..classes).map(|class| state.classes[class].0 * (state.tail(class, 0) - taken(class))).sum();
                    for i in 0..2 * classes {
                        let rest = left(i / 2, i % 2 == 1) - f64::from(drawn[i]);
                        if rest > 0.0 {
                            let mut drawn = drawn.clone();
                            drawn[i] += 1;
                            *next.entry(drawn).or_insert(0.0) += probability * state.classes[i / 2].0 * rest / rate;
                        }
                    }
                }
                cases = next;
            }
            for (drawn, probability) in cases {
                let tied: u32 = drawn.iter().skip(1).step_by(2).sum();
                if tied > 0 {
                    for (class, law) in law.iter_mut().enumerate().filter(|(_, law)| k < law.len()) {
                        law[k] += probability * f64::from(drawn[2 * class + 1]) / f64::from(tied);
                    }
                }
            }
        }
    }
}

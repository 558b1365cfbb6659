//! Samples of distinct servers.

use super::view::View;
use crate::model::Servers;
use crate::random::Stream;

/// Draws sets of distinct servers in random order.
///
/// A few out of many are drawn by rejecting repeats; otherwise the first steps of a Fisher-Yates shuffle of a kept
/// permutation are taken. Both give every ordered set of distinct servers the same probability.
#[derive(Clone, Debug)]
pub struct Sampler {
    servers: u32,
    drawn: Vec<u32>,
    /// A permutation of the servers; empty when repeats are rejected.
    permutation: Vec<u32>,
}

impl Sampler {
    /// Samples of `size` out of `servers` servers; `size` must not exceed `servers`.
    pub fn new(size: u32, servers: u32) -> Self {
        // With at most 8 drawn, and at least 4 times as many servers, a repeat is rare and cheap to see.
        let reject = size <= 8 && servers / 4 >= size;
        Self {
            servers,
            drawn: vec![0; size as usize],
            permutation: if reject { Vec::new() } else { (0..servers).collect() },
        }
    }

    /// What draws the same two servers, if samples are pairs.
    pub(crate) fn pairs(&self) -> Option<Pairs> {
        let pairs = Pairs { servers: u64::from(self.servers), replacement: false };
        (self.drawn.len() == 2 && self.permutation.is_empty()).then_some(pairs)
    }

    /// Draws a sample; its order is random too.
    #[inline]
    pub fn draw(&mut self, stream: &mut Stream) -> &[u32] {
        let servers = u64::from(self.servers);
        if let ([one, other], true) = (&mut self.drawn[..], self.permutation.is_empty()) {
            (*one, *other) = Pairs { servers, replacement: false }.draw(stream);
            return &self.drawn;
        }
        for i in 0..self.drawn.len() {
            self.drawn[i] = if self.permutation.is_empty() {
                loop {
                    let server = stream.below(servers) as u32;
                    if !self.drawn[..i].contains(&server) {
                        break server;
                    }
                }
            } else {
                let j = i + stream.below(servers - i as u64) as usize;
                self.permutation.swap(i, j);
                self.permutation[i]
            };
        }
        &self.drawn
    }
}

/// Two distinct numbers below `servers`, in random order; there must be at least 2 and fewer than 2^32 of them.
#[inline]
fn two_distinct(servers: u64, stream: &mut Stream) -> (u64, u64) {
    let (first, second) = stream.below_both(servers, servers - 1);
    // Of the others, those from the first on have moved one up.
    (first, second + u64::from(second >= first))
}

/// Two servers drawn uniformly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairs {
    pub(crate) servers: u64,
    /// Whether they may be the same.
    pub(crate) replacement: bool,
}

impl Pairs {
    /// Draws two.
    #[inline(always)]
    pub(crate) fn draw(self, stream: &mut Stream) -> (u32, u32) {
        let (one, other) = if self.replacement {
            stream.below_both(self.servers, self.servers)
        } else {
            two_distinct(self.servers, stream)
        };
        (one as u32, other as u32)
    }

    /// The first of the shorter of two: in any order they are as likely, so ties are broken evenly.
    #[inline(always)]
    pub(crate) fn shorter((one, other): (u32, u32), length: impl Fn(u32) -> u32) -> u32 {
        // As good as a coin: told apart without a branch.
        let second = u32::from(length(other) < length(one));
        one ^ ((one ^ other) & second.wrapping_neg())
    }
}

/// Draws sets of distinct servers one after the other, each in proportion to the rates of those left.
///
/// A class is drawn by the summed rate of its servers left, then one of these by a step of a Fisher-Yates shuffle, so
/// a sample costs O(size * number of classes), however unequal the rates are.
#[derive(Clone, Debug)]
pub(super) struct RateSampler {
    size: usize,
    drawn: Vec<u32>,
    /// A permutation of the servers within each class; those drawn stand first in their class.
    permutation: Vec<u32>,
    classes: Vec<Left>,
}

/// What is left of a class.
#[derive(Clone, Debug)]
struct Left {
    first: u32,
    count: u32,
    drawn: u32,
    rate: f64,
}

impl RateSampler {
    /// Samples of `size` out of the servers; `size` must not exceed their number.
    pub(super) fn new(size: u32, servers: &Servers) -> Self {
        let mut next = 0;
        let classes = servers.classes().iter().map(|class| {
            let first = next;
            let count = class.count as u32;
            next += count;
            Left { first, count, drawn: 0, rate: class.rate }
        });
        Self {
            classes: classes.collect(),
            size: size as usize,
            drawn: Vec::with_capacity(size as usize),
            permutation: (0..servers.numbered()).collect(),
        }
    }

    /// Draws a sample; servers of higher rate tend to come first.
    #[inline]
    pub(super) fn draw(&mut self, stream: &mut Stream) -> &[u32] {
        self.drawn.clear();
        self.classes.iter_mut().for_each(|class| class.drawn = 0);
        while self.drawn.len() < self.size {
            let Self { classes, permutation, .. } = self;
            let weight = |class: usize| f64::from(classes[class].count - classes[class].drawn) * classes[class].rate;
            let drawn = in_proportion(classes.len(), weight, stream)
                .expect("a sample has no more servers than there are, so one is left");
            let class = &mut classes[drawn];
            let i = class.first + class.drawn;
            let j = i + stream.below(u64::from(class.count - class.drawn)) as u32;
            class.drawn += 1;
            permutation.swap(i as usize, j as usize);
            self.drawn.push(permutation[i as usize]);
        }
        &self.drawn
    }
}

/// The shortest of some servers in view, ties uniformly, whatever their order.
#[inline]
pub(super) fn any_shortest(servers: &[u32], view: &View, stream: &mut Stream) -> u32 {
    let (mut best, mut tied) = (servers[0], 1);
    for &next in &servers[1..] {
        if view.length(next) < view.length(best) {
            (best, tied) = (next, 1);
        } else if view.length(next) == view.length(best) {
            // The k-th of those tied takes the place of the one kept with probability 1 / k.
            tied += 1;
            if stream.below(tied) == 0 {
                best = next;
            }
        }
    }
    best
}

/// Draws one of `0..len` in proportion to its weight, in O(len); none, and no draw, when no weight is above 0.
#[inline]
pub(super) fn in_proportion(len: usize, weight: impl Fn(usize) -> f64, stream: &mut Stream) -> Option<usize> {
    let total: f64 = (0..len).map(&weight).sum();
    if total <= 0.0 {
        return None;
    }
    let mut target = stream.uniform() * total;
    let mut drawn = None;
    for i in 0..len {
        let weight = weight(i);
        if weight > 0.0 {
            // Rounding may leave a target beyond the last: the last that has a weight takes it.
            drawn = Some(i);
            if target < weight {
                break;
            }
            target -= weight;
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ServerClass;
    use crate::random::Component;

    /// Ordered pairs out of 3 (shuffled) and out of 20 (rejected): chi-square at a false alarm of 1e-4.
    #[test]
    fn ordered_pairs_are_equally_likely() {
        for (servers, limit) in [(3_u32, 25.7), (20, 489.0)] {
            let mut sampler = Sampler::new(2, servers);
            let mut stream = Stream::new(9, 0, Component::Information);
            let mut counts = std::collections::BTreeMap::new();
            let draws = 400_000;
            for _ in 0..draws {
                let pair = sampler.draw(&mut stream);
                assert_ne!(pair[0], pair[1]);
                *counts.entry((pair[0], pair[1])).or_insert(0_u32) += 1;
            }
            let pairs = servers * (servers - 1);
            assert_eq!(counts.len() as u32, pairs);
            let expected = f64::from(draws) / f64::from(pairs);
            let chi_square: f64 = counts.values().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
            assert!(chi_square < limit, "{servers}: {chi_square}");
        }
    }

    /// Ordered triples of servers of rates 1, 1, 4, 4 and 1000: chi-square with 59 degrees of freedom, of which those
    /// expected less than five times are pooled; 118 is exceeded with probability below 1e-5.
    #[test]
    fn triples_follow_the_rates_of_those_left() {
        let class = |name: &str, count, rate| ServerClass { name: name.to_owned(), count, rate };
        let classes = vec![class("a", 2, 1.0), class("b", 2, 4.0), class("c", 1, 1000.0)];
        let servers = Servers::new(classes).expect("servers");
        let mut sampler = RateSampler::new(3, &servers);
        let mut stream = Stream::new(9, 0, Component::Information);
        let mut counts = std::collections::BTreeMap::new();
        let draws = 400_000;
        for _ in 0..draws {
            *counts.entry(sampler.draw(&mut stream).to_vec()).or_insert(0_u32) += 1;
        }
        let (mut chi_square, mut rare) = (0.0, (0.0, 0.0));
        for triple in (0..125_u32).map(|i| [i / 25, i / 5 % 5, i % 5]) {
            let count = f64::from(counts.remove(&triple[..]).unwrap_or(0));
            if triple[0] == triple[1] || triple[1] == triple[2] || triple[0] == triple[2] {
                assert_eq!(count, 0.0, "{triple:?} repeats a server");
                continue;
            }
            let (mut left, mut expected) = (servers.total_rate(), f64::from(draws));
            for server in triple {
                expected *= servers.rate(server) / left;
                left -= servers.rate(server);
            }
            if expected < 5.0 {
                rare = (rare.0 + count, rare.1 + expected);
            } else {
                chi_square += (count - expected).powi(2) / expected;
            }
        }
        assert!(counts.is_empty(), "{counts:?}");
        chi_square += (rare.0 - rare.1).powi(2) / rare.1;
        assert!(chi_square < 118.0, "{chi_square}");
    }

    #[test]
    fn weights_of_zero_are_never_drawn() {
        let mut stream = Stream::new(9, 0, Component::Information);
        let weights = [0.0, 1.0, 0.0, 3.0, 0.0];
        let mut counts = [0_u32; 5];
        for _ in 0..100_000 {
            counts[in_proportion(5, |i| weights[i], &mut stream).expect("some have a weight")] += 1;
        }
        assert_eq!((counts[0], counts[2], counts[4]), (0, 0, 0));
        // Standard deviation of the count is 137: |z| < 4.
        assert!(counts[1].abs_diff(25_000) < 548, "{counts:?}");
        assert_eq!(in_proportion(5, |_| 0.0, &mut stream), None);
    }
}

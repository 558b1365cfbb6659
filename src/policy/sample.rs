//! Samples of distinct servers.

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

    /// Draws a sample; its order is random too.
    #[inline]
    pub fn draw(&mut self, stream: &mut Stream) -> &[u32] {
        let servers = u64::from(self.servers);
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

#[cfg(test)]
mod tests {
    use super::*;
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
}

//! How many servers hold how many jobs, kept up to date for all probes.

use crate::engine::{LengthChange, Snapshot};

/// Counts over all servers at the present moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Census {
    servers: u64,
    /// `at_least[k]` = number of servers with at least `k + 1` jobs.
    at_least: Vec<u64>,
    total: u64,
    squares: u128,
    min: u32,
    max: u32,
    /// `exactly[k]` = number of servers with k jobs, as last counted anew.
    exactly: Vec<u64>,
}

impl Census {
    pub(super) fn new(snapshot: &Snapshot<'_>) -> Self {
        if snapshot.counts.is_empty() { Self::of(snapshot.lengths) } else { Self::of_counts(snapshot.counts) }
    }

    /// From the counts of each class.
    fn of_counts(counts: &[Vec<u64>]) -> Self {
        let levels = counts.iter().map(Vec::len).max().unwrap_or(0);
        let sum = |k: usize| counts.iter().map(|class| class.get(k).copied().unwrap_or(0)).sum::<u64>();
        let at_least: Vec<u64> = (1..levels).map(sum).take_while(|&count| count > 0).collect();
        let servers = sum(0);
        Self {
            servers,
            total: at_least.iter().sum(),
            // k^2 is the sum of the first k odd numbers.
            squares: at_least.iter().zip(0..).map(|(&count, k)| u128::from(count) * (2 * k + 1)).sum(),
            min: at_least.iter().take_while(|&&count| count == servers).count() as u32,
            max: at_least.len() as u32,
            at_least,
            exactly: Vec::new(),
        }
    }

    fn of(lengths: &[u32]) -> Self {
        let mut census = Self { servers: lengths.len() as u64, ..Self::default() };
        census.recount(lengths);
        census
    }

    /// Counts anew: one pass over the servers.
    pub(super) fn recount(&mut self, lengths: &[u32]) {
        self.exactly.iter_mut().for_each(|count| *count = 0);
        let mut squares = 0_u128;
        for &length in lengths {
            if length as usize >= self.exactly.len() {
                self.exactly.resize(length as usize + 1, 0);
            }
            self.exactly[length as usize] += 1;
        }
        (self.total, self.max, self.min) = (0, 0, u32::MAX);
        self.at_least.clear();
        let mut count = self.servers;
        for (length, &here) in (0_u32..).zip(&self.exactly) {
            if length > 0 {
                self.at_least.push(count);
            }
            if here > 0 {
                self.total += u64::from(length) * here;
                squares += u128::from(length).pow(2) * u128::from(here);
                self.max = length;
                self.min = self.min.min(length);
                count -= here;
            }
        }
        self.squares = squares;
        self.at_least.truncate(self.max as usize);
    }

    /// Number of servers with at least `k` jobs, `k >= 1`.
    #[inline]
    pub(super) fn at_least(&self, k: u32) -> u64 {
        self.at_least.get(k as usize - 1).copied().unwrap_or(0)
    }

    /// Number of servers with at least 1, 2, ... jobs.
    pub(super) fn counts(&self) -> &[u64] {
        &self.at_least
    }

    /// Number of servers with fewer than `length` jobs.
    #[inline]
    pub(super) fn below(&self, length: u32) -> u64 {
        if length == 0 { 0 } else { self.servers - self.at_least(length) }
    }

    /// Number of levels `k` with a count, beyond which all are 0.
    pub(super) fn levels(&self) -> usize {
        self.at_least.len()
    }

    /// Number of servers N.
    pub(super) fn servers(&self) -> u64 {
        self.servers
    }

    /// Number of jobs in the system.
    #[inline]
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The shortest queue.
    #[inline]
    pub(super) fn min(&self) -> u32 {
        self.min
    }

    /// The longest queue minus the shortest.
    #[inline]
    pub(super) fn range(&self) -> u32 {
        self.max - self.min
    }

    /// `N sum_n (Q_n - mean Q)^2 = N sum Q_n^2 - (sum Q_n)^2`, computed as a whole number.
    #[inline]
    pub(super) fn scaled_imbalance(&self) -> u128 {
        u128::from(self.servers) * self.squares - u128::from(self.total).pow(2)
    }

    #[inline(always)]
    pub(super) fn change(&mut self, change: &LengthChange) {
        let index = change.old.min(change.new) as usize;
        if change.new > change.old {
            if index == self.at_least.len() {
                self.at_least.push(0);
            }
            let count = &mut self.at_least[index];
            *count += 1;
            if *count == self.servers {
                self.min = change.new;
            }
            self.max = self.max.max(change.new);
            self.total += 1;
            self.squares += u128::from(change.old) * 2 + 1;
        } else {
            let count = &mut self.at_least[index];
            *count -= 1;
            if *count == 0 {
                self.max = change.new;
            }
            self.min = self.min.min(change.new);
            self.total -= 1;
            self.squares -= u128::from(change.new) * 2 + 1;
        }
    }
}

/// A random walk of queue lengths for the tests of probes. `visit` is called before each change with the time, the
/// lengths and the census of before, and the census of after.
#[cfg(test)]
pub(super) fn walk(servers: u32, changes: u32, mut visit: impl FnMut(f64, &[u32], &Census, &Census)) {
    use crate::random::{Component, Stream};
    let mut stream = Stream::new(6, 0, Component::Information);
    let mut lengths: Vec<u32> = (0..servers).map(|server| server * server % 7).collect();
    let mut census = Census::of(&lengths);
    let mut time = 0.0;
    for _ in 0..changes {
        time += stream.uniform();
        let server = stream.below(u64::from(servers)) as u32;
        let old = lengths[server as usize];
        let new = if old == 0 || stream.chance(0.5) { old + 1 } else { old - 1 };
        let mut next = census.clone();
        next.change(&LengthChange { time, server, class: 0, old, new });
        visit(time, &lengths, &census, &next);
        lengths[server as usize] = new;
        census = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_plain_count() {
        walk(3, 5_000, |_, lengths, census, _| {
            let fresh = Census::of(lengths);
            assert_eq!((census.total(), census.min()), (fresh.total(), fresh.min()));
            assert_eq!(census.scaled_imbalance(), fresh.scaled_imbalance());
            let counts = (0..fresh.max + 2).map(|k| if k == 0 { fresh.servers } else { fresh.at_least(k) }).collect();
            let counted = Census::of_counts(&[counts]);
            assert_eq!((counted.total(), counted.min(), counted.range()), (fresh.total(), fresh.min(), fresh.range()));
            assert_eq!(counted.scaled_imbalance(), fresh.scaled_imbalance());
            let longest = lengths.iter().max().expect("servers");
            let shortest = lengths.iter().min().expect("servers");
            assert_eq!(census.range(), longest - shortest);
            for k in 1..40 {
                assert_eq!(census.at_least(k), fresh.at_least(k));
                assert_eq!(census.below(k), lengths.iter().filter(|&&length| length < k).count() as u64);
            }
        });
    }
}

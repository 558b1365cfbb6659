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
}

impl Census {
    pub(super) fn new(snapshot: &Snapshot<'_>) -> Self {
        let mut census = Self { servers: snapshot.lengths.len() as u64, ..Self::default() };
        let mut exactly: Vec<u64> = Vec::new();
        for &length in snapshot.lengths {
            if exactly.len() <= length as usize {
                exactly.resize(length as usize + 1, 0);
            }
            exactly[length as usize] += 1;
            census.total += u64::from(length);
            census.squares += u128::from(length).pow(2);
        }
        let mut count = census.servers;
        for &here in &exactly[..exactly.len() - 1] {
            count -= here;
            census.at_least.push(count);
        }
        census.min = exactly.iter().position(|&count| count > 0).unwrap_or(0) as u32;
        census
    }

    /// Number of servers with at least `k` jobs, `k >= 1`.
    #[inline]
    pub(super) fn at_least(&self, k: u32) -> u64 {
        self.at_least.get(k as usize - 1).copied().unwrap_or(0)
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

    /// `N sum_n (Q_n - mean Q)^2 = N sum Q_n^2 - (sum Q_n)^2`, computed as a whole number.
    #[inline]
    pub(super) fn scaled_imbalance(&self) -> f64 {
        let exact = u128::from(self.servers) * self.squares - u128::from(self.total).pow(2);
        // Converting 128 bits takes a call; 64 nearly always do.
        u64::try_from(exact).map_or_else(|_| exact as f64, |small| small as f64)
    }

    #[inline]
    pub(super) fn change(&mut self, change: &LengthChange) {
        let k = change.old.max(change.new) as usize;
        if change.new > change.old {
            if self.at_least.len() < k {
                self.at_least.push(0);
            }
            self.at_least[k - 1] += 1;
            self.total += 1;
            self.squares += u128::from(change.old) * 2 + 1;
            if self.at_least[k - 1] == self.servers {
                self.min = change.new;
            }
        } else {
            self.at_least[k - 1] -= 1;
            self.total -= 1;
            self.squares -= u128::from(change.new) * 2 + 1;
            self.min = self.min.min(change.new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    #[test]
    fn agrees_with_a_plain_count() {
        let mut stream = Stream::new(6, 0, Component::Information);
        let mut lengths = vec![2_u32, 0, 5];
        fn snapshot(lengths: &[u32]) -> Snapshot<'_> {
            Snapshot { time: 0.0, lengths, local: false, estimates: &[], remaining_time: 0.0 }
        }
        let mut census = Census::new(&snapshot(&lengths));
        for _ in 0..5_000 {
            let server = stream.below(3) as u32;
            let old = lengths[server as usize];
            let new = if old == 0 || stream.chance(0.5) { old + 1 } else { old - 1 };
            lengths[server as usize] = new;
            census.change(&LengthChange { time: 0.0, server, class: 0, old, new });
            let fresh = Census::new(&snapshot(&lengths));
            assert_eq!((census.total(), census.min()), (fresh.total(), fresh.min()));
            assert_eq!(census.scaled_imbalance(), fresh.scaled_imbalance());
            for k in 1..40 {
                assert_eq!(census.at_least(k), fresh.at_least(k));
            }
        }
    }
}

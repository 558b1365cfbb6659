//! The true rank of the chosen server: 1 + the number of servers with strictly fewer jobs.

use super::census::Census;
use super::metric::{Metric, Reading};
use crate::engine::{RANKS, Ranks};

/// Ranks of the servers chosen in the window, whether they let the jobs in or not: O(1) per choice.
#[derive(Clone, Debug, Default)]
pub(super) struct ChosenRank {
    jobs: u64,
    /// Sum of the ranks; 128 bits, as a rank may be as large as N.
    sum: u128,
    /// Jobs by rank 1, 2, ..., and all above.
    counts: [u64; RANKS + 1],
}

impl ChosenRank {
    /// Jobs that one dispatcher gives at once to a server which holds `found`.
    #[inline]
    pub(super) fn add_jobs(&mut self, found: u32, jobs: u64, census: &Census) {
        let rank = 1 + census.below(found);
        self.jobs += jobs;
        self.sum += u128::from(rank) * u128::from(jobs);
        self.counts[(rank - 1).min(RANKS as u64) as usize] += jobs;
    }

    /// Takes over what an engine has counted of so many jobs.
    pub(super) fn take(&mut self, jobs: u64, ranks: &Ranks) {
        *self = Self { jobs, sum: ranks.sum + u128::from(jobs), counts: ranks.counts };
    }

    pub(super) fn readings(&self, readings: &mut Vec<Reading>) {
        let fraction = |count: u64| (self.jobs > 0).then(|| count as f64 / self.jobs as f64);
        let mean = (self.jobs > 0).then(|| self.sum as f64 / self.jobs as f64);
        readings.push(Reading::plain(Metric::ChosenRankMean, mean));
        for (rank, &count) in (1..).zip(&self.counts[..RANKS]) {
            readings.push(Reading::keyed(Metric::ChosenRank, format!("{rank}"), fraction(count)));
        }
        readings.push(Reading::keyed(Metric::ChosenRank, "more", fraction(self.counts[RANKS])));
        readings.push(Reading::plain(Metric::ChosenShortestProbability, fraction(self.counts[0])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::census::walk;

    #[test]
    fn agrees_with_a_plain_count() {
        let mut probe = ChosenRank::default();
        let (mut ranks, mut server) = (Vec::new(), 0);
        walk(15, 4_000, |_, lengths, census, _| {
            server = (server + 7) % lengths.len();
            let found = lengths[server];
            probe.add_jobs(found, 2, census);
            ranks.push(1 + lengths.iter().filter(|&&length| length < found).count());
        });
        let mut readings = Vec::new();
        probe.readings(&mut readings);
        let value = |metric, key: &str| {
            let found = readings.iter().find(|reading| reading.metric == metric && reading.key == key);
            found.and_then(|reading| reading.value).expect("measured")
        };
        let fraction =
            |test: &dyn Fn(usize) -> bool| ranks.iter().filter(|&&rank| test(rank)).count() as f64 / ranks.len() as f64;
        let mean = ranks.iter().sum::<usize>() as f64 / ranks.len() as f64;
        assert!((value(Metric::ChosenRankMean, "") - mean).abs() < 1e-12);
        for r in 1..=10 {
            assert_eq!(value(Metric::ChosenRank, &r.to_string()), fraction(&|rank| rank == r), "{r}");
        }
        assert_eq!(value(Metric::ChosenRank, "more"), fraction(&|rank| rank > 10));
        assert!(value(Metric::ChosenRank, "more") > 0.0, "the path must reach the last count");
        assert_eq!(value(Metric::ChosenShortestProbability, ""), fraction(&|rank| rank == 1));
    }
}

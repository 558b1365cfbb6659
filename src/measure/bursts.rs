//! Bursts: consecutive jobs, over all dispatchers, that go to one server.

use super::metric::{Metric, Reading};
use crate::engine::{self, BURST_SIZES as SIZES};
use crate::model::Servers;

/// Sizes of the bursts in the window.
///
/// The rule: a job continues the burst of the job dispatched just before it, by whichever dispatcher, if it goes to the
/// same server and comes less than one mean service time of that server (1 / rate) after the first job of the burst;
/// otherwise it starts a burst. The first job in the window starts one, and the burst in progress at the close counts
/// with the jobs it has, so that the sizes sum to the jobs dispatched. O(1) per choice.
#[derive(Clone, Debug, Default)]
pub(super) struct Bursts {
    current: Option<Burst>,
    bursts: u64,
    jobs: u64,
    /// Bursts by size 1, 2, ..., and all above.
    counts: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Burst {
    server: u32,
    /// A job that comes at this time or later starts a burst of its own.
    end: f64,
    size: u64,
}

impl Bursts {
    pub(super) fn new() -> Self {
        Self { counts: vec![0; SIZES + 1], ..Self::default() }
    }

    /// Jobs that one dispatcher gives at once to a server.
    #[inline]
    pub(super) fn add_jobs(&mut self, time: f64, server: u32, jobs: u64, servers: &Servers) {
        match &mut self.current {
            Some(burst) if burst.server == server && time < burst.end => burst.size += jobs,
            _ => {
                self.finish();
                self.current = Some(Burst { server, end: time + servers.rate(server).recip(), size: jobs });
            }
        }
    }

    /// Counts the burst in progress.
    #[inline]
    fn finish(&mut self) {
        if let Some(Burst { size, .. }) = self.current.take() {
            self.bursts += 1;
            self.jobs += size;
            self.counts[(size.max(1) - 1).min(SIZES as u64) as usize] += 1;
        }
    }

    /// Takes over what an engine has counted.
    pub(super) fn take(&mut self, counted: &engine::Bursts) {
        *self = Self { current: None, bursts: counted.bursts, jobs: counted.jobs, counts: counted.counts.clone() };
    }

    pub(super) fn close(&mut self) {
        self.finish();
    }

    pub(super) fn readings(&self, readings: &mut Vec<Reading>) {
        let mean = (self.bursts > 0).then(|| self.jobs as f64 / self.bursts as f64);
        readings.push(Reading::plain(Metric::BurstSizeMean, mean));
        for (size, &count) in (1..).zip(&self.counts).filter(|(_, count)| **count > 0) {
            let key = if size > SIZES { "more".to_owned() } else { format!("{size}") };
            readings.push(Reading::keyed(Metric::BurstSize, key, Some(count as f64 / self.bursts as f64)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ServerClass;
    use crate::random::{Component, Stream};

    fn servers() -> Servers {
        let class = |name: &str, rate| ServerClass { name: name.into(), count: 1, rate };
        Servers::new(vec![class("slow", 1.0), class("fast", 2.0)]).expect("two servers")
    }

    /// Sizes by the rule, from the list of all choices.
    fn sizes(choices: &[(f64, u32)], servers: &Servers) -> Vec<usize> {
        let mut sizes = Vec::new();
        let mut first = 0;
        for i in 1..=choices.len() {
            let continues = choices.get(i).is_some_and(|&(time, server)| {
                server == choices[first].1 && time < choices[first].0 + 1.0 / servers.rate(server)
            });
            if !continues {
                sizes.push(i - first);
                first = i;
            }
        }
        sizes
    }

    #[test]
    fn agrees_with_the_rule_read_aloud() {
        let servers = servers();
        let mut stream = Stream::new(8, 0, Component::Dispatch);
        let (mut probe, mut choices, mut time) = (Bursts::new(), Vec::new(), 0.0);
        for _ in 0..5_000 {
            time += 0.3 * stream.uniform();
            let server = u32::from(stream.chance(0.2));
            probe.add_jobs(time, server, 1, &servers);
            choices.push((time, server));
        }
        probe.close();
        let expected = sizes(&choices, &servers);
        assert_eq!((probe.jobs, probe.bursts), (5_000, expected.len() as u64));
        for size in 1..=SIZES {
            let count = expected.iter().filter(|&&found| found == size).count() as u64;
            assert_eq!(probe.counts[size - 1], count, "size {size}");
        }
        assert!(probe.counts[5] > 0, "the path must have long bursts");
    }

    #[test]
    fn jobs_given_at_once_are_one_burst_and_the_largest_share_a_key() {
        let mut probe = Bursts::new();
        probe.add_jobs(0.0, 0, 3, &servers());
        probe.add_jobs(0.9, 0, 97, &servers());
        probe.add_jobs(1.0, 0, 2, &servers());
        probe.close();
        let mut readings = Vec::new();
        probe.readings(&mut readings);
        assert_eq!(readings[0], Reading::plain(Metric::BurstSizeMean, Some(51.0)));
        assert_eq!(readings[1], Reading::keyed(Metric::BurstSize, "2", Some(0.5)));
        assert_eq!(readings[2], Reading::keyed(Metric::BurstSize, "more", Some(0.5)));
    }
}

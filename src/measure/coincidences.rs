//! Coincidences: two jobs from different dispatchers that come soon after each other and go to one server.

use super::metric::{Metric, Reading};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// How often two jobs from different dispatchers, less than `window` apart, go to the same server, over 1/N.
///
/// Pairs of which both jobs were dispatched in the measuring window count. O(1) per choice on average; memory for the
/// jobs of one coincidence window, and 8 bytes per server.
#[derive(Clone, Debug)]
pub(super) struct Coincidences {
    window: f64,
    /// Whether there are different dispatchers at all.
    several: bool,
    recent: VecDeque<Choice>,
    recent_jobs: u64,
    /// Recent jobs by server, by dispatcher, and by both where there are any.
    by_server: Vec<u64>,
    by_dispatcher: Vec<u64>,
    by_both: ByBoth,
    pairs: u128,
    coincident: u128,
}

/// Recent jobs by dispatcher and server.
#[derive(Clone, Debug)]
enum ByBoth {
    /// Of all pairs, where they are few: `[n * M + m]`, with M.
    All(Vec<u64>, usize),
    /// Of those that have any.
    Any(FxHashMap<(u32, u32), u64>),
}

/// More pairs than this are not kept all: they would be far away, or too many.
const MOST_PAIRS: u64 = 1 << 14;

impl ByBoth {
    fn new(dispatchers: u32, servers: u64) -> Self {
        match servers.checked_mul(u64::from(dispatchers)) {
            Some(pairs) if pairs <= MOST_PAIRS => Self::All(vec![0; pairs as usize], dispatchers as usize),
            _ => Self::Any(FxHashMap::default()),
        }
    }

    /// Adds jobs of a pair, and returns how many it had.
    #[inline]
    fn add(&mut self, dispatcher: u32, server: u32, jobs: u64) -> u64 {
        let recent = match self {
            Self::All(all, dispatchers) => &mut all[server as usize * *dispatchers + dispatcher as usize],
            Self::Any(any) => any.entry((dispatcher, server)).or_default(),
        };
        *recent += jobs;
        *recent - jobs
    }

    #[inline]
    fn forget(&mut self, &Choice { dispatcher, server, jobs, .. }: &Choice) {
        match self {
            Self::All(all, dispatchers) => all[server as usize * *dispatchers + dispatcher as usize] -= jobs,
            Self::Any(any) => {
                if let Some(recent) = any.get_mut(&(dispatcher, server)) {
                    *recent -= jobs;
                    if *recent == 0 {
                        any.remove(&(dispatcher, server));
                    }
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Choice {
    time: f64,
    dispatcher: u32,
    server: u32,
    jobs: u64,
}

impl Coincidences {
    pub(super) fn new(window: f64, dispatchers: u32, servers: u64) -> Self {
        let several = dispatchers > 1;
        let zeros = |n: u64| vec![0; if several { n as usize } else { 0 }];
        Self {
            window,
            several,
            recent: VecDeque::new(),
            recent_jobs: 0,
            by_server: zeros(servers),
            by_dispatcher: zeros(u64::from(dispatchers)),
            by_both: ByBoth::new(dispatchers, servers),
            pairs: 0,
            coincident: 0,
        }
    }

    /// Jobs that one dispatcher gives at once to a server.
    #[inline]
    pub(super) fn add_jobs(&mut self, time: f64, dispatcher: u32, server: u32, jobs: u64) {
        if !self.several || jobs == 0 {
            return;
        }
        while let Some(choice) = self.recent.front().copied()
            && time - choice.time >= self.window
        {
            self.recent.pop_front();
            self.forget(&choice);
        }
        let mine_here = self.by_both.add(dispatcher, server, jobs);
        let others = self.recent_jobs - self.by_dispatcher[dispatcher as usize];
        let others_here = self.by_server[server as usize] - mine_here;
        self.pairs += u128::from(jobs) * u128::from(others);
        self.coincident += u128::from(jobs) * u128::from(others_here);
        self.recent_jobs += jobs;
        self.by_server[server as usize] += jobs;
        self.by_dispatcher[dispatcher as usize] += jobs;
        self.recent.push_back(Choice { time, dispatcher, server, jobs });
    }

    #[inline]
    fn forget(&mut self, choice: &Choice) {
        self.recent_jobs -= choice.jobs;
        self.by_server[choice.server as usize] -= choice.jobs;
        self.by_dispatcher[choice.dispatcher as usize] -= choice.jobs;
        self.by_both.forget(choice);
    }

    pub(super) fn readings(&self, servers: u64, readings: &mut Vec<Reading>) {
        let ratio = (self.pairs > 0).then(|| self.coincident as f64 / self.pairs as f64 * servers as f64);
        readings.push(Reading::plain(Metric::CoincidenceRatio, ratio));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    #[test]
    fn agrees_with_all_pairs() {
        for servers in [4, MOST_PAIRS] {
            meet(Coincidences::new(0.5, 3, servers));
        }
    }

    fn meet(mut probe: Coincidences) {
        let mut stream = Stream::new(9, 0, Component::Dispatch);
        let (mut choices, mut time) = (Vec::<Choice>::new(), 0.0);
        let (mut pairs, mut coincident) = (0, 0);
        for _ in 0..2_000 {
            // Several choices at one moment too.
            time += if stream.chance(0.3) { 0.0 } else { 0.4 * stream.uniform() };
            let choice = Choice {
                time,
                dispatcher: stream.below(3) as u32,
                server: stream.below(4) as u32,
                jobs: 1 + stream.below(3),
            };
            for other in choices.iter().filter(|other| time - other.time < 0.5) {
                if other.dispatcher != choice.dispatcher {
                    pairs += u128::from(choice.jobs * other.jobs);
                    coincident += u128::from(choice.jobs * other.jobs) * u128::from(other.server == choice.server);
                }
            }
            probe.add_jobs(time, choice.dispatcher, choice.server, choice.jobs);
            choices.push(choice);
        }
        assert_eq!((probe.pairs, probe.coincident), (pairs, coincident));
        let pairs = match &probe.by_both {
            ByBoth::All(all, _) => all.iter().filter(|&&jobs| jobs > 0).count(),
            ByBoth::Any(any) => any.len(),
        };
        assert!(pairs <= 12 && pairs <= probe.recent.len() && probe.recent.len() < 50, "what is over is forgotten");
    }

    #[test]
    fn one_dispatcher_coincides_with_nobody() {
        let mut probe = Coincidences::new(1.0, 1, 2);
        probe.add_jobs(0.0, 0, 0, 1);
        probe.add_jobs(0.1, 0, 0, 1);
        let mut readings = Vec::new();
        probe.readings(2, &mut readings);
        assert_eq!(readings, [Reading::plain(Metric::CoincidenceRatio, None)]);
    }
}

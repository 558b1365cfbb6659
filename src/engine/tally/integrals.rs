//! What a tally has counted, as integrals over the window.

use super::{Areas, Bursts, Ranks, Tally};
use crate::engine::observer::MessageKind;
use crate::model::{Sum, TimeHistogram, Total};

impl Tally {
    /// An integral over the window up to a time, from its sum over strikes and its values at the ends.
    pub(super) fn integral(&self, sum: f64, at_open: f64, at_close: f64, closed: f64) -> f64 {
        let before = self.opened - self.first as f64 * self.tick;
        let after = closed - self.last as f64 * self.tick;
        sum * self.tick - at_open * before + at_close * after
    }

    /// For k = 1, 2, ...: the number of servers with at least k jobs at the close, its integral and that of its square.
    pub fn levels(&self, closed: f64) -> impl Iterator<Item = (u64, f64, f64)> {
        self.levels.iter().zip(&self.areas).zip(&self.edges).map(move |((level, areas), edges)| {
            let (start, count) = (edges.start as f64, level.count as f64);
            let area = self.integral(areas.area as f64, start, count, closed);
            (level.count, area, self.integral(areas.squares as f64, start * start, count * count, closed))
        })
    }

    /// For k = 1, 2, ..., as far as wanted: the time at each number of servers with at least k jobs.
    pub fn histograms(&self, closed: f64) -> impl Iterator<Item = TimeHistogram> {
        self.histograms.iter().zip(&self.levels).zip(&self.edges).map(move |((history, level), edges)| {
            let mut history = history.clone();
            history.leave(level.count, self.last);
            let mut times = history.into_times().map(|strikes| {
                let mut time = Sum::default();
                Total::add(&mut time, strikes as f64 * self.tick);
                time
            });
            times.add(edges.start, self.first as f64 * self.tick - self.opened);
            times.add(level.count, closed - self.last as f64 * self.tick);
            times
        })
    }

    /// Integrals of the number of jobs inside, less that at the opening: of itself, of its square, of itself over the
    /// first half of the window; and the time without any job.
    pub fn jobs(&self, closed: f64) -> [f64; 4] {
        let more = self.more_before as f64;
        let Areas { area, squares } = self.more_areas;
        // If nothing has happened since, the middle is passed without a strike.
        let half = self.first_half.unwrap_or_else(|| self.integral(area as f64, 0.0, more, self.middle));
        let area = self.integral(area as f64, 0.0, more, closed);
        let squares = self.integral(squares as f64, 0.0, more * more, closed);
        [area, squares, half, self.empty(0, closed)]
    }

    /// The time for which a level held no server.
    fn empty(&self, index: usize, closed: f64) -> f64 {
        let Some((level, edges)) = self.levels.get(index).zip(self.edges.get(index)) else {
            return closed - self.opened;
        };
        let none = |count: u64| if count == 0 { self.last - self.first } else { 0 };
        let held = |count: u64| f64::from(u8::from(count == 0));
        let strikes = edges.empty.wrapping_add(none(level.count));
        self.integral(strikes as f64, held(edges.start), held(level.count), closed)
    }

    /// The time for which a level held all servers.
    fn full(&self, index: usize, closed: f64) -> f64 {
        let (level, edges) = (&self.levels[index], &self.edges[index]);
        let is_full = |count: u64| count == self.servers;
        let now = if is_full(level.count) { self.last - self.first } else { 0 };
        let held = |count: u64| f64::from(u8::from(is_full(count)));
        let strikes = edges.full.wrapping_add(now);
        self.integral(strikes as f64, held(edges.start), held(level.count), closed)
    }

    /// The integral of the longest queue less the shortest.
    pub fn range(&self, closed: f64) -> f64 {
        // The longest is the number of levels that hold a server, the shortest that of those that hold all.
        let mut range = Sum::default();
        for index in 0..self.levels.len() {
            range.add(closed - self.opened - self.empty(index, closed) - self.full(index, closed));
        }
        range.value()
    }

    /// The integral of `N sum_n Q_n^2 - (sum_n Q_n)^2`.
    pub fn scaled_imbalance(&self, closed: f64) -> f64 {
        let servers = i128::from(self.servers);
        // A queue of k jobs has 1 + 3 + ... + (2k - 1) as its square.
        let odd = |index: usize| i128::try_from(2 * index + 1).unwrap_or(i128::MAX);
        let state = |counts: &mut dyn Iterator<Item = u64>| {
            let (mut squares, mut jobs) = (0, 0);
            for (index, count) in counts.enumerate() {
                squares += odd(index) * i128::from(count);
                jobs += i128::from(count);
            }
            (servers * squares - jobs * jobs) as f64
        };
        let squares: i128 = self.areas.iter().enumerate().map(|(index, areas)| odd(index) * areas.area).sum();
        let (start, strikes) = (i128::from(self.start), i128::from(self.last - self.first));
        let more = &self.more_areas;
        let square_of_jobs = start * start * strikes + 2 * start * more.area + more.squares;
        let sum = servers * squares - square_of_jobs;
        let at_open = state(&mut self.edges.iter().map(|edges| edges.start));
        let at_close = state(&mut self.levels.iter().map(|level| level.count));
        self.integral(sum as f64, at_open, at_close, closed)
    }

    /// The time inside the window of all jobs, level by level.
    pub fn time_of_jobs(&self, closed: f64) -> f64 {
        let sum: i128 = self.areas.iter().map(|areas| areas.area).sum();
        self.integral(sum as f64, self.start as f64, (self.start as i64 + self.more_before) as f64, closed)
    }

    /// Jobs given to servers, lost, and completed; and the summed regret.
    pub fn counts(&self) -> [u64; 4] {
        let joined: u64 = self.levels.iter().map(|level| level.joined).sum();
        let found: u64 = (0..).zip(&self.levels).map(|(found, level)| found * level.joined).sum();
        let left = (joined as i64 - self.more_before) as u64;
        [joined + self.blocked, self.blocked, left, found + self.found_by_blocked - self.sum_of_shortest]
    }

    /// Jobs that joined, by the number they found.
    pub fn found(&self) -> impl Iterator<Item = u64> {
        self.levels.iter().map(|level| level.joined)
    }

    /// Messages sent, by kind.
    pub fn messages(&self) -> impl Iterator<Item = (MessageKind, u64)> {
        let [dispatched, ..] = self.counts();
        MessageKind::ALL.into_iter().zip(self.sent).map(move |(kind, sent)| match (kind, self.messages_per_choice) {
            (MessageKind::Exact, Some(per_choice)) => (kind, dispatched * per_choice),
            _ => (kind, sent),
        })
    }

    /// Jobs by dispatcher, as far as they are wanted.
    pub fn dispatchers(&self) -> &[u64] {
        &self.dispatchers
    }

    /// Ranks of the servers chosen, if they are wanted.
    pub fn ranks(&self) -> Option<&Ranks> {
        self.ranks.as_ref()
    }

    /// Bursts, if they are wanted; the one in progress counts as over.
    pub fn bursts(&self) -> Option<Bursts> {
        let mut bursts = self.bursts.clone()?;
        bursts.finish();
        Some(bursts)
    }
}

//! What a memoryless engine that moves in equal steps can count by itself, instead of telling every event.
//!
//! Times are whole numbers of strikes of the clock. The integral of a count c over T strikes is found from its changes,
//! `c(T) T - sum of t (change of c)`, and that of its square from the changes of the square, so that an event touches the
//! level it changes and nothing has to be brought up to date. Counting goes in blocks that are short enough for sums of 64
//! bits; the sums of all blocks have 128. They are whole numbers, and exact.

mod block;
mod bursts;
mod history;
mod integrals;

pub(super) use block::{BLOCK, Ends, Event, Lane, Met, NEAR, Sums};
pub use bursts::{BURST_SIZES, Bursts};
use history::History;

use super::Progress;
use super::observer::MessageKind;
use super::ticker::Steps;
use crate::random::Stream;

/// What is counted besides averages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Levels up to this have a histogram over time.
    pub histograms: usize,
    /// Whether the ranks of the servers chosen are counted.
    pub ranks: bool,
    /// How long a burst of jobs at one server can last, if bursts are counted.
    pub burst: Option<f64>,
    /// Messages that go with each job; `None` if only the engine can tell.
    pub messages_per_choice: Option<u64>,
    /// Jobs are counted for so many dispatchers.
    pub dispatchers: usize,
}

/// Sums over the strikes of a window, of servers of one class.
#[derive(Clone, Debug)]
pub struct Tally {
    servers: u64,
    opened: f64,
    middle: f64,
    /// The last strike before the middle, until that has come.
    before_middle: Option<u64>,
    /// Time between two strikes, and the last strike before the window; set when counting begins.
    tick: f64,
    first: u64,
    /// The last strike at which anything was counted, and the one before the present block.
    last: u64,
    block: u64,
    levels: Vec<Level>,
    /// Sums over the blocks that are over, by level.
    areas: Vec<Areas>,
    /// What changes seldom, by level.
    edges: Vec<Edges>,
    histograms: Vec<History>,
    histogram_levels: usize,
    /// The length of the shortest queue: how many levels hold all servers.
    shortest: u32,
    sum_of_shortest: u64,
    /// Jobs inside at the opening, and more than that before the present block.
    start: u64,
    more_before: i64,
    /// More than that again now; in this block the sum of `t (change of the square)`.
    more: i64,
    more_squares: i64,
    /// Sums of what there is more than at the opening, over the blocks that are over.
    more_areas: Areas,
    first_half: Option<f64>,
    blocked: u64,
    /// Sum of the numbers that lost jobs found.
    found_by_blocked: u64,
    ranks: Option<Ranks>,
    bursts: Option<Bursts>,
    messages_per_choice: Option<u64>,
    sent: [u64; MessageKind::ALL.len()],
    dispatchers: Vec<u64>,
    /// Whether a change is more than sums: ranks or histograms.
    has_details: bool,
    /// For so many blocks more, levels are expected to get their first server or lose their last.
    blocks_with_ends: u32,
}

/// The number of servers with at least so many jobs.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    count: u64,
    /// How often it rose: jobs that joined and found one fewer.
    joined: u64,
    /// In this block: the sum of `t (change of the count)`.
    changes: u64,
    /// And the sum of `t (change of its square)`, both modulo 2^64.
    squares: u64,
}

/// Sums over strikes of a count and of its square.
#[derive(Clone, Copy, Debug, Default)]
struct Areas {
    area: i128,
    squares: i128,
}

/// What a level was at the opening, and for how long it held no server, and all.
#[derive(Clone, Copy, Debug, Default)]
struct Edges {
    start: u64,
    /// Less the strikes since it last did, if it does now; modulo 2^64.
    empty: u64,
    full: u64,
}

/// Ranks up to this have a count of their own.
pub const RANKS: usize = 10;

/// Ranks of the servers chosen: how many servers had strictly fewer jobs.
#[derive(Clone, Debug, Default)]
pub struct Ranks {
    /// Their sum over the blocks that are over, and in this one.
    pub sum: u128,
    block_sum: u64,
    /// Jobs by rank 0, 1, ..., and all above.
    pub counts: [u64; RANKS + 1],
}

impl Tally {
    /// For a window that opens at a time and has its middle at another, with `at_least[k - 1]` servers of at least k jobs.
    pub fn new(servers: u64, at_least: &[u64], opened: f64, middle: f64, wanted: Wanted) -> Self {
        let mut tally = Self {
            servers,
            opened,
            middle,
            before_middle: None,
            tick: 0.0,
            first: 0,
            last: 0,
            block: 0,
            levels: Vec::new(),
            areas: Vec::new(),
            edges: Vec::new(),
            histograms: Vec::new(),
            histogram_levels: wanted.histograms,
            shortest: at_least.iter().take_while(|&&count| count == servers).count() as u32,
            sum_of_shortest: 0,
            start: at_least.iter().sum(),
            more_before: 0,
            more: 0,
            more_squares: 0,
            more_areas: Areas::default(),
            first_half: None,
            blocked: 0,
            found_by_blocked: 0,
            ranks: wanted.ranks.then(Ranks::default),
            bursts: wanted.burst.map(Bursts::new),
            messages_per_choice: wanted.messages_per_choice,
            sent: [0; MessageKind::ALL.len()],
            dispatchers: vec![0; wanted.dispatchers],
            has_details: wanted.ranks || wanted.histograms > 0,
            blocks_with_ends: 0,
        };
        at_least.iter().for_each(|&count| tally.add_level(count));
        tally
    }

    fn add_level(&mut self, count: u64) {
        self.levels.push(Level { count, ..Level::default() });
        self.areas.push(Areas::default());
        self.edges.push(Edges { start: count, ..Edges::default() });
        if self.histograms.len() < self.histogram_levels {
            self.histograms.push(History::new(self.first));
        }
    }

    /// Whether anything was counted.
    pub fn is_used(&self) -> bool {
        self.tick > 0.0
    }

    /// Counts up to a number of events, or the end of the steps: `count` counts from one strike to another. Returns how often
    /// the clock has struck, and whether that is the end.
    pub(super) fn count<E>(
        &mut self,
        steps: &Steps,
        events: u64,
        gaps: &Stream,
        mut count: impl FnMut(&mut Self, u64, u64) -> Result<(), E>,
    ) -> Result<(u64, Progress), E> {
        self.begin(steps, gaps);
        let (mut strikes, last) = (steps.strikes, steps.after(events));
        while let Some(stop) = self.open_block(strikes, last) {
            count(self, strikes, stop)?;
            self.close_block(stop);
            strikes = stop;
        }
        Ok((strikes, steps.progress(strikes)))
    }

    /// Counting begins, or goes on.
    pub(super) fn begin(&mut self, steps: &Steps, gaps: &Stream) {
        if !self.is_used() {
            let Steps { tick, strikes, .. } = *steps;
            (self.tick, self.first, self.last) = (tick, strikes, strikes);
            self.before_middle = Some(((self.middle / tick).ceil() as u64).saturating_sub(1).max(strikes));
            self.histograms.iter_mut().for_each(|history| history.begin(strikes));
            if let Some(bursts) = &mut self.bursts {
                bursts.begin(tick, gaps);
            }
        }
    }

    /// After so many strikes of `last` a block begins; returns its end, if it is not over with these.
    pub(super) fn open_block(&mut self, strikes: u64, last: u64) -> Option<u64> {
        if self.before_middle.is_some_and(|before| before <= strikes) {
            self.pass_middle();
        }
        self.block = strikes;
        let stop = last.min(self.before_middle.unwrap_or(last)).min(strikes.saturating_add(self.longest_block()));
        (strikes < last).then_some(stop)
    }

    /// How many strikes a block may have: over T strikes a count of at most N changes by at most T, so the sum of
    /// `t (change of its square)` is at most 2 N T^2, which must stay below 2^62; and so for all jobs.
    fn longest_block(&self) -> u64 {
        let largest = (self.servers as f64).max(1e6);
        (2_f64.powi(60) / largest).sqrt() as u64
    }

    /// The block is over: its sums go to those of all blocks.
    pub(super) fn close_block(&mut self, strikes: u64) {
        let length = strikes - self.block;
        let changes = self.levels.iter().fold(0, |sum: u64, level| sum.wrapping_add(level.changes));
        for (level, areas) in self.levels.iter_mut().zip(&mut self.areas) {
            areas.add(i128::from(level.count), length, level.changes as i64, level.squares as i64);
            (level.changes, level.squares) = (0, 0);
        }
        if let Some(ranks) = &mut self.ranks {
            ranks.sum += u128::from(std::mem::take(&mut ranks.block_sum));
        }
        // (b + d)^2 = b^2 + 2 b d + d^2, where b was there before the block.
        let mut further = Areas::default();
        further.add(i128::from(self.more), length, changes as i64, self.more_squares);
        let before = i128::from(self.more_before);
        self.more_areas.area += before * i128::from(length) + further.area;
        self.more_areas.squares += before * before * i128::from(length) + 2 * before * further.area + further.squares;
        self.more_before += self.more;
        (self.more, self.more_squares) = (0, 0);
        self.last = strikes;
    }

    /// Nothing more happens before the middle.
    fn pass_middle(&mut self) {
        self.before_middle = None;
        self.first_half = Some(self.integral(self.more_areas.area as f64, 0.0, self.more_before as f64, self.middle));
    }

    /// A job joins a server which holds `found`.
    #[inline(always)]
    pub(super) fn join(&mut self, found: u32, strike: u64) {
        let index = found as usize;
        if index >= self.levels.len() {
            self.add_level(0);
        }
        let time = strike - self.block;
        let level = &mut self.levels[index];
        let old = level.count;
        level.count = old + 1;
        level.joined += 1;
        level.changes = level.changes.wrapping_add(time);
        // A square changes by the sum of both numbers.
        level.squares = level.squares.wrapping_add(time * (2 * old + 1));
        self.more_squares += time as i64 * (2 * self.more + 1);
        self.more += 1;
        if self.shortest > 0 {
            self.sum_of_shortest += u64::from(self.shortest);
        }
        if old == 0 || old + 1 == self.servers {
            self.pass_edge(index, old, old + 1, strike);
        }
        if self.has_details {
            self.rank(found);
            if let Some(history) = self.histograms.get_mut(index) {
                history.leave(old, strike);
            }
        }
    }

    /// A job leaves a server which holds `length`.
    #[inline(always)]
    pub(super) fn leave(&mut self, length: u32, strike: u64) {
        let index = length as usize - 1;
        let time = strike - self.block;
        let level = &mut self.levels[index];
        let old = level.count;
        level.count = old - 1;
        level.changes = level.changes.wrapping_sub(time);
        level.squares = level.squares.wrapping_sub(time * (2 * old - 1));
        self.more_squares -= time as i64 * (2 * self.more - 1);
        self.more -= 1;
        if old == 1 || old == self.servers {
            self.pass_edge(index, old, old - 1, strike);
        }
        if self.has_details
            && let Some(history) = self.histograms.get_mut(index)
        {
            history.leave(old, strike);
        }
    }

    /// A job is lost at a full server which holds `found`.
    #[inline]
    pub(super) fn block(&mut self, found: u32) {
        self.rank(found);
        self.sum_of_shortest += u64::from(self.shortest);
        self.blocked += 1;
        self.found_by_blocked += u64::from(found);
    }

    /// Whether arrivals and services are all that must be told.
    pub(super) fn asks_for_queues_only(&self) -> bool {
        self.messages_per_choice.is_some() && self.dispatchers.is_empty()
    }

    /// Whether sums over time are all that is counted, so that [`Tally::count_block`] will do.
    pub(super) fn wants_sums_only(&self) -> bool {
        !self.has_details && self.bursts.is_none()
    }

    /// The number of jobs inside.
    pub(super) fn inside(&self) -> i64 {
        self.start as i64 + self.more_before + self.more
    }

    /// Messages were sent.
    #[inline]
    pub(super) fn send(&mut self, kind: MessageKind, count: u64) {
        self.sent[kind as usize] += count;
    }

    /// A dispatcher sends a job.
    #[inline]
    pub(super) fn dispatch(&mut self, dispatcher: u32) {
        if let Some(jobs) = self.dispatchers.get_mut(dispatcher as usize) {
            *jobs += 1;
        }
    }

    /// A job is given to this server.
    #[inline(always)]
    pub(super) fn choose(&mut self, server: u32, strike: u64) {
        if let Some(bursts) = &mut self.bursts {
            bursts.add(server, strike);
        }
    }

    /// A server that holds `found`, before a job joins it, is chosen.
    #[inline(always)]
    fn rank(&mut self, found: u32) {
        let Some(ranks) = &mut self.ranks else { return };
        // Whoever has fewer jobs is not among those that have as many.
        let fewer = if found == 0 { 0 } else { self.servers - self.levels[found as usize - 1].count };
        ranks.block_sum += fewer;
        ranks.counts[fewer.min(RANKS as u64) as usize] += 1;
    }

    /// A level leaves or reaches no server, or all.
    #[inline(never)]
    fn pass_edge(&mut self, index: usize, old: u64, new: u64, strike: u64) {
        let (time, edges) = (strike - self.first, &mut self.edges[index]);
        if old == 0 {
            edges.empty = edges.empty.wrapping_add(time);
        }
        if new == 0 {
            edges.empty = edges.empty.wrapping_sub(time);
        }
        if old == self.servers {
            edges.full = edges.full.wrapping_add(time);
            self.shortest -= 1;
        }
        if new == self.servers {
            edges.full = edges.full.wrapping_sub(time);
            self.shortest += 1;
        }
    }
}

impl Areas {
    /// A block of a count, from its value at the end and its changes.
    fn add(&mut self, count: i128, strikes: u64, changes: i64, squares: i64) {
        self.area += count * i128::from(strikes) - i128::from(changes);
        self.squares += count * count * i128::from(strikes) - i128::from(squares);
    }
}

//! Many events at once: what a block of them does to the first levels is summed side by side.
//!
//! A level that changes by d in all since the block began has been at c + d, so the sums over strikes of the count and of
//! its square follow from those of d and of d^2. In a block d stays so small that single-precision numbers hold all of
//! these exactly, and eight of them fit where a processor adds all at once: seven levels, and the number of all jobs. No
//! sum waits for what was just written to memory, and no branch depends on what happens.

use super::{Ranks, Tally};
use wide::f32x8;

/// The most events in a block: the sum of the squares of the first 256 numbers is below 2^24.
pub(in crate::engine) const BLOCK: usize = 256;

/// Levels that are summed side by side; the lane behind them is for all jobs.
const NEAR: usize = 7;

/// Events of these levels have smaller words than this, a power of two, as have those of one level more.
const ROWS: usize = 4 * (NEAR + 1);

/// What an event does to a tally, in one word: a level by its index, times 4, plus 1 if the level grows and 2 if it shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) struct Event(u64);

/// The bit of a job that is lost; the level tells what it found.
const LOST: u64 = 1 << 63;

impl Event {
    /// Nothing happens.
    pub(in crate::engine) const NOTHING: Self = Self(0);

    /// A strike meets a server of this length and changes this level: `up` is 1 if a job arrives, which changes the level of
    /// that index; else 0, and the level is one less, or no job was there and nothing happens.
    #[inline(always)]
    pub(in crate::engine) fn of_strike(length: u32, level: u32, up: u32) -> Self {
        let (length, level) = (u64::from(length), u64::from(level));
        Self(2 * (length + level) + u64::from(up))
    }

    /// A job is lost at a full server which holds `found`.
    pub(in crate::engine) fn lost(found: u32) -> Self {
        Self(LOST | u64::from(found) << 2)
    }

    fn index(self) -> u32 {
        (self.0 >> 2) as u32
    }

    /// The change of the level: 1, 0 or -1.
    fn step(self) -> i64 {
        (self.0 & 1) as i64 - (self.0 >> 1 & 1) as i64
    }
}

/// What each event adds to the lanes.
static STEPS: [f32x8; ROWS] = {
    let mut rows = [f32x8::new([0.0; NEAR + 1]); ROWS];
    let mut level = 0;
    while level < NEAR {
        let mut step = [0.0; NEAR + 1];
        (step[level], step[NEAR]) = (1.0, 1.0);
        rows[4 * level + 1] = f32x8::new(step);
        (step[level], step[NEAR]) = (-1.0, -1.0);
        rows[4 * level + 2] = f32x8::new(step);
        level += 1;
    }
    rows
};

/// What has become of a count in a block.
#[derive(Clone, Copy, Debug)]
struct Lane {
    /// How much more it is at the end than before, the least and the most of that, and its sum and that of its square over
    /// the states after each event.
    more: i64,
    least: i64,
    most: i64,
    sum: i64,
    squares: i64,
}

impl Lane {
    /// The sums of `t (change of the count)` and of `t (change of its square)`, for a count before the block that began
    /// after `begun` strikes and had so many events.
    fn changes(&self, before: i64, begun: i64, events: i64) -> (i64, i64) {
        // Changes at 1, ..., n add up to d(n) each time but for the sum of what d was until then.
        let end = begun + events + 1;
        let squares = self.more * (2 * before + self.more);
        (end * self.more - self.sum, end * squares - (2 * before * self.sum + self.squares))
    }
}

impl Tally {
    /// Counts a block of events, at most [`BLOCK`], one at each strike after those that have been.
    pub(in crate::engine) fn count_block(&mut self, strikes: u64, events: &[Event]) {
        let is_near = events.iter().fold(0, |all, event| all | event.0) < ROWS as u64;
        if !is_near || self.shortest > 0 {
            return self.count_one_by_one(strikes, events);
        }
        let Some((lanes, joined)) = sums(events) else { return self.count_one_by_one(strikes, events) };
        let count = |level: usize| self.levels.get(level).map_or(0, |level| level.count as i64);
        let fills = |(level, lane): (usize, &Lane)| lane.most > 0 && count(level) + lane.most == self.servers as i64;
        let empties = |level: usize, lane: &Lane| lane.most > lane.least && count(level) + lane.least == 0;
        if lanes[..NEAR].iter().enumerate().any(fills) {
            // The shortest queue does not stay empty.
            return self.count_one_by_one(strikes, events);
        }
        let emptied: [bool; NEAR] = std::array::from_fn(|level| empties(level, &lanes[level]));
        while self.levels.len() < NEAR && lanes[self.levels.len()..NEAR].iter().any(|lane| lane.most > 0) {
            self.add_level(0);
        }
        if self.has_details {
            self.count_details(strikes, events);
        }
        let (begun, length) = ((strikes - self.block) as i64, events.len() as i64);
        for level in (0..NEAR).filter(|&level| emptied[level]) {
            self.pass_edges(level, strikes, events);
        }
        for ((level, lane), joined) in self.levels.iter_mut().zip(&lanes[..NEAR]).zip(joined) {
            let (changes, squares) = lane.changes(level.count as i64, begun, length);
            level.count = level.count.wrapping_add_signed(lane.more);
            level.joined += joined;
            level.changes = level.changes.wrapping_add_signed(changes);
            level.squares = level.squares.wrapping_add_signed(squares);
        }
        let (_, squares) = lanes[NEAR].changes(self.more, begun, length);
        self.more += lanes[NEAR].more;
        self.more_squares += squares;
    }

    fn count_one_by_one(&mut self, strikes: u64, events: &[Event]) {
        for (strike, event) in (strikes + 1..).zip(events) {
            if event.0 & LOST > 0 {
                self.block(event.index());
            } else {
                self.step(event.index() as usize, event.step(), strike);
            }
        }
    }

    /// A level loses its last server or gets its first one, and goes on.
    #[cold]
    fn pass_edges(&mut self, level: usize, strikes: u64, events: &[Event]) {
        let mut old = self.levels[level].count;
        for (strike, event) in (strikes + 1..).zip(events) {
            if event.index() as usize == level {
                let new = old.wrapping_add_signed(event.step());
                if (old == 0) != (new == 0) {
                    self.pass_edge(level, old, new, strike);
                }
                old = new;
            }
        }
    }

    /// Ranks and histograms of a block of events of near levels, which are there.
    fn count_details(&mut self, strikes: u64, events: &[Event]) {
        // All servers hold at least no job, so nobody is shorter than a server that holds none.
        let mut counts = [self.servers; NEAR + 2];
        counts[1..=NEAR].iter_mut().zip(&self.levels).for_each(|(count, level)| *count = level.count);
        let mut unwanted = Ranks::default();
        let ranks = self.ranks.as_mut().unwrap_or(&mut unwanted);
        for (strike, &event) in (strikes + 1..).zip(events) {
            let (index, step) = (event.index() as usize % (NEAR + 1), event.step());
            ranks.add(self.servers - counts[index], event.0 & 1);
            let count = &mut counts[index + 1];
            if let Some(history) = self.histograms.get_mut(index) {
                history.leave(*count, strike);
            }
            *count = count.wrapping_add_signed(step);
        }
    }
}

/// What becomes of the near levels, and last of all jobs; and how many jobs found each level. Nothing if there is one level
/// more.
#[inline(always)]
fn sums(events: &[Event]) -> Option<([Lane; NEAR + 1], [u64; NEAR])> {
    let zero = f32x8::new([0.0; NEAR + 1]);
    let (mut more, mut least, mut most, mut sum, mut squares) = (zero, zero, zero, zero, zero);
    let mut kinds = [0_u32; ROWS];
    for event in events {
        let kind = event.0 as usize % ROWS;
        kinds[kind] += 1;
        more += STEPS[kind];
        least = least.fast_min(more);
        most = most.fast_max(more);
        sum += more;
        squares += more * more;
    }
    let [more, least, most, sum, squares] = [more, least, most, sum, squares].map(|lanes| lanes.to_array());
    let lanes = std::array::from_fn(|lane| Lane {
        more: more[lane] as i64,
        least: least[lane] as i64,
        most: most[lane] as i64,
        sum: sum[lane] as i64,
        squares: squares[lane] as i64,
    });
    let further: u32 = kinds[4 * NEAR..].iter().sum();
    (further == 0).then(|| (lanes, std::array::from_fn(|level| u64::from(kinds[4 * level + 1]))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tally::Wanted;
    use crate::random::{Component, Stream};

    /// Blocks of all lengths beside the same events one by one, from few servers, whose levels run empty and full, to many;
    /// with queues beyond the near levels, lost jobs and services of idle servers.
    #[test]
    fn blocks_count_what_their_events_do() {
        let mut stream = Stream::new(7, 0, Component::Information);
        for (servers, buffer, details) in
            [(1_usize, 3, true), (2, 20, false), (3, 6, true), (40, 9, false), (5_000, 7, true)]
        {
            let wanted = Wanted { ranks: details, histograms: if details { 4 } else { 0 }, ..Wanted::default() };
            let busy = servers.div_ceil(2);
            let mut lengths: Vec<u32> = (0..servers).map(|server| u32::from(server < busy)).collect();
            let mut blocks = Tally::new(servers as u64, &[busy as u64], 0.0, 1e9, wanted);
            let mut singles = blocks.clone();
            let (mut strikes, mut lost) = (0, 0);
            for length in (1..=BLOCK).chain([BLOCK; 100]) {
                let mut event = |_| {
                    let length = &mut lengths[stream.below(servers as u64) as usize];
                    let up = u32::from(stream.chance(0.52));
                    if up > 0 && *length == buffer {
                        lost += 1;
                        return Event::lost(buffer);
                    }
                    let level = length.saturating_sub(up ^ 1);
                    Event::of_strike(std::mem::replace(length, level + up), level, up)
                };
                let events: Vec<Event> = (0..length).map(&mut event).collect();
                blocks.count_block(strikes, &events);
                singles.count_one_by_one(strikes, &events);
                strikes += length as u64;
                assert_eq!(format!("{blocks:?}"), format!("{singles:?}"), "{servers} servers, {strikes} strikes");
            }
            assert_eq!(blocks.counts()[1], lost, "{servers} servers");
            assert!(servers > 3 || lost > 0, "a small buffer is full now and then");
        }
    }
}

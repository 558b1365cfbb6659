//! Many events at once: what a block of them does to the first levels is summed side by side.
//!
//! A level that changes by d in all since the block began has been at c + d, so the sums over strikes of the count and of
//! its square follow from those of d and of d^2. In a block d stays so small that single-precision numbers hold all of
//! these exactly, and eight of them fit where a processor adds all at once: levels, and behind them the number of all
//! jobs. No sum waits for what was just written to memory, and no branch depends on what happens.

use super::Tally;
use wide::f32x8;

/// The most events in a block: the sum of the squares of the first 256 numbers is below 2^24.
pub(in crate::engine) const BLOCK: usize = 256;

/// Numbers that are added at once.
const WIDTH: usize = 8;

/// Levels that can be summed side by side, in two times eight lanes with one for all jobs.
const NEAR: usize = 2 * WIDTH - 1;

/// Events of these levels have smaller words than this, a power of two, as have those of one level more.
const WORDS: usize = 4 * (NEAR + 1);

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

/// What has become of a count in a block.
#[derive(Clone, Copy, Debug, Default)]
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

/// What a block has done.
#[derive(Debug)]
struct Sums {
    levels: [Lane; NEAR],
    all: Lane,
    /// Jobs that joined, by what they found.
    joined: [u64; NEAR],
}

/// What each event adds to so many times eight lanes, by its word; the last lane is for all jobs.
struct Steps<const EIGHTS: usize>;

impl<const EIGHTS: usize> Steps<EIGHTS> {
    const LEVELS: usize = WIDTH * EIGHTS - 1;
    const BY_WORD: &[[f32x8; EIGHTS]; WORDS] = &{
        let mut steps = [[f32x8::new([0.0; WIDTH]); EIGHTS]; WORDS];
        let mut word = 0;
        while word < WORDS {
            let (level, change) = (word / 4, [0.0, 1.0, -1.0, 0.0][word % 4]);
            let mut eight = 0;
            while eight < EIGHTS && level < Self::LEVELS {
                let mut step = [0.0; WIDTH];
                if level / WIDTH == eight {
                    step[level % WIDTH] = change;
                }
                if eight == EIGHTS - 1 {
                    step[WIDTH - 1] = change;
                }
                steps[word][eight] = f32x8::new(step);
                eight += 1;
            }
            word += 1;
        }
        steps
    };
}

impl Tally {
    /// Counts a block of events, at most [`BLOCK`], one at each strike after those that have been, where sums over time are all
    /// that is counted.
    pub(in crate::engine) fn count_block(&mut self, strikes: u64, events: &[Event]) {
        let Some(Sums { levels, all, joined }) = Sums::of(events) else {
            return self.count_one_by_one(strikes, events);
        };
        while self.levels.len() < NEAR && levels[self.levels.len()..].iter().any(|lane| lane.most > 0) {
            self.add_level(0);
        }
        let is_edge = |count: u64, lane: &Lane| {
            let (least, most) = (count as i64 + lane.least, count as i64 + lane.most);
            least < most && (least == 0 || most == self.servers as i64)
        };
        let passes_edges = self.levels.iter().zip(&levels).any(|(level, lane)| is_edge(level.count, lane));
        if passes_edges || self.shortest > 0 {
            self.follow_edges(strikes, events);
        }
        let (begun, length) = ((strikes - self.block) as i64, events.len() as i64);
        for ((level, lane), joined) in self.levels.iter_mut().zip(&levels).zip(joined) {
            let (changes, squares) = lane.changes(level.count as i64, begun, length);
            level.count = level.count.wrapping_add_signed(lane.more);
            level.joined += joined;
            level.changes = level.changes.wrapping_add_signed(changes);
            level.squares = level.squares.wrapping_add_signed(squares);
        }
        let (_, squares) = all.changes(self.more, begun, length);
        self.more += all.more;
        self.more_squares += squares;
    }

    fn count_one_by_one(&mut self, strikes: u64, events: &[Event]) {
        for (strike, event) in (strikes + 1..).zip(events) {
            match event.step() {
                _ if event.0 & LOST > 0 => self.block(event.index()),
                1 => self.join(event.index(), strike),
                -1 => self.leave(event.index() + 1, strike),
                _ => {}
            }
        }
    }

    /// The shortest queue at each event of a block, and levels that get their first server, lose their last or hold all.
    fn follow_edges(&mut self, strikes: u64, events: &[Event]) {
        let mut counts = [0; NEAR + 1];
        counts.iter_mut().zip(&self.levels).for_each(|(count, level)| *count = level.count);
        for (strike, &event) in (strikes + 1..).zip(events) {
            let index = event.index() as usize % (NEAR + 1);
            let old = counts[index];
            let new = old.wrapping_add_signed(event.step());
            counts[index] = new;
            self.sum_of_shortest += u64::from(self.shortest) * (event.0 & 1);
            if old.min(new) == 0 || old.max(new) == self.servers {
                self.pass_edge(index, old, new, strike);
            }
        }
    }
}

impl Sums {
    /// Of a block of events; nothing if some are of levels that are not near, or lose jobs.
    fn of(events: &[Event]) -> Option<Self> {
        let all = events.iter().fold(0, |all, event| all | event.0);
        let first = (all < 4 * WIDTH as u64).then(|| Self::in_eights::<1>(events)).flatten();
        first.or_else(|| (all < WORDS as u64).then(|| Self::in_eights::<2>(events)).flatten())
    }

    /// In so many times eight lanes, if they are enough.
    fn in_eights<const EIGHTS: usize>(events: &[Event]) -> Option<Self> {
        let zero = [f32x8::new([0.0; WIDTH]); EIGHTS];
        let (mut more, mut least, mut most, mut sum, mut squares) = (zero, zero, zero, zero, zero);
        let mut words = [0_u32; WORDS];
        for event in events {
            let word = event.0 as usize % WORDS;
            words[word] += 1;
            let steps = &Steps::<EIGHTS>::BY_WORD[word];
            for eight in 0..EIGHTS {
                more[eight] += steps[eight];
                least[eight] = least[eight].fast_min(more[eight]);
                most[eight] = most[eight].fast_max(more[eight]);
                sum[eight] += more[eight];
                squares[eight] += more[eight] * more[eight];
            }
        }
        if words[4 * Steps::<EIGHTS>::LEVELS..].iter().any(|&events| events > 0) {
            return None;
        }
        let [more, least, most, sum, squares] =
            [more, least, most, sum, squares].map(|eights| eights.map(f32x8::to_array));
        let lane = |lane: usize| {
            let of = |eights: &[[f32; WIDTH]; EIGHTS]| eights.as_flattened()[lane] as i64;
            let [more, least, most, sum, squares] = [&more, &least, &most, &sum, &squares].map(of);
            Lane { more, least, most, sum, squares }
        };
        let level = |level: usize| if level < Steps::<EIGHTS>::LEVELS { lane(level) } else { Lane::default() };
        Some(Self {
            levels: std::array::from_fn(level),
            all: lane(Steps::<EIGHTS>::LEVELS),
            joined: std::array::from_fn(|level| u64::from(words[4 * level + 1])),
        })
    }
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
        for (servers, buffer) in [(1_usize, 3), (2, 20), (3, 6), (40, 9), (5_000, 7)] {
            let busy = servers.div_ceil(2);
            let mut lengths: Vec<u32> = (0..servers).map(|server| u32::from(server < busy)).collect();
            let mut blocks = Tally::new(servers as u64, &[busy as u64], 0.0, 1e9, Wanted::default());
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

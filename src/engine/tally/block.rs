//! Many events at once: what a block of them does to the first levels is summed side by side.
//!
//! A level that changes by d in all since the block began has been at c + d, so the sums over strikes of the count and of
//! its square follow from those of d and of d^2. In a block d stays so small that single-precision numbers hold all of
//! these exactly, and eight of them fit where a processor adds all at once: levels, and behind them the number of all
//! jobs. No sum waits for what was just written to memory, and no branch depends on what happens.

use super::{RANKS, Tally};
use wide::{CmpEq, f32x8};

/// The most events in a block: the sum of the squares of the first 256 numbers is below 2^24.
pub(in crate::engine) const BLOCK: usize = 256;

/// So many blocks after one in which levels got their first server or lost their last, the ends of levels are looked at.
const BLOCKS_WITH_ENDS: u32 = 8;

/// Numbers that are added at once.
const WIDTH: usize = 8;

/// Levels that can be summed side by side, in two times eight lanes with one for all jobs.
pub(in crate::engine) const NEAR: usize = 2 * WIDTH - 1;

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

    /// What is known of an event by the word of [`Event::of_strike`].
    #[inline(always)]
    pub(in crate::engine) fn of_word(word: i32) -> Self {
        Self(u64::from(word as u32))
    }

    /// A job is lost at a full server which holds `found`.
    pub(in crate::engine) fn lost(found: u32) -> Self {
        Self(LOST | u64::from(found) << 2)
    }

    #[inline(always)]
    pub(in crate::engine) fn index(self) -> u32 {
        (self.0 >> 2) as u32
    }

    /// The change of the level: 1, 0 or -1.
    fn step(self) -> i64 {
        (self.0 & 1) as i64 - (self.0 >> 1 & 1) as i64
    }
}

/// An event, and the state it meets: how many servers hold as many jobs as its level less one, and as its level.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Met {
    pub(in crate::engine) event: Event,
    pub(in crate::engine) below: u64,
    pub(in crate::engine) count: u64,
}

/// What has become of a count in a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::engine) struct Lane {
    /// How much more it is at the end than before, and its sum and that of its square over the states after each event.
    pub(in crate::engine) more: i64,
    pub(in crate::engine) sum: i64,
    pub(in crate::engine) squares: i64,
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

/// What a block has done, if only near levels have changed and no job was lost.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Sums {
    pub(in crate::engine) levels: [Lane; NEAR],
    pub(in crate::engine) all: Lane,
    /// Jobs that joined, by what they found.
    pub(in crate::engine) joined: [u64; NEAR],
    pub(in crate::engine) ends: Ends,
}

/// Whether levels got their first server, lost their last, or began or ceased to hold all.
#[derive(Clone, Debug)]
pub(in crate::engine) enum Ends {
    /// None did.
    Untouched,
    /// Only a look at each event tells when.
    Touched,
    /// None held all, and each held nobody after so many events.
    Empty([i64; NEAR]),
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
    /// Counts a block of events, at most [`BLOCK`], one at each strike after those that have been. Whether that was easy: few
    /// levels changed, and a server is idle, so that the shortest queue need not be looked at.
    pub(in crate::engine) fn count_block(&mut self, strikes: u64, events: &[Event]) -> bool {
        match Sums::of(events, self) {
            Some((sums, few)) => {
                // All servers hold at least no job.
                let mut counts = [0; NEAR + 2];
                counts[0] = self.servers;
                counts[1..=NEAR].iter_mut().zip(&self.levels).for_each(|(count, level)| *count = level.count);
                let met = events.iter().map(|&event| {
                    let index = event.index() as usize % (NEAR + 1);
                    let met = Met { event, below: counts[index], count: counts[index + 1] };
                    counts[index + 1] = met.count.wrapping_add_signed(event.step());
                    met
                });
                self.count_sums(strikes, &sums, met);
                few && self.shortest == 0
            }
            None => {
                self.count_one_by_one(strikes, events);
                false
            }
        }
    }

    /// Counts a block of events that has been summed already.
    #[inline]
    pub(in crate::engine) fn count_sums(
        &mut self,
        strikes: u64,
        sums: &Sums,
        events: impl ExactSizeIterator<Item = Met>,
    ) {
        while self.levels.len() < NEAR && sums.joined[self.levels.len()..].iter().any(|&jobs| jobs > 0) {
            self.add_level(0);
        }
        let length = events.len() as i64;
        let (begun, first) = ((strikes - self.block) as i64, strikes - self.first);
        match &sums.ends {
            Ends::Empty(empty) if self.shortest == 0 => {
                for (((level, edges), lane), empty) in
                    self.levels.iter().zip(&mut self.edges).zip(&sums.levels).zip(empty)
                {
                    // The states after events, less that at the end, and that before.
                    let is_empty = |count: u64, end: u64| if count == 0 { end + 1 } else { 0 };
                    let last = is_empty(level.count.wrapping_add_signed(lane.more), first + length as u64);
                    let before = is_empty(level.count, first);
                    edges.empty = edges.empty.wrapping_add(before).wrapping_sub(last).wrapping_add_signed(*empty);
                }
                if self.has_details {
                    self.follow::<false>(strikes, events);
                }
            }
            Ends::Untouched if self.shortest == 0 => {
                if self.has_details {
                    self.follow::<false>(strikes, events);
                }
            }
            _ => self.follow::<true>(strikes, events),
        }
        for ((level, lane), joined) in self.levels.iter_mut().zip(&sums.levels).zip(sums.joined) {
            let (changes, squares) = lane.changes(level.count as i64, begun, length);
            level.count = level.count.wrapping_add_signed(lane.more);
            level.joined += joined;
            level.changes = level.changes.wrapping_add_signed(changes);
            level.squares = level.squares.wrapping_add_signed(squares);
        }
        let (_, squares) = sums.all.changes(self.more, begun, length);
        self.more += sums.all.more;
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

    /// Looks at each event of a block: for ranks and histograms, and for the ends of levels and the shortest queue, if they
    /// are not known to stay.
    fn follow<const ENDS: bool>(&mut self, strikes: u64, events: impl Iterator<Item = Met>) {
        let servers = self.servers;
        // Ranks go to the next of four counters each, so that none waits for what was just written.
        let mut by_rank = [[0_u64; (RANKS + 1).next_power_of_two()]; 4];
        let mut sum_of_ranks = 0;
        for (strike, Met { event, below, count }) in (strikes + 1..).zip(events) {
            let (index, jobs) = (event.index() as usize, event.0 & 1);
            let fewer = servers - below;
            sum_of_ranks += fewer & jobs.wrapping_neg();
            by_rank[strike as usize % 4][fewer.min(RANKS as u64) as usize] += jobs;
            if let Some(history) = self.histograms.get_mut(index) {
                history.leave(count, strike);
            }
            if ENDS {
                let new = count.wrapping_add_signed(event.step());
                self.sum_of_shortest += u64::from(self.shortest) * jobs;
                if (count.min(new) == 0 || count.max(new) == servers) && count != new {
                    self.pass_edge(index, count, new, strike);
                }
            }
        }
        if let Some(ranks) = &mut self.ranks {
            ranks.block_sum += sum_of_ranks;
            for (rank, count) in ranks.counts.iter_mut().enumerate() {
                *count += by_rank.iter().map(|by_rank| by_rank[rank]).sum::<u64>();
            }
        }
    }
}

/// Sums a block of events for a tally, if it can, and tells whether the ends of levels were touched.
type Summing = fn(&[Event], &Tally) -> Option<(Sums, bool)>;

impl Sums {
    /// Of a block of events, and whether its levels were so few that eight lanes were enough; nothing if some are of levels that
    /// are not near, or lose jobs.
    fn of(events: &[Event], tally: &mut Tally) -> Option<(Self, bool)> {
        let all = events.iter().fold(0, |all, event| all | event.0);
        let (few, near) = (all < 4 * WIDTH as u64, all < WORDS as u64);
        // What happened at the ends of levels in the last blocks is likely to happen again.
        let (one, two): (Summing, Summing) = if tally.blocks_with_ends > 0 {
            (Self::in_eights::<1, true>, Self::in_eights::<2, true>)
        } else {
            (Self::in_eights::<1, false>, Self::in_eights::<2, false>)
        };
        let first = if few { one(events, tally) } else { None };
        let few = first.is_some();
        let (sums, touched) = match first {
            None if near => two(events, tally)?,
            first => first?,
        };
        tally.blocks_with_ends = if touched { BLOCKS_WITH_ENDS } else { tally.blocks_with_ends.saturating_sub(1) };
        Some((sums, few))
    }

    /// In so many times eight lanes, if they are enough, and whether the ends of levels were touched: it is counted how long
    /// levels held nobody, or only said that it must be looked at.
    fn in_eights<const EIGHTS: usize, const ENDS: bool>(events: &[Event], tally: &Tally) -> Option<(Self, bool)> {
        let zero = [f32x8::new([0.0; WIDTH]); EIGHTS];
        let one = f32x8::new([1.0; WIDTH]);
        let (mut more, mut least, mut most, mut sum, mut squares) = (zero, zero, zero, zero, zero);
        let mut empty = zero;
        // Counts too large to be told exactly are beyond what a block takes away.
        let mut none = zero.map(f32x8::to_array);
        let levels = none.as_flattened_mut().iter_mut().zip(&tally.levels);
        levels.for_each(|(none, level)| *none = -(level.count as f32));
        let none = none.map(f32x8::new);
        let mut words = [0_u32; WORDS];
        for event in events {
            let word = event.0 as usize % WORDS;
            words[word] += 1;
            let steps = &Steps::<EIGHTS>::BY_WORD[word];
            for eight in 0..EIGHTS {
                more[eight] += steps[eight];
                most[eight] = most[eight].fast_max(more[eight]);
                sum[eight] += more[eight];
                squares[eight] += more[eight] * more[eight];
                if ENDS {
                    empty[eight] += more[eight].cmp_eq(none[eight]) & one;
                } else {
                    least[eight] = least[eight].fast_min(more[eight]);
                }
            }
        }
        if words[4 * Steps::<EIGHTS>::LEVELS..].iter().any(|&events| events > 0) {
            return None;
        }
        let [more, least, most, sum, squares, empty] =
            [more, least, most, sum, squares, empty].map(|eights| eights.map(f32x8::to_array));
        let of = |eights: &[[f32; WIDTH]; EIGHTS], lane: usize| eights.as_flattened()[lane] as i64;
        let lane = |lane: usize| Lane { more: of(&more, lane), sum: of(&sum, lane), squares: of(&squares, lane) };
        let is_summed = |level: usize| level < Steps::<EIGHTS>::LEVELS;
        let count = |index: usize| tally.levels.get(index).map_or(0, |level| level.count) as i64;
        let mut touched = (false, false);
        for index in 0..Steps::<EIGHTS>::LEVELS {
            let (before, most) = (count(index), of(&most, index));
            touched.0 |= match (ENDS, before) {
                (true, 0) => of(&empty, index) < events.len() as i64,
                (true, _) => of(&empty, index) > 0,
                (false, 0) => most > 0,
                (false, _) => before + of(&least, index) == 0,
            };
            // One that holds all from the start is seen by the shortest queue.
            touched.1 |= most > 0 && before + most == tally.servers as i64;
        }
        let empty = |level: usize| match (is_summed(level), count(level)) {
            (true, _) => of(&empty, level),
            // What is not summed has not changed.
            (false, 0) => events.len() as i64,
            (false, _) => 0,
        };
        let sums = Self {
            levels: std::array::from_fn(|level| if is_summed(level) { lane(level) } else { Lane::default() }),
            all: lane(Steps::<EIGHTS>::LEVELS),
            joined: std::array::from_fn(|level| u64::from(words[4 * level + 1])),
            ends: match touched {
                (false, false) => Ends::Untouched,
                (true, false) if ENDS => Ends::Empty(std::array::from_fn(empty)),
                _ => Ends::Touched,
            },
        };
        Some((sums, touched.0))
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
        let cases = [(1_usize, 3), (2, 20), (3, 6), (40, 9), (5_000, 7)];
        for ((servers, buffer), details) in cases.into_iter().flat_map(|case| [(case, false), (case, true)]) {
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
                singles.blocks_with_ends = blocks.blocks_with_ends;
                // A stay may be told in parts.
                for tally in [&mut blocks, &mut singles] {
                    let levels = tally.histograms.iter_mut().zip(&tally.levels);
                    levels.for_each(|(history, level)| history.leave(level.count, strikes));
                }
                assert_eq!(format!("{blocks:?}"), format!("{singles:?}"), "{servers} servers, {strikes} strikes");
            }
            assert_eq!(blocks.counts()[1], lost, "{servers} servers");
            assert!(servers > 3 || lost > 0, "a small buffer is full now and then");
        }
    }
}

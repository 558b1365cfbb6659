//! Replications side by side: as many as a processor adds at once.
//!
//! Where an arrival joins the server of the largest of some ranks, nothing depends on the state but the length that a rank
//! has. So the ranks of a block of strikes are drawn first, then the first levels of all replications move on together, one
//! strike of each at a time and without a branch, and last each level is summed. A replication draws the same numbers, and
//! comes to the same counts, as it does alone.

use super::OccupancyEngine;
use super::counts::{AT_ONCE, Counts};
use super::entry::Entry;
use crate::engine::odds::Equal;
use crate::engine::tally::{Ends, Event, Lane, Met, NEAR, Sums, Tally};
use crate::random::Stream;
use wide::{CmpEq, CmpGt, f32x4, i32x4};

/// So many replications go together.
pub const LANES: usize = 4;

/// Strikes in a block, few enough for what is written about them to stay in the nearest memory.
const LENGTH: usize = 128;

/// The bit of a strike that is an arrival; below it stands the rank of its server.
const ARRIVAL: u32 = 1 << 31;

/// Only fewer servers than this go together.
pub(super) const MOST_SERVERS: u64 = i32::MAX as u64;

type Strikes = [[u32; LANES]; LENGTH];

/// Replications of one system that go together: their first levels, and what becomes of them in a block.
pub(super) struct Lanes {
    servers: u64,
    buffer: u32,
    now: State,
    strikes: Box<Strikes>,
    course: Box<Course>,
    /// What the servers met that are longer than the first levels tell make of a replication at a place in the block.
    long: [Vec<(usize, Event)>; LANES],
}

/// The first levels of all replications.
#[derive(Clone, Copy)]
struct State {
    /// Servers with at least 1, 2, ... jobs.
    levels: [i32x4; AT_ONCE],
    /// The number of all jobs, but for a constant and modulo 2^32.
    all: i32x4,
}

/// The states after each strike of a block, and what each did, in the words of [`Event`].
struct Course {
    /// Before the block and after each strike: servers with at least no jobs, which are all, with at least 1, 2, ...
    levels: [[i32x4; LENGTH + 1]; AT_ONCE + 1],
    all: [i32x4; LENGTH + 1],
    words: [i32x4; LENGTH],
    /// What the count of level [`HIGH`] has been, bit by bit.
    high: i32x4,
}

/// From this level on, by its index, levels are often empty, and need not be summed then.
const HIGH: usize = AT_ONCE - 2;

/// One strike of each replication.
struct Strike {
    rank: i32x4,
    /// All bits are set where a job arrives.
    arrives: i32x4,
}

impl Strike {
    #[inline(always)]
    fn new(strikes: [u32; LANES]) -> Self {
        let strikes = i32x4::new(strikes.map(|strike| strike as i32));
        Self { rank: strikes & i32x4::splat(i32::MAX), arrives: strikes >> 31_i32 }
    }

    /// Does something with each replication, its rank and whether a job arrives.
    fn each<T>(&self, mut of: impl FnMut(usize, u32, bool) -> T) -> [T; LANES] {
        let (ranks, arrives) = (self.rank.to_array(), self.arrives.to_array());
        std::array::from_fn(|lane| of(lane, ranks[lane] as u32, arrives[lane] != 0))
    }
}

impl State {
    /// On which levels the servers of the ranks that are met are: all bits are set where they are.
    #[inline(always)]
    fn holds(&self, strike: &Strike) -> [i32x4; AT_ONCE] {
        self.levels.map(|level| level.cmp_gt(strike.rank))
    }

    /// Moves on by a strike that meets such servers: its words. Bits are set where a job leaves the last level from a server
    /// that holds no more, if that may be.
    #[inline(always)]
    fn meet(&mut self, strike: &Strike, holds: &[i32x4; AT_ONCE], leaves_last: i32x4) -> i32x4 {
        let arrives = strike.arrives;
        let is_length = |length: usize| match length {
            0 => !holds[0],
            AT_ONCE => leaves_last,
            _ => holds[length - 1] & !holds[length],
        };
        for (k, level) in self.levels.iter_mut().enumerate() {
            *level = *level - (is_length(k) & arrives) + (is_length(k + 1) & !arrives);
        }
        self.all = self.all - arrives + (holds[0] & !arrives);
        let found = holds.iter().fold(i32x4::splat(0), |length, &holds| length - holds);
        let kind = (arrives & i32x4::splat(3)) - i32x4::splat(2);
        ((found << 2_i32) + kind) & (holds[0] | arrives)
    }
}

impl Course {
    #[inline(always)]
    fn note(&mut self, place: usize, words: i32x4, state: &State) {
        self.words[place] = words;
        self.stand(place + 1, state);
    }

    /// This is the state after so many strikes.
    #[inline(always)]
    fn stand(&mut self, strikes: usize, state: &State) {
        for (course, &level) in self.levels[1..].iter_mut().zip(&state.levels) {
            course[strikes] = level;
        }
        self.all[strikes] = state.all;
    }

    /// What a strike was to a replication.
    #[inline(always)]
    fn met(&self, place: usize, lane: usize) -> Met {
        let event = Event::of_word(self.words[place].as_array_ref()[lane]);
        let index = event.index() as usize % AT_ONCE;
        let [below, count] =
            [index, index + 1].map(|level| self.levels[level][place].as_array_ref()[lane] as u32 as u64);
        Met { event, below, count }
    }
}

/// Moves on from a place in a block until a replication meets a server that is longer than the first levels tell: to that
/// place, or the end. A function of its own, so that the levels stay in registers.
#[inline(never)]
fn glide(now: &mut State, strikes: &[[u32; LANES]], course: &mut Course, from: usize) -> usize {
    let (mut state, mut high) = (*now, now.levels[HIGH]);
    let mut place = from;
    for &strike in &strikes[from..] {
        let strike = Strike::new(strike);
        let holds = state.holds(&strike);
        if place >= LENGTH || holds[AT_ONCE - 1].any() {
            break;
        }
        let words = state.meet(&strike, &holds, i32x4::splat(0));
        course.note(place, words, &state);
        high |= state.levels[HIGH];
        place += 1;
    }
    *now = state;
    course.high |= high;
    place
}

impl Lanes {
    /// Where a job that meets a server of at least `buffer` others, more than the first levels have, is lost.
    pub(super) fn new(counts: [&Counts; LANES], buffer: u32) -> Self {
        let level = |k: usize| i32x4::new(counts.map(|counts| counts.levels(0)[k] as i32));
        let levels: [i32x4; AT_ONCE] = std::array::from_fn(level);
        let servers = counts[0].all()[0][0];
        let (zero, all) = (i32x4::splat(0), i32x4::splat(servers as i32));
        Self {
            servers,
            buffer,
            now: State { levels, all: i32x4::splat(0) },
            strikes: Box::new([[0; LANES]; LENGTH]),
            course: Box::new(Course {
                levels: std::array::from_fn(|level| [if level == 0 { all } else { zero }; LENGTH + 1]),
                all: [zero; LENGTH + 1],
                words: [zero; LENGTH],
                high: zero,
            }),
            long: Default::default(),
        }
    }

    /// Counts from one strike to another.
    pub(super) fn count(
        &mut self,
        odds: Equal,
        engines: &mut [OccupancyEngine<'_>; LANES],
        tallies: &mut [&mut Tally; LANES],
        (from, to): (u64, u64),
    ) {
        let mut done = from;
        while done < to {
            let length = LENGTH.min((to - done) as usize);
            for (lane, engine) in engines.iter_mut().enumerate() {
                self.draw(lane, length, odds, engine);
            }
            self.course.stand(0, &self.now);
            self.course.high = i32x4::splat(0);
            self.advance(length, engines.each_mut().map(|engine| &mut engine.counts));
            self.tell(length, engines, tallies, done);
            done += length as u64;
        }
        for (lane, engine) in engines.iter_mut().enumerate() {
            engine.counts.take(self.now.levels.map(|level| level.to_array()[lane]));
        }
    }

    #[inline(never)]
    fn draw(&mut self, lane: usize, length: usize, odds: Equal, engine: &mut OccupancyEngine<'_>) {
        let OccupancyEngine { entry, offer_stream, dispatch_stream, .. } = engine;
        let strikes = &mut self.strikes[..length];
        match entry.pairs() {
            Some(pairs) => draw(strikes, lane, odds, offer_stream, dispatch_stream, |choices| {
                let (one, other) = pairs.draw(choices);
                one.max(other)
            }),
            None => draw(strikes, lane, odds, offer_stream, dispatch_stream, |choices| rank(entry, choices)),
        }
    }

    /// The first levels of all replications move on.
    fn advance(&mut self, length: usize, mut counts: [&mut Counts; LANES]) {
        let Self { buffer, now, strikes, course, long, .. } = self;
        let mut done = 0;
        while done < length {
            done = glide(now, &strikes[..length], course, done);
            if done < length {
                let strike = Strike::new(strikes[done]);
                let holds = now.holds(&strike);
                let met = strike.each(|lane, rank, arrives| {
                    (holds[AT_ONCE - 1].to_array()[lane] != 0).then(|| counts[lane].meet_long(rank, arrives, *buffer))
                });
                let leaves_near = met.map(|met| -i32::from(met.is_some_and(|(_, leaves_near)| leaves_near)));
                course.note(done, now.meet(&strike, &holds, i32x4::new(leaves_near)), now);
                course.high |= now.levels[HIGH];
                for (long, met) in long.iter_mut().zip(met) {
                    long.extend(met.map(|(event, _)| (done, event)));
                }
                done += 1;
            }
        }
    }

    /// Tells the tallies what a block has done.
    #[inline(never)]
    fn tell(
        &mut self,
        length: usize,
        engines: &[OccupancyEngine<'_>; LANES],
        tallies: &mut [&mut Tally; LANES],
        strikes: u64,
    ) {
        let Course { levels, high, .. } = &*self.course;
        let are_empty = *high == i32x4::splat(0);
        let levels: [Summed; AT_ONCE] = std::array::from_fn(|k| {
            if k >= HIGH && are_empty {
                Summed::empty(length)
            } else {
                Summed::of(&levels[k + 1][..=length], self.servers as i32)
            }
        });
        let all = Summed::of_all(&self.course.all[..=length]);
        for (lane, tally) in tallies.iter_mut().enumerate() {
            if self.long[lane].is_empty() {
                let sums = sums(&levels, &all, lane, length as i64, &engines[lane].counts);
                tally.count_sums(strikes, &sums, (0..length).map(|place| self.course.met(place, lane)));
            } else {
                let word = |words: &i32x4| Event::of_word(words.as_array_ref()[lane]);
                let mut events: Vec<Event> = self.course.words[..length].iter().map(word).collect();
                self.long[lane].drain(..).for_each(|(place, event)| events[place] = event);
                tally.count_block(strikes, &events);
            }
        }
    }
}

/// The rank of the server that an arrival joins.
#[inline(always)]
fn rank(entry: &Entry, choices: &mut Stream) -> u32 {
    entry.rank(choices).expect("replications go together where arrivals join by rank") as u32
}

/// Draws the strikes of a replication.
#[inline(always)]
fn draw(
    strikes: &mut [[u32; LANES]],
    lane: usize,
    odds: Equal,
    offers: &mut Stream,
    choices: &mut Stream,
    rank: impl Fn(&mut Stream) -> u32,
) {
    // Streams of its own stay in registers.
    let (mut own_offers, mut own_choices) = (offers.clone(), choices.clone());
    let mut places = [0_u8; LENGTH];
    let mut arrivals = 0;
    for (place, strike) in strikes.iter_mut().enumerate() {
        let (server, is_service) = odds.draw_either(&mut own_offers);
        strike[lane] = server as u32;
        // Written each time, and kept if the next is written elsewhere.
        places[arrivals % LENGTH] = place as u8;
        arrivals += usize::from(!is_service);
    }
    for &place in &places[..arrivals] {
        strikes[usize::from(place)][lane] = ARRIVAL | rank(&mut own_choices);
    }
    (*offers, *choices) = (own_offers, own_choices);
}

/// Sums over the states of a count after each strike of a block, of each replication.
struct Summed {
    more: i32x4,
    sum: i32x4,
    squares: f32x4,
    /// How often it was 0, and whether it ever was that of all servers.
    empty: i32x4,
    full: i32x4,
    /// How often it rose.
    joined: i32x4,
}

impl Summed {
    /// Of a course that begins with the state before the block.
    fn of(course: &[i32x4], servers: i32) -> Self {
        let length = i32x4::splat(course.len() as i32);
        let (start, servers) = (course[0], i32x4::splat(servers));
        // A block is too short to empty or fill what is this far from it.
        let stays = start.cmp_gt(length) & (servers - length).cmp_gt(start);
        if stays.all() {
            Self::of_course::<false, true>(course, servers)
        } else {
            Self::of_course::<true, true>(course, servers)
        }
    }

    /// Of a level that nobody reaches in so many strikes.
    fn empty(length: usize) -> Self {
        let zero = i32x4::splat(0);
        let empty = i32x4::splat(length as i32);
        Self { more: zero, sum: zero, squares: f32x4::splat(0.0), empty, full: zero, joined: zero }
    }

    /// Without what only levels have.
    fn of_all(course: &[i32x4]) -> Self {
        Self::of_course::<false, false>(course, i32x4::splat(0))
    }

    #[inline(never)]
    fn of_course<const ENDS: bool, const RISES: bool>(course: &[i32x4], servers: i32x4) -> Self {
        let zero = i32x4::splat(0);
        let start = course[0];
        let mut last = start;
        let (mut sum, mut squares, mut empty) = (zero, f32x4::splat(0.0), zero);
        let (mut full, mut joined) = (zero, zero);
        for &count in &course[1..] {
            // At most the length of a block, so that single-precision numbers hold the sum of the squares exactly.
            let more = count - start;
            let number = more.round_float();
            sum += more;
            squares += number * number;
            if ENDS {
                empty -= count.cmp_eq(zero);
                full |= count.cmp_eq(servers);
            }
            if RISES {
                joined -= (count - last).cmp_gt(zero);
            }
            last = count;
        }
        Self { more: last - start, sum, squares, empty, full, joined }
    }

    fn lane(&self, lane: usize) -> Lane {
        let of = |lanes: i32x4| i64::from(lanes.to_array()[lane]);
        Lane { more: of(self.more), sum: of(self.sum), squares: self.squares.to_array()[lane] as i64 }
    }
}

/// The sums of a replication that has met no server longer than the first levels tell.
fn sums(levels: &[Summed; AT_ONCE], all: &Summed, lane: usize, length: i64, counts: &Counts) -> Sums {
    let mut sums =
        Sums { levels: [Lane::default(); NEAR], all: all.lane(lane), joined: [0; NEAR], ends: Ends::Touched };
    for (k, level) in levels.iter().enumerate() {
        sums.levels[k] = level.lane(lane);
        sums.joined[k] = level.joined.to_array()[lane] as u64;
    }
    if levels.iter().all(|level| level.full.to_array()[lane] == 0) {
        let empty = |k: usize| match levels.get(k) {
            Some(level) => i64::from(level.empty.to_array()[lane]),
            // What is not summed has not changed.
            None if counts.levels(0).get(k).is_some_and(|&count| count > 0) => 0,
            None => length,
        };
        sums.ends = Ends::Empty(std::array::from_fn(empty));
    }
    sums
}

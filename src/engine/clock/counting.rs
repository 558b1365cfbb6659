//! Counting in a tally where there is nothing but arrivals and services of equal servers, in a loop that knows the strategy.

use crate::engine::ahead::{Ahead, MOST_SERVERS};
use crate::engine::odds::Equal;
use crate::engine::tally::{BLOCK, Event, Tally};
use crate::model::System;
use crate::policy::dispatch::{Choose, WithStrategy};
use crate::policy::{Pairs, View};
use crate::random::Stream;
use std::hint::black_box;

/// From one strike of the clock to another.
pub(super) struct Counting<'a> {
    pub(super) system: &'a System,
    pub(super) odds: Equal,
    pub(super) queues: &'a mut View,
    pub(super) offers: &'a mut Stream,
    pub(super) choices: &'a mut Stream,
    pub(super) shares: &'a mut Stream,
    pub(super) tally: &'a mut Tally,
    pub(super) from: u64,
    pub(super) to: u64,
}

impl WithStrategy for Counting<'_> {
    /// The server whose length overflows.
    type Outcome = Result<(), u32>;

    fn run(self, strategy: &mut impl Choose) -> Result<(), u32> {
        if let Some(pairs) = strategy.pairs() {
            return self.run_pairs(pairs);
        }
        let Self { system, odds, queues, offers, choices, shares, tally, from, to } = self;
        let buffer = system.buffer.unwrap_or(u32::MAX);
        // Streams of its own stay in registers.
        let (mut own_offers, mut own_choices) = (offers.clone(), choices.clone());
        for strike in from + 1..=to {
            if let Some(server) = odds.draw(&mut own_offers) {
                let server = server as u32;
                let length = queues.length(server);
                if length > 0 {
                    queues.replace(server, length, length - 1);
                    tally.leave(length, strike);
                }
                continue;
            }
            let dispatcher = system.dispatchers.draw(shares);
            let server = strategy.choose(dispatcher, queues, &mut own_choices);
            let found = queues.length(server);
            tally.choose(server, strike);
            if found < buffer {
                queues.replace(server, found, found + 1);
                tally.join(found, strike);
            } else if system.buffer.is_some() {
                tally.block(found);
            } else {
                return Err(server);
            }
        }
        (*offers, *choices) = (own_offers, own_choices);
        Ok(())
    }
}

impl Counting<'_> {
    /// A job takes the shorter of two servers: nothing but an array of lengths is looked at.
    fn run_pairs(self, pairs: Pairs) -> Result<(), u32> {
        let Self { system, odds, queues, offers, choices, tally, from, to, .. } = self;
        let mut course =
            Course { odds, pairs, buffer: system.buffer, offers, choices, tally, strike: from, to, more: 0 };
        let mut overflow = None;
        queues.change_all(|lengths| {
            if lengths.len() >= FAR && (to - from) * 4 >= lengths.len() as u64 {
                let mut narrow: Vec<u8> =
                    lengths.iter().map(|&length| u8::try_from(length).unwrap_or(u8::MAX)).collect();
                if !narrow.contains(&u8::MAX) {
                    let full = course.run(&mut narrow);
                    lengths.iter_mut().zip(narrow).for_each(|(wide, length)| *wide = u32::from(length));
                    if let Some((server, found)) = full {
                        // The job that did not fit joins, and the rest goes on in wide cells.
                        lengths[server as usize] = found + 1;
                        course.join(found);
                    }
                }
            }
            overflow = course.run(lengths);
            course.more
        });
        overflow.map_or(Ok(()), |(server, _)| Err(server))
    }
}

/// Of fewer servers, one is often met again before what was written to it can be read, and blocks are not quicker.
const SOME: u64 = 64;

/// From so many servers on their lengths are looked at in bytes, which stay nearer than words.
const FAR: usize = 4096;

/// So many are beyond the nearer caches even so.
const BEYOND: usize = 1 << 18;

/// A cell that holds a length, up to some greatest one.
trait Cell: Copy + PartialOrd {
    const MOST: u32;
    fn get(self) -> u32;
    fn set(&mut self, length: u32);
}

impl Cell for u32 {
    const MOST: u32 = Self::MAX;

    #[inline(always)]
    fn get(self) -> u32 {
        self
    }

    #[inline(always)]
    fn set(&mut self, length: u32) {
        *self = length;
    }
}

impl Cell for u8 {
    const MOST: u32 = Self::MAX as u32;

    #[inline(always)]
    fn get(self) -> u32 {
        u32::from(self)
    }

    #[inline(always)]
    fn set(&mut self, length: u32) {
        *self = length as Self;
    }
}

/// Strikes at equal servers of which each job takes the shorter of two.
struct Course<'a> {
    odds: Equal,
    pairs: Pairs,
    buffer: Option<u32>,
    offers: &'a mut Stream,
    choices: &'a mut Stream,
    tally: &'a mut Tally,
    /// The last strike that is over, and the last of all.
    strike: u64,
    to: u64,
    /// Jobs inside, more than at the start.
    more: i64,
}

impl Course<'_> {
    /// Goes on to the last strike, or to one at which a job would join more jobs than a cell holds: where and how many.
    fn run<C: Cell>(&mut self, lengths: &mut [C]) -> Option<(u32, u32)> {
        let servers = lengths.len() as u64;
        if (SOME..MOST_SERVERS).contains(&servers) && self.tally.wants_sums_only() {
            let full = self.run_in_blocks(lengths, lengths.len() >= FAR);
            if full.is_some() || self.strike == self.to {
                return full;
            }
        }
        let buffer = self.buffer.unwrap_or(u32::MAX).min(C::MOST);
        // Streams of its own stay in registers.
        let (mut offers, mut choices) = (self.offers.clone(), self.choices.clone());
        let mut full = None;
        let (from, mut more) = (self.strike, 0);
        self.strike = self.to;
        for strike in from + 1..=self.to {
            if let Some(server) = self.odds.draw(&mut offers) {
                let cell = &mut lengths[server as usize];
                let length = cell.get();
                if length > 0 {
                    self.tally.leave(length, strike);
                    cell.set(length - 1);
                    more -= 1;
                }
                continue;
            }
            let (one, other) = self.pairs.draw(&mut choices);
            let (first, second) = (lengths[one as usize], lengths[other as usize]);
            let (server, found) = if second < first { (other, second.get()) } else { (one, first.get()) };
            self.tally.choose(server, strike);
            if found < buffer {
                lengths[server as usize].set(found + 1);
                self.tally.join(found, strike);
                more += 1;
            } else if self.buffer.is_some_and(|buffer| found >= buffer) {
                self.tally.block(found);
            } else {
                full = Some((server, found));
                self.strike = strike;
                break;
            }
        }
        self.more += more;
        (*self.offers, *self.choices) = (offers, choices);
        full
    }

    /// The same in blocks and without branches that cannot be foretold, always or as long as they are easy to sum.
    fn run_in_blocks<C: Cell>(&mut self, lengths: &mut [C], always: bool) -> Option<(u32, u32)> {
        let before = self.tally.inside();
        let limit = self.buffer.unwrap_or(u32::MAX).min(C::MOST);
        let mut ahead = Ahead::new(self.odds, self.pairs, self.offers, self.choices);
        let mut events = [Event::NOTHING; BLOCK];
        let mut full = None;
        let mut easy = true;
        while self.strike < self.to && full.is_none() && (always || easy) {
            let drawn = ahead.draw(self.to - self.strike);
            if lengths.len() >= BEYOND {
                // Brought near all at once, instead of one after the other.
                black_box(drawn.iter().fold(0, |all, strike| all ^ lengths[strike.servers().0 as usize].get()));
                black_box(drawn.iter().fold(0, |all, strike| all ^ lengths[strike.servers().1 as usize].get()));
            }
            let mut done = 0;
            for (event, strike) in events.iter_mut().zip(drawn) {
                let (up, (one, other)) = (strike.arrivals(), strike.servers());
                let (first, second) = (lengths[one as usize].get(), lengths[other as usize].get());
                let (server, length) = if second < first { (other, second) } else { (one, first) };
                if length >= limit && strike.is_arrival() {
                    if self.buffer.is_none_or(|buffer| length < buffer) {
                        full = Some((server, length));
                        break;
                    }
                    *event = Event::lost(length);
                } else {
                    let level = strike.level(length);
                    lengths[server as usize].set(level + up);
                    *event = Event::of_strike(length, level, up);
                }
                done += 1;
            }
            easy = self.tally.count_block(self.strike, &events[..done]);
            self.strike += done as u64;
            if full.is_some() {
                ahead.go_back(done + 1);
                self.strike += 1;
            }
        }
        self.more += self.tally.inside() - before;
        full
    }

    /// A job joins at the strike that is just over.
    fn join(&mut self, found: u32) {
        self.tally.join(found, self.strike);
        self.more += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tally::Wanted;
    use crate::model::Servers;
    use crate::random::{Component, Streams};

    fn go_on<C: Cell>(course: &mut Course<'_>, lengths: &mut [C], in_blocks: bool) -> Option<(u32, u32)> {
        if in_blocks { course.run_in_blocks(lengths, true) } else { course.run(lengths) }
    }

    /// Bytes and words make one course, in blocks or not, up to a job that finds 255 others and after it.
    #[test]
    fn narrow_cells_lead_where_wide_ones_do() {
        let servers = Servers::homogeneous(5).expect("servers");
        let streams = Streams::new(3, 0);
        let run = |narrow: bool, in_blocks: bool| {
            // The load is 2: lengths grow.
            let odds = crate::engine::odds::Odds::new(&servers, 10.0).equal().expect("equal servers");
            let (mut offers, mut choices) = (streams.take(Component::Arrivals), streams.take(Component::Dispatch));
            let mut tally = Tally::new(5, &[], 0.0, 1e9, Wanted { ranks: !in_blocks, ..Wanted::default() });
            let pairs = Pairs { servers: 5, replacement: true };
            let (buffer, offers, choices) = (Some(300), &mut offers, &mut choices);
            let mut course =
                Course { odds, pairs, buffer, offers, choices, tally: &mut tally, strike: 0, to: 20_000, more: 0 };
            let mut lengths = vec![0_u32; 5];
            if narrow {
                let mut cells = vec![0_u8; 5];
                let (server, found) = go_on(&mut course, &mut cells, in_blocks).expect("a cell is full");
                assert_eq!(found, 255);
                assert!(course.strike < 20_000);
                lengths = cells.into_iter().map(u32::from).collect();
                lengths[server as usize] += 1;
                course.join(found);
            }
            assert_eq!(go_on(&mut course, &mut lengths, in_blocks), None);
            let more = course.more;
            assert_eq!(lengths.iter().map(|&length| i64::from(length)).sum::<i64>(), more);
            (lengths, tally.counts(), offers.bits(), choices.bits())
        };
        let wide = run(false, false);
        assert!(wide.0.contains(&300), "{wide:?}");
        for (narrow, in_blocks) in [(true, false), (false, true), (true, true)] {
            assert_eq!(run(narrow, in_blocks), wide, "narrow: {narrow}, in blocks: {in_blocks}");
        }
    }
}

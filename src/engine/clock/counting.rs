//! Counting in a tally: in a loop of its own where there is nothing but arrivals and services of equal servers, and by
//! listening to the engine where dispatchers have estimates, too.

use crate::engine::observer::{Blocked, Dispatched, LengthChange, MessageKind, Observer};
use crate::engine::odds::Equal;
use crate::engine::tally::Tally;
use crate::model::System;
use crate::policy::dispatch::{Choose, WithStrategy};
use crate::policy::{Pairs, View};
use crate::random::Stream;

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
        let buffer = system.buffer.unwrap_or(u32::MAX);
        let (mut own_offers, mut own_choices) = (offers.clone(), choices.clone());
        let mut overflow = None;
        queues.change_all(|lengths| {
            let mut more = 0;
            for strike in from + 1..=to {
                if let Some(server) = odds.draw(&mut own_offers) {
                    let length = &mut lengths[server as usize];
                    if *length > 0 {
                        tally.leave(*length, strike);
                        *length -= 1;
                        more -= 1;
                    }
                    continue;
                }
                let (one, other) = pairs.draw(&mut own_choices);
                let (first, second) = (lengths[one as usize], lengths[other as usize]);
                let (server, found) = if second < first { (other, second) } else { (one, first) };
                tally.choose(server, strike);
                if found < buffer {
                    lengths[server as usize] = found + 1;
                    tally.join(found, strike);
                    more += 1;
                } else if system.buffer.is_some() {
                    tally.block(found);
                } else {
                    overflow = Some(server);
                    break;
                }
            }
            more
        });
        (*offers, *choices) = (own_offers, own_choices);
        overflow.map_or(Ok(()), Err)
    }
}

/// What happens at strikes, told to a tally.
pub(super) struct Told<'a> {
    tally: &'a mut Tally,
    strike: u64,
    /// What the last job found.
    found: u32,
}

impl<'a> Told<'a> {
    pub(super) fn new(tally: &'a mut Tally) -> Self {
        Self { tally, strike: 0, found: 0 }
    }

    /// The clock has struck so often.
    #[inline]
    pub(super) fn go_on(&mut self, strike: u64) {
        self.strike = strike;
    }
}

impl Observer for Told<'_> {
    #[inline]
    fn dispatched(&mut self, dispatched: &Dispatched) {
        self.found = dispatched.found;
        self.tally.dispatch(dispatched.dispatcher);
        self.tally.choose(dispatched.server, self.strike);
    }

    #[inline]
    fn blocked(&mut self, _: &Blocked) {
        self.tally.block(self.found);
    }

    #[inline]
    fn length_changed(&mut self, change: &LengthChange) {
        if change.new > change.old {
            self.tally.join(change.old, self.strike);
        } else {
            self.tally.leave(change.old, self.strike);
        }
    }

    #[inline]
    fn sent(&mut self, kind: MessageKind, count: u64) {
        self.tally.send(kind, count);
    }
}

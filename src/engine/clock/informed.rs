//! Counting in a tally where dispatchers act on estimates, or where it matters who they are: in a loop that knows the
//! strategy. Nothing takes time but arrivals and services.

use super::agenda::Agenda;
use crate::engine::EngineError;
use crate::engine::beliefs::Beliefs;
use crate::engine::observer::{MessageKind, Observer};
use crate::engine::odds::{Odds, Offer};
use crate::engine::tally::Tally;
use crate::model::System;
use crate::policy::View;
use crate::policy::dispatch::{Choose, WithStrategy};
use crate::random::Stream;

/// From one strike of the clock to another.
pub(super) struct Informed<'a> {
    pub(super) system: &'a System,
    pub(super) odds: &'a Odds,
    pub(super) queues: &'a mut View,
    pub(super) beliefs: &'a mut Beliefs,
    /// Where messages would go that take time.
    pub(super) agenda: &'a mut Agenda,
    pub(super) offers: &'a mut Stream,
    pub(super) choices: &'a mut Stream,
    pub(super) shares: &'a mut Stream,
    /// Lengths that the strategy asks for per job, at most, and messages for each.
    pub(super) lengths_asked: u64,
    pub(super) per_probe: u64,
    pub(super) tally: &'a mut Tally,
    pub(super) tick: f64,
    pub(super) from: u64,
    pub(super) to: u64,
}

impl WithStrategy for Informed<'_> {
    type Outcome = Result<(), EngineError>;

    fn run(self, strategy: &mut impl Choose) -> Result<(), EngineError> {
        let Self { system, odds, queues, beliefs, agenda, offers, choices, shares, tally, tick, from, to, .. } = self;
        let buffer = system.buffer.unwrap_or(u32::MAX);
        let reports = beliefs.reports();
        // Streams of its own stay in registers.
        let (mut own_offers, mut own_choices) = (offers.clone(), choices.clone());
        for strike in from + 1..=to {
            let now = strike as f64 * tick;
            match odds.draw(&mut own_offers) {
                Offer::Service { server, .. } => {
                    let server = server as u32;
                    let length = queues.length(server);
                    if length > 0 {
                        queues.replace(server, length, length - 1);
                        tally.leave(length, strike);
                        if reports {
                            beliefs.report(now, server, length - 1, agenda, &mut Letters(tally));
                        }
                    }
                }
                Offer::Arrival => {
                    let dispatcher = system.dispatchers.draw(shares);
                    let server = strategy.choose(dispatcher, beliefs.view(dispatcher, queues), &mut own_choices);
                    if self.lengths_asked > 0 {
                        tally.send(MessageKind::Exact, self.per_probe * (self.lengths_asked - strategy.spared()));
                    }
                    tally.dispatch(dispatcher);
                    tally.choose(server, strike);
                    let found = queues.length(server);
                    if found < buffer {
                        queues.replace(server, found, found + 1);
                        tally.join(found, strike);
                    } else if system.buffer.is_some() {
                        tally.block(found);
                    } else {
                        return Err(EngineError::LengthOverflow { time: now, server });
                    }
                    let letters = &mut Letters(tally);
                    beliefs.job_sent(now, dispatcher, server, 1, letters)?;
                    beliefs.ask(now, dispatcher, queues, agenda, letters);
                }
            }
        }
        (*offers, *choices) = (own_offers, own_choices);
        Ok(())
    }
}

/// Tells a tally of the messages sent, the only thing about estimates that it counts.
struct Letters<'a>(&'a mut Tally);

impl Observer for Letters<'_> {
    #[inline]
    fn sent(&mut self, kind: MessageKind, count: u64) {
        self.0.send(kind, count);
    }
}

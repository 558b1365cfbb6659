//! Counting in a tally where dispatchers act on estimates, or where it matters who they are: in a loop that knows the
//! strategy. Nothing takes time but arrivals and services.

use super::agenda::Agenda;
use crate::engine::EngineError;
use crate::engine::beliefs::Beliefs;
use crate::engine::observer::{MessageKind, Observer};
use crate::engine::odds::{ARRIVAL, Odds};
use crate::engine::tally::Tally;
use crate::model::System;
use crate::policy::View;
use crate::policy::dispatch::{Choose, WithStrategy};
use crate::random::Stream;

/// So many strikes are drawn at once.
const BLOCK: usize = 64;

/// Of so many servers, what dispatchers believe is beyond the nearer caches.
const FAR: u32 = 1 << 14;

/// From one strike of the clock to another, with these true lengths.
pub(super) struct Informed<'a> {
    pub(super) queues: &'a mut View,
    pub(super) course: Course<'a>,
}

pub(super) struct Course<'a> {
    pub(super) system: &'a System,
    pub(super) odds: &'a Odds,
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
        let Self { queues, course } = self;
        if !course.beliefs.hide_the_truth() {
            return course.run(strategy, queues);
        }
        let mut outcome = Ok(());
        queues.change_all(|lengths| {
            let mut hidden = Hidden { lengths, more: 0 };
            outcome = course.run(strategy, &mut hidden);
            hidden.more
        });
        outcome
    }
}

impl Course<'_> {
    fn run(self, strategy: &mut impl Choose, queues: &mut impl Truth) -> Result<(), EngineError> {
        let Self { system, odds, beliefs, agenda, offers, choices, shares, tally, tick, from, to, .. } = self;
        let buffer = system.buffer.unwrap_or(u32::MAX);
        let (reports, counts_own) = (beliefs.reports(), beliefs.count_own_jobs());
        let overflow = |strike: u64, server| EngineError::LengthOverflow { time: strike as f64 * tick, server };
        let looks_ahead = system.servers.numbered() >= FAR && reports;
        let mut drawn = [ARRIVAL; BLOCK];
        let mut strike = from;
        while strike < to {
            let block = BLOCK.min((to - strike) as usize);
            odds.draw_servers(offers, &mut drawn[..block]);
            if looks_ahead {
                let services = drawn[..block].iter().copied().filter(|&next| next != ARRIVAL);
                let held = services.map(|server| (server, queues.length(server)));
                beliefs.look_ahead(
                    block,
                    held.filter(|&(_, length)| length > 0).map(|(server, length)| (server, length - 1)),
                );
            }
            for &next in &drawn[..block] {
                strike += 1;
                if next != ARRIVAL {
                    let length = queues.length(next);
                    if length > 0 {
                        queues.replace(next, length, length - 1);
                        tally.leave(length, strike);
                        if reports {
                            beliefs.report_at_once(next, length - 1, &mut Letters(tally));
                        }
                    }
                    continue;
                }
                let dispatcher = system.dispatchers.draw(shares);
                let server = match queues.view() {
                    Some(queues) if !counts_own => {
                        strategy.choose(dispatcher, beliefs.view(dispatcher, queues), choices)
                    }
                    _ => strategy
                        .choose_and_count(dispatcher, beliefs.own_view(dispatcher), choices)
                        .map_err(|server| overflow(strike, server))?,
                };
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
                    return Err(overflow(strike, server));
                }
                if let Some(queues) = queues.view() {
                    beliefs.ask(strike as f64 * tick, dispatcher, queues, agenda, &mut Letters(tally));
                }
            }
        }
        Ok(())
    }
}

/// The true lengths of the queues.
trait Truth {
    fn length(&self, server: u32) -> u32;
    fn replace(&mut self, server: u32, old: u32, new: u32);
    /// What dispatchers may look at.
    fn view(&self) -> Option<&View>;
}

impl Truth for View {
    #[inline(always)]
    fn length(&self, server: u32) -> u32 {
        Self::length(self, server)
    }

    #[inline(always)]
    fn replace(&mut self, server: u32, old: u32, new: u32) {
        Self::replace(self, server, old, new);
    }

    #[inline(always)]
    fn view(&self) -> Option<&View> {
        Some(self)
    }
}

/// Lengths that no dispatcher looks at, so that nothing is kept beside them.
struct Hidden<'a> {
    lengths: &'a mut [u32],
    /// Jobs inside, more than at the start.
    more: i64,
}

impl Truth for Hidden<'_> {
    #[inline(always)]
    fn length(&self, server: u32) -> u32 {
        self.lengths[server as usize]
    }

    #[inline(always)]
    fn replace(&mut self, server: u32, old: u32, new: u32) {
        self.lengths[server as usize] = new;
        self.more += i64::from(new) - i64::from(old);
    }

    #[inline(always)]
    fn view(&self) -> Option<&View> {
        None
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

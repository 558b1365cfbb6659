//! Strikes of the clock where each job takes the better of two servers, drawn ahead.
//!
//! Whether a strike is an arrival or a service is nearly as open as the fall of a coin, and a processor that guesses at a
//! branch on it guesses wrong nearly half the time. So strikes are drawn in blocks, without such a branch, and both kinds
//! are told in one form, which lets whoever hears of them do without it, too.

use super::odds::Equal;
use super::tally::BLOCK;
use crate::policy::Pairs;
use crate::random::Stream;

/// Only fewer servers than this are told in one form.
pub(super) const MOST_SERVERS: u64 = 1 << 31;

/// What happens at a strike: the two servers drawn for a job that arrives, or the one that is offered a service, twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strike(u64);

/// The bit that tells an arrival: servers have 31 bits.
const ARRIVAL: u64 = 1 << 63;

impl Strike {
    #[inline(always)]
    fn arrival((one, other): (u32, u32)) -> Self {
        Self(ARRIVAL | u64::from(other) << 32 | u64::from(one))
    }

    #[inline(always)]
    fn service(server: u64) -> Self {
        Self(server << 32 | server)
    }

    /// 1 if a job arrives, 0 if a service is offered.
    #[inline(always)]
    pub(super) fn arrivals(self) -> u32 {
        (self.0 >> 63) as u32
    }

    /// Whether a job arrives, for a branch of its own that is seldom reached: so it is not tried before others.
    #[cold]
    #[inline(never)]
    pub(super) fn is_arrival(self) -> bool {
        self.arrivals() > 0
    }

    /// The level that changes where a server of this length is met, by its index: the length itself as a job joins, one less
    /// as a job leaves. If there is no job to leave, level 0 stays as it is.
    #[inline(always)]
    pub(super) fn level(self, length: u32) -> u32 {
        length.saturating_sub(self.arrivals() ^ 1)
    }

    /// The servers.
    #[inline(always)]
    pub(super) fn servers(self) -> (u32, u32) {
        (self.0 as u32, (self.0 >> 32) as u32 & (u32::MAX >> 1))
    }
}

/// Draws strikes in blocks.
pub(super) struct Ahead<'a> {
    odds: Equal,
    pairs: Pairs,
    offers: &'a mut Stream,
    choices: &'a mut Stream,
    /// The streams before the last block.
    before: (Stream, Stream),
    block: [Strike; BLOCK],
}

impl<'a> Ahead<'a> {
    pub(super) fn new(odds: Equal, pairs: Pairs, offers: &'a mut Stream, choices: &'a mut Stream) -> Self {
        let before = (offers.clone(), choices.clone());
        Self { odds, pairs, offers, choices, before, block: [Strike(0); BLOCK] }
    }

    /// Draws the next strikes, as many of them as a block holds.
    #[inline(always)]
    pub(super) fn draw(&mut self, strikes: u64) -> &[Strike] {
        self.before = (self.offers.clone(), self.choices.clone());
        let length = BLOCK.min(strikes as usize);
        self.draw_block(length);
        &self.block[..length]
    }

    /// Only so many of the last block have been: the streams go back to where they were then.
    pub(super) fn go_back(&mut self, strikes: usize) {
        (*self.offers, *self.choices) = self.before.clone();
        self.draw_block(strikes);
    }

    #[inline(always)]
    fn draw_block(&mut self, length: usize) {
        // Streams of its own stay in registers.
        let (mut offers, mut choices) = (self.offers.clone(), self.choices.clone());
        let mut places = [0_u8; BLOCK];
        let mut arrivals = 0;
        for (place, strike) in self.block[..length].iter_mut().enumerate() {
            let (server, is_service) = self.odds.draw_either(&mut offers);
            *strike = Strike::service(server);
            // Written each time, and kept if the next is written elsewhere.
            places[arrivals % BLOCK] = place as u8;
            arrivals += usize::from(!is_service);
        }
        for &place in &places[..arrivals] {
            self.block[usize::from(place)] = Strike::arrival(self.pairs.draw(&mut choices));
        }
        (*self.offers, *self.choices) = (offers, choices);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::odds::Odds;
    use crate::model::Servers;
    use crate::random::{Component, Streams};

    /// One by one, and up to strikes within a block, at its ends and beyond it.
    #[test]
    fn blocks_are_strikes_one_by_one() {
        let servers = Servers::homogeneous(7).expect("servers");
        let odds = Odds::new(&servers, 6.0).equal().expect("equal servers");
        let pairs = Pairs { servers: 7, replacement: true };
        let streams = Streams::new(5, 0);
        for last in [1, 2, 255, 256, 257, 300, 512, 700] {
            let (mut offers, mut choices) = (streams.take(Component::Sizes), streams.take(Component::Dispatch));
            let mut ahead = Ahead::new(odds, pairs, &mut offers, &mut choices);
            let mut drawn = Vec::new();
            while drawn.len() < last {
                drawn.extend_from_slice(ahead.draw(700 - drawn.len() as u64));
            }
            let too_many = drawn.len() - last;
            if too_many > 0 {
                let block = (drawn.len() - 1) % BLOCK + 1;
                ahead.go_back(block - too_many);
                drawn.truncate(last);
            }
            let (mut by_hand, mut choosing) = (streams.take(Component::Sizes), streams.take(Component::Dispatch));
            let expected: Vec<_> = (0..last)
                .map(|_| match odds.draw(&mut by_hand) {
                    Some(server) => Strike::service(server),
                    None => Strike::arrival(pairs.draw(&mut choosing)),
                })
                .collect();
            assert_eq!(drawn, expected);
            assert_eq!((offers.bits(), choices.bits()), (by_hand.bits(), choosing.bits()), "{last}");
        }
    }
}

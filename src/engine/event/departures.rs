//! Pending departures: a binary heap of the near ones, fed from time slots in which the far ones are parked.
//!
//! A heap of all pending departures would miss the cache at every level once there are a million. Here the heap
//! holds the few that are due next. The future beyond is cut into slots of equal width, each an unsorted list; when
//! the heap runs empty the next slot is made into a heap. What lies beyond the last slot waits in one more list,
//! from which the slots are cut anew when all are used up. The slot of a time does not decrease with the time, so
//! events come out in exactly the order of a single heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A departure packed into an integer that sorts by time, then by sequence: the bits of the time stand on top, and
/// for times of at least 0 they sort like the times.
pub(super) type Packed = u128;

/// The time of a packed departure.
#[inline]
pub(super) fn time_of(packed: Packed) -> f64 {
    f64::from_bits((packed >> u64::BITS) as u64)
}

/// Slots that are aimed at: so many list ends stay in the second cache (measured at a million servers).
const SLOTS: usize = 2048;

/// The fewest departures per slot that are aimed at (measured: 16 to 128 differ by less than the noise).
const PER_SLOT: usize = 48;

/// A heap of up to this many fits the nearest cache and is left alone.
const SMALL: usize = 1024;

/// All pending departures.
#[derive(Debug)]
pub(super) struct Departures {
    /// Everything up to and including slot `cursor`; not empty unless nothing is pending.
    near: BinaryHeap<Reverse<Packed>>,
    cursor: usize,
    slots: Vec<Vec<Reverse<Packed>>>,
    beyond: Vec<Reverse<Packed>>,
    /// Start of slot 0.
    origin: f64,
    /// Slots per unit of time; 0 puts every time into slot 0.
    scale: f64,
    /// Empty lists kept for their memory.
    spare: Vec<Vec<Reverse<Packed>>>,
    /// The near heap may grow to this before the slots are cut anew.
    limit: usize,
}

impl Departures {
    pub(super) fn new() -> Self {
        Self {
            near: BinaryHeap::new(),
            cursor: 0,
            slots: Vec::new(),
            beyond: Vec::new(),
            origin: 0.0,
            scale: 0.0,
            spare: Vec::new(),
            limit: SMALL,
        }
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<Packed> {
        self.near.peek().map(|&Reverse(packed)| packed)
    }

    #[inline]
    pub(super) fn push(&mut self, packed: Packed) {
        let slot = self.slot(time_of(packed));
        if slot <= self.cursor || self.near.is_empty() {
            if self.near.is_empty() {
                // Nothing is pending, so the slots may start anywhere.
                (self.origin, self.cursor) = (time_of(packed), 0);
            }
            self.near.push(Reverse(packed));
            if self.near.len() > self.limit {
                self.spread();
            }
        } else if let Some(parked) = self.slots.get_mut(slot) {
            Self::park(parked, &mut self.spare, packed);
        } else {
            self.beyond.push(Reverse(packed));
        }
    }

    /// Adds to a slot, whose list takes its memory from the spare ones.
    #[inline]
    fn park(parked: &mut Vec<Reverse<Packed>>, spare: &mut Vec<Vec<Reverse<Packed>>>, packed: Packed) {
        if parked.capacity() == 0 {
            *parked = spare.pop().unwrap_or_default();
        }
        parked.push(Reverse(packed));
    }

    #[inline]
    pub(super) fn pop(&mut self) {
        self.near.pop();
        if self.near.is_empty() {
            self.refill();
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Packed> {
        let parked = self.slots.iter().flatten();
        self.near.iter().chain(parked).chain(&self.beyond).map(|&Reverse(packed)| packed)
    }

    #[inline]
    fn slot(&self, time: f64) -> usize {
        // The cast saturates: a time before the origin is in slot 0, one far away in the last.
        ((time - self.origin) * self.scale) as usize
    }

    /// Moves the next slot that holds anything into the empty heap.
    fn refill(&mut self) {
        while self.cursor + 1 < self.slots.len() {
            self.cursor += 1;
            if !self.slots[self.cursor].is_empty() {
                let parked = std::mem::take(&mut self.slots[self.cursor]);
                self.spare.push(std::mem::replace(&mut self.near, BinaryHeap::from(parked)).into_vec());
                return;
            }
        }
        if !self.beyond.is_empty() {
            self.cut_slots();
        }
    }

    /// The heap has grown large: spreads it, and all else, over new slots.
    #[cold]
    fn spread(&mut self) {
        self.beyond.extend(std::mem::take(&mut self.near));
        for parked in &mut self.slots {
            self.beyond.append(parked);
        }
        self.cut_slots();
        // Times that coincide cannot be spread: leave them in peace until there are twice as many.
        self.limit = SMALL.max(2 * self.near.len());
    }

    /// Cuts new slots for what lies beyond; the heap and all slots are empty before, the heap is not after.
    fn cut_slots(&mut self) {
        let count = self.beyond.len();
        let times = || self.beyond.iter().map(|&Reverse(packed)| time_of(packed));
        let first = times().fold(f64::INFINITY, f64::min);
        let mean_distance = times().map(|time| time - first).sum::<f64>() / count as f64;
        // Were the distances exponential, `count / mean_distance` would be their density at the front, and four mean
        // distances would hold 98 % of them.
        let slots = (4 * count / PER_SLOT).clamp(1, SLOTS);
        let scale = slots as f64 / (4.0 * mean_distance);
        self.spare.extend(self.slots.drain(..).filter(|parked| parked.capacity() > 0));
        self.origin = first;
        self.cursor = 0;
        if scale.is_finite() {
            self.scale = scale;
            self.slots.resize_with(slots, Vec::new);
        } else {
            self.scale = 0.0;
        }
        let mut waiting = std::mem::take(&mut self.beyond);
        for Reverse(packed) in waiting.drain(..) {
            self.push_unchecked(packed);
        }
        if self.beyond.is_empty() {
            self.beyond = waiting;
        }
    }

    /// Like `push`, without looking whether the heap is empty or large.
    fn push_unchecked(&mut self, packed: Packed) {
        let slot = self.slot(time_of(packed));
        if slot <= self.cursor {
            self.near.push(Reverse(packed));
        } else if let Some(parked) = self.slots.get_mut(slot) {
            Self::park(parked, &mut self.spare, packed);
        } else {
            self.beyond.push(Reverse(packed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    fn packed(time: f64, sequence: u64) -> Packed {
        u128::from(time.to_bits()) << u64::BITS | u128::from(sequence)
    }

    /// A hold model beside a plain heap, with waits short, long, very long, equal and zero.
    #[test]
    fn order_is_that_of_a_single_heap() {
        let mut stream = Stream::new(4, 0, Component::Sizes);
        for pending in [1, 10, 5_000] {
            let mut departures = Departures::new();
            let mut plain = BinaryHeap::new();
            let mut now = 0.0;
            for sequence in 0..200_000_u64 {
                let wait = match sequence % 7 {
                    0 => 1.0,
                    1 => 0.0,
                    2 => 1e3 * stream.exponential(),
                    3 if stream.chance(0.01) => 1e12 * stream.exponential(),
                    _ => stream.exponential(),
                };
                departures.push(packed(now + wait, sequence));
                plain.push(Reverse(packed(now + wait, sequence)));
                // Now and then the calendar runs dry.
                let leave = if sequence % 50_000 == 49_999 { plain.len() } else { plain.len().saturating_sub(pending) };
                for _ in 0..leave {
                    let next = plain.pop().map(|Reverse(packed)| packed);
                    assert_eq!(departures.peek(), next);
                    departures.pop();
                    now = next.map_or(now, time_of);
                }
                assert_eq!(departures.peek(), plain.peek().map(|&Reverse(packed)| packed));
            }
            assert_eq!(departures.iter().count(), plain.len());
        }
    }

    #[test]
    fn a_burst_at_one_moment_stays_in_order() {
        let mut departures = Departures::new();
        for sequence in (0..10_000).rev() {
            departures.push(packed(5.0, sequence));
        }
        for sequence in 0..10_000 {
            assert_eq!(departures.peek(), Some(packed(5.0, sequence)));
            departures.pop();
        }
        assert_eq!(departures.peek(), None);
    }
}

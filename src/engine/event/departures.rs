//! Pending departures: a calendar queue (Brown 1988) whose days are sorted when they come.
//!
//! The near future is cut into days of equal length, each an unsorted list in a ring of them. When a day comes, its list
//! is sorted, and departures are taken from its end; those that are scheduled for the day when it has come, or earlier,
//! go to a small heap beside it. What lies beyond the ring waits in one more list, which is looked through twice in a
//! round. The day of a time does not decrease with the time, so events come out in exactly the order of a single heap.

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

/// Later than any departure.
pub(super) const NEVER: Packed = Packed::MAX;

/// The most days: so many list ends stay in the second cache.
const MOST_DAYS: usize = 4096;

/// Departures per day that are aimed at where they are densest.
const PER_DAY: usize = 5;

/// A heap of up to this many is left alone.
const SMALL: usize = 32;

/// All pending departures.
#[derive(Debug)]
pub(super) struct Departures {
    /// The first of all, or [`NEVER`].
    first: Packed,
    /// Those of the present day that were there when it came, the last first.
    today: Vec<Packed>,
    /// Those of the present day and before that came later.
    late: BinaryHeap<Reverse<Packed>>,
    /// The number of the present day.
    day: i64,
    /// The days to come, each at its number modulo their count, which is a power of two; the present one is empty.
    days: Vec<Vec<Packed>>,
    /// Departures in them.
    planned: usize,
    /// Of days that were more than a ring away when they were scheduled.
    beyond: Vec<Packed>,
    /// The day at which they are looked through.
    review: i64,
    /// Start of day 0.
    origin: f64,
    /// Days per unit of time; 0 puts every time into day 0.
    scale: f64,
    /// An empty list, kept for its memory.
    spare: Vec<Packed>,
    /// The calendar is made anew when the late ones are more than this, or all others more or fewer than these.
    most_late: usize,
    most: usize,
    fewest: usize,
}

impl Departures {
    pub(super) fn new() -> Self {
        Self {
            first: NEVER,
            today: Vec::new(),
            late: BinaryHeap::new(),
            day: 0,
            days: vec![Vec::new()],
            planned: 0,
            beyond: Vec::new(),
            review: i64::MAX,
            origin: 0.0,
            scale: 0.0,
            spare: Vec::new(),
            most_late: 2 * SMALL,
            most: usize::MAX,
            fewest: 0,
        }
    }

    /// The first departure; [`NEVER`] if there is none.
    #[inline(always)]
    pub(super) fn first(&self) -> Packed {
        self.first
    }

    /// So many that will leave soon, once for as many: none in between.
    #[inline]
    pub(super) fn soon(&self, departures: usize) -> &[Packed] {
        let left = self.today.len();
        if left.is_multiple_of(departures) { &self.today[left.saturating_sub(departures)..] } else { &[] }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, packed: Packed) {
        let day = self.day_of(time_of(packed));
        if day <= self.day {
            self.push_late(packed);
        } else if self.today.is_empty() && self.late.is_empty() {
            // Nothing is pending, so days may start anywhere.
            (self.origin, self.day) = (time_of(packed), 0);
            self.review = self.days.len() as i64 / 2;
            self.late.push(Reverse(packed));
            self.first = packed;
        } else {
            self.plan(day, packed);
        }
    }

    #[inline]
    fn push_late(&mut self, packed: Packed) {
        self.late.push(Reverse(packed));
        self.first = self.first.min(packed);
        if self.late.len() > self.most_late {
            self.begin_anew();
        }
    }

    /// For a day after the present one.
    #[inline]
    fn plan(&mut self, day: i64, packed: Packed) {
        let ring = self.days.len() as i64;
        if day - self.day < ring {
            self.days[(day & (ring - 1)) as usize].push(packed);
            self.planned += 1;
        } else {
            self.beyond.push(packed);
        }
    }

    /// Takes the first departure.
    #[inline(always)]
    pub(super) fn pop(&mut self) {
        if self.today.last() == Some(&self.first) {
            self.today.pop();
        } else {
            self.late.pop();
        }
        if self.today.is_empty() && self.late.is_empty() {
            self.turn();
        }
        self.find_first();
    }

    #[inline(always)]
    fn find_first(&mut self) {
        let today = self.today.last().copied().unwrap_or(NEVER);
        let late = self.late.peek().map_or(NEVER, |&Reverse(late)| late);
        self.first = today.min(late);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Packed> {
        let late = self.late.iter().map(|&Reverse(packed)| packed);
        let planned = self.days.iter().flatten().copied();
        self.today.iter().copied().chain(late).chain(planned).chain(self.beyond.iter().copied())
    }

    #[inline]
    fn day_of(&self, time: f64) -> i64 {
        // The cast saturates: a time far away is on the last day. It is cheaper with a sign.
        ((time - self.origin) * self.scale) as i64
    }

    /// Turns to the next day with any departure, if there is one.
    #[inline(never)]
    fn turn(&mut self) {
        if self.planned + self.beyond.len() == 0 {
            return;
        }
        let pending = self.planned + self.beyond.len();
        if self.planned == 0 || pending > self.most || pending < self.fewest {
            return self.begin_anew();
        }
        loop {
            self.day += 1;
            if self.day == self.review {
                self.look_beyond();
            }
            let at = (self.day & (self.days.len() as i64 - 1)) as usize;
            if !self.days[at].is_empty() {
                std::mem::swap(&mut self.today, &mut self.days[at]);
                self.planned -= self.today.len();
                self.today.sort_unstable_by_key(|&packed| Reverse(packed));
                return;
            }
        }
    }

    /// Half a round is over: plans what is no longer beyond the ring. The first of it comes half a round later.
    fn look_beyond(&mut self) {
        self.review += self.days.len() as i64 / 2;
        let mut beyond = std::mem::replace(&mut self.beyond, std::mem::take(&mut self.spare));
        for packed in beyond.drain(..) {
            self.plan(self.day_of(time_of(packed)), packed);
        }
        self.spare = beyond;
    }

    /// Makes the calendar anew, for as many departures as there are now; few are left to the heap.
    #[cold]
    fn begin_anew(&mut self) {
        let mut all = std::mem::take(&mut self.spare);
        all.append(&mut self.beyond);
        all.append(&mut self.today);
        all.extend(self.late.drain().map(|Reverse(packed)| packed));
        self.days.iter_mut().for_each(|day| all.append(day));
        let first = all.iter().map(|&packed| time_of(packed)).fold(f64::INFINITY, f64::min);
        let mean_distance = all.iter().map(|&packed| time_of(packed) - first).sum::<f64>() / all.len() as f64;
        // Were the distances exponential, `count / mean_distance` would be their density at the front, and four mean
        // distances would hold 98 % of them.
        let days = (4 * all.len() / PER_DAY).clamp(2, MOST_DAYS).next_power_of_two();
        let scale = days as f64 / (4.0 * mean_distance);
        self.days.resize_with(days, Vec::new);
        self.scale = if all.len() > SMALL && scale.is_finite() { scale } else { 0.0 };
        (self.origin, self.day, self.planned) = (first, 0, 0);
        self.review = days as i64 / 2;
        (self.most, self.fewest) = (2 * all.len(), all.len() / 2);
        for packed in all.drain(..) {
            match self.day_of(time_of(packed)) {
                ..=0 => self.late.push(Reverse(packed)),
                day => self.plan(day, packed),
            }
        }
        self.spare = all;
        // Times that coincide cannot be told apart by days: leave them in peace until there are twice as many.
        self.most_late = 2 * self.late.len().max(SMALL);
        self.find_first();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    fn packed(time: f64, sequence: u64) -> Packed {
        u128::from(time.to_bits()) << u64::BITS | u128::from(sequence)
    }

    /// A hold model beside a plain heap, with waits short, long, very long, equal and zero. Very long waits leave next to
    /// all departures to one day; without them the ring of days goes round many times, and what was beyond it must be
    /// planned in each half.
    #[test]
    fn order_is_that_of_a_single_heap() {
        let mut stream = Stream::new(4, 0, Component::Sizes);
        for (pending, longest) in [(1, 1e12), (10, 1e12), (5_000, 1e12), (500, 1e4)] {
            let mut departures = Departures::new();
            let mut plain = BinaryHeap::new();
            let mut now = 0.0;
            for sequence in 0..200_000_u64 {
                let wait = match sequence % 7 {
                    0 => 1.0,
                    1 => 0.0,
                    2 => 1e3 * stream.exponential(),
                    3 if stream.chance(0.01) => longest * stream.exponential(),
                    _ => stream.exponential(),
                };
                departures.push(packed(now + wait, sequence));
                plain.push(Reverse(packed(now + wait, sequence)));
                // Now and then the calendar runs dry.
                let leave = if sequence % 50_000 == 49_999 { plain.len() } else { plain.len().saturating_sub(pending) };
                for _ in 0..leave {
                    let Some(Reverse(next)) = plain.pop() else { break };
                    assert_eq!(departures.first(), next);
                    departures.pop();
                    now = time_of(next);
                }
                assert_eq!(departures.first(), plain.peek().map_or(NEVER, |&Reverse(packed)| packed));
            }
            assert_eq!(departures.iter().count(), plain.len());
        }
    }

    /// Days are as many as what is pending asks for, hold few departures each and come one after the other, and few come
    /// late, as it grows and shrinks.
    #[test]
    fn the_calendar_is_as_large_as_what_is_pending() {
        let mut stream = Stream::new(5, 0, Component::Sizes);
        let mut departures = Departures::new();
        let (mut now, mut pending, mut sequence) = (0.0, 0, 0);
        for wanted in [10, 1_000, 30, 20_000, 400] {
            for step in 0..10 * wanted.max(2_000) {
                if pending <= wanted {
                    departures.push(packed(now + stream.exponential(), sequence));
                    (pending, sequence) = (pending + 1, sequence + 1);
                }
                if pending >= wanted {
                    now = time_of(departures.first());
                    departures.pop();
                    pending -= 1;
                }
                assert!(departures.late.len() <= departures.most_late, "{wanted}: {}", departures.late.len());
                assert!(step % 1_000 > 0 || departures.iter().count() == pending, "{wanted}: some are lost");
            }
            let days = departures.days.len();
            let expected = if wanted <= SMALL { 0 } else { 4 * wanted / PER_DAY };
            assert!(days >= expected.min(MOST_DAYS) / 3, "{wanted}: {days} days");
            assert!(wanted <= SMALL || days <= 5 * expected, "{wanted}: {days} days");
            assert!(departures.fewest <= pending && pending <= departures.most, "{wanted}: not made anew");
            let fullest = departures.days.iter().map(Vec::len).max().unwrap_or(0);
            assert!(fullest <= 40 * PER_DAY.max(wanted / MOST_DAYS), "{wanted}: {fullest} on a day");
        }
    }

    #[test]
    fn a_burst_at_one_moment_stays_in_order() {
        let mut departures = Departures::new();
        for sequence in (0..10_000).rev() {
            departures.push(packed(5.0, sequence));
        }
        for sequence in 0..10_000 {
            assert_eq!(departures.first(), packed(5.0, sequence));
            departures.pop();
        }
        assert_eq!(departures.first(), NEVER);
    }
}

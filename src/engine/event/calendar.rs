//! The calendar of pending events: the next arrival, all departures, all messages in flight, and what else waits.
//!
//! Events come out by time, and simultaneous ones in the order in which they were scheduled. A departure is known
//! when its job joins, is never cancelled and is one of very many, so departures live in days of packed keys and a
//! binary heap beside them; messages are keyed and cancelled when a newer one overtakes them, so they live in a keyed
//! priority queue.

use super::departures::{Departures, NEVER, Packed, time_of};
use crate::engine::beliefs::Post;
use crate::engine::key::Key;
use crate::engine::messages::{Message, Messages};
use crate::engine::pending::Pending;
use ordered_float::OrderedFloat;

/// The next event; what is rare is taken apart from it, to keep it small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    Arrival,
    Departure {
        server: u32,
    },
    /// A message arrives: see [`Calendar::take_message`].
    Delivery,
    /// Something else's time has come: see [`Calendar::take_waiting`].
    Wait,
}

/// Events that few scenarios have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Waiting {
    /// A server reports to all dispatchers; `None`: all servers do.
    Report { server: Option<u32> },
    /// The delayed picture of a server changes.
    Repaint { server: u32, length: u32 },
    /// A job has got its answers and joins.
    Join(Query),
}

/// A job that waits at its dispatcher for answers, with the choice that they will lead to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Query {
    pub(super) arrived: f64,
    pub(super) dispatcher: u32,
    pub(super) server: u32,
    pub(super) size: f64,
}

pub(super) struct Calendar {
    now: f64,
    /// The next arrival, packed like a departure from server 0; [`NEVER`] if there is none.
    arrival: Packed,
    departures: Departures,
    messages: Messages,
    waiting: Pending<Waiting>,
    /// A packed departure has its server in this many lowest bits, below the sequence number.
    server_bits: u32,
    next_sequence: u64,
    /// Sequence numbers at or above this do not fit beside a server; they are then dealt out anew.
    sequence_limit: u64,
}

impl Calendar {
    pub(super) fn new(servers: u32, keep_overtaken: bool) -> Self {
        let server_bits = (u32::BITS - (servers - 1).leading_zeros()).max(1);
        Self {
            now: 0.0,
            arrival: NEVER,
            departures: Departures::new(),
            messages: Messages::new(keep_overtaken),
            waiting: Pending::new(),
            server_bits,
            next_sequence: 0,
            sequence_limit: 1 << (u64::BITS - server_bits),
        }
    }

    /// The time of the last event taken, or the end that was reached.
    #[inline]
    pub(super) fn now(&self) -> f64 {
        self.now
    }

    #[inline]
    fn key(&mut self, time: f64) -> Key {
        debug_assert!(time >= 0.0, "time {time} is negative or not a number");
        if self.next_sequence == self.sequence_limit {
            self.renumber();
        }
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        Key { time: OrderedFloat(time), sequence }
    }

    #[inline]
    fn pack(&self, key: Key, server: u32) -> Packed {
        let low = key.sequence << self.server_bits | u64::from(server);
        u128::from(key.time.to_bits()) << u64::BITS | u128::from(low)
    }

    #[inline]
    fn unpack(&self, packed: Packed) -> (Key, u32) {
        let low = packed as u64;
        let server = low & ((1 << self.server_bits) - 1);
        (Key { time: OrderedFloat(time_of(packed)), sequence: low >> self.server_bits }, server as u32)
    }

    /// Sets the next arrival; a time of infinity means that there is none.
    #[inline(always)]
    pub(super) fn schedule_arrival(&mut self, time: f64) {
        self.arrival = if time < f64::INFINITY {
            let key = self.key(time);
            self.pack(key, 0)
        } else {
            NEVER
        };
    }

    #[inline(always)]
    pub(super) fn schedule_departure(&mut self, time: f64, server: u32) {
        let key = self.key(time);
        let packed = self.pack(key, server);
        self.departures.push(packed);
    }

    pub(super) fn schedule(&mut self, time: f64, event: Waiting) {
        let key = self.key(time);
        self.waiting.push(key, event);
    }

    /// Takes the next event before `end`; if there is none, the time is `end`.
    #[inline(always)]
    pub(super) fn next_before(&mut self, end: f64) -> Option<Event> {
        let departure = self.departures.first();
        let first = departure.min(self.arrival);
        if !self.messages.is_empty() || !self.waiting.is_empty() {
            let message = self.messages.first().map_or(NEVER, |key| self.pack(key, 0));
            let waiting = self.waiting.first().map_or(NEVER, |key| self.pack(key, 0));
            let other = message.min(waiting);
            if other < first {
                let event = if message < waiting { Event::Delivery } else { Event::Wait };
                return self.advance_to(other, end).then_some(event);
            }
        }
        if !self.advance_to(first, end) {
            return None;
        }
        if departure == first {
            self.departures.pop();
            Some(Event::Departure { server: self.unpack(departure).1 })
        } else {
            self.arrival = NEVER;
            Some(Event::Arrival)
        }
    }

    /// Whether an event is before the end; the time is then that of the event, or else of the end.
    #[inline(always)]
    fn advance_to(&mut self, first: Packed, end: f64) -> bool {
        let time = time_of(first);
        // What never comes has a time that is not a number, and is not before anything.
        let before = time < end;
        debug_assert!(!before || time >= self.now, "the clock went back from {} to {time}", self.now);
        self.now = if before { time } else { end };
        before
    }

    /// The message whose arrival is the event just taken.
    pub(super) fn take_message(&mut self) -> Option<Message> {
        self.messages.take_first()
    }

    /// What waited for the event just taken.
    pub(super) fn take_waiting(&mut self) -> Option<Waiting> {
        self.waiting.pop()
    }

    /// The servers of so many departures that are likely to be the next, if none of them was among those told last.
    #[inline]
    pub(super) fn depart_soon(&self, departures: usize) -> impl Iterator<Item = u32> {
        self.departures.soon(departures).iter().map(|&packed| self.unpack(packed).1)
    }

    /// Times of all pending departures, in no particular order.
    pub(super) fn departure_times(&self) -> impl Iterator<Item = f64> {
        self.departures.iter().map(time_of)
    }

    /// Jobs that wait at their dispatchers for answers, when nothing but jobs waits.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Deals out the sequence numbers of all pending events anew, in their present order.
    #[cold]
    fn renumber(&mut self) {
        let mut departures: Vec<(Key, u32)> = self.departures.iter().map(|packed| self.unpack(packed)).collect();
        let mut sequences: Vec<u64> = departures.iter().map(|(key, _)| key.sequence).collect();
        let arrival = (self.arrival != NEVER).then(|| self.unpack(self.arrival).0);
        sequences.extend(arrival.map(|key| key.sequence));
        sequences.extend(self.messages.sequences());
        sequences.extend(self.waiting.sequences());
        sequences.sort_unstable();
        let renumbered = |old: u64| sequences.partition_point(|&sequence| sequence < old) as u64;
        for (key, _) in &mut departures {
            key.sequence = renumbered(key.sequence);
        }
        self.departures = Departures::new();
        for (key, server) in departures {
            self.departures.push(self.pack(key, server));
        }
        if let Some(key) = arrival {
            self.arrival = self.pack(Key { sequence: renumbered(key.sequence), ..key }, 0);
        }
        self.messages.renumber(renumbered);
        self.waiting.renumber(renumbered);
        self.next_sequence = sequences.len() as u64;
        assert!(self.next_sequence < self.sequence_limit, "more pending events than sequence numbers");
    }
}

impl Post for Calendar {
    fn post(&mut self, delay: f64, message: Message) {
        let key = self.key(self.now + delay);
        self.messages.send(key, message);
    }

    fn overtake(&mut self, server: u32, dispatcher: u32) {
        self.messages.drop_all(server, dispatcher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All events, with what is taken apart from them.
    fn drain(calendar: &mut Calendar) -> Vec<(f64, Event)> {
        std::iter::from_fn(|| {
            let event = calendar.next_before(f64::INFINITY)?;
            match event {
                Event::Delivery => assert!(calendar.take_message().is_some()),
                Event::Wait => assert_eq!(calendar.take_waiting(), Some(REPORT)),
                Event::Arrival | Event::Departure { .. } => {}
            }
            Some((calendar.now(), event))
        })
        .collect()
    }

    fn message(server: u32) -> Message {
        Message { dispatcher: 0, server, length: 2, sent_at: 0.0, jobs_before: 0 }
    }

    const REPORT: Waiting = Waiting::Report { server: None };

    #[test]
    fn simultaneous_events_come_out_in_the_order_of_scheduling() {
        let mut calendar = Calendar::new(5, false);
        calendar.schedule_departure(2.0, 4);
        calendar.schedule_departure(1.0, 3);
        calendar.schedule_arrival(1.0);
        calendar.schedule_departure(1.0, 0);
        calendar.post(1.0, message(1));
        calendar.schedule(1.0, REPORT);
        calendar.schedule_departure(1.0, 2);
        let expected = [
            (1.0, Event::Departure { server: 3 }),
            (1.0, Event::Arrival),
            (1.0, Event::Departure { server: 0 }),
            (1.0, Event::Delivery),
            (1.0, Event::Wait),
            (1.0, Event::Departure { server: 2 }),
            (2.0, Event::Departure { server: 4 }),
        ];
        assert_eq!(drain(&mut calendar), expected);
    }

    #[test]
    fn the_end_itself_is_outside() {
        let mut calendar = Calendar::new(1, false);
        calendar.schedule_departure(3.0, 0);
        calendar.schedule(3.0, REPORT);
        assert_eq!(calendar.next_before(3.0), None);
        assert_eq!(calendar.now(), 3.0);
        assert!(calendar.next_before(3.0_f64.next_up()).is_some());
    }

    /// Sequence numbers run out in the middle: the order of everything pending must not change.
    #[test]
    fn order_survives_renumbering() {
        let mut calendar = Calendar::new(4, false);
        calendar.next_sequence = calendar.sequence_limit - 4;
        calendar.schedule_departure(1.0, 0);
        calendar.schedule_arrival(1.0);
        calendar.schedule(1.0, REPORT);
        calendar.post(1.0, message(2));
        calendar.schedule_departure(1.0, 1);
        calendar.schedule_departure(0.5, 3);
        assert!(calendar.next_sequence < 10);
        let expected = [
            (0.5, Event::Departure { server: 3 }),
            (1.0, Event::Departure { server: 0 }),
            (1.0, Event::Arrival),
            (1.0, Event::Wait),
            (1.0, Event::Delivery),
            (1.0, Event::Departure { server: 1 }),
        ];
        assert_eq!(drain(&mut calendar), expected);
    }
}

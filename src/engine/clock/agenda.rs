//! What has a time of its own beside the clock: messages on their way, reports, late pictures, jobs that ask.

use crate::engine::beliefs::Post;
use crate::engine::key::Key;
use crate::engine::messages::Message;
use crate::engine::pending::Pending;
use ordered_float::OrderedFloat;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Something whose time has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Due {
    /// A message arrives.
    Delivery(Message),
    /// A message arrives that a later-sent one has overtaken: nobody hears it.
    Overtaken,
    /// The delayed picture of a server changes.
    Repaint { server: u32, length: u32 },
    /// A server reports to all dispatchers; `None`: all servers do.
    Report { server: Option<u32> },
    /// A job has got its answers and joins the server that they led to.
    Join(Query),
}

/// A job that waits at its dispatcher for answers, with the choice that they will lead to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Query {
    pub(super) arrived: f64,
    pub(super) dispatcher: u32,
    pub(super) server: u32,
}

/// All that is to come at a known time.
///
/// What comes in the order in which it was put down, as everything does that takes a constant time, waits in a queue
/// and costs O(1); the rest waits in a heap.
pub(super) struct Agenda {
    now: f64,
    in_order: VecDeque<(Key, Due)>,
    others: Pending<Due>,
    /// When the first of all is due.
    first: f64,
    next_sequence: u64,
    overtaking: Option<Overtaking>,
    queries: usize,
}

/// By pair of server and dispatcher: what is known of its messages while some are on their way.
type Overtaking = FxHashMap<(u32, u32), Pair>;

#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// How many are on their way.
    flying: u32,
    /// One more than the sequence number of the last-sent message that has arrived; 0 without.
    heard: u64,
}

impl Agenda {
    /// Nothing yet. Unless overtaken messages are kept, or cannot be, `drop_overtaken` drops them.
    pub(super) fn new(drop_overtaken: bool) -> Self {
        Self {
            now: 0.0,
            in_order: VecDeque::new(),
            others: Pending::new(),
            first: f64::INFINITY,
            next_sequence: 0,
            overtaking: drop_overtaken.then(Overtaking::default),
            queries: 0,
        }
    }

    /// When the first thing is due; infinity if nothing is.
    #[inline]
    pub(super) fn first(&self) -> f64 {
        self.first
    }

    /// Tells the time at which messages are sent from now on.
    #[inline]
    pub(super) fn set_now(&mut self, now: f64) {
        self.now = now;
    }

    pub(super) fn put(&mut self, time: f64, due: Due) {
        let key = Key { time: OrderedFloat(time), sequence: self.next_sequence };
        self.next_sequence += 1;
        if matches!(due, Due::Join(_)) {
            self.queries += 1;
        }
        if self.in_order.back().is_none_or(|(last, _)| last.time <= key.time) {
            self.in_order.push_back((key, due));
        } else {
            self.others.push(key, due);
        }
        self.first = self.first.min(time);
    }

    /// Takes what is due first.
    pub(super) fn take(&mut self) -> Option<Due> {
        let ordered = self.in_order.front().map(|&(key, _)| key);
        let other = self.others.first();
        let from_others = match (ordered, other) {
            (Some(ordered), Some(other)) => other < ordered,
            (ordered, _) => ordered.is_none(),
        };
        let (key, due) = if from_others { (other?, self.others.pop()?) } else { self.in_order.pop_front()? };
        let ordered = self.in_order.front().map_or(f64::INFINITY, |(key, _)| key.time.0);
        self.first = self.others.first().map_or(ordered, |key| key.time.0.min(ordered));
        Some(match due {
            Due::Delivery(message) if self.is_overtaken(key.sequence, &message) => Due::Overtaken,
            Due::Join(_) => {
                self.queries -= 1;
                due
            }
            _ => due,
        })
    }

    /// Jobs that wait at their dispatchers.
    pub(super) fn queries(&self) -> usize {
        self.queries
    }

    /// Notes that a message arrives; whether one that was sent later has arrived before.
    fn is_overtaken(&mut self, sequence: u64, message: &Message) -> bool {
        let Some(pairs) = &mut self.overtaking else { return false };
        let place = (message.server, message.dispatcher);
        let Some(pair) = pairs.get_mut(&place) else { return false };
        let overtaken = pair.heard > sequence;
        pair.heard = pair.heard.max(sequence + 1);
        pair.flying -= 1;
        if pair.flying == 0 {
            pairs.remove(&place);
        }
        overtaken
    }
}

impl Post for Agenda {
    fn post(&mut self, delay: f64, message: Message) {
        if let Some(pairs) = &mut self.overtaking {
            pairs.entry((message.server, message.dispatcher)).or_default().flying += 1;
        }
        self.put(self.now + delay, Due::Delivery(message));
    }

    fn overtake(&mut self, server: u32, dispatcher: u32) {
        let heard = self.next_sequence;
        if let Some(pairs) = &mut self.overtaking
            && let Some(pair) = pairs.get_mut(&(server, dispatcher))
        {
            pair.heard = heard;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(dispatcher: u32, length: u32) -> Message {
        Message { dispatcher, server: 0, length, sent_at: 0.0, jobs_before: 0 }
    }

    /// The lengths told by messages that are heard, with their times.
    fn drain(agenda: &mut Agenda) -> Vec<(f64, u32)> {
        std::iter::from_fn(|| {
            let time = agenda.first();
            agenda.take().map(|due| (time, due))
        })
        .filter_map(|(time, due)| match due {
            Due::Delivery(message) => Some((time, message.length)),
            _ => None,
        })
        .collect()
    }

    /// The same messages as in the test of the calendar's: those due at 5 and 6 are overtaken.
    #[test]
    fn an_overtaken_message_is_not_heard_and_others_are() {
        for (drop, expected) in [
            (true, vec![(1.0, 10), (4.0, 13), (4.0, 14), (7.0, 20)]),
            (false, vec![(1.0, 10), (4.0, 13), (4.0, 14), (5.0, 11), (6.0, 12), (7.0, 20)]),
        ] {
            let mut agenda = Agenda::new(drop);
            for (time, message) in [
                (1.0, message(0, 10)),
                (5.0, message(0, 11)),
                (6.0, message(0, 12)),
                (7.0, message(1, 20)),
                (4.0, message(0, 13)),
                (4.0, message(0, 14)),
            ] {
                agenda.post(time, message);
            }
            assert_eq!(drain(&mut agenda), expected);
            assert!(agenda.overtaking.is_none_or(|pairs| pairs.is_empty()), "pairs without a message take no memory");
            assert_eq!(agenda.first, f64::INFINITY);
        }
    }

    #[test]
    fn a_message_without_delay_overtakes_all() {
        let mut agenda = Agenda::new(true);
        agenda.post(3.0, message(0, 1));
        agenda.post(2.0, message(1, 2));
        agenda.overtake(0, 0);
        agenda.post(2.5, message(0, 3));
        assert_eq!(drain(&mut agenda), [(2.0, 2), (2.5, 3)]);
    }

    #[test]
    fn simultaneous_things_come_out_in_the_order_of_putting_down() {
        let mut agenda = Agenda::new(false);
        let repaint = |length| Due::Repaint { server: 0, length };
        for (time, length) in [(2.0, 5), (1.0, 1), (1.0, 2), (2.0, 6), (1.0, 3)] {
            agenda.put(time, repaint(length));
        }
        let order: Vec<Due> = std::iter::from_fn(|| agenda.take()).collect();
        assert_eq!(order, [1, 2, 3, 5, 6].map(repaint));
    }
}

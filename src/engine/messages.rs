//! Messages in flight from servers to dispatchers.

use super::key::Key;
use priority_queue::PriorityQueue;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// A report: `server` held `length` jobs when it was sent to `dispatcher`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Message {
    pub(super) dispatcher: u32,
    pub(super) server: u32,
    pub(super) length: u32,
    /// When it was sent.
    pub(super) sent_at: f64,
    /// How many jobs the dispatcher had sent to the server by then, modulo 2^32; kept only where it matters.
    pub(super) jobs_before: u32,
}

/// A serial number of a message in flight, unique for the whole run.
type Serial = u64;

/// All messages in flight, first to arrive first.
///
/// For each pair of server and dispatcher the messages in flight arrive in the order of sending, since a message
/// that would be overtaken by a later one is removed when the later one is sent: on arrival it would be dropped. If
/// overtaken messages are kept, pairs need not be known.
#[derive(Default)]
pub(super) struct Messages {
    keep_overtaken: bool,
    queue: PriorityQueue<Flight, Reverse<Key>, FxBuildHasher>,
    pairs: FxHashMap<(u32, u32), VecDeque<Serial>>,
    next_serial: Serial,
}

/// A message in flight: known by its serial number alone, so that it can be found again.
#[derive(Clone, Copy, Debug)]
struct Flight {
    serial: Serial,
    message: Message,
}

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        self.serial == other.serial
    }
}

impl Eq for Flight {}

impl std::hash::Hash for Flight {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.serial.hash(state);
    }
}

impl std::borrow::Borrow<Serial> for Flight {
    fn borrow(&self) -> &Serial {
        &self.serial
    }
}

impl Messages {
    pub(super) fn new(keep_overtaken: bool) -> Self {
        Self { keep_overtaken, ..Self::default() }
    }

    pub(super) fn send(&mut self, arrival: Key, message: Message) {
        let serial = self.next_serial;
        self.next_serial += 1;
        self.queue.push(Flight { serial, message }, Reverse(arrival));
        if self.keep_overtaken {
            return;
        }
        let pair = self.pairs.entry((message.server, message.dispatcher)).or_default();
        while let Some(last) = pair.back()
            && self.queue.get_priority(last).is_some_and(|&Reverse(other)| other.time > arrival.time)
        {
            self.queue.remove(last);
            pair.pop_back();
        }
        pair.push_back(serial);
    }

    /// Drops all messages in flight of a pair: one that needed no time has overtaken them.
    pub(super) fn drop_all(&mut self, server: u32, dispatcher: u32) {
        if self.keep_overtaken || self.queue.is_empty() {
            return;
        }
        for serial in self.pairs.remove(&(server, dispatcher)).into_iter().flatten() {
            self.queue.remove(&serial);
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// When the first message arrives.
    #[inline]
    pub(super) fn first(&self) -> Option<Key> {
        self.queue.peek().map(|(_, &Reverse(key))| key)
    }

    /// Takes the first message.
    pub(super) fn take_first(&mut self) -> Option<Message> {
        let (Flight { message, .. }, _) = self.queue.pop()?;
        let pair = (message.server, message.dispatcher);
        if let Some(serials) = self.pairs.get_mut(&pair) {
            serials.pop_front();
            if serials.is_empty() {
                self.pairs.remove(&pair);
            }
        }
        Some(message)
    }

    pub(super) fn sequences(&self) -> impl Iterator<Item = u64> {
        self.queue.iter().map(|(_, Reverse(key))| key.sequence)
    }

    pub(super) fn renumber(&mut self, renumbered: impl Fn(u64) -> u64) {
        self.queue = std::mem::take(&mut self.queue)
            .into_iter()
            .map(|(flight, Reverse(key))| (flight, Reverse(Key { sequence: renumbered(key.sequence), ..key })))
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ordered_float::OrderedFloat;

    fn key(time: f64, sequence: u64) -> Key {
        Key { time: OrderedFloat(time), sequence }
    }

    fn drain(messages: &mut Messages) -> Vec<(f64, u32)> {
        std::iter::from_fn(|| {
            let key = messages.first()?;
            messages.take_first().map(|message| (key.time.0, message.length))
        })
        .collect()
    }

    #[test]
    fn an_overtaken_message_is_dropped_and_others_are_not() {
        let mut messages = Messages::default();
        let report = |dispatcher, length| Message { dispatcher, server: 0, length, sent_at: 0.0, jobs_before: 0 };
        messages.send(key(1.0, 0), report(0, 10));
        messages.send(key(5.0, 1), report(0, 11));
        messages.send(key(6.0, 2), report(0, 12));
        messages.send(key(7.0, 3), report(1, 20));
        // Sent last to dispatcher 0 and there at 4: the reports due at 5 and 6 are overtaken, the one due at 1 is not,
        // nor is the one to the other dispatcher.
        messages.send(key(4.0, 4), report(0, 13));
        // Simultaneous arrival is not overtaking.
        messages.send(key(4.0, 5), report(0, 14));
        assert_eq!(drain(&mut messages), [(1.0, 10), (4.0, 13), (4.0, 14), (7.0, 20)]);
        assert!(messages.pairs.is_empty(), "pairs without a message in flight take no memory");
    }

    #[test]
    fn overtaken_messages_can_be_kept() {
        let mut messages = Messages::new(true);
        let report = |length| Message { dispatcher: 0, server: 0, length, sent_at: 0.0, jobs_before: 0 };
        messages.send(key(5.0, 0), report(1));
        messages.send(key(4.0, 1), report(2));
        messages.drop_all(0, 0);
        assert_eq!(drain(&mut messages), [(4.0, 2), (5.0, 1)]);
    }
}

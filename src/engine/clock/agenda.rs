//! What comes beside the strikes of the clock: messages on their way, reports, late pictures, jobs that ask.

use crate::engine::beliefs::Post;
use crate::engine::key::Key;
use crate::engine::messages::Message;
use crate::engine::pending::Pending;
use crate::random::Stream;
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

/// All that is to come.
///
/// What comes in the order in which it was put down, as everything does that takes a constant time, waits in a queue
/// and costs O(1), and so does what takes an exponential time: only when the first of that comes is drawn, and which it is
/// not before it does. The rest waits in a heap.
pub(super) struct Agenda {
    now: f64,
    in_order: VecDeque<(Key, Due)>,
    flights: Flights,
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

/// Messages that take exponential times, by their means.
///
/// What is left of such a time has the same law whatever has passed of it, so the first of all comes after an exponential
/// time at the sum of their rates, and is each of them with a probability in proportion to its rate, whenever that is.
struct Flights {
    groups: Vec<Group>,
    /// When the first arrives; infinity if none is on its way.
    next: f64,
    stream: Stream,
}

struct Group {
    mean: f64,
    /// With their sequence numbers, in no order.
    messages: Vec<(u64, Message)>,
}

impl Flights {
    fn send(&mut self, now: f64, mean: f64, sequence: u64, message: Message) {
        // The first of all is the first of those before or the new one.
        self.next = self.next.min(now + mean * self.stream.exponential());
        match self.groups.iter_mut().find(|group| group.mean == mean) {
            Some(group) => group.messages.push((sequence, message)),
            None => self.groups.push(Group { mean, messages: vec![(sequence, message)] }),
        }
    }

    fn rate(&self) -> f64 {
        self.groups.iter().map(|group| group.messages.len() as f64 / group.mean).sum()
    }

    /// Takes the message that arrives at the time of the next one.
    fn take(&mut self) -> Option<(u64, Message)> {
        let mut target = if self.groups.len() > 1 { self.rate() * self.stream.uniform() } else { 0.0 };
        let mut drawn = None;
        for (i, group) in self.groups.iter().enumerate().filter(|(_, group)| !group.messages.is_empty()) {
            // Rounding may leave a target beyond the last.
            drawn = Some(i);
            target -= group.messages.len() as f64 / group.mean;
            if target < 0.0 {
                break;
            }
        }
        let messages = &mut self.groups[drawn?].messages;
        let taken = messages.swap_remove(self.stream.below(messages.len() as u64) as usize);
        let rate = self.rate();
        self.next = if rate > 0.0 { self.next + self.stream.exponential() / rate } else { f64::INFINITY };
        Some(taken)
    }
}

impl Agenda {
    /// Nothing yet. Unless overtaken messages are kept, or cannot be, `drop_overtaken` drops them.
    /// The stream tells exponential times.
    pub(super) fn new(drop_overtaken: bool, stream: Stream) -> Self {
        Self {
            now: 0.0,
            in_order: VecDeque::new(),
            flights: Flights { groups: Vec::new(), next: f64::INFINITY, stream },
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
        if self.flights.next <= self.first {
            let (sequence, message) = self.flights.take()?;
            self.look();
            return Some(self.deliver(sequence, message));
        }
        let ordered = self.in_order.front().map(|&(key, _)| key);
        let other = self.others.first();
        let from_others = match (ordered, other) {
            (Some(ordered), Some(other)) => other < ordered,
            (ordered, _) => ordered.is_none(),
        };
        let (key, due) = if from_others { (other?, self.others.pop()?) } else { self.in_order.pop_front()? };
        self.look();
        Some(match due {
            Due::Delivery(message) => self.deliver(key.sequence, message),
            Due::Join(_) => {
                self.queries -= 1;
                due
            }
            _ => due,
        })
    }

    /// Finds when the first thing is due.
    fn look(&mut self) {
        let ordered = self.in_order.front().map_or(f64::INFINITY, |(key, _)| key.time.0);
        let other = self.others.first().map_or(f64::INFINITY, |key| key.time.0);
        self.first = ordered.min(other).min(self.flights.next);
    }

    fn deliver(&mut self, sequence: u64, message: Message) -> Due {
        if self.is_overtaken(sequence, &message) { Due::Overtaken } else { Due::Delivery(message) }
    }

    /// Notes that a message is on its way.
    fn sets_off(&mut self, message: &Message) {
        if let Some(pairs) = &mut self.overtaking {
            pairs.entry((message.server, message.dispatcher)).or_default().flying += 1;
        }
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
    const IS_MEMORYLESS: bool = true;

    fn post(&mut self, delay: f64, message: Message) {
        self.sets_off(&message);
        self.put(self.now + delay, Due::Delivery(message));
    }

    fn post_memoryless(&mut self, mean: f64, message: Message) {
        self.sets_off(&message);
        self.flights.send(self.now, mean, self.next_sequence, message);
        self.next_sequence += 1;
        self.first = self.first.min(self.flights.next);
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
    use crate::random::Component;

    fn stream() -> Stream {
        Stream::new(6, 0, Component::Flights)
    }

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
            let mut agenda = Agenda::new(drop, stream());
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
        let mut agenda = Agenda::new(true, stream());
        agenda.post(3.0, message(0, 1));
        agenda.post(2.0, message(1, 2));
        agenda.overtake(0, 0);
        agenda.post(2.5, message(0, 3));
        assert_eq!(drain(&mut agenda), [(2.0, 2), (2.5, 3)]);
    }

    #[test]
    fn simultaneous_things_come_out_in_the_order_of_putting_down() {
        let mut agenda = Agenda::new(false, stream());
        let repaint = |length| Due::Repaint { server: 0, length };
        for (time, length) in [(2.0, 5), (1.0, 1), (1.0, 2), (2.0, 6), (1.0, 3)] {
            agenda.put(time, repaint(length));
        }
        let order: Vec<Due> = std::iter::from_fn(|| agenda.take()).collect();
        assert_eq!(order, [1, 2, 3, 5, 6].map(repaint));
    }

    /// Each message arrives after an exponential time with its own mean, whatever else is on its way, and times of different
    /// messages do not depend on each other: 14 scores, of which one is beyond 4.5 in 10,000 right runs.
    #[test]
    fn times_that_are_not_drawn_are_exponential() {
        const RUNS: u32 = 40_000;
        // When they are sent, and their means.
        let sent = [(0.0, 1.0), (0.0, 1.0), (0.0, 4.0), (0.7, 1.0), (2.5, 0.3)];
        let mut agenda = Agenda::new(false, stream());
        let mut times: [Vec<f64>; 5] = Default::default();
        for run in 0..RUNS {
            let start = f64::from(run) * 1e3;
            let mut waiting = sent.iter().zip(0..).peekable();
            while times[4].len() <= run as usize || agenda.first() < f64::INFINITY || waiting.peek().is_some() {
                match waiting.next_if(|((after, _), _)| start + after <= agenda.first()) {
                    Some((&(after, mean), which)) => {
                        agenda.set_now(start + after);
                        agenda.post_memoryless(mean, Message { sent_at: start + after, ..message(0, which) });
                    }
                    None => {
                        let time = agenda.first();
                        let Some(Due::Delivery(message)) = agenda.take() else { panic!("only messages") };
                        times[message.length as usize].push(time - message.sent_at);
                    }
                }
            }
        }
        let n = f64::from(RUNS);
        let score = |name: &str, values: &mut dyn Iterator<Item = f64>, deviation: f64| {
            let z = values.sum::<f64>() / (n.sqrt() * deviation);
            assert!(z.abs() < 4.5, "{name}: {z}");
        };
        for ((_, mean), times) in sent.iter().zip(&times) {
            assert_eq!(times.len(), RUNS as usize);
            // Moments of an exponential time x of mean 1: x - 1 has variance 1, x^2 - 2 has 20.
            score("mean", &mut times.iter().map(|time| time / mean - 1.0), 1.0);
            score("square", &mut times.iter().map(|time| (time / mean).powi(2) - 2.0), 20_f64.sqrt());
        }
        for (one, other) in [(0, 1), (0, 2), (1, 3), (2, 4)] {
            let centred = |which: usize, run: usize| times[which][run] / sent[which].1 - 1.0;
            score("product", &mut (0..RUNS as usize).map(|run| centred(one, run) * centred(other, run)), 1.0);
        }
    }
}

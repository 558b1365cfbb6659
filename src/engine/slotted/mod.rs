//! Slotted time: the discrete-time system of the LED paper.
//!
//! In slot t, in this order: jobs arrive at dispatchers and each dispatcher sends all of its jobs to the one server
//! that it chooses on its view as it stood at the end of slot t - 1; server n offers `S_n(t)` services and
//! `Q_n(t + 1) = max(Q_n(t) + A_n(t) - S_n(t), 0)`; then estimates are updated with the lengths after service. A job
//! that is served in the slot of its arrival has response time 1. A slot costs one pass over the servers.

mod boards;
mod queues;
mod source;

use super::beliefs::{Beliefs, Post};
use super::key::Key;
use super::messages::{Message, Messages};
use super::observer::{Batch, Blocked, Dispatched, Left, MessageKind, Observer, Slot, Snapshot};
use super::{Engine, EngineError, Progress};
use crate::model::slots::{Counts, Slots};
use crate::model::{Fault, System};
use crate::policy::dispatch::Chooser;
use crate::policy::{Information, Need, Policy, View};
use crate::random::{Component, Stream, Streams};
use boards::Boards;
use ordered_float::OrderedFloat;
use queues::Queues;
use source::Source;
use std::collections::VecDeque;

/// One replication of one system under one policy, in slots.
pub struct SlottedEngine<'a> {
    system: &'a System,
    /// Whether dispatchers act on estimates of their own.
    local: bool,
    /// Lengths that the strategy asks for, at most, per dispatcher that has jobs, if the information is exact; else 0.
    lengths_asked: u64,
    /// Messages per length asked for.
    per_probe: u64,
    chooser: Chooser,
    /// A list for the servers that get the jobs of a dispatcher.
    shares: Vec<(u32, u32)>,
    beliefs: Beliefs,
    mail: Mail,
    source: Source,
    /// Law of the services offered, by class.
    services: Vec<Counts>,
    arrival_stream: Stream,
    dispatcher_stream: Stream,
    service_stream: Stream,
    dispatch_stream: Stream,
    /// The present slot; everything before it has happened.
    slot: u64,
    /// True queue lengths at the start of the slot.
    lengths: View,
    /// The jobs behind them.
    queues: Queues,
    /// Jobs that each dispatcher receives in the slot.
    received: Vec<u32>,
    /// The dispatchers that have received jobs in this slot.
    reached: Vec<u32>,
    /// Jobs that each server receives in the slot.
    joining: Vec<u32>,
    /// The servers of a class where jobs join or leave in the slot.
    moving: Vec<Moving>,
    /// Servers that completed a job in the slot.
    completed: Vec<u32>,
    boards: Boards,
    /// Servers that report to all in the slot.
    reporting: Vec<u32>,
    /// Changes of lengths in past slots that a delayed picture does not show yet.
    past: VecDeque<Vec<(u32, u32)>>,
    /// Age of the picture that all dispatchers share, if they share one.
    age: Option<usize>,
}

/// A server where jobs join or leave.
#[derive(Clone, Copy, Debug, Default)]
struct Moving {
    server: u32,
    /// How many leave.
    served: u32,
}

/// Messages that arrive at the end of later slots.
struct Mail {
    messages: Messages,
    slot: u64,
    sequence: u64,
}

impl Post for Mail {
    fn post(&mut self, delay: f64, message: Message) {
        let key = Key { time: OrderedFloat(self.slot as f64 + delay), sequence: self.sequence };
        self.sequence += 1;
        self.messages.send(key, message);
    }

    fn overtake(&mut self, server: u32, dispatcher: u32) {
        self.messages.drop_all(server, dispatcher);
    }
}

impl<'a> SlottedEngine<'a> {
    /// Checks that the laws of a slot can have the means that rates and load ask for, and that the policy has a
    /// meaning in slots.
    ///
    /// # Errors
    /// The broken rule, with its path from the root of the scenario.
    pub fn validate(system: &System, slots: &Slots, policy: &Policy) -> Result<(), Fault> {
        let below = |prefix: &str, fault: Fault| Fault {
            path: format!("slots.{prefix}.{}", fault.path).trim_end_matches('.').to_owned(),
            ..fault
        };
        Source::new(system, slots).map_err(|fault| below("arrivals", fault))?;
        for class in system.servers.classes() {
            slots.service.with_mean(class.rate).map_err(|fault| below("service", fault))?;
        }
        match &policy.information {
            Information::Exact(exact) if !exact.query_delay.is_zero() => Err(Fault::at(
                "policy.information.exact.query_delay",
                "must be 0 in slotted time, where all jobs of a slot are sent at once",
                "use delayed information, or clock: continuous",
            )),
            Information::Delayed(delayed) if delayed.age.get().fract() != 0.0 => Err(Fault::at(
                "policy.information.delayed.age",
                "must be a whole number of slots",
                "write for example age: 2",
            )),
            _ => Ok(()),
        }
    }

    /// Replication `replication` of an experiment with this `seed`, at the start of slot 0.
    ///
    /// # Errors
    /// If a law cannot have its mean; [`SlottedEngine::validate`] tells beforehand.
    pub fn new(
        system: &'a System,
        slots: &Slots,
        policy: &Policy,
        seed: u64,
        replication: u64,
    ) -> Result<Self, EngineError> {
        let servers = &system.servers;
        let streams = Streams::new(seed, replication);
        let lengths = system.initial.lengths(servers.numbered(), &mut streams.take(Component::Initial));
        let mut beliefs = Beliefs::new(system, policy, &lengths, &streams);
        beliefs.round_delays_down();
        let need = policy.dispatch.need(servers);
        let truth_is_looked_at = beliefs.views().is_empty();
        let mut dispatch_stream = streams.take(Component::Dispatch);
        let law = |fault: Fault| EngineError::Law(fault.rule);
        let services = servers.classes().iter().map(|class| slots.service.with_mean(class.rate)).collect();
        Ok(Self {
            system,
            local: policy.information.is_local(),
            lengths_asked: match &policy.information {
                Information::Exact(_) => policy.dispatch.lengths_asked(servers),
                _ => 0,
            },
            per_probe: policy.per_probe,
            chooser: policy.dispatch.prepare(servers, &system.dispatchers, &mut dispatch_stream),
            shares: Vec::new(),
            mail: Mail { messages: Messages::new(beliefs.keeps_overtaken()), slot: 0, sequence: 0 },
            boards: Boards::new(&mut beliefs, servers.numbered()),
            beliefs,
            source: Source::new(system, slots).map_err(law)?,
            services: Result::map_err(services, law)?,
            arrival_stream: streams.take(Component::Arrivals),
            dispatcher_stream: streams.take(Component::Dispatchers),
            service_stream: streams.take(Component::Sizes),
            dispatch_stream,
            slot: 0,
            queues: Queues::new(&lengths),
            lengths: View::truth(lengths, if truth_is_looked_at { need } else { Need::Nothing }, servers),
            received: vec![0; system.dispatchers.len() as usize],
            reached: Vec::new(),
            joining: vec![0; servers.numbered() as usize],
            moving: Vec::new(),
            completed: Vec::new(),
            reporting: Vec::new(),
            past: VecDeque::new(),
            age: match &policy.information {
                Information::Delayed(delayed) if !policy.information.is_exact() => Some(delayed.age.get() as usize),
                _ => None,
            },
        })
    }

    /// One slot.
    fn step<O: Observer>(&mut self, observer: &mut O) -> Result<(), EngineError> {
        observer.slot(&Slot { slot: self.slot, lengths: self.lengths.lengths() });
        let Self { source, received, reached, system, arrival_stream, dispatcher_stream, .. } = self;
        source.draw(received, reached, system, arrival_stream, dispatcher_stream);
        for i in 0..self.reached.len() {
            let dispatcher = self.reached[i];
            self.dispatch(dispatcher, self.received[dispatcher as usize], observer)?;
        }
        self.serve(observer)?;
        self.update(observer);
        self.slot += 1;
        Ok(())
    }

    /// A dispatcher sends its jobs to the servers that the strategy says: one, unless it splits batches.
    #[inline]
    fn dispatch<O: Observer>(&mut self, dispatcher: u32, jobs: u32, observer: &mut O) -> Result<(), EngineError> {
        let view = self.beliefs.view(dispatcher, &self.lengths);
        let mut shares = std::mem::take(&mut self.shares);
        self.chooser.split(dispatcher, jobs, view, &mut self.dispatch_stream, &mut shares);
        if self.lengths_asked > 0 {
            observer.sent(MessageKind::Exact, self.per_probe * (self.lengths_asked - self.chooser.spared()));
        }
        let sent = shares.drain(..).try_for_each(|(server, jobs)| self.hand_over(dispatcher, server, jobs, observer));
        self.shares = shares;
        sent
    }

    /// A dispatcher gives jobs to a server.
    #[inline]
    fn hand_over<O: Observer>(
        &mut self,
        dispatcher: u32,
        server: u32,
        jobs: u32,
        observer: &mut O,
    ) -> Result<(), EngineError> {
        let now = self.slot as f64;
        let found = self.lengths.length(server);
        let joining = &mut self.joining[server as usize];
        let room = self.system.buffer.map_or(u32::MAX, |buffer| buffer.saturating_sub(found.saturating_add(*joining)));
        let admitted = jobs.min(room);
        observer.dispatched(&Dispatched { time: now, dispatcher, server, found, jobs });
        if admitted < jobs {
            observer.blocked(&Blocked { time: now, jobs: jobs - admitted });
        }
        if admitted > 0 {
            observer.batch(&Batch { slot: self.slot, found, jobs: admitted });
            *joining = joining.checked_add(admitted).ok_or(EngineError::LengthOverflow { time: now, server })?;
        }
        // The estimate it had is the one of this slot; with its own jobs it is that of the next.
        self.beliefs.job_sent(now + 1.0, dispatcher, server, jobs, observer)
    }

    /// Every server offers its services.
    fn serve<O: Observer>(&mut self, observer: &mut O) -> Result<(), EngineError> {
        self.completed.clear();
        let mut changes = self.age.map(|_| Vec::new());
        let mut unused = 0;
        let mut first = 0;
        for class in 0..self.services.len() {
            let members = self.system.servers.classes()[class].count as u32;
            unused += self.offer(class, first, members);
            self.settle(class as u32, observer, &mut changes)?;
            first += members;
        }
        observer.unused(unused);
        self.past.extend(changes);
        Ok(())
    }

    /// The servers of a class offer services; those with jobs that join or leave are listed as moving. Returns how many
    /// services nobody took.
    ///
    /// Whether a server serves a job is as good as a coin, so there is no branch on it.
    fn offer(&mut self, class: usize, first: u32, members: u32) -> u64 {
        let services = &self.services[class];
        self.moving.resize(members as usize, Moving::default());
        let range = first as usize..(first + members) as usize;
        let (mut moving, mut unused) = (0, 0);
        let queues = self.lengths.lengths()[range.clone()].iter().zip(&self.joining[range]);
        for (server, (&length, &joining)) in (first..).zip(queues) {
            let offered = services.draw(&mut self.service_stream);
            // A length that would overflow is seen when the jobs join.
            let served = offered.min(length.saturating_add(joining));
            unused += u64::from(offered - served);
            self.moving[moving] = Moving { server, served };
            moving += usize::from(joining | served > 0);
        }
        self.moving.truncate(moving);
        unused
    }

    /// Jobs join and leave at the servers listed as moving.
    fn settle<O: Observer>(
        &mut self,
        class: u32,
        observer: &mut O,
        changes: &mut Option<Vec<(u32, u32)>>,
    ) -> Result<(), EngineError> {
        let slot = self.slot;
        let reports = self.beliefs.reports();
        for &Moving { server, served } in &self.moving {
            let joining = std::mem::take(&mut self.joining[server as usize]);
            let old = self.lengths.length(server);
            let present = old.checked_add(joining).ok_or(EngineError::LengthOverflow { time: slot as f64, server })?;
            if joining > 0 {
                self.queues.join(server, slot, joining);
            }
            if served > 0 {
                self.queues.serve(server, served, |arrived, jobs| {
                    observer.left(&Left { arrived, departed: slot, class, jobs });
                });
                if reports {
                    self.completed.push(server);
                }
            }
            let new = present - served;
            if new != old {
                self.lengths.set(server, new);
                observer.length_moved(slot as f64 + 1.0, server, old, new);
                if let Some(changes) = changes {
                    changes.push((server, new));
                }
            }
        }
        Ok(())
    }

    /// Estimates are updated with the lengths after service; they hold from the start of the next slot.
    fn update<O: Observer>(&mut self, observer: &mut O) {
        let now = self.slot as f64 + 1.0;
        let servers = &self.system.servers;
        self.mail.slot = self.slot;
        while self.mail.messages.first().is_some_and(|key| key.time.0 <= self.slot as f64)
            && let Some(message) = self.mail.messages.take_first()
        {
            self.beliefs.deliver(now, message, observer);
        }
        for &server in &self.completed {
            let length = self.lengths.length(server);
            self.beliefs.report(now, server, length, &mut self.mail, observer);
        }
        for &dispatcher in &self.reached {
            self.received[dispatcher as usize] = 0;
            self.beliefs.ask(now, dispatcher, &self.lengths, &mut self.mail, observer);
        }
        self.boards.due(self.slot as f64, servers.numbered(), &mut self.beliefs, &mut self.reporting);
        for &server in &self.reporting {
            let length = self.lengths.length(server);
            self.beliefs.report_to_all(now, server, length, &mut self.mail, observer);
        }
        // At the start of slot t + 1 the picture is that of the start of slot t + 1 - age.
        while self.age.is_some_and(|age| self.past.len() > age) {
            for (server, length) in self.past.pop_front().into_iter().flatten() {
                self.beliefs.repaint(now, server, length, observer);
            }
        }
    }
}

impl Engine for SlottedEngine<'_> {
    fn run_until<O: Observer>(&mut self, end: f64, events: u64, observer: &mut O) -> Result<Progress, EngineError> {
        // A slot of so many servers is worth about as many events.
        let slots = (events / (1 + self.system.servers.len())).max(1);
        for _ in 0..slots {
            if self.slot as f64 >= end {
                return Ok(Progress::Reached);
            }
            self.step(observer)?;
        }
        Ok(Progress::Paused)
    }

    fn now(&self) -> f64 {
        self.slot as f64
    }

    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            time: self.now(),
            lengths: self.lengths.lengths(),
            counts: &[],
            local: self.local,
            estimates: self.beliefs.views(),
            remaining_time: Some(0.0),
            at_dispatchers: 0,
            slotted: true,
        }
    }

    /// Jobs inside are told, and then served without further arrivals until each has left: as queues are first come,
    /// first served, later jobs would not change when these leave.
    fn close<O: Observer>(&mut self, observer: &mut O) {
        let mut server = 0;
        for (class, (services, members)) in (0_u32..).zip(self.services.iter().zip(self.system.servers.classes())) {
            for _ in 0..members.count {
                self.queues.each(server, |arrived, jobs| observer.stayed(arrived, jobs));
                let mut slot = self.slot;
                while self.queues.holds(server) {
                    let offered = services.draw(&mut self.service_stream);
                    self.queues.serve(server, offered, |arrived, jobs| {
                        observer.left_later(&Left { arrived, departed: slot, class, jobs });
                    });
                    slot += 1;
                }
                server += 1;
            }
        }
        observer.close(&self.snapshot());
    }
}

//! The general event engine: any law of arrivals, sizes and delays, one calendar.
//!
//! An event costs O(log(jobs + messages pending)), whatever the law. A job's size is drawn when it arrives and its
//! departure is then known: `D = max(t, previous departure at that server) + S / mu_n`.

mod calendar;
mod departures;
mod messages;

use super::observer::{Blocked, Dispatched, Joined, LengthChange, MessageKind, Observer, Snapshot};
use super::{EngineError, Progress};
use crate::model::{Sum, System};
use crate::policy::dispatch::Chooser;
use crate::policy::information::{Channel, Rules};
use crate::policy::{Need, Policy, Sampler, View};
use crate::random::{Component, Stream, Streams};
use calendar::{Calendar, Event};
use messages::Message;

/// Why a message is sent.
#[derive(Clone, Copy, Debug)]
enum Report {
    Push,
    Pull,
    OnIdle,
}

/// One replication of one system under one policy.
pub struct EventEngine<'a> {
    system: &'a System,
    rules: Rules,
    /// Whether dispatchers act on estimates of their own.
    local: bool,
    count_own_jobs: bool,
    /// Messages of a strategy with exact information, per job.
    messages_per_choice: u64,
    chooser: Chooser,
    push_sampler: Option<Sampler>,
    arrival_stream: Stream,
    dispatcher_stream: Stream,
    size_stream: Stream,
    dispatch_stream: Stream,
    information_stream: Stream,
    delay_stream: Stream,
    loss_stream: Stream,
    calendar: Calendar,
    now: f64,
    /// Last departure so far from each server: when it has worked off all jobs it holds.
    free_at: Vec<f64>,
    /// True queue lengths.
    queues: View,
    /// Estimates of each dispatcher; empty when information is exact or no strategy or update would look at them.
    estimates: Vec<View>,
}

impl<'a> EventEngine<'a> {
    /// Replication `replication` of an experiment with this `seed`, at time 0.
    ///
    /// # Errors
    /// If the initial lengths exceed what a queue can hold.
    pub fn new(system: &'a System, policy: &Policy, seed: u64, replication: u64) -> Result<Self, EngineError> {
        let servers = &system.servers;
        let streams = Streams::new(seed, replication);
        let mut initial = streams.take(Component::Initial);
        let lengths = system.initial.lengths(servers.len(), &mut initial);
        let mut calendar = Calendar::new(servers.len());
        let mut free_at = vec![0.0; servers.len() as usize];
        for (server, &length) in (0_u32..).zip(&lengths) {
            for _ in 0..length {
                let free = &mut free_at[server as usize];
                *free += system.service.sample(&mut initial) / servers.rate(server);
                calendar.schedule_departure(*free, server);
            }
        }
        let need = policy.dispatch.need(servers);
        let rules = policy.information.rules();
        let local = policy.information.is_local();
        // Without updates, estimates that no strategy looks at need not exist.
        let estimating = local && (need != Need::Nothing || rules != Rules::default());
        let estimates = if estimating {
            vec![View::new(lengths.clone(), need, servers); system.dispatchers.len() as usize]
        } else {
            Vec::new()
        };
        let mut dispatch_stream = streams.take(Component::Dispatch);
        let mut engine = Self {
            system,
            local,
            count_own_jobs: policy.count_own_jobs && estimating,
            messages_per_choice: if local { 0 } else { 2 * policy.dispatch.lengths_asked(servers) },
            chooser: policy.dispatch.prepare(servers, &system.dispatchers, &mut dispatch_stream),
            push_sampler: rules.push.as_ref().map(|push| Sampler::new(push.d.get() as u32, servers.len())),
            rules,
            arrival_stream: streams.take(Component::Arrivals),
            dispatcher_stream: streams.take(Component::Dispatchers),
            size_stream: streams.take(Component::Sizes),
            dispatch_stream,
            information_stream: streams.take(Component::Information),
            delay_stream: streams.take(Component::Delays),
            loss_stream: streams.take(Component::Losses),
            calendar,
            now: 0.0,
            free_at,
            queues: View::new(lengths, if local { Need::Nothing } else { need }, servers),
            estimates,
        };
        engine.schedule_arrival();
        Ok(engine)
    }

    /// Runs until every event before `end` has happened, or `events` of them have.
    ///
    /// # Errors
    /// If a length grows beyond what can be counted.
    pub fn run_until<O: Observer>(&mut self, end: f64, events: u64, observer: &mut O) -> Result<Progress, EngineError> {
        for _ in 0..events {
            let Some((time, event)) = self.calendar.next_before(end) else {
                self.now = end;
                return Ok(Progress::Reached);
            };
            debug_assert!(time >= self.now, "the clock went back from {} to {time}", self.now);
            self.now = time;
            match event {
                Event::Departure { server } => self.depart(server, observer)?,
                Event::Arrival => self.arrive(observer)?,
                Event::Delivery(message) => self.deliver(message, observer),
            }
        }
        Ok(Progress::Paused)
    }

    /// The present time.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// The present state.
    pub fn snapshot(&self) -> Snapshot<'_> {
        let mut remaining_time = Sum::default();
        for departure in self.calendar.departure_times() {
            remaining_time.add(departure - self.now);
        }
        Snapshot {
            time: self.now,
            lengths: self.queues.lengths(),
            local: self.local,
            estimates: &self.estimates,
            remaining_time: remaining_time.value(),
        }
    }

    fn schedule_arrival(&mut self) {
        let arrivals = &self.system.arrivals;
        let next = if arrivals.rate > 0.0 {
            self.now + arrivals.interarrival.sample(&mut self.arrival_stream) / arrivals.rate
        } else {
            f64::INFINITY
        };
        self.calendar.schedule_arrival(next);
    }

    #[inline]
    fn arrive<O: Observer>(&mut self, observer: &mut O) -> Result<(), EngineError> {
        let system = self.system;
        let dispatcher = system.dispatchers.draw(&mut self.dispatcher_stream);
        let size = system.service.sample(&mut self.size_stream);
        let view = self.estimates.get(dispatcher as usize).unwrap_or(&self.queues);
        let server = self.chooser.choose(dispatcher, view, &mut self.dispatch_stream);
        if self.messages_per_choice > 0 {
            observer.sent(MessageKind::Exact, self.messages_per_choice);
        }
        let found = self.queues.length(server);
        observer.dispatched(&Dispatched { time: self.now, dispatcher, server, found });
        if system.buffer.is_some_and(|buffer| found >= buffer) {
            observer.blocked(&Blocked { time: self.now });
        } else {
            self.join(server, found, size, observer)?;
        }
        if self.count_own_jobs {
            let estimate = self.estimates[dispatcher as usize].length(server);
            let one_more = estimate.checked_add(1).ok_or_else(|| self.overflow(server))?;
            self.set_estimate(dispatcher, server, one_more, observer);
        }
        if self.push_sampler.is_some() {
            self.push(dispatcher, observer);
        }
        // Scheduled after the departure, so that a job that leaves just when the next arrives has left first.
        self.schedule_arrival();
        Ok(())
    }

    #[inline]
    fn join<O: Observer>(&mut self, server: u32, found: u32, size: f64, observer: &mut O) -> Result<(), EngineError> {
        let class = self.system.servers.class_of(server);
        let service = size / self.system.servers.classes()[class as usize].rate;
        let free_at = &mut self.free_at[server as usize];
        // A server that holds no job is free now, whatever rounding left in `free_at`.
        let wait = if found == 0 { 0.0 } else { (*free_at - self.now).max(0.0) };
        let departure = if found == 0 { self.now } else { free_at.max(self.now) } + service;
        *free_at = departure;
        let longer = found.checked_add(1).ok_or_else(|| self.overflow(server))?;
        self.calendar.schedule_departure(departure, server);
        self.queues.set(server, class, longer);
        observer.joined(&Joined { time: self.now, class, found, wait, response: wait + service });
        observer.length_changed(&LengthChange { time: self.now, server, class, old: found, new: longer });
        Ok(())
    }

    #[inline]
    fn depart<O: Observer>(&mut self, server: u32, observer: &mut O) -> Result<(), EngineError> {
        let class = self.system.servers.class_of(server);
        let old = self.queues.length(server);
        let new = old - 1;
        self.queues.set(server, class, new);
        observer.length_changed(&LengthChange { time: self.now, server, class, old, new });
        if self.rules.pull.is_some() || self.rules.on_idle.is_some() {
            self.report(server, new, observer);
        }
        Ok(())
    }

    /// Reports of a server that has completed a job and now holds `length`.
    fn report<O: Observer>(&mut self, server: u32, length: u32, observer: &mut O) {
        let stream = &mut self.information_stream;
        let report = if self.rules.pull.as_ref().is_some_and(|pull| pull.happens(length, stream)) {
            Report::Pull
        } else if length == 0 && self.rules.on_idle.is_some() {
            Report::OnIdle
        } else {
            return;
        };
        let dispatchers = self.system.dispatchers.len();
        let dispatcher = if dispatchers == 1 { 0 } else { stream.below(u64::from(dispatchers)) as u32 };
        observer.sent(
            match report {
                Report::Pull => MessageKind::Pull,
                _ => MessageKind::OnIdle,
            },
            1,
        );
        self.send(report, Message { dispatcher, server, length }, observer);
    }

    /// The dispatcher that has just sent a job may ask some servers.
    fn push<O: Observer>(&mut self, dispatcher: u32, observer: &mut O) {
        let (Some(push), Some(mut sampler)) = (&self.rules.push, self.push_sampler.take()) else { return };
        if push.happens(&mut self.information_stream) {
            let sample = sampler.draw(&mut self.information_stream);
            observer.sent(MessageKind::Push, 2 * sample.len() as u64);
            for &server in sample {
                let length = self.queues.length(server);
                self.send(Report::Push, Message { dispatcher, server, length }, observer);
            }
        }
        self.push_sampler = Some(sampler);
    }

    fn channel(rules: &Rules, report: Report) -> Option<Channel<'_>> {
        match report {
            Report::Push => rules.push.as_ref().map(|push| push.channel()),
            Report::Pull => rules.pull.as_ref().map(|pull| pull.channel()),
            Report::OnIdle => rules.on_idle.as_ref().map(|on_idle| on_idle.channel()),
        }
    }

    /// Sends a message: lost, there at once, or on its way.
    fn send<O: Observer>(&mut self, report: Report, message: Message, observer: &mut O) {
        let Some(channel) = Self::channel(&self.rules, report) else { return };
        if channel.loss > 0.0 && self.loss_stream.chance(channel.loss) {
            return;
        }
        if channel.delay.is_zero() {
            self.calendar.drop_deliveries(message.server, message.dispatcher);
            self.deliver(message, observer);
        } else {
            let arrival = self.now + channel.delay.sample(&mut self.delay_stream);
            self.calendar.schedule_delivery(arrival, message);
        }
    }

    fn deliver<O: Observer>(&mut self, message: Message, observer: &mut O) {
        self.set_estimate(message.dispatcher, message.server, message.length, observer);
    }

    #[inline]
    fn set_estimate<O: Observer>(&mut self, dispatcher: u32, server: u32, length: u32, observer: &mut O) {
        let estimates = &mut self.estimates[dispatcher as usize];
        let old = estimates.length(server);
        if old != length {
            estimates.set(server, self.system.servers.class_of(server), length);
            observer.estimate_changed(self.now, dispatcher, server, old, length);
        }
    }

    #[cold]
    fn overflow(&self, server: u32) -> EngineError {
        EngineError::LengthOverflow { time: self.now, server }
    }
}

//! The general event engine: any law of arrivals, sizes and delays, one calendar.
//!
//! A departure costs O(1) in the calendar as long as times are spread, a message O(log(messages pending)). A job's size is
//! drawn when it arrives and its departure is then known: `D = max(t, previous departure at that server) + S / mu_n`.

mod calendar;
mod departures;

use super::beliefs::Beliefs;
use super::observer::{Blocked, Dispatched, Joined, LengthChange, MessageKind, Observer, Snapshot};
use super::{Engine, EngineError, Progress};
use crate::model::arrivals::{Next, Reaches, Source};
use crate::model::law::Draws;
use crate::model::{Law, Sum, System};
use crate::policy::dispatch::Chooser;
use crate::policy::information::{Information, Phase};
use crate::policy::{Need, Pairs, Policy, View};
use crate::random::{Component, Stream, Streams};
use calendar::{Calendar, Event, Query, Waiting};
use std::borrow::Cow;
use std::hint::black_box;

/// Servers from which on their lengths no longer fit the nearer caches.
const FAR: u32 = 20_000;

/// So many jobs and departures are looked at together, so that what is known of their servers comes near all at once.
const AHEAD: usize = 16;

/// Pairs of servers for the next jobs: many drawn at a time, or one as the one before it is taken.
struct PairsAhead {
    pairs: Pairs,
    drawn: [(u32, u32); AHEAD],
    next: usize,
}

impl PairsAhead {
    fn new(pairs: Pairs, many: bool, stream: &mut Stream) -> Self {
        let mut ahead = Self { pairs, drawn: [(0, 0); AHEAD], next: 0 };
        if many {
            ahead.draw(stream)
        } else {
            ahead.drawn[0] = pairs.draw(stream)
        }
        ahead
    }

    #[inline(never)]
    fn draw(&mut self, stream: &mut Stream) {
        self.drawn = std::array::from_fn(|_| self.pairs.draw(stream));
        self.next = 0;
    }
}

/// One replication of one system under one policy.
pub struct EventEngine<'a> {
    system: &'a System,
    /// Whether dispatchers act on estimates of their own.
    local: bool,
    /// Lengths that the strategy asks for per job, at most, if the information is exact; else 0.
    lengths_asked: u64,
    /// Messages per length asked for.
    per_probe: u64,
    /// Law of the time an answer takes, if jobs wait for answers.
    query_delay: Option<Law>,
    /// Age of the picture that all dispatchers share, if they share one.
    age: Option<f64>,
    chooser: Chooser,
    /// Where the shorter of two servers is chosen: the two of each of the next jobs, drawn beforehand.
    pairs: Option<PairsAhead>,
    /// Whether there are so many servers that what is known of one is far away when it is needed.
    looks_ahead: bool,
    beliefs: Beliefs,
    arrivals: Source<'a>,
    /// What the arrivals bring next.
    arriving: Next,
    /// The dispatcher that the last job has reached.
    last_reached: u32,
    dispatcher_stream: Stream,
    sizes: Draws<'a>,
    dispatch_stream: Stream,
    query_stream: Stream,
    calendar: Calendar,
    /// Last departure so far from each server: when it has worked off all jobs it holds.
    free_at: Vec<f64>,
    /// True queue lengths.
    queues: View,
}

impl<'a> EventEngine<'a> {
    /// Replication `replication` of an experiment with this `seed`, at time 0.
    ///
    /// # Errors
    /// If the initial lengths exceed what a queue can hold, or a trace can no longer be read.
    pub fn new(system: &'a System, policy: &Policy, seed: u64, replication: u64) -> Result<Self, EngineError> {
        let servers = &system.servers;
        let streams = Streams::new(seed, replication);
        let mut initial = streams.take(Component::Initial);
        let lengths = system.initial.lengths(servers.numbered(), &mut initial);
        let beliefs = Beliefs::new(system, policy, &lengths, &streams);
        let mut calendar = Calendar::new(servers.numbered(), beliefs.keeps_overtaken());
        let mut free_at = vec![0.0; servers.numbered() as usize];
        for (server, &length) in (0_u32..).zip(&lengths) {
            for _ in 0..length {
                let free = &mut free_at[server as usize];
                *free += system.service.sample(&mut initial) / servers.rate(server);
                calendar.schedule_departure(*free, server);
            }
        }
        let need = policy.dispatch.need(servers);
        let truth_is_looked_at = beliefs.views().is_empty();
        let mut dispatch_stream = streams.take(Component::Dispatch);
        let chooser = policy.dispatch.prepare(servers, &system.dispatchers, &mut dispatch_stream);
        let pairs = chooser.pairs().filter(|_| truth_is_looked_at);
        let looks_ahead = servers.numbered() >= FAR;
        let mut engine = Self {
            system,
            local: policy.information.is_local(),
            lengths_asked: match &policy.information {
                Information::Exact(_) => policy.dispatch.lengths_asked(servers),
                _ => 0,
            },
            per_probe: policy.per_probe,
            query_delay: match &policy.information {
                Information::Exact(exact) if !exact.query_delay.is_zero() => Some(exact.query_delay.clone()),
                _ => None,
            },
            age: match &policy.information {
                Information::Delayed(delayed) if !policy.information.is_exact() => Some(delayed.age.get()),
                _ => None,
            },
            pairs: pairs.map(|pairs| PairsAhead::new(pairs, looks_ahead, &mut dispatch_stream)),
            looks_ahead,
            chooser,
            beliefs,
            arrivals: system.arrivals.start(streams.take(Component::Arrivals))?,
            arriving: Next::NEVER,
            last_reached: 0,
            dispatcher_stream: streams.take(Component::Dispatchers),
            sizes: Draws::new(Cow::Borrowed(&system.service), streams.take(Component::Sizes)),
            dispatch_stream,
            query_stream: streams.take(Component::Delays),
            calendar,
            free_at,
            queues: View::truth(lengths, if truth_is_looked_at { need } else { Need::Nothing }, servers),
        };
        engine.schedule_first_reports();
        engine.schedule_arrival()?;
        Ok(engine)
    }

    #[inline(always)]
    fn schedule_arrival(&mut self) -> Result<(), EngineError> {
        self.arriving = self.arrivals.next(self.calendar.now())?;
        self.calendar.schedule_arrival(self.arriving.time);
        Ok(())
    }

    fn schedule_first_reports(&mut self) {
        match self.beliefs.periodic().map(|periodic| periodic.phase) {
            None => {}
            Some(Phase::Common) => {
                let first = self.beliefs.draw_period();
                self.calendar.schedule(first, Waiting::Report { server: None });
            }
            Some(Phase::Own) => {
                for server in 0..self.system.servers.numbered() {
                    let first = self.beliefs.draw_phase();
                    self.calendar.schedule(first, Waiting::Report { server: Some(server) });
                }
            }
        }
    }

    #[inline(always)]
    fn arrive<O: Observer>(&mut self, observer: &mut O) -> Result<(), EngineError> {
        let now = self.now();
        let system = self.system;
        let dispatcher = match self.arriving.reaches {
            Reaches::Drawn => system.dispatchers.draw(&mut self.dispatcher_stream),
            Reaches::Same => self.last_reached,
            Reaches::Dispatcher(dispatcher) => dispatcher,
            Reaches::Nobody => return self.schedule_arrival(),
        };
        self.last_reached = dispatcher;
        let size = self.arriving.size.unwrap_or_else(|| self.sizes.next());
        let server = self.choose(dispatcher);
        let asked = if self.lengths_asked > 0 { self.lengths_asked - self.chooser.spared() } else { 0 };
        if asked > 0 {
            observer.sent(MessageKind::Exact, self.per_probe * asked);
        }
        let query = Query { arrived: now, dispatcher, server, size };
        if self.query_delay.is_some() && self.lengths_asked > 0 {
            observer.queried(now);
        }
        if let (Some(delay), true) = (&self.query_delay, asked > 0) {
            let slowest = (0..asked).map(|_| delay.sample(&mut self.query_stream)).fold(0.0, f64::max);
            self.calendar.schedule(now + slowest, Waiting::Join(query));
        } else {
            self.hand_over(query, observer)?;
        }
        // Scheduled after the departure, so that a job that leaves just when the next arrives has left first.
        self.schedule_arrival()
    }

    #[inline(always)]
    fn choose(&mut self, dispatcher: u32) -> u32 {
        let Some(ahead) = &mut self.pairs else {
            let view = self.beliefs.view(dispatcher, &self.queues);
            return self.chooser.choose(dispatcher, view, &mut self.dispatch_stream);
        };
        let server = Pairs::shorter(ahead.drawn[ahead.next % AHEAD], |server| self.queues.length(server));
        ahead.next += 1;
        if !self.looks_ahead {
            // One that is drawn now need not be waited for.
            ahead.next = 0;
            ahead.drawn[0] = ahead.pairs.draw(&mut self.dispatch_stream);
        } else if ahead.next == AHEAD {
            ahead.draw(&mut self.dispatch_stream);
            for (one, other) in ahead.drawn {
                black_box((self.queues.length(one), self.queues.length(other)));
                black_box((self.free_at[one as usize], self.free_at[other as usize]));
            }
        }
        server
    }

    /// A dispatcher gives a job to the server it has chosen.
    #[inline(always)]
    fn hand_over<O: Observer>(&mut self, query: Query, observer: &mut O) -> Result<(), EngineError> {
        let Query { arrived, dispatcher, server, size } = query;
        let now = self.now();
        let found = self.queues.length(server);
        observer.dispatched(&Dispatched { time: now, dispatcher, server, found, jobs: 1 });
        if self.system.buffer.is_some_and(|buffer| found >= buffer) {
            observer.blocked(&Blocked { time: now, jobs: 1 });
        } else {
            self.join(server, found, size, now - arrived, observer)?;
        }
        self.beliefs.job_sent(now, dispatcher, server, 1, observer)?;
        self.beliefs.ask(now, dispatcher, &self.queues, &mut self.calendar, observer);
        Ok(())
    }

    #[inline(always)]
    fn join<O: Observer>(
        &mut self,
        server: u32,
        found: u32,
        size: f64,
        queried: f64,
        observer: &mut O,
    ) -> Result<(), EngineError> {
        let now = self.now();
        let class = self.system.servers.class_of(server);
        let service = size / self.system.servers.classes()[class as usize].rate;
        let free_at = &mut self.free_at[server as usize];
        // A server that holds no job has been free since its last departure, which is over.
        let start = if *free_at > now { *free_at } else { now };
        let (wait, departure) = (start - now, start + service);
        *free_at = departure;
        let longer = found.checked_add(1).ok_or(EngineError::LengthOverflow { time: now, server })?;
        self.calendar.schedule_departure(departure, server);
        self.queues.replace(server, found, longer);
        observer.joined(&Joined { time: now, class, found, queried, wait, service });
        self.length_changed(server, class, found, longer, observer);
        Ok(())
    }

    #[inline(always)]
    fn depart<O: Observer>(&mut self, server: u32, observer: &mut O) {
        if self.looks_ahead {
            self.calendar.depart_soon(AHEAD).for_each(|next| {
                black_box(self.queues.length(next));
            });
        }
        let class = self.system.servers.class_of(server);
        let old = self.queues.length(server);
        let new = old.checked_sub(1).expect("whoever departs is among the jobs of its server");
        self.queues.replace(server, old, new);
        self.length_changed(server, class, old, new, observer);
        if self.beliefs.reports() {
            let now = self.calendar.now();
            self.beliefs.report(now, server, new, &mut self.calendar, observer);
        }
    }

    #[inline(always)]
    fn length_changed<O: Observer>(&mut self, server: u32, class: u32, old: u32, new: u32, observer: &mut O) {
        let time = self.now();
        observer.length_changed(&LengthChange { time, server, class, old, new });
        if let Some(age) = self.age {
            self.calendar.schedule(time + age, Waiting::Repaint { server, length: new });
        }
    }

    /// What waited for its time happens.
    fn wake<O: Observer>(&mut self, waiting: Waiting, observer: &mut O) -> Result<(), EngineError> {
        let now = self.now();
        let servers = &self.system.servers;
        match waiting {
            Waiting::Join(query) => self.hand_over(query, observer)?,
            Waiting::Repaint { server, length } => self.beliefs.repaint(now, server, length, observer),
            Waiting::Report { server } => {
                let reporting = server.map_or(0..servers.numbered(), |server| server..server + 1);
                for server in reporting {
                    let length = self.queues.length(server);
                    self.beliefs.report_to_all(now, server, length, &mut self.calendar, observer);
                }
                let next = now + self.beliefs.draw_period();
                self.calendar.schedule(next, waiting);
            }
        }
        Ok(())
    }
}

impl Engine for EventEngine<'_> {
    fn run_until<O: Observer>(&mut self, end: f64, events: u64, observer: &mut O) -> Result<Progress, EngineError> {
        for _ in 0..events {
            match self.calendar.next_before(end) {
                None => return Ok(Progress::Reached),
                Some(Event::Departure { server }) => self.depart(server, observer),
                Some(Event::Arrival) => self.arrive(observer)?,
                Some(Event::Delivery) => {
                    if let Some(message) = self.calendar.take_message() {
                        self.beliefs.deliver(self.calendar.now(), message, observer);
                    }
                }
                Some(Event::Wait) => {
                    if let Some(waiting) = self.calendar.take_waiting() {
                        self.wake(waiting, observer)?;
                    }
                }
            }
        }
        Ok(Progress::Paused)
    }

    fn now(&self) -> f64 {
        self.calendar.now()
    }

    fn snapshot(&self) -> Snapshot<'_> {
        let mut remaining_time = Sum::default();
        for departure in self.calendar.departure_times() {
            remaining_time.add(departure - self.now());
        }
        Snapshot {
            time: self.now(),
            lengths: self.queues.lengths(),
            counts: &[],
            local: self.local,
            estimates: self.beliefs.views(),
            remaining_time: Some(remaining_time.value()),
            // Nothing else waits when jobs wait for answers.
            at_dispatchers: if self.query_delay.is_some() { self.calendar.waiting() as u64 } else { 0 },
            slotted: false,
        }
    }

    fn close<O: Observer>(&mut self, observer: &mut O) {
        observer.close(&self.snapshot());
    }
}

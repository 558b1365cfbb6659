//! One clock for everything memoryless: Poisson arrivals, exponential sizes, any policy and information.
//!
//! The queue lengths are a Markov chain, and so is the chain that is watched whenever one aggregated clock strikes
//! (uniformisation: Jensen 1953). It strikes at the rate `lambda_sum + mu_sum`; each time it offers an arrival, or a
//! service at one of the servers, in proportion to their rates, and a service offered to an idle server is lost. No
//! calendar of departures is kept, an event costs O(1) besides what the policy takes, and a server its length. What else
//! has a time of its own (messages on their way, periodic reports) waits in an agenda; of messages that take exponential
//! times only the first arrival of all is known there, as what is left of such times is exponential, too.
//!
//! # Delays
//! Sizes are not drawn when jobs arrive, and need not be: a job that joins a first-come first-served queue with k jobs
//! at a server of rate mu starts after an Erlang(k, mu) time and leaves after one more exponential time, whatever
//! happens later and whatever the policy, since what is left of the job in service is exponential too. So the engine
//! tells what a job found ([`Admitted`]) and the probes average the conditional laws. This is unbiased for the jobs
//! that join within the window, those still inside at its end too, and has less variance than the times themselves
//! (conditioning; Asmussen and Glynn, Stochastic Simulation, 2007, V.4). Only a job that has waited at its dispatcher
//! for answers gets its own times drawn ([`Joined`]), as they are added to that wait.
//!
//! # Holding times
//! Stationary averages do not need the random times between strikes: their expectation serves as well and adds no
//! noise ([`Holding::Expected`]; discrete-time conversion: Hordijk, Iglehart and Schassberger 1976, Fox and Glynn
//! 1986). The chain then moves in equal steps, and time averages converge to the same limits. This is for steady states
//! only: time courses, and whatever depends on the law of a stretch of time, take real times ([`Holding::Sampled`]).

mod agenda;
mod counting;
mod informed;

use super::beliefs::Beliefs;
use super::observer::{Admitted, Blocked, Dispatched, Joined, LengthChange, MessageKind, Observer, Snapshot};
use super::odds::{Equal, Odds, Offer};
use super::tally::Tally;
use super::ticker::{Holding, Ticker};
use super::{Engine, EngineError, Progress};
use crate::model::law::Erlang;
use crate::model::{Count, Fault, Law, NonNegative, System};
use crate::policy::dispatch::Chooser;
use crate::policy::information::{Information, Phase};
use crate::policy::{Need, Policy, View};
use crate::random::{Component, Stream, Streams};
use agenda::{Agenda, Due, Query};
use counting::Counting;
use informed::{Course, Informed};

/// The most strikes that are counted before anyone can ask for a pause: less than a second's worth.
const MOST_AT_ONCE: u64 = 1 << 22;

/// One replication of one memoryless system under one policy.
pub struct ClockEngine<'a> {
    system: &'a System,
    /// Whether dispatchers act on estimates of their own.
    local: bool,
    /// Whether there is one class, and nothing ever takes time but arrivals and services.
    is_prompt: bool,
    /// Lengths that the strategy asks for per job, at most, if the information is exact; else 0.
    lengths_asked: u64,
    /// Messages per length asked for.
    per_probe: u64,
    /// Law of the time an answer takes, if jobs wait for answers.
    query_delay: Option<Law>,
    /// Age of the picture that all dispatchers share, if they share one.
    age: Option<f64>,
    chooser: Chooser,
    beliefs: Beliefs,
    now: f64,
    ticker: Ticker,
    odds: Odds,
    agenda: Agenda,
    offer_stream: Stream,
    dispatcher_stream: Stream,
    dispatch_stream: Stream,
    query_stream: Stream,
    gap_stream: Stream,
    /// True queue lengths.
    queues: View,
}

impl<'a> ClockEngine<'a> {
    /// Checks that the engine is exact for a system; it is for every policy.
    ///
    /// # Errors
    /// What stands in the way, with its path from the root of the scenario.
    pub fn validate(system: &System) -> Result<(), Fault> {
        let remedy = "write engine: event, which takes any law";
        if !system.arrivals.are_poisson() {
            return Err(Fault::at("arrivals", "must be poisson for an engine without a calendar", remedy));
        }
        if system.service != Law::standard_exponential() {
            return Err(Fault::at("service", "must be exponential for an engine without a calendar", remedy));
        }
        Ok(())
    }

    /// Replication `replication` of an experiment with this `seed`, at time 0; the system must be memoryless.
    ///
    /// # Errors
    /// If the law of a query cannot be prepared.
    pub fn new(
        system: &'a System,
        policy: &Policy,
        holding: Holding,
        seed: u64,
        replication: u64,
    ) -> Result<Self, EngineError> {
        let servers = &system.servers;
        let streams = Streams::new(seed, replication);
        let lengths = system.initial.lengths(servers.numbered(), &mut streams.take(Component::Initial));
        let beliefs = Beliefs::new(system, policy, &lengths, &streams);
        let need = policy.dispatch.need(servers);
        let truth_is_looked_at = beliefs.views().is_empty();
        let mut dispatch_stream = streams.take(Component::Dispatch);
        let mut engine = Self {
            system,
            local: policy.information.is_local(),
            is_prompt: servers.classes().len() == 1 && policy.information.is_prompt(),
            lengths_asked: match &policy.information {
                Information::Exact(_) => policy.dispatch.lengths_asked(servers),
                _ => 0,
            },
            per_probe: policy.per_probe,
            query_delay: match &policy.information {
                Information::Exact(exact) if !exact.query_delay.is_zero() && need != Need::Nothing => {
                    Some(exact.query_delay.clone())
                }
                _ => None,
            },
            age: match &policy.information {
                Information::Delayed(delayed) if !policy.information.is_exact() => Some(delayed.age.get()),
                _ => None,
            },
            chooser: policy.dispatch.prepare(servers, &system.dispatchers, &mut dispatch_stream),
            now: 0.0,
            ticker: Ticker::new(
                holding,
                system.arrivals.rate + servers.total_rate(),
                streams.take(Component::Arrivals),
            ),
            odds: Odds::new(servers, system.arrivals.rate),
            agenda: Agenda::new(beliefs.can_be_overtaken(), streams.take(Component::Flights)),
            beliefs,
            offer_stream: streams.take(Component::Sizes),
            dispatcher_stream: streams.take(Component::Dispatchers),
            dispatch_stream,
            query_stream: streams.take(Component::Delays),
            gap_stream: streams.take(Component::Gaps),
            queues: View::truth(lengths, if truth_is_looked_at { need } else { Need::Nothing }, servers),
        };
        engine.put_first_reports();
        Ok(engine)
    }

    fn put_first_reports(&mut self) {
        match self.beliefs.periodic().map(|periodic| periodic.phase) {
            None => {}
            Some(Phase::Common) => self.agenda.put(self.beliefs.draw_period(), Due::Report { server: None }),
            Some(Phase::Own) => {
                for server in 0..self.system.servers.numbered() {
                    self.agenda.put(self.beliefs.draw_phase(), Due::Report { server: Some(server) });
                }
            }
        }
    }

    /// The clock has struck.
    #[inline]
    fn strike<O: Observer>(&mut self, observer: &mut O) -> Result<(), EngineError> {
        match self.odds.draw(&mut self.offer_stream) {
            Offer::Arrival => self.arrive(observer),
            Offer::Service { class, server } => {
                let server = server as u32;
                let length = self.queues.length(server);
                if length > 0 {
                    self.depart(server, class, length, observer);
                }
                Ok(())
            }
        }
    }

    #[inline]
    fn arrive<O: Observer>(&mut self, observer: &mut O) -> Result<(), EngineError> {
        let now = self.now;
        let dispatcher = self.system.dispatchers.draw(&mut self.dispatcher_stream);
        let view = self.beliefs.view(dispatcher, &self.queues);
        let server = self.chooser.choose(dispatcher, view, &mut self.dispatch_stream);
        let asked = if self.lengths_asked > 0 { self.lengths_asked - self.chooser.spared() } else { 0 };
        if asked > 0 {
            observer.sent(MessageKind::Exact, self.per_probe * asked);
        }
        let query = Query { arrived: now, dispatcher, server };
        if self.query_delay.is_some() && self.lengths_asked > 0 {
            observer.queried(now);
        }
        if let (Some(delay), true) = (&self.query_delay, asked > 0) {
            let slowest = (0..asked).map(|_| delay.sample(&mut self.query_stream)).fold(0.0, f64::max);
            self.agenda.put(now + slowest, Due::Join(query));
            return Ok(());
        }
        self.hand_over(query, observer)
    }

    /// A dispatcher gives a job to the server it has chosen.
    #[inline]
    fn hand_over<O: Observer>(&mut self, query: Query, observer: &mut O) -> Result<(), EngineError> {
        let Query { arrived, dispatcher, server } = query;
        let now = self.now;
        let found = self.queues.length(server);
        observer.dispatched(&Dispatched { time: now, dispatcher, server, found, jobs: 1 });
        if self.system.buffer.is_some_and(|buffer| found >= buffer) {
            observer.blocked(&Blocked { time: now, jobs: 1 });
        } else {
            self.join(server, found, arrived, observer)?;
        }
        self.beliefs.job_sent(now, dispatcher, server, 1, observer)?;
        self.beliefs.ask(now, dispatcher, &self.queues, &mut self.agenda, observer);
        Ok(())
    }

    #[inline]
    fn join<O: Observer>(
        &mut self,
        server: u32,
        found: u32,
        arrived: f64,
        observer: &mut O,
    ) -> Result<(), EngineError> {
        let now = self.now;
        let class = self.system.servers.class_of(server);
        let longer = found.checked_add(1).ok_or(EngineError::LengthOverflow { time: now, server })?;
        self.queues.replace(server, found, longer);
        if self.query_delay.is_none() {
            observer.admitted(&Admitted { time: now, class, found });
        } else {
            let mean = self.system.servers.classes()[class as usize].rate.recip();
            let wait = self.draw_wait(found, mean)?;
            let service = mean * self.query_stream.exponential();
            observer.joined(&Joined { time: now, class, found, queried: now - arrived, wait, service });
        }
        self.length_changed(server, class, found, longer, observer);
        Ok(())
    }

    /// Draws the time that `found` jobs take which need `mean` each on average.
    fn draw_wait(&mut self, found: u32, mean: f64) -> Result<f64, EngineError> {
        let law = |fault: Fault| EngineError::Law(fault.rule);
        match Count::new(u64::from(found)) {
            Err(_) => Ok(0.0),
            Ok(shape) => {
                let mean = NonNegative::new(mean * f64::from(found)).map_err(law)?;
                Ok(Law::Erlang(Erlang::new(shape, mean).map_err(law)?).sample(&mut self.query_stream))
            }
        }
    }

    #[inline]
    fn depart<O: Observer>(&mut self, server: u32, class: u32, old: u32, observer: &mut O) {
        let new = old - 1;
        self.queues.replace(server, old, new);
        self.length_changed(server, class, old, new, observer);
        if self.beliefs.reports() {
            self.beliefs.report(self.now, server, new, &mut self.agenda, observer);
        }
    }

    #[inline]
    fn length_changed<O: Observer>(&mut self, server: u32, class: u32, old: u32, new: u32, observer: &mut O) {
        let time = self.now;
        observer.length_changed(&LengthChange { time, server, class, old, new });
        if let Some(age) = self.age {
            self.agenda.put(time + age, Due::Repaint { server, length: new });
        }
    }

    /// The odds, if nothing but arrivals and services of equal servers ever happens, and the truth is looked at.
    fn plain_odds(&self) -> Option<Equal> {
        self.odds.equal().filter(|_| self.beliefs.is_idle())
    }

    /// Counts arrivals and services from one strike to another.
    fn count_plainly(&mut self, odds: Equal, tally: &mut Tally, from: u64, to: u64) -> Result<(), EngineError> {
        let Self { system, chooser, queues, .. } = self;
        let (offers, choices, shares) =
            (&mut self.offer_stream, &mut self.dispatch_stream, &mut self.dispatcher_stream);
        let counted = chooser.with(Counting { system, odds, queues, offers, choices, shares, tally, from, to });
        counted.map_err(|server| EngineError::LengthOverflow { time: self.now, server })
    }

    /// Counts from one strike to another where dispatchers have estimates, or it matters who they are.
    fn count_informed(&mut self, tick: f64, tally: &mut Tally, from: u64, to: u64) -> Result<(), EngineError> {
        let &mut Self { system, lengths_asked, per_probe, .. } = self;
        let Self { chooser, odds, queues, beliefs, agenda, .. } = self;
        let (offers, choices, shares) =
            (&mut self.offer_stream, &mut self.dispatch_stream, &mut self.dispatcher_stream);
        let course = Course {
            system,
            odds,
            beliefs,
            agenda,
            offers,
            choices,
            shares,
            lengths_asked,
            per_probe,
            tally,
            tick,
            from,
            to,
        };
        chooser.with(Informed { queues, course })
    }

    /// What was on the agenda happens.
    fn happen<O: Observer>(&mut self, due: Due, observer: &mut O) -> Result<(), EngineError> {
        let now = self.now;
        let servers = &self.system.servers;
        match due {
            Due::Overtaken => {}
            Due::Delivery(message) => self.beliefs.deliver(now, message, observer),
            Due::Join(query) => self.hand_over(query, observer)?,
            Due::Repaint { server, length } => self.beliefs.repaint(now, server, length, observer),
            Due::Report { server } => {
                let reporting = server.map_or(0..servers.numbered(), |server| server..server + 1);
                for server in reporting {
                    let length = self.queues.length(server);
                    self.beliefs.report_to_all(now, server, length, &mut self.agenda, observer);
                }
                let next = now + self.beliefs.draw_period();
                self.agenda.put(next, due);
            }
        }
        Ok(())
    }
}

impl Engine for ClockEngine<'_> {
    fn run_until<O: Observer>(&mut self, end: f64, events: u64, observer: &mut O) -> Result<Progress, EngineError> {
        if self.is_prompt
            && let Some(steps) = self.ticker.steps(end)
            && let Some(tally) = observer.tally()
        {
            let gaps = self.gap_stream.clone();
            let odds = self.plain_odds().filter(|_| tally.asks_for_queues_only());
            // The shorter of two is found fast, and better in stretches that are long beside the number of servers.
            let is_fast = odds.is_some() && self.chooser.pairs().is_some();
            let events = if is_fast { events.max(self.system.servers.len().min(MOST_AT_ONCE)) } else { events };
            let (strikes, progress) = tally.count(&steps, events, &gaps, |tally, from, to| match odds {
                Some(odds) => self.count_plainly(odds, tally, from, to),
                None => self.count_informed(steps.tick, tally, from, to),
            })?;
            self.ticker.set_strikes(strikes);
            self.now = if progress == Progress::Reached { end } else { strikes as f64 * steps.tick };
            return Ok(progress);
        }
        for _ in 0..events {
            let due = self.agenda.first();
            if self.ticker.next() < due.min(end) {
                self.now = self.ticker.next();
                self.agenda.set_now(self.now);
                self.strike(observer)?;
                self.ticker.wind();
            } else if due < end {
                self.now = due;
                self.agenda.set_now(self.now);
                if let Some(due) = self.agenda.take() {
                    self.happen(due, observer)?;
                }
            } else {
                self.now = end;
                return Ok(Progress::Reached);
            }
        }
        Ok(Progress::Paused)
    }

    fn now(&self) -> f64 {
        self.now
    }

    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            time: self.now,
            lengths: self.queues.lengths(),
            counts: &[],
            local: self.local,
            estimates: self.beliefs.views(),
            remaining_time: None,
            at_dispatchers: self.agenda.queries() as u64,
            slotted: false,
        }
    }

    fn close<O: Observer>(&mut self, observer: &mut O) {
        observer.close(&self.snapshot());
    }
}

//! Counts instead of servers: the cost and the memory of an event do not depend on the number of servers.
//!
//! When sizes are exponential, arrivals Poisson, information exact and servers of a class exchangeable, the numbers of
//! servers with at least k jobs, by class, are a Markov chain of their own (lumping; Vvedenskaya, Dobrushin and
//! Karpelevich 1996 for d choices). An arrival joins a server of a length that has the probability of
//! [`LevelLaw`](crate::policy::level_law::LevelLaw), and a service is offered to a server whose rank by length is
//! uniform. Delays, holding times and their sources are those of the [clock](super::clock): a job that finds k others
//! waits an Erlang time of k stages, so the law of the delays is computed from what jobs find.
//!
//! Where arrivals join by rank and all is counted, replications move on side by side
//! ([`OccupancyEngine::run_together`]).
//!
//! No server has a name here: [`NOBODY`] stands for it in what observers hear.

mod counts;
mod entry;
mod lanes;

use super::observer::{Admitted, Blocked, Dispatched, LengthChange, MessageKind, Observer, Snapshot};
use super::odds::{Equal, Odds, Offer};
use super::tally::Tally;
use super::ticker::{Holding, Steps, Ticker};
use super::{ClockEngine, Engine, EngineError, Progress};
use crate::model::{Fault, Initial, Servers, System};
use crate::policy::{Information, Need, Pairs, Policy};
use crate::random::{Component, Stream, Streams};
use counts::{AT_ONCE, Counts, Near};
use entry::Entry;
use lanes::Lanes;

pub use lanes::LANES;

/// The server of an event at a server without a name.
pub const NOBODY: u32 = u32::MAX;

/// One replication of one memoryless system of exchangeable servers under one policy.
pub struct OccupancyEngine<'a> {
    system: &'a System,
    local: bool,
    /// Messages of the strategy, per job.
    messages_per_choice: u64,
    now: f64,
    ticker: Ticker,
    odds: Odds,
    entry: Entry,
    counts: Counts,
    /// The first server of each class.
    first: Vec<u64>,
    offer_stream: Stream,
    dispatcher_stream: Stream,
    dispatch_stream: Stream,
    gap_stream: Stream,
}

impl<'a> OccupancyEngine<'a> {
    /// Checks that the engine is exact for a system and a policy.
    ///
    /// # Errors
    /// What stands in the way, with its path from the root of the scenario.
    pub fn validate(system: &System, policy: &Policy) -> Result<(), Fault> {
        ClockEngine::validate(system)?;
        let remedy = "write engine: clock, which keeps every server";
        let blind = policy.dispatch.need(&system.servers) == Need::Nothing;
        if !(policy.information.is_exact() || blind && policy.information == Information::None) {
            let rule = "must be exact, and at once, for an engine that keeps counts of servers only";
            return Err(Fault::at("policy.information", rule, remedy));
        }
        match Entry::new(&policy.dispatch, &system.servers) {
            Ok(_) => Ok(()),
            Err(why) => {
                let rule = format!("has no law of levels, for an engine that keeps counts of servers only: {why}");
                Err(Fault::at("policy.dispatch", rule, remedy))
            }
        }
    }

    /// Whether an arrival is placed without going through all levels of all classes, as it is for uniform samples of one
    /// class of servers.
    pub fn is_quick(system: &System, policy: &Policy) -> bool {
        Entry::new(&policy.dispatch, &system.servers).is_ok_and(|entry| entry.is_quick())
    }

    /// Replication `replication` of an experiment with this `seed`, at time 0.
    ///
    /// # Errors
    /// If the policy has no law of levels; [`OccupancyEngine::validate`] tells beforehand.
    pub fn new(
        system: &'a System,
        policy: &Policy,
        holding: Holding,
        seed: u64,
        replication: u64,
    ) -> Result<Self, EngineError> {
        let servers = &system.servers;
        let streams = Streams::new(seed, replication);
        let sizes: Vec<u64> = servers.classes().iter().map(|class| class.count).collect();
        let rate = system.arrivals.rate + servers.total_rate();
        Ok(Self {
            system,
            local: policy.information.is_local(),
            messages_per_choice: match &policy.information {
                Information::Exact(_) => policy.per_probe * policy.dispatch.lengths_asked(servers),
                _ => 0,
            },
            now: 0.0,
            ticker: Ticker::new(holding, rate, streams.take(Component::Arrivals)),
            odds: Odds::new(servers, system.arrivals.rate),
            entry: Entry::new(&policy.dispatch, servers).map_err(|why| EngineError::Law(why.to_owned()))?,
            counts: Counts::new(&sizes, &initial_levels(&system.initial, servers, &streams)),
            first: sizes
                .iter()
                .scan(0, |next, size| {
                    let first = *next;
                    *next += size;
                    Some(first)
                })
                .collect(),
            offer_stream: streams.take(Component::Sizes),
            dispatcher_stream: streams.take(Component::Dispatchers),
            dispatch_stream: streams.take(Component::Dispatch),
            gap_stream: streams.take(Component::Gaps),
        })
    }

    /// The clock has struck.
    #[inline]
    fn strike<O: Observer>(&mut self, observer: &mut O) -> Result<(), EngineError> {
        match self.odds.draw(&mut self.offer_stream) {
            Offer::Arrival => self.arrive(observer),
            Offer::Service { class, server } => {
                let rank = server - self.first[class as usize];
                let length = self.counts.length(class as usize, rank);
                if length > 0 {
                    self.counts.lower(class as usize, length);
                    let (old, new) = (length as u32, length as u32 - 1);
                    observer.length_changed(&LengthChange { time: self.now, server: NOBODY, class, old, new });
                }
                Ok(())
            }
        }
    }

    #[inline]
    fn arrive<O: Observer>(&mut self, observer: &mut O) -> Result<(), EngineError> {
        let time = self.now;
        let dispatcher = self.system.dispatchers.draw(&mut self.dispatcher_stream);
        let (class, length) = self.entry.draw(&self.counts, &mut self.dispatch_stream);
        if self.messages_per_choice > 0 {
            observer.sent(MessageKind::Exact, self.messages_per_choice);
        }
        let overflow = EngineError::LengthOverflow { time, server: NOBODY };
        let found = u32::try_from(length).map_err(|_| overflow.clone())?;
        observer.dispatched(&Dispatched { time, dispatcher, server: NOBODY, found, jobs: 1 });
        if self.system.buffer.is_some_and(|buffer| found >= buffer) {
            observer.blocked(&Blocked { time, jobs: 1 });
            return Ok(());
        }
        let new = found.checked_add(1).ok_or(overflow)?;
        self.counts.raise(class, length);
        let class = class as u32;
        observer.admitted(&Admitted { time, class, found });
        observer.length_changed(&LengthChange { time, server: NOBODY, class, old: found, new });
        Ok(())
    }
}

/// How many servers of each class hold at least 1, 2, ... jobs at time 0.
fn initial_levels(initial: &Initial, servers: &Servers, streams: &Streams) -> Vec<Vec<u64>> {
    let sizes = || servers.classes().iter().map(|class| class.count);
    match initial {
        Initial::Empty => sizes().map(|_| Vec::new()).collect(),
        Initial::Length(length) => sizes().map(|size| vec![size; *length as usize]).collect(),
        Initial::Tail(tail) => {
            let mut levels = vec![Vec::new(); servers.classes().len()];
            let mut stream = streams.take(Component::Initial);
            // Those that hold at least k jobs are drawn among those that hold at least k - 1.
            let mut left: Vec<u64> = sizes().collect();
            for fraction in tail {
                let all: u64 = left.iter().sum();
                let wanted = ((fraction * servers.len() as f64).round() as u64).min(all);
                left = spread(wanted, &left, &mut stream);
                levels.iter_mut().zip(&left).for_each(|(levels, &count)| levels.push(count));
            }
            levels
        }
    }
}

/// Draws so many servers, all sets being equally likely, and counts them by class.
fn spread(wanted: u64, classes: &[u64], stream: &mut Stream) -> Vec<u64> {
    let mut drawn = vec![0; classes.len()];
    if let [drawn] = &mut drawn[..] {
        *drawn = wanted;
        return vec![wanted];
    }
    for _ in 0..wanted {
        let mut place = stream.below(classes.iter().zip(&drawn).map(|(all, drawn)| all - drawn).sum());
        for (all, drawn) in classes.iter().zip(&mut drawn) {
            if place < all - *drawn {
                *drawn += 1;
                break;
            }
            place -= all - *drawn;
        }
    }
    drawn
}

impl OccupancyEngine<'_> {
    /// Runs one class in equal steps and only counts, from one strike to another.
    fn count(&mut self, from: u64, to: u64, tally: &mut Tally) {
        if let (Some(odds), Some(pairs), Some(near)) = (self.odds.equal(), self.entry.pairs(), self.counts.near()) {
            return self.count_pairs(odds, pairs, near, (from, to), tally);
        }
        let buffer = self.system.buffer.map_or(usize::MAX, |buffer| buffer as usize);
        let (mut offers, mut choices) = (self.offer_stream.clone(), self.dispatch_stream.clone());
        for strike in from + 1..=to {
            match self.odds.draw(&mut offers) {
                Offer::Service { server, .. } => {
                    let length = self.counts.length(0, server);
                    if length > 0 {
                        self.counts.lower(0, length);
                        tally.leave(length as u32, strike);
                    }
                }
                Offer::Arrival => {
                    let (_, length) = self.entry.draw(&self.counts, &mut choices);
                    if length < buffer {
                        self.counts.raise(0, length);
                        tally.join(length as u32, strike);
                    } else {
                        tally.block(length as u32);
                    }
                }
            }
        }
        (self.offer_stream, self.dispatch_stream) = (offers, choices);
    }

    /// The same where an arrival joins the shorter of two servers, with the first levels at hand.
    fn count_pairs(&mut self, odds: Equal, pairs: Pairs, near: Near, (from, to): (u64, u64), tally: &mut Tally) {
        let buffer = self.system.buffer.map_or(usize::MAX, |buffer| buffer as usize);
        let (mut offers, mut choices) = (self.offer_stream.clone(), self.dispatch_stream.clone());
        let (mut near, counts) = (near, &mut self.counts);
        for strike in from + 1..=to {
            if let Some(rank) = odds.draw(&mut offers) {
                match near.length(rank as i32) {
                    Some(0) => {}
                    Some(length) => {
                        near.lower(length);
                        tally.leave(length as u32, strike);
                    }
                    None => {
                        let length = counts.length_of_long(rank);
                        if length == AT_ONCE {
                            near.lower(length)
                        } else {
                            counts.lower(0, length)
                        }
                        tally.leave(length as u32, strike);
                    }
                }
                continue;
            }
            let (one, other) = pairs.draw(&mut choices);
            let rank = one.max(other);
            let found = near.length(rank as i32).unwrap_or_else(|| counts.length_of_long(u64::from(rank)));
            if found >= buffer {
                tally.block(found as u32);
                continue;
            }
            if found < AT_ONCE {
                near.raise(found)
            } else {
                counts.raise(0, found)
            }
            tally.join(found as u32, strike);
        }
        self.counts.take(near.levels());
        (self.offer_stream, self.dispatch_stream) = (offers, choices);
    }
}

impl OccupancyEngine<'_> {
    /// Whether replications can go together, as [`OccupancyEngine::run_together`] tells: where an arrival joins by rank, and
    /// buffers, if any, are not small.
    pub fn can_go_together(system: &System, policy: &Policy) -> bool {
        Entry::new(&policy.dispatch, &system.servers).is_ok_and(|entry| entry.is_by_rank())
            && system.servers.len() < lanes::MOST_SERVERS
            && system.buffer.is_none_or(|buffer| buffer as usize >= AT_ONCE)
    }

    /// Runs replications of one system as [`Engine::run_until`] runs one of them, each with an observer of its own.
    /// Replications that have been together from the start and only have to be counted go on side by side, which takes less
    /// time; the results are the same.
    ///
    /// # Errors
    /// If one of them cannot go on.
    pub fn run_together<O: Observer>(
        engines: &mut [Self; LANES],
        end: f64,
        events: u64,
        observers: &mut [O; LANES],
    ) -> Result<Progress, EngineError> {
        let [first, others @ ..] = &*engines;
        let alike = others.iter().all(|other| std::ptr::eq(other.system, first.system) && other.now == first.now);
        if alike
            && first.entry.is_by_rank()
            && first.counts.near().is_some()
            && first.system.buffer.is_none_or(|buffer| buffer as usize >= AT_ONCE)
            && engines.iter().all(|engine| engine.counts.are_near())
            && let Some(odds) = first.odds.equal()
            && let Some(steps) = first.ticker.steps(end)
            && let [Some(a), Some(b), Some(c), Some(d)] = observers.each_mut().map(Observer::tally)
        {
            let mut tallies = [a, b, c, d];
            if tallies.iter().all(|tally| tally.asks_for_queues_only()) {
                return Ok(Self::count_together(engines, odds, &steps, events, &mut tallies));
            }
        }
        let mut progress = Progress::Reached;
        for (engine, observer) in engines.iter_mut().zip(observers) {
            if engine.run_until(end, events, observer)? == Progress::Paused {
                progress = Progress::Paused;
            }
        }
        Ok(progress)
    }

    fn count_together(
        engines: &mut [Self; LANES],
        odds: Equal,
        steps: &Steps,
        events: u64,
        tallies: &mut [&mut Tally; LANES],
    ) -> Progress {
        let buffer = engines[0].system.buffer.unwrap_or(u32::MAX);
        let mut lanes = Lanes::new(engines.each_ref().map(|engine| &engine.counts), buffer);
        for (tally, engine) in tallies.iter_mut().zip(&*engines) {
            tally.begin(steps, &engine.gap_stream);
        }
        let (mut strikes, last) = (steps.strikes, steps.after(events));
        while let Some(stop) = tallies.iter_mut().filter_map(|tally| tally.open_block(strikes, last)).min() {
            lanes.count(odds, engines, tallies, (strikes, stop));
            tallies.iter_mut().for_each(|tally| tally.close_block(stop));
            strikes = stop;
        }
        let progress = steps.progress(strikes);
        for engine in engines {
            engine.pass(strikes, steps, progress);
        }
        progress
    }

    /// So many strikes have been.
    fn pass(&mut self, strikes: u64, steps: &Steps, progress: Progress) {
        self.ticker.set_strikes(strikes);
        self.now = match progress {
            Progress::Reached => steps.end,
            Progress::Paused => strikes as f64 * steps.tick,
        };
    }
}

impl Engine for OccupancyEngine<'_> {
    fn run_until<O: Observer>(&mut self, end: f64, events: u64, observer: &mut O) -> Result<Progress, EngineError> {
        if self.first.len() == 1
            && let Some(steps) = self.ticker.steps(end)
            && let Some(tally) = observer.tally()
            && tally.asks_for_queues_only()
        {
            let gaps = self.gap_stream.clone();
            let count = |tally: &mut Tally, from, to| {
                self.count(from, to, tally);
                Ok::<(), EngineError>(())
            };
            let (strikes, progress) = tally.count(&steps, events, &gaps, count)?;
            self.pass(strikes, &steps, progress);
            return Ok(progress);
        }
        for _ in 0..events {
            if self.ticker.next() >= end {
                self.now = end;
                return Ok(Progress::Reached);
            }
            self.now = self.ticker.next();
            self.strike(observer)?;
            self.ticker.wind();
        }
        Ok(Progress::Paused)
    }

    fn now(&self) -> f64 {
        self.now
    }

    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            time: self.now,
            lengths: &[],
            counts: self.counts.all(),
            local: self.local,
            estimates: &[],
            remaining_time: None,
            at_dispatchers: 0,
            slotted: false,
        }
    }

    fn close<O: Observer>(&mut self, observer: &mut O) {
        observer.close(&self.snapshot());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many of a class as a hypergeometric law says. A right draw fails with probability 6e-5.
    #[test]
    fn all_sets_of_servers_are_equally_likely() {
        let mut stream = Stream::new(6, 0, Component::Initial);
        let (classes, wanted, draws) = ([30, 10], 20, 4_000);
        let mut first = 0;
        for _ in 0..draws {
            let drawn = spread(wanted, &classes, &mut stream);
            assert_eq!(drawn.iter().sum::<u64>(), wanted);
            first += drawn[0];
        }
        let variance = 20.0 * 0.75 * 0.25 * (20.0 / 39.0);
        let z = (first as f64 - 15.0 * f64::from(draws)) / (variance * f64::from(draws)).sqrt();
        assert!(z.abs() < 4.0, "{first} of the first class in {draws} draws, z = {z}");
        assert_eq!(spread(40, &classes, &mut stream), classes);
    }
}

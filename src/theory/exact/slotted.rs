//! Slotted time: a slot as a chain of steps, one for the jobs of each dispatcher, one for the services of each server
//! and one for the questions of each dispatcher.
//!
//! The steps keep rows short: without them, a state would lead to every combination of arrivals and services.

use super::continuous::Sight;
use super::counts;
use super::law::{Given, Tally};
use super::messages::Messages;
use super::not_solved::NotSolved;
use super::space::Chain;
use super::state::{Layout, State, Symmetry};
use super::updates::Branches;
use crate::model::System;
use crate::model::slots::{Slots, Split};
use crate::policy::Policy;

/// A system in slots.
#[derive(Debug)]
pub(super) struct Slotted {
    layout: Layout,
    symmetry: Symmetry,
    view: Sight,
    messages: Messages,
    arrivals: Arrivals,
    /// Law of the services that each server offers.
    pub(super) services: Vec<Vec<f64>>,
    dispatchers: usize,
    buffer: u16,
    places: Places,
}

/// The law of arrivals.
#[derive(Debug)]
enum Arrivals {
    /// Each dispatcher has its own.
    Own(Vec<Vec<f64>>),
    /// A total, each job of which reaches a dispatcher by the shares.
    Total { law: Vec<f64>, shares: Vec<f64> },
}

/// Where a state keeps what the steps of a slot need.
#[derive(Clone, Copy, Debug)]
struct Places {
    /// The step.
    phase: usize,
    /// Of the total of jobs, those that later dispatchers share.
    left: usize,
    /// Which dispatchers had jobs, a bit for each, if they ask after that.
    had: Option<usize>,
    /// Jobs that join each server, if the queues at the start of the slot are still looked at.
    joining: Option<usize>,
}

impl Slotted {
    /// The chain of a system under a policy.
    ///
    /// # Errors
    /// If it is not a Markov chain on queues and estimates, or a state has too many parts.
    pub(super) fn new(system: &System, slots: &Slots, policy: &Policy) -> Result<Self, NotSolved> {
        let dispatchers = system.dispatchers.len() as usize;
        let shares = system.dispatchers.shares();
        let rate = system.arrivals.rate;
        // A Poisson total that is split by the shares gives independent Poisson numbers.
        let arrivals = if dispatchers == 1 || slots.split == Split::Independent || slots.arrivals.is_poisson() {
            let own: Result<_, _> =
                shares.iter().map(|share| counts::probabilities(&slots.arrivals, share * rate)).collect();
            Arrivals::Own(own?)
        } else {
            Arrivals::Total { law: counts::probabilities(&slots.arrivals, rate)?, shares: shares.to_vec() }
        };
        let rules = policy.information.rules();
        if rules.periodic.is_some() {
            return Err(NotSolved::not_covered("periodic reports, in slots"));
        }
        let pointers = if matches!(policy.dispatch, crate::policy::Dispatch::RoundRobin(_)) { dispatchers } else { 0 };
        let joins = dispatchers > 1 && policy.information.is_exact();
        let extra = 2 + usize::from(rules.push.is_some()) + if joins { system.servers.len() as usize } else { 0 };
        let (view, layout) = Sight::new(system, policy, extra, false)?;
        let phase = layout.rest + pointers;
        let had = rules.push.is_some() && view.updates().is_some();
        let places = Places {
            phase,
            left: phase + 1,
            had: had.then_some(phase + 2),
            joining: joins.then_some(phase + 2 + usize::from(rules.push.is_some())),
        };
        let services: Result<Vec<_>, _> = (0..system.servers.numbered())
            .map(|server| counts::probabilities(&slots.service, system.servers.rate(server)))
            .collect();
        Ok(Self {
            layout,
            symmetry: view.symmetry(system),
            view,
            messages: Messages::new(system, policy),
            arrivals,
            services: services?,
            dispatchers,
            buffer: system.buffer.map_or(u16::MAX, |buffer| u16::try_from(buffer).unwrap_or(u16::MAX)),
            places,
        })
    }

    /// The jobs that a dispatcher may receive now, with probabilities, and how many are then left for the others.
    fn received(&self, state: &State, dispatcher: usize) -> Vec<(u16, u16, f64)> {
        match &self.arrivals {
            Arrivals::Own(laws) => (0..).zip(&laws[dispatcher]).map(|(jobs, &p)| (jobs, 0, p)).collect(),
            Arrivals::Total { law, shares } => {
                let totals: Vec<(u16, f64)> = if dispatcher == 0 {
                    (0..).zip(law.iter().copied()).collect()
                } else {
                    vec![(state[self.places.left], 1.0)]
                };
                let rest: f64 = shares[dispatcher..].iter().sum();
                let share = if dispatcher + 1 == shares.len() { 1.0 } else { shares[dispatcher] / rest };
                let split = |(total, p): (u16, f64)| {
                    let law = counts::split(total, share);
                    (0..=total).zip(law).map(move |(jobs, q)| (jobs, total - jobs, p * q)).collect::<Vec<_>>()
                };
                totals.into_iter().flat_map(split).collect()
            }
        }
    }

    /// What a dispatcher receives and where it goes, with probabilities: jobs, jobs left, server.
    fn choices(&self, state: &State, dispatcher: usize) -> Vec<(u16, u16, Option<usize>, f64)> {
        let choice = self.view.choice(&self.layout, state, dispatcher, self.layout.queues(state));
        let mut choices = Vec::new();
        for (jobs, left, p) in self.received(state, dispatcher).into_iter().filter(|(_, _, p)| *p > 0.0) {
            if jobs == 0 {
                choices.push((0, left, None, p));
                continue;
            }
            let servers = choice.iter().enumerate().filter(|(_, q)| **q > 0.0);
            choices.extend(servers.map(|(server, q)| (jobs, left, Some(server), p * q)));
        }
        choices
    }

    /// Jobs at a server and on their way to it.
    fn ahead(&self, state: &State, server: usize) -> u16 {
        state[server] + self.places.joining.map_or(0, |joining| state[joining + server])
    }

    fn arrive(&self, state: &State, dispatcher: usize) -> Branches {
        let mut branches = Branches::new();
        for (jobs, left, server, probability) in self.choices(state, dispatcher) {
            let mut next = *state;
            next[self.places.left] = left;
            next[self.places.phase] += 1;
            let next = match server {
                None => Some(next),
                Some(server) => {
                    let admitted = jobs.min(self.buffer.saturating_sub(self.ahead(state, server)));
                    next[self.places.joining.map_or(server, |joining| joining + server)] += admitted;
                    if let Some(had) = self.places.had {
                        next[had] |= 1 << dispatcher;
                    }
                    self.view.sent(&self.layout, next, dispatcher, server, jobs)
                }
            };
            branches.push((next.map(|next| self.joined(next, dispatcher)), probability));
        }
        branches
    }

    /// After the last dispatcher, all jobs stand in their queues.
    fn joined(&self, state: State, dispatcher: usize) -> State {
        let mut next = state;
        if let Some(joining) = self.places.joining
            && dispatcher + 1 == self.dispatchers
        {
            for server in 0..self.layout.servers {
                next[server] += std::mem::take(&mut next[joining + server]);
            }
        }
        next
    }

    /// The jobs that a server may serve, with probabilities, if it holds `present`.
    fn served(&self, server: usize, present: u16) -> Vec<(u16, f64)> {
        let law = &self.services[server];
        let most = usize::from(present);
        let mut served: Vec<(u16, f64)> = (0..present).zip(law.iter().copied()).collect();
        served.push((present, law.iter().skip(most).sum()));
        served.retain(|(_, p)| *p > 0.0);
        served
    }

    fn serve(&self, state: &State, server: usize) -> Branches {
        let mut branches = Branches::new();
        for (served, probability) in self.served(server, state[server]) {
            let mut next = *state;
            next[server] -= served;
            next[self.places.phase] += 1;
            let left = vec![(Some(next), probability)];
            match self.view.updates() {
                Some(updates) if served > 0 => branches.append(&mut updates.report(left, server)),
                _ => branches.extend(left),
            }
        }
        branches
    }

    fn ask(&self, state: &State, dispatcher: usize) -> Branches {
        let mut next = *state;
        next[self.places.phase] += 1;
        let asks = self.places.had.is_some_and(|had| state[had] >> dispatcher & 1 == 1);
        if let Some(had) = self.places.had {
            next[had] &= !(1 << dispatcher);
        }
        let before = vec![(Some(next), 1.0)];
        match self.view.updates() {
            Some(updates) if asks => updates.ask(before, dispatcher),
            _ => before,
        }
    }

    fn phases(&self) -> usize {
        self.dispatchers + self.layout.servers + if self.places.had.is_some() { self.dispatchers } else { 0 }
    }
}

impl Chain for Slotted {
    fn start(&self) -> State {
        State::default()
    }

    fn branches(&self, state: &State) -> Branches {
        let phase = self.phase(state);
        // A queue that has reached a quarter of what a state can hold grows no more.
        if self.layout.queues(state).iter().any(|&length| length > u16::MAX / 4) {
            return vec![(None, 1.0)];
        }
        let branches = if phase < self.dispatchers {
            self.arrive(state, phase)
        } else if phase < self.dispatchers + self.layout.servers {
            self.serve(state, phase - self.dispatchers)
        } else {
            self.ask(state, phase - self.dispatchers - self.layout.servers)
        };
        let last = self.phases();
        let ended = |state: State| {
            let mut next = state;
            if usize::from(next[self.places.phase]) == last {
                next[self.places.phase] = 0;
                next = self.symmetry.representative(&self.layout, &next, |_, _, _| {});
            }
            next
        };
        branches.into_iter().map(|(state, probability)| (state.map(ended), probability)).collect()
    }

    fn level(&self, state: &State) -> usize {
        self.layout.jobs(state)
    }

    fn longest(&self, state: &State) -> usize {
        self.layout.longest(state)
    }

    fn phase(&self, state: &State) -> usize {
        usize::from(state[self.places.phase])
    }

    fn tally(&self, state: &State, weight: f64, tally: &mut Tally) {
        let phase = self.phase(state);
        let queues = self.layout.queues(state);
        if phase == 0 {
            tally.add_state(weight, queues);
            self.view.tally_estimates(&self.layout, state, weight, tally);
        }
        if phase < self.dispatchers {
            let known = phase == 0 || self.places.joining.is_some();
            for (jobs, _, server, probability) in self.choices(state, phase) {
                let Some(server) = server else { continue };
                let ahead = self.ahead(state, server);
                let admitted = jobs.min(self.buffer.saturating_sub(ahead));
                let queues = known.then_some(queues);
                tally.add_jobs(weight * probability, Given { server, ahead, jobs, admitted, queues });
                tally.messages += weight * probability * self.messages.per_choice();
            }
        } else if phase < self.dispatchers + self.layout.servers {
            let server = phase - self.dispatchers;
            for (served, probability) in self.served(server, queues[server]) {
                if served > 0 {
                    let now_idle = served == queues[server];
                    tally.messages += weight * probability * self.messages.per_completion(now_idle);
                }
            }
        }
    }
}

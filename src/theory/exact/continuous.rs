//! Continuous time: queues, estimates and messages as a Markov chain with rates.

use super::joining::Joining;
use super::law::{Given, Tally};
use super::messages::Messages;
use super::not_solved::NotSolved;
use super::space::Chain;
use super::state::{Layout, State, Symmetry};
use super::updates::{Branches, Updates};
use crate::model::{Law, System};
use crate::policy::information::Phase;
use crate::policy::{Dispatch, Information, Policy};

/// A system with Poisson arrivals and exponential sizes.
#[derive(Debug)]
pub(super) struct Continuous {
    layout: Layout,
    symmetry: Symmetry,
    /// The rate of arrivals at each dispatcher that matters by itself.
    arrivals: Vec<f64>,
    rates: Vec<f64>,
    buffer: u16,
    view: Sight,
    messages: Messages,
    /// Periodic reports per unit of time, and whether all servers report at once.
    reports: Option<(f64, bool)>,
}

/// What a dispatcher looks at.
#[derive(Debug)]
pub(super) enum Sight {
    /// The truth.
    Truth(Joining),
    /// Its own estimates.
    Estimates(Joining, Box<Updates>),
    /// Nothing: it goes round the servers, and the place to go on from is kept behind the queues.
    Round,
}

impl Sight {
    /// What the dispatchers of a system look at; `in_flight` allows messages that take time.
    pub(super) fn new(
        system: &System,
        policy: &Policy,
        extra: usize,
        in_flight: bool,
    ) -> Result<(Self, Layout), NotSolved> {
        let servers = &system.servers;
        let dispatchers = system.dispatchers.len();
        if matches!(policy.dispatch, Dispatch::RoundRobin(_)) {
            let layout = Layout::new(servers.len(), 0, (dispatchers as usize).saturating_add(extra))?;
            return Ok((Self::Round, layout));
        }
        let alone = Layout::new(servers.len(), 0, extra)?;
        let joining = Joining::new(&policy.dispatch, servers)?;
        match &policy.information {
            information if information.is_exact() => Ok((Self::Truth(joining), alone)),
            Information::Exact(_) => Err(NotSolved::not_covered("jobs wait at their dispatchers for answers")),
            Information::Delayed(_) => {
                Err(NotSolved::not_covered("the picture that dispatchers look at has a fixed age"))
            }
            Information::None | Information::Rules(_) => {
                let layout = Layout::new(servers.len(), dispatchers, extra)?;
                let updates = Updates::new(policy, layout, joining.indistinct_from(), in_flight)?;
                if !updates.refresh() {
                    let why = if policy.count_own_jobs {
                        "estimates that nothing refreshes only grow"
                    } else {
                        "estimates that nothing refreshes stay what they were at the start"
                    };
                    return Err(NotSolved::no_steady_state(why));
                }
                Ok((Self::Estimates(joining, Box::new(updates)), layout))
            }
        }
    }

    /// The probability that a dispatcher chooses each server.
    pub(super) fn choice(&self, layout: &Layout, state: &State, dispatcher: usize, truth: &[u16]) -> Vec<f64> {
        match self {
            Self::Truth(joining) => joining.probabilities(truth),
            Self::Estimates(joining, _) => joining.probabilities(layout.estimates(state, dispatcher)),
            Self::Round => {
                let next = usize::from(state[layout.rest + dispatcher]);
                (0..layout.servers).map(|server| if server == next { 1.0 } else { 0.0 }).collect()
            }
        }
    }

    /// The states after a dispatcher has sent jobs to a server.
    pub(super) fn sent(
        &self,
        layout: &Layout,
        state: State,
        dispatcher: usize,
        server: usize,
        jobs: u16,
    ) -> Option<State> {
        match self {
            Self::Truth(_) => Some(state),
            Self::Estimates(_, updates) => updates.job_sent(state, dispatcher, server, jobs),
            Self::Round => {
                let mut next = state;
                let place = &mut next[layout.rest + dispatcher];
                *place = (*place + 1) % layout.servers as u16;
                Some(next)
            }
        }
    }

    /// The update rules, if there are estimates.
    pub(super) fn updates(&self) -> Option<&Updates> {
        match self {
            Self::Estimates(_, updates) => Some(updates),
            Self::Truth(_) | Self::Round => None,
        }
    }

    /// Adds how far the estimates are off, if they are kept in full.
    pub(super) fn tally_estimates(&self, layout: &Layout, state: &State, weight: f64, tally: &mut Tally) {
        match self {
            Self::Truth(_) => tally.estimates = Some((0.0, 0.0)),
            Self::Round => {}
            Self::Estimates(_, updates) => {
                for dispatcher in (0..layout.believers).filter(|_| updates.keeps_lengths()) {
                    let weight = weight / layout.believers as f64;
                    tally.add_estimates(weight, layout.queues(state), layout.estimates(state, dispatcher));
                }
            }
        }
    }

    /// Which states are alike.
    pub(super) fn symmetry(&self, system: &System) -> Symmetry {
        match self {
            Self::Truth(_) => Symmetry::of_queues(&system.servers),
            Self::Estimates(..) => Symmetry::of_estimates(&system.servers, system.dispatchers.shares()),
            Self::Round => Symmetry::None,
        }
    }
}

impl Continuous {
    /// The chain of a system under a policy.
    ///
    /// # Errors
    /// If it is not a Markov chain on queues, estimates and messages, or a state has too many parts.
    pub(super) fn new(system: &System, policy: &Policy) -> Result<Self, NotSolved> {
        let (view, layout) = Sight::new(system, policy, 0, true)?;
        let reports = match view.updates().and_then(|updates| updates.rules().periodic.as_ref()) {
            None => None,
            Some(periodic) if matches!(periodic.period, Law::Exponential(_)) => {
                Some((1.0 / periodic.period.mean(), periodic.phase == Phase::Common))
            }
            Some(_) => return Err(NotSolved::not_covered("the time between periodic reports is not exponential")),
        };
        let rate = system.arrivals.rate;
        // On the truth, all dispatchers are one.
        let arrivals = match &view {
            Sight::Truth(_) => vec![rate],
            _ => system.dispatchers.shares().iter().map(|share| share * rate).collect(),
        };
        Ok(Self {
            layout,
            symmetry: view.symmetry(system),
            arrivals,
            rates: (0..system.servers.numbered()).map(|server| system.servers.rate(server)).collect(),
            buffer: system.buffer.map_or(u16::MAX, |buffer| u16::try_from(buffer).unwrap_or(u16::MAX)),
            view,
            messages: Messages::new(system, policy),
            reports,
        })
    }

    fn arrive(&self, state: &State, branches: &mut Branches) {
        for (dispatcher, &rate) in self.arrivals.iter().enumerate().filter(|(_, rate)| **rate > 0.0) {
            let choice = self.view.choice(&self.layout, state, dispatcher, self.layout.queues(state));
            for (server, &probability) in choice.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                let mut next = *state;
                next[server] += u16::from(next[server] < self.buffer);
                let next = self.view.sent(&self.layout, next, dispatcher, server, 1);
                let sent = vec![(next, rate * probability)];
                match self.view.updates() {
                    Some(updates) => branches.append(&mut updates.ask(sent, dispatcher)),
                    None => branches.extend(sent),
                }
            }
        }
    }

    fn depart(&self, state: &State, branches: &mut Branches) {
        for (server, &rate) in self.rates.iter().enumerate().filter(|(server, _)| state[*server] > 0) {
            let mut next = *state;
            next[server] -= 1;
            let left = vec![(Some(next), rate)];
            match self.view.updates() {
                Some(updates) => branches.append(&mut updates.report(left, server)),
                None => branches.extend(left),
            }
        }
    }

    fn refresh(&self, state: &State, branches: &mut Branches) {
        let Some(updates) = self.view.updates() else { return };
        if let Some((rate, common)) = self.reports {
            let servers = self.layout.servers;
            let together = if common { servers } else { 1 };
            for first in (0..servers).step_by(together) {
                branches.append(&mut updates.report_to_all(*state, rate, first..first + together));
            }
        }
        updates.arrivals_of_messages(state, branches);
    }
}

impl Chain for Continuous {
    fn start(&self) -> State {
        State::default()
    }

    fn branches(&self, state: &State) -> Branches {
        let mut branches = Branches::new();
        // A queue that has reached what a state can hold grows no more.
        if self.layout.queues(state).contains(&(u16::MAX - 1)) {
            return vec![(None, 1.0)];
        }
        self.arrive(state, &mut branches);
        self.depart(state, &mut branches);
        self.refresh(state, &mut branches);
        let alike = |state: State| {
            self.symmetry.representative(&self.layout, &state, |other, servers, dispatchers| {
                if let Some(updates) = self.view.updates() {
                    updates.move_flights(other, servers, dispatchers);
                }
            })
        };
        branches.into_iter().map(|(state, rate)| (state.map(alike), rate)).collect()
    }

    fn level(&self, state: &State) -> usize {
        self.layout.jobs(state)
    }

    fn longest(&self, state: &State) -> usize {
        self.layout.longest(state)
    }

    fn phase(&self, _: &State) -> usize {
        0
    }

    fn tally(&self, state: &State, weight: f64, tally: &mut Tally) {
        let queues = self.layout.queues(state);
        tally.add_state(weight, queues);
        self.view.tally_estimates(&self.layout, state, weight, tally);
        let total: f64 = self.arrivals.iter().sum();
        let reports = queues.iter().zip(&self.rates).filter(|(length, _)| **length > 0);
        let reports: f64 = reports.map(|(length, rate)| rate * self.messages.per_completion(*length == 1)).sum();
        tally.messages += weight * (self.messages.per_choice() + (reports + self.messages.periodic()) / total);
        for (dispatcher, &rate) in self.arrivals.iter().enumerate() {
            let choice = self.view.choice(&self.layout, state, dispatcher, queues);
            for (server, probability) in choice.into_iter().enumerate() {
                let weight = weight * rate / total * probability;
                if weight > 0.0 {
                    let room = self.buffer.saturating_sub(queues[server]).min(1);
                    let ahead = queues[server];
                    tally.add_jobs(weight, Given { server, ahead, jobs: 1, admitted: room, queues: Some(queues) });
                }
            }
        }
    }
}

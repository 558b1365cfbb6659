//! How estimates change: messages that are lost, arrive at once, or are on their way for an exponential time.

use super::not_solved::NotSolved;
use super::state::{Layout, SLOTS, State};
use crate::model::Law;
use crate::policy::Policy;
use crate::policy::information::{Channel, InFlight, Overtaking, Rules};

/// What may come of a state: other states with their rates or probabilities. `None` stands for a state that has no
/// room for another message or a longer queue.
pub(super) type Branches = Vec<(Option<State>, f64)>;

/// Which rule has sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Push,
    Pull,
    OnIdle,
    Periodic,
}

/// A message in flight takes one place of a state: 1 bit to tell it from none, 2 for the kind, 4 for the dispatcher
/// and server, 9 for the length.
const FLIGHT: u16 = 1 << 15;
const LENGTH_BITS: u32 = 9;
const PAIR_BITS: u32 = 4;

/// The update rules of a system with few servers and dispatchers.
#[derive(Clone, Debug)]
pub(super) struct Updates {
    rules: Rules,
    layout: Layout,
    count_own_jobs: bool,
    /// Estimates are cut to this: the strategy tells no longer ones apart.
    largest: u16,
    /// Whether messages may be on their way, from `layout.rest` on.
    flights: bool,
    /// The sets of servers that a push asks, all equally likely.
    asked: Vec<Vec<usize>>,
}

impl Updates {
    /// The rules of a policy with local information. Messages may take time only `in_flight`.
    ///
    /// # Errors
    /// If messages take a time that is not exponential, or may not take time, or something of them must be remembered.
    pub(super) fn new(
        policy: &Policy,
        layout: Layout,
        largest: Option<u16>,
        in_flight: bool,
    ) -> Result<Self, NotSolved> {
        let rules = policy.information.rules();
        let mut updates = Self {
            asked: rules.push.as_ref().map_or(Vec::new(), |push| subsets(layout.servers, push.d.get() as usize)),
            rules,
            layout,
            count_own_jobs: policy.count_own_jobs,
            largest: largest.unwrap_or(u16::MAX),
            flights: false,
        };
        for kind in [Kind::Push, Kind::Pull, Kind::OnIdle, Kind::Periodic] {
            let Some(channel) = updates.channel(kind) else { continue };
            if channel.delay.is_zero() {
                continue;
            }
            if !matches!(channel.delay, Law::Exponential(_)) {
                return Err(NotSolved::not_covered("messages take a time that is not exponential"));
            }
            if !in_flight {
                return Err(NotSolved::not_covered("messages that take time in slots"));
            }
            updates.flights = true;
        }
        if updates.flights {
            if updates.rules.in_flight == InFlight::Replay && updates.count_own_jobs {
                return Err(NotSolved::not_covered("jobs sent while a message is on its way are replayed"));
            }
            let joint = updates.rules.push.as_ref().is_some_and(|push| push.joint && push.d.get() > 1);
            if joint && updates.channel(Kind::Push).is_some_and(|channel| !channel.delay.is_zero()) {
                return Err(NotSolved::not_covered("answers that travel together for a time"));
            }
            if layout.servers * layout.believers > 1 << PAIR_BITS || layout.rest >= SLOTS {
                return Err(NotSolved::too_large(
                    "too many pairs of servers and dispatchers for messages on their way",
                ));
            }
        }
        Ok(updates)
    }

    /// How messages of a kind travel, if the rule is in force.
    fn channel(&self, kind: Kind) -> Option<Channel<'_>> {
        match kind {
            Kind::Push => self.rules.push.as_ref().map(|push| push.channel()),
            Kind::Pull => self.rules.pull.as_ref().map(|pull| pull.channel()),
            Kind::OnIdle => self.rules.on_idle.as_ref().map(|on_idle| on_idle.channel()),
            Kind::Periodic => self.rules.periodic.as_ref().map(|periodic| periodic.channel()),
        }
    }

    /// Whether anything but own jobs ever changes an estimate.
    pub(super) fn refresh(&self) -> bool {
        [Kind::Push, Kind::Pull, Kind::OnIdle, Kind::Periodic]
            .into_iter()
            .any(|kind| self.channel(kind).is_some_and(|channel| channel.loss < 1.0))
    }

    /// Whether estimates are kept in full, not cut to what the strategy tells apart.
    pub(super) fn keeps_lengths(&self) -> bool {
        self.largest == u16::MAX
    }

    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// A dispatcher has sent jobs to a server; the state if it can still be written.
    pub(super) fn job_sent(&self, state: State, dispatcher: usize, server: usize, jobs: u16) -> Option<State> {
        if !self.count_own_jobs {
            return Some(state);
        }
        let mut next = state;
        let estimate = &mut next[self.layout.estimate(dispatcher, server)];
        *estimate = match estimate.checked_add(jobs) {
            Some(longer) => longer.min(self.largest),
            None if self.largest < u16::MAX => self.largest,
            None => return None,
        };
        Some(next)
    }

    /// A dispatcher that has just sent jobs may ask some servers.
    pub(super) fn ask(&self, branches: Branches, dispatcher: usize) -> Branches {
        let Some(push) = &self.rules.push else { return branches };
        let mut told = Branches::new();
        let probability = push.probability.get();
        for (state, weight) in branches {
            let Some(now) = state else {
                told.push((None, weight));
                continue;
            };
            if probability < 1.0 {
                told.push((state, weight * (1.0 - probability)));
            }
            if probability > 0.0 {
                let each = weight * probability / self.asked.len() as f64;
                for set in &self.asked {
                    let messages: Vec<_> = set.iter().map(|&server| (dispatcher, server, now[server])).collect();
                    told.append(&mut self.send(vec![(state, each)], Kind::Push, &messages, push.joint));
                }
            }
        }
        told
    }

    /// A server that has completed work and now holds what the state says may report to a dispatcher.
    pub(super) fn report(&self, branches: Branches, server: usize) -> Branches {
        let (kind, some) = match (&self.rules.pull, &self.rules.on_idle) {
            (Some(pull), _) => (Kind::Pull, pull.probability.get()),
            (None, Some(_)) => (Kind::OnIdle, 0.0),
            (None, None) => return branches,
        };
        let mut told = Branches::new();
        for (state, weight) in branches {
            let Some(now) = state else {
                told.push((None, weight));
                continue;
            };
            let length = now[server];
            let probability = if length == 0 { 1.0 } else { some };
            if probability < 1.0 {
                told.push((state, weight * (1.0 - probability)));
            }
            if probability > 0.0 {
                let each = weight * probability / self.layout.believers as f64;
                for dispatcher in 0..self.layout.believers {
                    let message = [(dispatcher, server, length)];
                    told.append(&mut self.send(vec![(state, each)], kind, &message, false));
                }
            }
        }
        told
    }

    /// These servers report to every dispatcher.
    pub(super) fn report_to_all(&self, state: State, weight: f64, servers: std::ops::Range<usize>) -> Branches {
        let messages: Vec<_> = servers
            .flat_map(|server| (0..self.layout.believers).map(move |dispatcher| (dispatcher, server, state[server])))
            .collect();
        self.send(vec![(Some(state), weight)], Kind::Periodic, &messages, false)
    }

    /// What may come of messages to dispatchers about servers; `together` means that they share one fate.
    fn send(&self, from: Branches, kind: Kind, messages: &[(usize, usize, u16)], together: bool) -> Branches {
        let Some(Channel { delay, loss }) = self.channel(kind) else { return from };
        let arrive = |state: Option<State>, messages: &[(usize, usize, u16)]| {
            messages.iter().fold(state, |state, &(dispatcher, server, length)| {
                let now = state?;
                if delay.is_zero() {
                    Some(self.deliver(now, dispatcher, server, length))
                } else {
                    self.post(now, kind, dispatcher, server, length)
                }
            })
        };
        let parts: Vec<&[(usize, usize, u16)]> = if together { vec![messages] } else { messages.chunks(1).collect() };
        let mut branches = from;
        for part in parts {
            let mut next = Branches::with_capacity(2 * branches.len());
            for (state, weight) in branches {
                if loss > 0.0 {
                    next.push((state, weight * loss));
                }
                if loss < 1.0 {
                    next.push((arrive(state, part), weight * (1.0 - loss)));
                }
            }
            branches = next;
        }
        branches
    }

    /// A message arrives that needed no time: it has overtaken all that are on their way between the two.
    fn deliver(&self, state: State, dispatcher: usize, server: usize, length: u16) -> State {
        let mut next = state;
        if self.flights && self.rules.overtaking == Overtaking::Drop {
            let pair = self.pair(dispatcher, server);
            self.keep_flights(&mut next, |_, flight| pair_of(flight) != pair);
        }
        next[self.layout.estimate(dispatcher, server)] = length.min(self.largest);
        next
    }

    /// A message sets out, if there is room for it.
    fn post(&self, state: State, kind: Kind, dispatcher: usize, server: usize, length: u16) -> Option<State> {
        let mut next = state;
        let length = length.min(self.largest);
        if length >= 1 << LENGTH_BITS {
            return None;
        }
        let flights = &mut next[self.layout.rest..];
        let free = flights.iter().position(|&flight| flight == 0)?;
        flights[free] =
            FLIGHT | (kind as u16) << (LENGTH_BITS + PAIR_BITS) | self.pair(dispatcher, server) << LENGTH_BITS | length;
        self.sort_flights(&mut next);
        Some(next)
    }

    /// Messages arrive one by one, each at a rate of its own.
    pub(super) fn arrivals_of_messages(&self, state: &State, branches: &mut Branches) {
        if !self.flights {
            return;
        }
        for (i, &flight) in state[self.layout.rest..].iter().enumerate().take_while(|(_, flight)| **flight != 0) {
            let kind = [Kind::Push, Kind::Pull, Kind::OnIdle, Kind::Periodic]
                [usize::from(flight >> (LENGTH_BITS + PAIR_BITS)) & 3];
            let Some(channel) = self.channel(kind) else { continue };
            let pair = pair_of(flight);
            let mut next = *state;
            // Those sent before it between the same two stand before it, and are now overtaken.
            let drop = self.rules.overtaking == Overtaking::Drop;
            self.keep_flights(&mut next, |j, other| j != i && !(drop && j < i && pair_of(other) == pair));
            let (dispatcher, server) =
                (usize::from(pair) / self.layout.servers, usize::from(pair) % self.layout.servers);
            next[self.layout.estimate(dispatcher, server)] = flight & ((1 << LENGTH_BITS) - 1);
            branches.push((Some(next), 1.0 / channel.delay.mean()));
        }
    }

    /// The messages in flight after servers and dispatchers have changed places.
    pub(super) fn move_flights(&self, state: &mut State, servers: &[usize], dispatchers: &[usize]) {
        if !self.flights {
            return;
        }
        let mask = ((1_u16 << PAIR_BITS) - 1) << LENGTH_BITS;
        for flight in state[self.layout.rest..].iter_mut().take_while(|flight| **flight != 0) {
            let pair = usize::from(pair_of(*flight));
            let place = |order: &[usize], from: usize| order.iter().position(|&other| other == from).unwrap_or(from);
            let dispatcher = place(dispatchers, pair / self.layout.servers);
            let server = place(servers, pair % self.layout.servers);
            *flight = (*flight & !mask) | self.pair(dispatcher, server) << LENGTH_BITS;
        }
        self.sort_flights(state);
    }

    fn keep_flights(&self, state: &mut State, keep: impl Fn(usize, u16) -> bool) {
        let flights = &mut state[self.layout.rest..];
        let mut kept = 0;
        for i in 0..flights.len() {
            let flight = std::mem::take(&mut flights[i]);
            if flight != 0 && keep(i, flight) {
                flights[kept] = flight;
                kept += 1;
            }
        }
    }

    /// Messages between the same two stay in the order of sending where that matters; else no order does.
    fn sort_flights(&self, state: &mut State) {
        let flights = &mut state[self.layout.rest..];
        let count = flights.iter().position(|&flight| flight == 0).unwrap_or(flights.len());
        match self.rules.overtaking {
            Overtaking::Drop => flights[..count].sort_by_key(|&flight| pair_of(flight)),
            Overtaking::Keep => flights[..count].sort_unstable(),
        }
    }

    fn pair(&self, dispatcher: usize, server: usize) -> u16 {
        (dispatcher * self.layout.servers + server) as u16
    }
}

fn pair_of(flight: u16) -> u16 {
    flight >> LENGTH_BITS & ((1 << PAIR_BITS) - 1)
}

/// All sets of `size` out of `servers` servers.
fn subsets(servers: usize, size: usize) -> Vec<Vec<usize>> {
    let all = 0_u32..1 << servers.min(SLOTS);
    let members = |set: u32| (0..servers).filter(move |&n| set >> n & 1 == 1).collect::<Vec<_>>();
    all.filter(|set| set.count_ones() as usize == size).map(members).collect()
}

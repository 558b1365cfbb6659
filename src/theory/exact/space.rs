//! The states that matter: a chain is followed from its start to wherever it takes some probability.

use super::iteration::{Matrix, Partition};
use super::law::Tally;
use super::not_solved::NotSolved;
use super::state::State;
use super::updates::Branches;
use ordered_float::OrderedFloat;
use rustc_hash::FxHashMap;
use std::collections::BinaryHeap;

/// A Markov chain in continuous time, or in steps that are the phases of a slot.
pub(super) trait Chain {
    /// A state that is always reached again.
    fn start(&self) -> State;
    /// What may come of a state, with rates; the same state may come more than once.
    fn branches(&self, state: &State) -> Branches;
    /// The number of jobs.
    fn level(&self, state: &State) -> usize;
    /// The length of the longest queue.
    fn longest(&self, state: &State) -> usize;
    /// The phase of the slot, 0 at its start; always 0 in continuous time.
    fn phase(&self, state: &State) -> usize;
    /// Adds what a state that has this weight contributes.
    fn tally(&self, state: &State, weight: f64, tally: &mut Tally);
}

/// What a solution may cost, and how exact it is to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// States with transitions of their own.
    pub(super) states: usize,
    /// Transitions.
    pub(super) transitions: usize,
    /// Passes over a million transitions, or as many over fewer.
    pub(super) work: usize,
    /// Error of probabilities that is aimed at.
    pub(super) aim: f64,
    /// Error that will do when the states are more than `few`.
    pub(super) enough: f64,
    pub(super) few: usize,
    /// Error that is tolerated when states run out.
    pub(super) tolerated: f64,
}

impl Limits {
    /// For this many states, with some 15 transitions each: some 500 bytes per state.
    pub(super) fn of_states(states: usize) -> Self {
        Self { states, transitions: 15 * states, work: 1_000, aim: 1e-13, enough: 1e-9, few: 30_000, tolerated: 1e-4 }
    }
}

/// No row: the state is known, but not followed.
const NONE: u32 = u32::MAX;

/// The states found so far; those with a row are followed, the others are the fringe.
///
/// What would leave for the fringe goes back to the start instead: that keeps the chain in one piece.
pub(super) struct Space<'a, C> {
    chain: &'a C,
    limits: Limits,
    states: Vec<State>,
    index: FxHashMap<State, u32>,
    row: Vec<u32>,
    /// The state of each row.
    followed: Vec<u32>,
    first: Vec<usize>,
    to: Vec<u32>,
    rates: Vec<f64>,
    /// Of each row, the rate towards states that cannot be written.
    beyond: Vec<f64>,
    /// The probability of each row.
    law: Vec<f64>,
    work: usize,
}

/// How exact a law is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accuracy {
    /// Sum over states of the errors of their probabilities, an estimate from above.
    pub(super) error: f64,
    /// States followed.
    pub(super) states: usize,
}

impl<'a, C: Chain> Space<'a, C> {
    /// Follows a chain as far as it matters and finds its stationary law. `spare` is the capacity beyond the load, jobs
    /// per unit of time: how fast the system forgets that it has lost jobs.
    ///
    /// # Errors
    /// If the states that matter are too many.
    pub(super) fn solve(chain: &'a C, spare: f64, limits: Limits) -> Result<(Tally, Accuracy), NotSolved> {
        let mut space = Self {
            chain,
            limits,
            states: Vec::new(),
            index: FxHashMap::default(),
            row: Vec::new(),
            followed: Vec::new(),
            first: vec![0],
            to: Vec::new(),
            rates: Vec::new(),
            beyond: Vec::new(),
            law: Vec::new(),
            work: 0,
        };
        let start = space.find(chain.start());
        space.follow(start, 1.0);
        let error = space.converge(spare)?;
        let accuracy = Accuracy { error, states: space.followed.len() };
        Ok((space.tally(), accuracy))
    }

    fn find(&mut self, state: State) -> u32 {
        *self.index.entry(state).or_insert_with(|| {
            self.states.push(state);
            self.row.push(NONE);
            self.states.len() as u32 - 1
        })
    }

    /// Gives a state a row, and a probability to start from.
    fn follow(&mut self, state: u32, probability: f64) {
        let mut beyond = 0.0;
        let first = self.to.len();
        for (next, rate) in self.chain.branches(&self.states[state as usize]) {
            let Some(next) = next else {
                beyond += rate;
                continue;
            };
            let next = self.find(next);
            if next == state {
                continue;
            }
            match self.to[first..].iter().position(|&other| other == next) {
                Some(place) => self.rates[first + place] += rate,
                None => {
                    self.to.push(next);
                    self.rates.push(rate);
                }
            }
        }
        self.row[state as usize] = self.followed.len() as u32;
        self.followed.push(state);
        self.first.push(self.to.len());
        self.beyond.push(beyond);
        self.law.push(probability);
    }

    /// Grows the space until the flow to its fringe has no weight, and tells the error that remains.
    fn converge(&mut self, spare: f64) -> Result<f64, NotSolved> {
        loop {
            let order = self.order();
            let matrix = self.matrix(&order);
            let mut law: Vec<f64> = order.iter().map(|&row| self.law[row as usize]).collect();
            let state = |row: u32| &self.states[self.followed[row as usize] as usize];
            let deepest = order.iter().map(|&row| self.chain.level(state(row))).max().unwrap_or(0);
            // The law is spread over the phases of a slot, of which each takes that part of a unit of time.
            let phases = order.last().map_or(1, |&row| self.chain.phase(state(row)) + 1);
            let memory = (deepest as f64 + 1.0) / spare * phases as f64;
            let few = self.followed.len() <= self.limits.few;
            let aim = if few { self.limits.aim } else { self.limits.enough } / memory;
            // While the space grows, the law at the fringe need only have the right size.
            let rough = (0.1 * self.fringe().0).max(0.1 * aim);
            self.improve(&matrix, &mut law, rough, 12);
            self.keep(&order, &law);
            let (flow, mut inflow) = self.fringe();
            if flow > aim && self.work < self.limits.work && self.grow(&mut inflow, aim) {
                continue;
            }
            if flow * memory > 10.0 * self.limits.tolerated {
                return Err(self.too_large(flow * memory));
            }
            let residual = self.improve(&matrix, &mut law, 0.1 * aim, 5_000);
            self.keep(&order, &law);
            let remaining = self.fringe().0;
            if flow <= aim && remaining > aim && self.work < self.limits.work {
                // The rough law had too little weight at the fringe.
                continue;
            }
            let error = (remaining + residual) * memory;
            return if error <= self.limits.tolerated { Ok(error) } else { Err(self.too_large(error)) };
        }
    }

    /// Betters the law within the work that is left.
    fn improve(&mut self, matrix: &Matrix, law: &mut [f64], tolerance: f64, cycles: usize) -> f64 {
        let thousands = 1 + self.to.len() / 250;
        let affordable = (1_000 * self.limits.work.saturating_sub(self.work) / thousands).max(1);
        let (residual, used) = matrix.improve(law, tolerance, cycles.min(affordable));
        self.work += (used * thousands).div_ceil(1_000);
        residual
    }

    fn is_full(&self) -> bool {
        self.followed.len() >= self.limits.states
            || self.to.len() >= self.limits.transitions
            || self.states.len() >= 4 * self.limits.states
    }

    fn too_large(&self, error: f64) -> NotSolved {
        let states = self.followed.len();
        NotSolved::too_large(format!(
            "with {states} states an error of {error:.0e} is left; too many states matter, or there is no steady state"
        ))
    }

    /// The rows in the order of sweeps: by phase, then by jobs.
    fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.followed.len() as u32).collect();
        order.sort_by_cached_key(|&row| {
            let state = &self.states[self.followed[row as usize] as usize];
            (self.chain.phase(state), self.chain.level(state), *state)
        });
        order
    }

    fn matrix(&self, order: &[u32]) -> Matrix {
        let mut place = vec![0_u32; order.len()];
        for (position, &row) in (0_u32..).zip(order) {
            place[row as usize] = position;
        }
        let state = |row: u32| &self.states[self.followed[row as usize] as usize];
        let partition = |value: &dyn Fn(&State) -> usize| {
            Partition::by(&order.iter().map(|&row| value(state(row))).collect::<Vec<_>>())
        };
        // Jobs in all change slowly, and so do differences between queues.
        let partitions =
            vec![partition(&|state| self.chain.level(state)), partition(&|state| self.chain.longest(state))];
        let phased = order.iter().any(|&row| self.chain.phase(state(row)) > 0);
        let home = place[0];
        let transitions = (0..self.followed.len()).flat_map(|row| {
            let places = self.first[row]..self.first[row + 1];
            let kept = places.map(move |i| (self.row[self.to[i] as usize], self.rates[i]));
            kept.chain(std::iter::once((0, self.beyond[row]))).map(move |(to, rate)| (row, to, rate))
        });
        let place = &place;
        let transitions = transitions
            .map(move |(row, to, rate)| (place[row], if to == NONE { home } else { place[to as usize] }, rate))
            .filter(|&(from, to, rate)| from != to && rate > 0.0);
        Matrix::new(partitions, phased, transitions)
    }

    fn keep(&mut self, order: &[u32], law: &[f64]) {
        for (&row, &probability) in order.iter().zip(law) {
            self.law[row as usize] = probability;
        }
    }

    /// The flow to the fringe in all, and into each state of it.
    fn fringe(&self) -> (f64, Vec<f64>) {
        let mut inflow = vec![0.0; self.states.len()];
        let mut total = 0.0;
        for (row, &probability) in self.law.iter().enumerate() {
            total += probability * self.beyond[row];
            for i in self.first[row]..self.first[row + 1] {
                let to = self.to[i] as usize;
                if self.row[to] == NONE {
                    inflow[to] += probability * self.rates[i];
                    total += probability * self.rates[i];
                }
            }
        }
        (total, inflow)
    }

    /// Follows the states of the fringe that most flow enters, and what comes of them, until there are twice as many:
    /// then the law had better be found anew. False if no flow is worth following, or there is no room.
    fn grow(&mut self, inflow: &mut Vec<f64>, flow: f64) -> bool {
        let fringe = inflow.iter().filter(|&&flow| flow > 0.0).count().max(1);
        let least = flow / (2 * fringe) as f64;
        let most = 2 * self.followed.len() + 500;
        let worth = (0_u32..).zip(inflow.iter()).filter(|(_, flow)| **flow > least);
        let mut next: BinaryHeap<(OrderedFloat<f64>, u32)> =
            worth.map(|(state, &flow)| (OrderedFloat(flow), state)).collect();
        let any = !next.is_empty() && !self.is_full();
        while let Some((_, state)) = next.pop() {
            if self.is_full() || self.followed.len() >= most {
                break;
            }
            self.follow(state, 0.0);
            inflow.resize(self.states.len(), 0.0);
            let row = self.followed.len() - 1;
            let places = self.first[row]..self.first[row + 1];
            let leaving = self.rates[places.clone()].iter().sum::<f64>() + self.beyond[row];
            // What comes back from further out is not seen yet: a guess makes up for it.
            let probability = if leaving > 0.0 { 1.5 * inflow[state as usize] / leaving } else { 0.0 };
            self.law[row] = probability;
            for i in places {
                let to = self.to[i];
                if self.row[to as usize] == NONE {
                    let before = inflow[to as usize];
                    inflow[to as usize] += probability * self.rates[i];
                    if before <= least && inflow[to as usize] > least {
                        next.push((OrderedFloat(inflow[to as usize]), to));
                    }
                }
            }
        }
        any
    }

    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        let state = |row: usize| &self.states[self.followed[row] as usize];
        let starts: f64 =
            (0..self.law.len()).filter(|&row| self.chain.phase(state(row)) == 0).map(|row| self.law[row]).sum();
        for (row, &probability) in self.law.iter().enumerate() {
            self.chain.tally(state(row), probability / starts, &mut tally);
        }
        tally
    }
}

//! Exact: the stationary law of small systems, solved from their generators.
//!
//! The states are the queue lengths, with the estimates of every dispatcher and the messages on their way where
//! information is local. A chain is followed from the empty system to wherever it takes probability; what leaves the
//! states that are followed goes back to the start, at a rate that is added up and gives the error. The law of the
//! chain is found by Gauss-Seidel sweeps with aggregation by the number of jobs. Joining probabilities are written from
//! the definitions of the strategies and share nothing with the code that samples from them: this module judges the
//! engines.

mod continuous;
mod counts;
mod delays;
mod gth;
mod independent;
mod iteration;
mod joining;
mod law;
mod messages;
mod not_solved;
mod slot_delays;
mod slotted;
mod space;
mod state;
mod updates;
mod values;

pub use not_solved::NotSolved;

use crate::model::slots::Slots;
use crate::model::{ServerClass, System};
use crate::policy::{Dispatch, Information, Policy};
use continuous::Continuous;
use delays::Part;
use independent::Queue;
use joining::Joining;
use law::Tally;
use messages::Messages;
use slotted::Slotted;
use space::{Accuracy, Chain, Limits, Space};

/// The most states that are followed, unless said otherwise.
const MOST_STATES: usize = 150_000;

/// The exact stationary law of a small system: queues, jobs, delays, messages.
///
/// ```
/// use herdsim::measure::Metric;
/// use herdsim::scenario::Plan;
/// use herdsim::theory::Exact;
///
/// let plan = Plan::read("{servers: 2, load: 0.5, policy: {dispatch: shortest}}", "example", "example", &[])?;
/// let exact = Exact::solve(&plan.system, plan.slots.as_ref(), &plan.policy)?;
/// let response = exact.value(Metric::ResponseTimeMean, "").expect("there are jobs");
/// assert!((response - 1.426_320_751_167).abs() < 1e-12 && exact.error() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Exact {
    classes: Vec<ClassLaw>,
    joint: Joint,
    delays: DelayLaw,
    arrival_rate: f64,
    slotted: bool,
    accuracy: Accuracy,
}

/// What holds for a server of a class, and for the jobs that are sent to the class.
#[derive(Clone, Debug)]
struct ClassLaw {
    class: ServerClass,
    /// `lengths[k]`: probability that a server holds k jobs.
    lengths: Vec<f64>,
    /// `found[k]`: fraction of all arriving jobs that join here and find k jobs; none if that is not known.
    found: Option<Vec<f64>>,
    /// `ahead[k]`: the same with the jobs that arrived just before it counted.
    ahead: Vec<f64>,
}

/// What holds for all servers together.
#[derive(Clone, Debug)]
struct Joint {
    mean: f64,
    variance: f64,
    empty: f64,
    /// Means of the squares of the numbers of servers with more than 0, 1, ... jobs.
    longer: Vec<f64>,
    imbalance: f64,
    /// None for independent queues, whose joint law is not listed.
    range: Option<f64>,
    regret: Option<f64>,
    shortest: Option<f64>,
    estimates: Option<(f64, f64)>,
    blocked: f64,
    messages: f64,
}

/// The law of response times.
#[derive(Clone, Debug)]
enum DelayLaw {
    /// In continuous time.
    Mixture(Vec<Part>),
    /// In slots: the probability of more than 0, 1, ... slots, if they are not too many to be listed.
    Slots(Option<Vec<f64>>),
}

impl Exact {
    /// Solves a system under a policy: in continuous time, or with `slots` in slotted time.
    ///
    /// Solved are Poisson arrivals and exponential sizes (in slots, any law of arrivals and services), with
    /// - random routing of any number of servers, and otherwise
    /// - exact information with some four servers of any rates, more if they are alike and loads moderate;
    /// - local estimates of a few servers and dispatchers, refreshed by push, pull, on_idle, and in continuous time by
    ///   periodic reports an exponential time apart, with messages that take no or an exponential time;
    ///
    /// for all strategies that look at lengths only, and round robin. Buffers are finite or not.
    ///
    /// # Errors
    /// Why the system is not solved: no steady state, a law or rule with a memory, or too many states that matter.
    pub fn solve(system: &System, slots: Option<&Slots>, policy: &Policy) -> Result<Self, NotSolved> {
        Self::solve_within(system, slots, policy, MOST_STATES)
    }

    /// The same, following at most so many states: fewer take less time and memory, and more systems are too large.
    ///
    /// # Errors
    /// As [`Exact::solve`].
    pub fn solve_within(
        system: &System,
        slots: Option<&Slots>,
        policy: &Policy,
        most_states: usize,
    ) -> Result<Self, NotSolved> {
        let limits = Limits::of_states(most_states);
        let rate = system.arrivals.rate;
        if rate <= 0.0 {
            return Err(NotSolved::not_covered("no job ever arrives"));
        }
        if system.buffer == Some(0) {
            return Err(NotSolved::not_covered("no server takes a job"));
        }
        if slots.is_none() && !system.is_memoryless() {
            return Err(NotSolved::not_covered("arrivals are not Poisson or job sizes not exponential"));
        }
        let capacity = system.servers.total_rate();
        if system.buffer.is_none() && rate >= capacity {
            return Err(NotSolved::no_steady_state(format!("the load is {}", system.load())));
        }
        // With buffers an overloaded system forgets as fast as a server empties.
        let slowest = system.servers.classes().iter().map(|class| class.rate).fold(f64::INFINITY, f64::min);
        let spare = if system.buffer.is_some() { slowest.max(capacity - rate) } else { capacity - rate };
        match slots {
            None => match Self::fixed_shares(system, policy) {
                Some(shares) => Self::of_independent_queues(system, policy, &shares),
                None => Self::of_chain(&Continuous::new(system, policy)?, system, policy, spare, limits),
            },
            Some(slots) => {
                let chain = Slotted::new(system, slots, policy)?;
                let services = chain.services.clone();
                let mut exact = Self::of_chain(&chain, system, policy, spare, limits)?;
                let mut first = 0;
                let parts: Vec<slot_delays::Part> = exact
                    .classes
                    .iter()
                    .map(|law| {
                        let server: usize = first;
                        first += law.class.count as usize;
                        slot_delays::Part { services: services[server].clone(), ahead: law.ahead.clone() }
                    })
                    .collect();
                exact.delays = DelayLaw::Slots(slot_delays::survival(&parts));
                exact.slotted = true;
                Ok(exact)
            }
        }
    }

    /// The fraction of the jobs that a server of each class gets, if nothing else matters to the choice.
    fn fixed_shares(system: &System, policy: &Policy) -> Option<Vec<f64>> {
        let servers = &system.servers;
        if let Information::Exact(exact) = &policy.information
            && !exact.query_delay.is_zero()
            && policy.dispatch.lengths_asked(servers) > 0
        {
            return None;
        }
        let of_class = |weight: &dyn Fn(f64) -> f64| {
            let total: f64 = servers.classes().iter().map(|class| class.count as f64 * weight(class.rate)).sum();
            Some(servers.classes().iter().map(|class| weight(class.rate) / total).collect())
        };
        // For any number of servers, without a list of them.
        match &policy.dispatch {
            Dispatch::Random(_) => return of_class(&|_| 1.0),
            Dispatch::WeightedRandom(_) => return of_class(&|rate| rate),
            _ if servers.len() == 1 => return of_class(&|_| 1.0),
            _ if servers.len() as usize > state::SLOTS => return None,
            _ => {}
        }
        let shares = Joining::new(&policy.dispatch, servers).ok()?.fixed()?;
        let first = |class: usize| (0..servers.numbered()).find(|&server| servers.class_of(server) as usize == class);
        (0..servers.classes().len()).map(|class| Some(shares[first(class)? as usize])).collect()
    }

    fn of_independent_queues(system: &System, policy: &Policy, shares: &[f64]) -> Result<Self, NotSolved> {
        let queues = independent::queues(system, shares)?;
        let tally = independent::together(system, &queues, &Messages::new(system, policy));
        let moment = |queue: &Queue, power: i32| -> f64 {
            queue.lengths.iter().enumerate().map(|(k, p)| (k as f64).powi(power) * p).sum()
        };
        let (mut mean, mut variance, mut squares, mut log_empty) = (0.0, 0.0, 0.0, 0.0);
        let mut classes = Vec::new();
        for (queue, class) in queues.iter().zip(system.servers.classes()) {
            let count = class.count as f64;
            let (first, second) = (moment(queue, 1), moment(queue, 2));
            mean += count * first;
            variance += count * (second - first * first);
            squares += count * second;
            log_empty += count * queue.lengths[0].ln();
            let room = system.buffer.map_or(usize::MAX, |buffer| buffer as usize);
            let found: Vec<f64> = queue.lengths.iter().take(room).map(|p| count * queue.share * p).collect();
            classes.push(ClassLaw {
                class: class.clone(),
                lengths: queue.lengths.clone(),
                ahead: found.clone(),
                found: Some(found),
            });
        }
        let joint = Joint {
            mean,
            variance,
            empty: log_empty.exp(),
            longer: tally.longer,
            imbalance: squares - (variance + mean * mean) / system.servers.len() as f64,
            range: None,
            regret: None,
            shortest: None,
            estimates: policy.information.is_exact().then_some((0.0, 0.0)),
            blocked: tally.blocked,
            messages: tally.messages,
        };
        let states = classes.iter().map(|law| law.lengths.len()).sum();
        let delays = DelayLaw::Mixture(parts(&classes));
        let accuracy = Accuracy { error: 1e-16, states };
        Ok(Self { classes, joint, delays, arrival_rate: system.arrivals.rate, slotted: false, accuracy })
    }

    fn of_chain(
        chain: &impl Chain,
        system: &System,
        policy: &Policy,
        spare: f64,
        limits: Limits,
    ) -> Result<Self, NotSolved> {
        let (tally, accuracy) = Space::solve(chain, spare, limits)?;
        let alike = !matches!(policy.dispatch, Dispatch::RoundRobin(_));
        let classes = class_laws(system, &tally, alike);
        let moment = |power: i32| tally.total.iter().enumerate().map(|(k, p)| (k as f64).powi(power) * p).sum::<f64>();
        let (mean, arrived) = (moment(1), tally.arrived);
        let known = classes.iter().all(|law| law.found.is_some());
        let joint = Joint {
            mean,
            variance: tally.total.iter().enumerate().map(|(k, p)| (k as f64 - mean).powi(2) * p).sum(),
            empty: tally.total[0],
            longer: tally.longer,
            imbalance: tally.imbalance,
            range: Some(tally.range),
            regret: known.then_some(tally.regret / arrived),
            shortest: known.then_some(tally.shortest / arrived),
            estimates: tally.estimates,
            blocked: tally.blocked / arrived,
            messages: tally.messages / arrived,
        };
        let delays = DelayLaw::Mixture(parts(&classes));
        Ok(Self { classes, joint, delays, arrival_rate: system.arrivals.rate, slotted: false, accuracy })
    }

    /// The error of probabilities by truncation and iteration together, an estimate to first order and from above: the
    /// flow out of the states that are followed, and what does not balance between them, times the time that the
    /// capacity beyond the load takes to clear the longest queues. It holds where the system forgets a lost job, or a wrong
    /// estimate, by then. A mean of lengths may be off by this times [`Exact::most_jobs`], a variance by this times its
    /// square, a quantile q by this over 1 - q.
    pub fn error(&self) -> f64 {
        self.accuracy.error
    }

    /// The states that were followed.
    pub fn states(&self) -> usize {
        self.accuracy.states
    }

    /// The largest number of jobs in the states that were followed.
    pub fn most_jobs(&self) -> usize {
        let longest = |law: &ClassLaw| law.class.count as usize * law.lengths.len().saturating_sub(1);
        self.classes.iter().map(longest).sum()
    }
}

/// What the sums over states say of each class.
fn class_laws(system: &System, tally: &Tally, alike: bool) -> Vec<ClassLaw> {
    let servers = &system.servers;
    // States in which servers of one rate have changed places were merged: each stands for all of its rate.
    let of_rate = |lists: &[Vec<f64>], server: u32| -> Vec<f64> {
        let same: Vec<u32> = (0..servers.numbered())
            .filter(|&other| if alike { servers.rate(other) == servers.rate(server) } else { other == server })
            .collect();
        let mut mean: Vec<f64> = Vec::new();
        for other in &same {
            let list = lists.get(*other as usize).map_or(&[][..], Vec::as_slice);
            mean.resize(mean.len().max(list.len()), 0.0);
            mean.iter_mut().zip(list).for_each(|(sum, p)| *sum += p / same.len() as f64);
        }
        mean
    };
    let admitted: f64 = tally.ahead.iter().flatten().sum();
    let known: f64 = tally.found.iter().flatten().sum();
    let complete = (admitted - known).abs() < 1e-9 * admitted;
    let mut first = 0;
    let law = |class: &ServerClass| {
        let members = first..first + class.count as u32;
        first = members.end;
        let sum = |lists: &[Vec<f64>], factor: f64| {
            let mut total: Vec<f64> = Vec::new();
            for list in members.clone().map(|server| of_rate(lists, server)) {
                total.resize(total.len().max(list.len()), 0.0);
                total.iter_mut().zip(&list).for_each(|(sum, p)| *sum += p * factor);
            }
            total
        };
        ClassLaw {
            lengths: sum(&tally.lengths, 1.0 / class.count as f64),
            found: complete.then(|| sum(&tally.found, 1.0 / tally.arrived)),
            ahead: sum(&tally.ahead, 1.0 / tally.arrived),
            class: class.clone(),
        }
    };
    servers.classes().iter().map(law).collect()
}

fn parts(classes: &[ClassLaw]) -> Vec<Part> {
    classes.iter().map(|law| Part { rate: law.class.rate, ahead: law.ahead.clone() }).collect()
}

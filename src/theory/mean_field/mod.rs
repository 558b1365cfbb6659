//! The mean-field limit: the stationary system as the number of servers grows.

mod birth_death;
mod fixed_point;
mod greedy;
mod newton;
mod periodic;
mod trajectory;
mod truncated;

pub use trajectory::{Trajectory, TrajectoryError};
pub use truncated::Truncated;

use crate::measure::Metric;
use crate::model::System;
use crate::policy::Policy;

/// Fractions below this are taken as 0: levels are listed until the fraction of servers beyond is smaller, and the mean
/// number of jobs beyond is smaller by the factor 1 / (1 - load) at most.
pub const NEGLIGIBLE: f64 = 1e-16;

/// The most levels that are listed.
const LEVELS: usize = 100_000;

/// The stationary law of one queue and of the length that a job finds, in the limit of infinitely many servers.
///
/// It exists for Poisson arrivals, exponential sizes and a stable system; where it is not known, the error of
/// [`MeanField::new`] says why. Known are
/// - one server, whatever the policy, and random routing (each server an M/M/1 queue, exact for every N);
/// - d choices, alone or mixed, and ranks, on exact information and servers of one rate: the balance of each level gives
///   `s_{k+1} = rho G(s_k)`, with G(s) the probability of joining a server of at least k jobs; for d choices
///   `s_k = rho^((d^k - 1) / (d - 1))` (Vvedenskaya, Dobrushin, Karpelevich 1996; Mitzenmacher 1996);
/// - the shortest queue, an idle one first, one below a threshold, the least delay, on exact information, also with
///   classes: greedy strategies, for which an idle server is always found at a load below 1;
/// - d choices with classes of servers: the zero of the drift, by Newton's method;
/// - the board of periodic updates (Mitzenmacher 2000), averaged over a period;
/// - limited buffers with all of these but the last.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanField {
    classes: Vec<ClassLimit>,
    load: f64,
    /// Arrivals per unit of time, over all servers.
    arrival_rate: f64,
    servers: f64,
    exact: bool,
    source: &'static str,
}

/// A class of servers in the limit.
#[derive(Clone, Debug, PartialEq)]
struct ClassLimit {
    name: String,
    rate: f64,
    /// Part of the servers.
    share: f64,
    /// `tail[k - 1]` = fraction of the servers of the class with at least k jobs.
    tail: Vec<f64>,
    /// Mean number of jobs per server of the class.
    jobs: f64,
}

impl MeanField {
    /// The limit for a system in continuous time under a policy.
    ///
    /// # Errors
    /// Why it is not known.
    pub fn new(system: &System, policy: &Policy) -> Result<Self, String> {
        fixed_point::find(system, policy)
    }

    /// From the tail of each class, s_1, s_2, ... of its own servers, and its mean number of jobs if that is known better
    /// than as the sum of the tail.
    fn from_tails(system: &System, tails: Vec<(Vec<f64>, Option<f64>)>, exact: bool, source: &'static str) -> Self {
        let servers = system.servers.len() as f64;
        let classes = system.servers.classes().iter().zip(tails).map(|(class, (mut tail, jobs))| {
            tail.truncate(LEVELS);
            while tail.last().is_some_and(|&fraction| fraction <= NEGLIGIBLE) {
                tail.pop();
            }
            ClassLimit {
                name: class.name.clone(),
                rate: class.rate,
                share: class.count as f64 / servers,
                jobs: jobs.unwrap_or_else(|| tail.iter().rev().sum()),
                tail,
            }
        });
        Self {
            classes: classes.collect(),
            load: system.load(),
            arrival_rate: system.arrivals.rate,
            servers,
            exact,
            source,
        }
    }

    /// The same with another tail s_1, s_2, ... of servers that are all alike. All else follows from it for every number
    /// of servers, by the balance of flows between levels.
    pub(super) fn with_tail(&self, tail: &[f64], source: &'static str) -> Self {
        let mut other = self.clone();
        other.source = source;
        for class in &mut other.classes {
            class.tail = tail.to_vec();
            class.jobs = tail.iter().rev().sum();
        }
        other
    }

    /// Whether the values hold for every number of servers, and not only in the limit.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Where the limit is from.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// The fractions s_1, s_2, ... of servers with at least k jobs, as far as they are not negligible.
    pub fn tail(&self) -> Vec<f64> {
        let levels = self.classes.iter().map(|class| class.tail.len()).max().unwrap_or(0);
        (1..=levels).map(|k| self.tail_at(k)).collect()
    }

    /// The fractions of the servers of a class, in the order of the classes.
    pub fn class_tail(&self, class: usize) -> &[f64] {
        &self.classes[class].tail
    }

    fn tail_at(&self, k: usize) -> f64 {
        self.classes.iter().map(|class| class.share * class.at_least(k)).sum()
    }

    /// Mean number of jobs per server.
    pub fn mean_jobs(&self) -> f64 {
        self.classes.iter().map(|class| class.share * class.jobs).sum()
    }

    /// The limit of a metric, where it has one.
    pub fn value(&self, metric: Metric, key: &str) -> Option<f64> {
        let position = || key.parse::<usize>().ok();
        let class = || self.classes.iter().find(|class| class.name == key);
        match metric {
            Metric::TailFraction => position().filter(|&k| k > 0).map(|k| self.tail_at(k)),
            Metric::MeanJobs => Some(self.mean_jobs()),
            Metric::ResponseTimeMean => Some(self.response()),
            Metric::ResponseTimeQuantile => self.response_quantile(key.parse().ok()?),
            Metric::WaitingTimeMean => Some(self.response() - self.service()),
            Metric::WaitingProbability => Some(self.found_at_least(1)),
            Metric::JoinPosition => position().map(|k| self.found_at_least(k) - self.found_at_least(k + 1)),
            Metric::Utilization if key.is_empty() => Some(self.throughput() / self.capacity()),
            Metric::Utilization => class().map(|class| class.at_least(1)),
            Metric::Throughput => Some(self.throughput()),
            Metric::BlockedFraction => Some((1.0 - self.throughput() / self.arrival_rate).max(0.0)),
            Metric::ClassMeanJobs => class().map(|class| class.jobs),
            Metric::ClassShare => class().map(|class| class.flow(0) * self.servers / self.throughput()),
            Metric::ClassResponseTimeMean => {
                class().filter(|class| class.flow(0) > 0.0).map(|class| class.share * class.jobs / class.flow(0))
            }
            Metric::ClassTailFraction => {
                let (name, k) = key.rsplit_once('/')?;
                let k = k.parse::<usize>().ok().filter(|&k| k > 0)?;
                self.classes.iter().find(|class| class.name == name).map(|class| class.at_least(k))
            }
            _ => None,
        }
    }

    fn capacity(&self) -> f64 {
        self.servers * self.classes.iter().map(|class| class.share * class.rate).sum::<f64>()
    }

    /// Jobs that join, per unit of time.
    fn throughput(&self) -> f64 {
        self.servers * self.classes.iter().map(|class| class.flow(0)).sum::<f64>()
    }

    /// Mean response time, by Little's law.
    fn response(&self) -> f64 {
        self.mean_jobs() * self.servers / self.throughput()
    }

    /// Mean service time of the jobs that join.
    fn service(&self) -> f64 {
        let busy: f64 = self.classes.iter().map(|class| class.share * class.at_least(1)).sum();
        busy * self.servers / self.throughput()
    }

    /// Of the jobs that join, those that find at least k jobs. The flow up from level k is the flow down to it, so that
    /// these are the completions at servers with more than k jobs.
    fn found_at_least(&self, k: usize) -> f64 {
        if k == 0 {
            return 1.0;
        }
        self.classes.iter().map(|class| class.flow(k)).sum::<f64>() * self.servers / self.throughput()
    }

    /// A job that finds k jobs stays for k + 1 exponential services, so `P(T > t)` is the mean over a Poisson number
    /// I of mean `mu t` of the probability that it finds at least I jobs.
    fn response_survival(&self, time: f64) -> f64 {
        let scale = self.servers / self.throughput();
        let of_class = |class: &ClassLimit| {
            let mean = class.rate * time;
            let mut log_weight = -mean;
            let mut survival = log_weight.exp() * class.flow(0);
            for i in 1..class.tail.len() {
                log_weight += mean.ln() - (i as f64).ln();
                survival += log_weight.exp() * class.flow(i);
            }
            survival * scale
        };
        self.classes.iter().map(of_class).sum()
    }

    fn response_quantile(&self, q: f64) -> Option<f64> {
        if !(0.0..1.0).contains(&q) {
            return None;
        }
        if q == 0.0 {
            return Some(0.0);
        }
        let slowest = self.classes.iter().map(|class| class.rate).fold(f64::INFINITY, f64::min);
        let beyond = |time: f64| self.response_survival(time) > 1.0 - q;
        let (mut low, mut high) = (0.0, 1.0 / slowest);
        while beyond(high) {
            high *= 2.0;
            // Deeper than the listed levels can tell.
            if high * slowest > LEVELS as f64 {
                return None;
            }
        }
        for _ in 0..200 {
            let middle = low + (high - low) / 2.0;
            if beyond(middle) { low = middle } else { high = middle }
        }
        Some(low + (high - low) / 2.0)
    }
}

impl ClassLimit {
    /// The fraction with at least k jobs.
    fn at_least(&self, k: usize) -> f64 {
        if k == 0 { 1.0 } else { self.tail.get(k - 1).copied().unwrap_or(0.0) }
    }

    /// Jobs that join servers of this class which hold at least k jobs, per unit of time and server of all classes.
    fn flow(&self, k: usize) -> f64 {
        self.share * self.rate * self.at_least(k + 1)
    }
}

#[cfg(test)]
mod tests;

//! The mean-field limit: the stationary system as the number of servers grows.

use crate::measure::Metric;
use crate::model::System;
use crate::policy::{Dispatch, Policy};

/// Fractions below this are taken as 0.
const NEGLIGIBLE: f64 = 1e-16;

/// The most levels that are listed.
const LEVELS: usize = 100_000;

/// The stationary law of one queue and of the length that a job finds, in the limit of infinitely many servers.
///
/// It exists here for Poisson arrivals, exponential sizes, unlimited buffers, load below 1 and
/// - one server, whatever the policy, and random routing (each server an M/M/1 queue, exact for every N),
///   `s_k = rho^k`; with classes, a mixture;
/// - d choices on exact information and servers of one rate, `s_k = rho^((d^k - 1) / (d - 1))` (Vvedenskaya,
///   Dobrushin, Karpelevich 1996; Mitzenmacher 1996), with or without replacement;
/// - the shortest queue, or an idle one first, on exact information and servers of one rate: `s_1 = rho`, and no
///   queue of 2, since an idle server is always found.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanField {
    /// `tail[k - 1]` = s_k, the fraction of servers with at least k jobs.
    tail: Vec<f64>,
    /// `found[k - 1]` = probability that a job joins a server that holds at least k jobs.
    found: Vec<f64>,
    load: f64,
    arrival_rate: f64,
    /// Mean response time.
    response: f64,
    /// The rate of all servers, if they have one.
    rate: Option<f64>,
    mean_jobs: f64,
    exact: bool,
}

impl MeanField {
    /// The limit for a system under a policy, where one is known.
    pub fn new(system: &System, policy: &Policy) -> Option<Self> {
        let load = system.load();
        if !system.is_memoryless() || system.buffer.is_some() || load >= 1.0 || load == 0.0 {
            return None;
        }
        if system.servers.len() == 1 {
            // Whatever the policy, there is nothing to choose.
            return Some(Self { exact: true, ..Self::choices(system, 1.0) });
        }
        let homogeneous = system.servers.are_homogeneous();
        let exact = policy.information.is_exact();
        match &policy.dispatch {
            Dispatch::Random(_) | Dispatch::WeightedRandom(_) => Self::independent_queues(system, &policy.dispatch),
            Dispatch::PowerOfD(power) if exact && homogeneous => Some(Self::choices(system, power.d.get() as f64)),
            Dispatch::Shortest(_) | Dispatch::ShortestDelay(_) | Dispatch::ShortestNormalized(_)
                if exact && homogeneous =>
            {
                Some(Self::choices(system, f64::INFINITY))
            }
            Dispatch::IdleFirst(_) if exact && homogeneous => Some(Self::choices(system, f64::INFINITY)),
            _ => None,
        }
    }

    /// d choices: a job finds at least k jobs when all its d choices hold at least k.
    fn choices(system: &System, d: f64) -> Self {
        let load = system.load();
        let mut tail = Vec::new();
        let mut level = load;
        // s_{k+1} = rho s_k^d, from s_1 = rho: throughput balance at each level.
        while level > NEGLIGIBLE && tail.len() < LEVELS {
            tail.push(level);
            level = load * level.powf(d);
        }
        let found: Vec<f64> = tail.iter().map(|s| s.powf(d)).take_while(|&found| found > NEGLIGIBLE).collect();
        let rate = system.servers.classes()[0].rate;
        let response = (1.0 + found.iter().sum::<f64>()) / rate;
        Self {
            mean_jobs: tail.iter().sum(),
            tail,
            found,
            load,
            arrival_rate: system.arrivals.rate,
            response,
            rate: Some(rate),
            exact: false,
        }
    }

    /// Random routing: independent M/M/1 queues, of which each class has its own load.
    fn independent_queues(system: &System, dispatch: &Dispatch) -> Option<Self> {
        let servers = &system.servers;
        let n = f64::from(servers.len());
        let weighted = matches!(dispatch, Dispatch::WeightedRandom(_));
        // Fraction of the servers, fraction of the jobs, and load, of each class.
        let classes: Vec<(f64, f64, f64)> = servers
            .classes()
            .iter()
            .map(|class| {
                let share = f64::from(class.count) / n;
                let jobs = if weighted { share * n * class.rate / servers.total_rate() } else { share };
                (share, jobs, jobs * system.arrivals.rate / (f64::from(class.count) * class.rate))
            })
            .collect();
        if classes.iter().any(|&(_, _, load)| load >= 1.0) {
            return None;
        }
        let mixture = |weights: &dyn Fn(&(f64, f64, f64)) -> f64| {
            (1..=LEVELS as i32)
                .map(|k| classes.iter().map(|class| weights(class) * class.2.powi(k)).sum::<f64>())
                .take_while(|&fraction| fraction > NEGLIGIBLE)
                .collect::<Vec<f64>>()
        };
        let tail = mixture(&|class| class.0);
        let found = mixture(&|class| class.1);
        let mean_jobs: f64 = classes.iter().map(|(share, _, load)| share * load / (1.0 - load)).sum();
        Some(Self {
            tail,
            found,
            load: system.load(),
            arrival_rate: system.arrivals.rate,
            response: mean_jobs * n / system.arrivals.rate,
            rate: servers.are_homogeneous().then(|| servers.classes()[0].rate),
            mean_jobs,
            exact: true,
        })
    }

    /// Whether the values hold for every number of servers, and not only in the limit.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The fractions s_1, s_2, ... of servers with at least k jobs, as far as they are not negligible.
    pub fn tail(&self) -> &[f64] {
        &self.tail
    }

    /// The limit of a metric, where it has one.
    pub fn value(&self, metric: Metric, key: &str) -> Option<f64> {
        let position = || key.parse::<usize>().ok();
        match metric {
            Metric::TailFraction => position().map(|k| self.tail.get(k.wrapping_sub(1)).copied().unwrap_or(0.0)),
            Metric::MeanJobs => Some(self.mean_jobs),
            Metric::ResponseTimeMean => Some(self.response),
            Metric::ResponseTimeQuantile => self.response_quantile(key.parse().ok()?),
            Metric::WaitingTimeMean => self.rate.map(|rate| self.response - 1.0 / rate),
            Metric::WaitingProbability => Some(self.found_at_least(1)),
            Metric::JoinPosition => position().map(|k| self.found_at_least(k) - self.found_at_least(k + 1)),
            Metric::Utilization if key.is_empty() => Some(self.load),
            Metric::Throughput => Some(self.arrival_rate),
            Metric::BlockedFraction => Some(0.0),
            _ => None,
        }
    }

    fn found_at_least(&self, k: usize) -> f64 {
        if k == 0 { 1.0 } else { self.found.get(k - 1).copied().unwrap_or(0.0) }
    }

    /// A job that finds k jobs stays for k + 1 exponential services, so `P(T > t)` is the mean over a Poisson number
    /// I of mean `mu t` of the probability that it finds at least I jobs.
    fn response_survival(&self, time: f64, rate: f64) -> f64 {
        let mean = rate * time;
        let mut log_weight = -mean;
        let mut survival = log_weight.exp();
        for (i, found) in (1..).zip(&self.found) {
            log_weight += mean.ln() - f64::from(i).ln();
            survival += log_weight.exp() * found;
        }
        survival
    }

    fn response_quantile(&self, q: f64) -> Option<f64> {
        let rate = self.rate?;
        if !(0.0..1.0).contains(&q) {
            return None;
        }
        if q == 0.0 {
            return Some(0.0);
        }
        let beyond = |time: f64| self.response_survival(time, rate) > 1.0 - q;
        let (mut low, mut high) = (0.0, 1.0 / rate);
        while beyond(high) {
            high *= 2.0;
            // Deeper than the listed levels can tell.
            if high * rate > LEVELS as f64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Arrivals, Count, Dispatchers, Initial, Law, Servers};
    use crate::policy::dispatch::{PowerOfD, Random};

    fn limit(load: f64, dispatch: Dispatch) -> MeanField {
        let system = System {
            servers: Servers::homogeneous(10).expect("ten servers"),
            dispatchers: Dispatchers::equal(1).expect("one dispatcher"),
            arrivals: Arrivals::poisson(10.0 * load),
            service: Law::standard_exponential(),
            buffer: None,
            initial: Initial::Empty,
        };
        let information = crate::policy::Information::exact();
        let policy = Policy { dispatch, information, count_own_jobs: true, per_probe: 2 };
        MeanField::new(&system, &policy).expect("a limit is known")
    }

    fn power(d: u64) -> Dispatch {
        Dispatch::PowerOfD(PowerOfD {
            d: Count::new(d).expect("positive"),
            replacement: false,
            weighting: crate::policy::dispatch::Weighting::Uniform,
        })
    }

    #[test]
    fn two_choices_have_their_published_means() {
        // Predictions of Mitzenmacher's table.
        for (load, d, response) in [
            (0.5, 2, 1.2657),
            (0.7, 2, 1.6145),
            (0.8, 2, 1.9474),
            (0.9, 2, 2.6141),
            (0.95, 2, 3.3830),
            (0.99, 2, 5.4320),
            (0.9, 3, 2.0279),
            (0.99, 5, 2.9017),
        ] {
            let limit = limit(load, power(d));
            let value = limit.value(Metric::ResponseTimeMean, "").expect("known");
            assert!((value - response).abs() < 5.1e-5, "{load} {d}: {value}");
            // Little's law ties the two means, which are summed apart.
            let jobs = limit.value(Metric::MeanJobs, "").expect("known");
            assert!((jobs - load * value).abs() < 1e-12);
        }
    }

    #[test]
    fn the_fixed_point_is_the_closed_form() {
        let limit = limit(0.9, power(2));
        for (k, s) in (1..).zip(limit.tail()) {
            let closed = 0.9_f64.powf(2_f64.powi(k) - 1.0);
            assert!((s - closed).abs() < 1e-14, "{k}");
        }
        assert_eq!(limit.value(Metric::TailFraction, "50"), Some(0.0));
    }

    #[test]
    fn random_routing_is_m_m_1() {
        let limit = limit(0.8, Dispatch::Random(Random {}));
        let value = |metric, key| limit.value(metric, key).expect("known");
        assert!((value(Metric::ResponseTimeMean, "") - 5.0).abs() < 1e-12);
        assert!((value(Metric::WaitingTimeMean, "") - 4.0).abs() < 1e-12);
        for (q, time) in [("0.5", 3.4657), ("0.9", 11.5129), ("0.99", 23.0259), ("0.999", 34.5388), ("0.9999", 46.0517)]
        {
            let quantile = value(Metric::ResponseTimeQuantile, q);
            assert!((quantile - time).abs() < 1e-4, "{q}: {quantile}");
        }
    }
}

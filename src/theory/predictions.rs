//! What theory says of each metric of a scenario: exact if it can be, else an expansion, a limit or a bound.

use super::{Exact, HeavyTraffic, MG1, MMN, MeanField, Noise, Theorems, Verdict};
use crate::measure::Metric;
use crate::model::{Slots, System};
use crate::policy::{Dispatch, Information, Policy};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How far a prediction can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It holds for this system.
    Exact,
    /// A limit with its correction of order 1 / N.
    RefinedMeanField,
    /// The limit as the number of servers grows.
    MeanField,
    /// The value is at least this.
    Bound,
}

impl Kind {
    /// Every kind, the most trusted first.
    pub const ALL: [Self; 4] = [Self::Exact, Self::RefinedMeanField, Self::MeanField, Self::Bound];

    /// What it is, in a line.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Exact => {
                "The theory holds for this system: small ones are solved from their generator, random routing is M/M/1 or \
                 M/G/1."
            }
            Self::RefinedMeanField => "The theory is the limit for many servers with its correction of order 1/N.",
            Self::MeanField => {
                "The theory is the limit for many servers; what N servers do differs by the order of 1/N."
            }
            Self::Bound => "The theory is a lower bound: the value is at least this.",
        }
    }

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::RefinedMeanField => "refined_mean_field",
            Self::MeanField => "mean_field",
            Self::Bound => "bound",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::RefinedMeanField => "refined mean field",
            Self::MeanField => "mean field",
            Self::Bound => "bound",
        })
    }
}

/// A value, how far it can be trusted, and where it is from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The value.
    pub value: f64,
    /// How far it can be trusted.
    pub kind: Kind,
    /// Where it is from.
    pub source: &'static str,
}

/// States of a small system that are followed for its exact law by default, which takes less than a second.
pub const QUICK: usize = 10_000;

/// What the probabilities of an exact law may be off, together and times the number of jobs.
const EXACT: f64 = 1e-7;

/// All that predicts metrics of one system under one policy, or why it does not.
#[derive(Debug)]
pub struct Predictions {
    /// The exact stationary law, if the system is small or falls apart into single queues.
    pub exact: Result<Exact, String>,
    /// The mean-field limit.
    pub limit: Result<MeanField, String>,
    /// The expansion in 1 / N about it.
    pub noise: Result<Noise, String>,
    /// The limit with its corrections of order 1 / N, where they can be trusted.
    refined: Option<MeanField>,
    /// The queue of a single server, for sizes of any law; also of each server under random routing.
    single: Option<MG1>,
    /// One queue before all servers, which no policy beats.
    pooled: Option<MMN>,
    /// In slotted time.
    pub heavy_traffic: Option<HeavyTraffic>,
    /// Whether all that comes is served, in steady state, and whether the servers have one rate.
    lossless: bool,
    even: bool,
    servers: f64,
    load: f64,
    slots: Option<Slotted>,
}

/// Where values are from that are the same under every policy which has a steady state.
const CONSERVED: &str = "what comes goes, in steady state";

/// What is known in slotted time beside the exact law.
#[derive(Clone, Copy, Debug)]
struct Slotted {
    /// Mean unused service per slot, where a steady state is shown.
    unused: Option<f64>,
    /// A lower bound of the jobs at the start of a slot, over all servers.
    jobs: Option<f64>,
    arrival_rate: f64,
}

impl Predictions {
    /// The predictions for a system under a policy; in slotted time with these laws of a slot. The exact law of a small
    /// system is solved if `most_states` states are enough for it; see [`QUICK`].
    pub fn new(system: &System, policy: &Policy, slots: Option<&Slots>, most_states: usize) -> Self {
        let limit = match slots {
            Some(_) => Err("the limit is worked out for continuous time".to_owned()),
            None => MeanField::new(system, policy),
        };
        let noise = match (&limit, slots) {
            (Err(why), _) => Err(why.clone()),
            (Ok(_), Some(_)) => Err("the expansion is worked out for continuous time".to_owned()),
            (Ok(_), None) => Noise::new(system, policy),
        };
        let refined = match (&limit, &noise) {
            (Ok(limit), Ok(noise)) if noise.is_trustworthy() && !limit.is_exact() => {
                Some(limit.with_tail(&noise.tail(), "s* + V / N (Gast and Van Houdt 2017)"))
            }
            _ => None,
        };
        let exact = exact(system, policy, slots, most_states);
        let heavy_traffic = slots.map(|slots| HeavyTraffic::new(system, slots));
        let steady = matches!(Theorems::new(system, policy, slots).throughput, Verdict::Applies { .. });
        let slotted = slots.map(|slots| Slotted {
            unused: heavy_traffic.as_ref().map(|heavy| heavy.epsilon).filter(|&epsilon| steady && epsilon > 0.0),
            jobs: heavy_traffic.as_ref().and_then(|heavy| heavy.lower_bound(system, slots)),
            arrival_rate: system.arrivals.rate,
        });
        Self {
            exact,
            limit,
            noise,
            refined,
            single: single(system, policy, slots),
            pooled: pooled(system, slots),
            heavy_traffic,
            lossless: slots.is_none() && system.buffer.is_none(),
            even: system.servers.are_homogeneous(),
            servers: system.servers.len() as f64,
            load: system.load(),
            slots: slotted,
        }
    }

    /// What is predicted for a metric: the most trustworthy there is.
    pub fn of(&self, metric: Metric, key: &str) -> Option<Prediction> {
        let exact = || {
            let exact = self.exact.as_ref().ok()?;
            let source = "stationary law of the Markov chain";
            exact.value(metric, key).map(|value| Prediction { value, kind: Kind::Exact, source })
        };
        exact()
            .or_else(|| self.single_queue(metric, key))
            .or_else(|| self.in_the_limit(metric, key))
            .or_else(|| self.unused_service(metric))
            .or_else(|| self.bound(metric))
    }

    fn in_the_limit(&self, metric: Metric, key: &str) -> Option<Prediction> {
        let limit = self.limit.as_ref().ok()?;
        if let Some(value) = self.fluctuation(metric, key) {
            return Some(Prediction {
                value,
                kind: Kind::RefinedMeanField,
                source: "linear noise (Lyapunov equation)",
            });
        }
        let found = self.refined.as_ref().unwrap_or(limit);
        let value = found.value(metric, key)?;
        let kind = if limit.is_exact() || self.is_conserved(metric, key) {
            Kind::Exact
        } else if self.refined.is_some() {
            Kind::RefinedMeanField
        } else {
            Kind::MeanField
        };
        let source = if kind == Kind::Exact && !limit.is_exact() { CONSERVED } else { found.source() };
        Some(Prediction { value, kind, source })
    }

    /// Whether a metric is what the arrivals make it, under every policy that has a steady state and loses nothing.
    fn is_conserved(&self, metric: Metric, key: &str) -> bool {
        match metric {
            Metric::Utilization => self.lossless && key.is_empty(),
            Metric::TailFraction => self.lossless && self.even && key == "1",
            Metric::Throughput | Metric::BlockedFraction => self.lossless,
            _ => false,
        }
    }

    /// Variances, to leading order; and the squared distance from the fixed point.
    fn fluctuation(&self, metric: Metric, key: &str) -> Option<f64> {
        let noise = self.noise.as_ref().ok()?;
        match metric {
            Metric::TailFractionVariance => {
                let k = key.parse::<usize>().ok()?.checked_sub(1)?;
                Some(noise.covariance.get(k).map_or(0.0, |row| row[k]) / self.servers)
            }
            Metric::JobsVariance => Some(noise.covariance.iter().flatten().sum::<f64>() * self.servers),
            Metric::SquaredDistance => Some(noise.mean_square_error()),
            _ => None,
        }
    }

    fn single_queue(&self, metric: Metric, key: &str) -> Option<Prediction> {
        let queue = self.single?;
        let value = match metric {
            Metric::MeanJobs => queue.jobs(),
            Metric::ResponseTimeMean => queue.response_time(),
            Metric::WaitingTimeMean => queue.waiting_time(),
            Metric::WaitingProbability => self.load,
            Metric::Utilization if key.is_empty() => self.load,
            _ => return None,
        };
        Some(Prediction { value, kind: Kind::Exact, source: "M/G/1 (Pollaczek and Khinchine)" })
    }

    /// In steady state the services unused are those offered beyond the arrivals.
    fn unused_service(&self, metric: Metric) -> Option<Prediction> {
        let epsilon = self.slots?.unused?;
        (metric == Metric::UnusedService).then_some(Prediction { value: epsilon, kind: Kind::Exact, source: CONSERVED })
    }

    fn bound(&self, metric: Metric) -> Option<Prediction> {
        if let Some(slotted) = self.slots {
            let jobs = slotted.jobs.filter(|&jobs| jobs > 0.0)?;
            let value = match metric {
                Metric::MeanJobs => jobs / self.servers,
                Metric::ResponseTimeMean => jobs / slotted.arrival_rate + 1.0,
                _ => return None,
            };
            return Some(Prediction { value, kind: Kind::Bound, source: "one queue with all services pooled" });
        }
        let queue = self.pooled?;
        let value = match metric {
            Metric::MeanJobs => queue.jobs() / self.servers,
            Metric::ResponseTimeMean => queue.response_time(),
            _ => return None,
        };
        Some(Prediction { value, kind: Kind::Bound, source: "M/M/N: one queue before all servers (Erlang)" })
    }
}

fn exact(system: &System, policy: &Policy, slots: Option<&Slots>, most_states: usize) -> Result<Exact, String> {
    let found = Exact::solve_within(system, slots, policy, most_states).map_err(|why| why.to_string())?;
    let error = found.error() * found.most_jobs() as f64;
    if error > EXACT {
        return Err(format!(
            "{} states are too few: the mean number of jobs may be off by {error:.1e}",
            found.states()
        ));
    }
    Ok(found)
}

/// A single server, or servers of one rate that are chosen blindly, with sizes of any law; jobs that wait for answers
/// excepted.
fn single(system: &System, policy: &Policy, slots: Option<&Slots>) -> Option<MG1> {
    let waits = matches!(&policy.information, Information::Exact(exact) if !exact.query_delay.is_zero());
    let asks = policy.dispatch.lengths_asked(&system.servers) > 0;
    let blind = matches!(policy.dispatch, Dispatch::Random(_) | Dispatch::WeightedRandom(_));
    let applies = slots.is_none()
        && system.buffer.is_none()
        && system.arrivals.are_poisson()
        && (blind || system.servers.len() == 1)
        && system.servers.are_homogeneous()
        && !(waits && asks);
    let rate = system.servers.classes()[0].rate;
    if applies { MG1::new(system.load(), rate, &system.service) } else { None }
}

fn pooled(system: &System, slots: Option<&Slots>) -> Option<MMN> {
    let applies =
        slots.is_none() && system.is_memoryless() && system.buffer.is_none() && system.servers.are_homogeneous();
    let rate = system.servers.classes()[0].rate;
    if applies { MMN::new(system.servers.len(), system.load(), rate) } else { None }
}

#[cfg(test)]
mod tests {
    use super::super::theorems::tests::{dispatch, system};
    use super::*;

    fn predictions(classes: &[(u64, f64)], load: f64, strategy: &str, information: &str) -> Predictions {
        let policy = Policy {
            dispatch: dispatch(strategy),
            information: serde_json::from_str(information).expect("information"),
            count_own_jobs: true,
            per_probe: 2,
        };
        Predictions::new(&system(classes, load), &policy, None, QUICK)
    }

    #[test]
    fn the_most_trustworthy_comes_first() {
        let kind = |predictions: &Predictions, metric| predictions.of(metric, "").map(|found| found.kind);
        let two = predictions(&[(2, 1.0)], 0.5, r#"{"shortest": {}}"#, r#""exact""#);
        assert_eq!(kind(&two, Metric::MeanJobs), Some(Kind::Exact));
        let many = predictions(&[(1000, 1.0)], 0.9, r#"{"power_of_d": {"d": 2}}"#, r#""exact""#);
        assert_eq!(kind(&many, Metric::MeanJobs), Some(Kind::RefinedMeanField));
        assert_eq!(kind(&many, Metric::Utilization), Some(Kind::Exact));
        let uneven = predictions(&[(60, 1.0), (40, 2.0)], 0.7, r#"{"power_of_d": {"d": 2}}"#, r#""exact""#);
        assert_eq!(kind(&uneven, Metric::MeanJobs), Some(Kind::MeanField));
        let local = predictions(&[(100, 1.0)], 0.9, r#"{"shortest": {}}"#, r#""push""#);
        assert_eq!(kind(&local, Metric::MeanJobs), Some(Kind::Bound));
        assert_eq!(kind(&local, Metric::WaitingProbability), None);
        let random = predictions(&[(100, 1.0)], 0.9, r#"{"random": {}}"#, r#""none""#);
        assert_eq!(kind(&random, Metric::ResponseTimeMean), Some(Kind::Exact));
    }

    /// The exact law of small systems and the limits are consistent where both are known.
    #[test]
    fn the_exact_law_and_the_limit_are_one_for_random_routing() {
        let predictions = predictions(&[(2, 1.0), (1, 3.0)], 0.4, r#"{"weighted_random": {}}"#, r#""none""#);
        let (exact, limit) = (predictions.exact.as_ref().expect("small"), predictions.limit.as_ref().expect("known"));
        for (metric, key) in [
            (Metric::MeanJobs, ""),
            (Metric::ResponseTimeMean, ""),
            (Metric::TailFraction, "2"),
            (Metric::WaitingProbability, ""),
            (Metric::ResponseTimeQuantile, "0.9"),
            (Metric::ClassShare, "1"),
        ] {
            let (x, y) = (exact.value(metric, key).expect("known"), limit.value(metric, key).expect("known"));
            assert!((x - y).abs() < 1e-9 * x, "{}: {x} and {y}", metric.name());
        }
    }
}

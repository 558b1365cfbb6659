//! The metrics: names, keys, units, meanings and equations. Commands, documentation and report have these texts from here.

use serde::{Deserialize, Serialize};

macro_rules! metrics {
    ($($variant:ident, $name:literal, $key:literal, $unit:literal, $meaning:literal, $equation:literal;)*) => {
        /// A measured quantity.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Metric {
            $(#[doc = $meaning] #[doc = ""] #[doc = concat!("`", $equation, "`")] $variant,)*
        }

        impl Metric {
            /// Every metric, in the order of the results.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in results.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// What the key of a reading is; empty when there is one reading only.
            pub fn key(self) -> &'static str {
                match self {
                    $(Self::$variant => $key,)*
                }
            }

            /// The unit.
            pub fn unit(self) -> &'static str {
                match self {
                    $(Self::$variant => $unit,)*
                }
            }

            /// What it is, in a line.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)*
                }
            }

            /// How it is made of what happens in the window, as a plain text equation; see [`SYMBOLS`].
            pub fn equation(self) -> &'static str {
                match self {
                    $(Self::$variant => $equation,)*
                }
            }
        }
    };
}

/// What stands in the equations.
pub const SYMBOLS: &str = "N servers, M dispatchers, Q_n(t) jobs at server n at time t, the one in service included, \
    mu_n its rate, T the length of the window, #{...} the number of. Jobs are those that reach a dispatcher in the \
    window; in slots, time is whole.";

metrics! {
    TailFraction, "tail_fraction", "k", "fraction",
        "Time average of s_k, the fraction of servers with at least k jobs, the one in service included.",
        "s_k = (1/T) integral over the window of #{n : Q_n(t) >= k} / N dt";
    TailFractionVariance, "tail_fraction_variance", "k", "fraction^2",
        "Variance over time of s_k.",
        "(1/T) integral of S_k(t)^2 dt - s_k^2, with S_k(t) = #{n : Q_n(t) >= k} / N";
    SquaredDistance, "squared_distance", "", "fraction^2",
        "N times the time average of the sum over k of |s_k - s*_k|^2, with s* the mean-field limit where one is known.",
        "N (1/T) integral of sum_k |S_k(t) - s*_k|^2 dt; its limit for large N is trace(W)";
    MeanJobs, "mean_jobs", "", "jobs",
        "Time average of the number of jobs per server, the sum of s_k over k >= 1.",
        "(1/T) integral of (1/N) sum_n Q_n(t) dt = sum over k >= 1 of s_k";
    JobsVariance, "jobs_variance", "", "jobs^2",
        "Variance over time of the total number of jobs.",
        "(1/T) integral of J(t)^2 dt - ((1/T) integral of J(t) dt)^2, with J(t) = sum_n Q_n(t)";
    EmptyProbability, "empty_probability", "", "fraction",
        "Fraction of time with no job in the system.",
        "(1/T) integral of 1{sum_n Q_n(t) = 0} dt";
    MaxQueue, "max_queue", "", "jobs",
        "Longest queue that lasted for any time.",
        "max over the window and over n of Q_n(t)";
    ResponseTimeMean, "response_time_mean", "", "time",
        "Mean time from arrival to departure of the jobs that joined in the window.",
        "sum_i R_i / number of jobs, R_i = departure - arrival of job i; by Little's law N mean_jobs / throughput";
    ResponseTimeVariance, "response_time_variance", "", "time^2",
        "Variance of the response time over jobs.",
        "mean of R_i^2 - (mean of R_i)^2";
    ResponseTimeQuantile, "response_time_quantile", "quantile", "time",
        "Quantile of the response time, from the merged histogram of all replications.",
        "smallest r with #{i : R_i <= r} >= q x number of jobs, for the key q";
    WaitingTimeMean, "waiting_time_mean", "", "time",
        "Mean time from arrival to start of service, jobs that did not wait included.",
        "sum_i W_i / number of jobs, W_i = start of service - arrival of job i";
    WaitingTimeQuantile, "waiting_time_quantile", "quantile", "time",
        "Quantile of the waiting time, from the merged histogram of all replications.",
        "smallest w with #{i : W_i <= w} >= q x number of jobs, for the key q";
    WaitingProbability, "waiting_probability", "", "fraction",
        "Fraction of jobs that joined a server which was busy.",
        "#{i : job i found Q_n >= 1 at its server n} / number of jobs";
    JoinPosition, "join_position", "jobs found", "fraction",
        "Fraction of jobs that found this many jobs at the server they joined.",
        "#{i : job i found k jobs at its server} / number of jobs, for the key k";
    MessagesPerJob, "messages_per_job", "kind", "messages",
        "Messages sent per arriving job: all, and by kind.",
        "messages sent in the window / jobs that arrived in it; lost messages were sent too";
    BlockedFraction, "blocked_fraction", "", "fraction",
        "Fraction of arriving jobs lost at a full buffer.",
        "jobs lost / jobs arrived";
    Utilization, "utilization", "class", "fraction",
        "Fraction of the service capacity in use; with a key, the fraction of busy servers of a class.",
        "(1/T) integral of sum over busy n of mu_n dt / sum_n mu_n; of a class: (1/T) integral of #busy / #servers dt";
    Throughput, "throughput", "", "jobs/time",
        "Completed jobs per unit of time.",
        "jobs that left in the window / T";
    UnusedService, "unused_service", "", "jobs/slot",
        "In slotted time: services offered in a slot that no job took, over all servers.",
        "sum over the slots of sum_n max(0, services offered by n - jobs there) / number of slots";
    ClassTailFraction, "class_tail_fraction", "class/k", "fraction",
        "Time average of the fraction of servers of a class with at least k jobs.",
        "(1/T) integral of #{n in class : Q_n(t) >= k} / #{n in class} dt";
    ClassMeanJobs, "class_mean_jobs", "class", "jobs",
        "Time average of the number of jobs per server of a class.",
        "(1/T) integral of sum over n in class of Q_n(t) dt / #{n in class}";
    ClassShare, "class_share", "class", "fraction",
        "Fraction of the jobs that joined which joined a server of a class.",
        "jobs that joined a server of the class / jobs that joined any";
    ClassResponseTimeMean, "class_response_time_mean", "class", "time",
        "Mean response time of the jobs that joined a server of a class.",
        "mean of R_i over the jobs i that joined a server of the class";
    JobsPerDispatcher, "jobs_per_dispatcher", "dispatcher", "jobs",
        "Jobs that reached a dispatcher in the window.",
        "#{i : job i reached dispatcher m}, for the key m from 0";
    EstimateError, "estimate_error", "", "jobs",
        "Time average of |estimate - true length| over dispatchers and servers; 0 when information is exact.",
        "(1/T) integral of (1/(M N)) sum_m sum_n |E_mn(t) - Q_n(t)| dt, E_mn what dispatcher m believes of server n";
    EstimateBias, "estimate_bias", "", "jobs",
        "Time average of (estimate - true length) over dispatchers and servers; 0 when information is exact.",
        "(1/T) integral of (1/(M N)) sum_m sum_n (E_mn(t) - Q_n(t)) dt";
    RegretMean, "regret_mean", "", "jobs",
        "Mean over dispatched jobs of the length of the chosen queue minus that of the shortest.",
        "mean over jobs of Q_chosen - min_n Q_n, both just before the job joins";
    Imbalance, "imbalance", "", "jobs^2",
        "Time average of the sum over servers of (length - mean length)^2.",
        "(1/T) integral of sum_n (Q_n(t) - mean of Q(t))^2 dt";
    QueueRangeMean, "queue_range_mean", "", "jobs",
        "Time average of the longest queue minus the shortest.",
        "(1/T) integral of (max_n Q_n(t) - min_n Q_n(t)) dt";
    ChosenRankMean, "chosen_rank_mean", "", "rank",
        "Mean over dispatched jobs of the chosen server's rank: 1 + number of servers with strictly fewer jobs.",
        "mean over jobs of 1 + #{n : Q_n < Q_chosen}";
    ChosenRank, "chosen_rank", "rank", "fraction",
        "Fraction of dispatched jobs whose chosen server had this rank, from 1 to 10, or more.",
        "#{jobs with 1 + #{n : Q_n < Q_chosen} = r} / number of jobs, for the key r";
    ChosenShortestProbability, "chosen_shortest_probability", "", "fraction",
        "Fraction of dispatched jobs for which a server with the fewest jobs was chosen.",
        "#{jobs with Q_chosen = min_n Q_n} / number of jobs";
    BurstSizeMean, "burst_size_mean", "", "jobs",
        "Mean number of consecutive jobs that go to one server within a mean service time, over all dispatchers.",
        "jobs dispatched / bursts; a job goes on with the burst before it at the same server within 1/mu of its start";
    BurstSize, "burst_size", "jobs", "fraction",
        "Fraction of the bursts that have this many jobs, from 1 to 64, or more.",
        "#{bursts of b jobs} / #{bursts}, for the key b";
    CoincidenceRatio, "coincidence_ratio", "", "ratio",
        "Probability, times N, that two jobs from different dispatchers within a short time go to one server.",
        "N x #{pairs of jobs of different dispatchers, less than a window apart, at one server} / #{such pairs at any}";
    EstimateAgeMean, "estimate_age_mean", "", "time",
        "Mean over dispatched jobs of the age of the local estimate of the chosen server, since it was sent.",
        "mean over jobs of now - when the message was sent that set E_mn, n the chosen server; time 0 without any";
}

/// What a replication counts for in the mean of a metric over replications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// As much as any other.
    Equal,
    /// By the jobs that arrived: the metric is a sum over jobs divided by their number.
    Arrived,
    /// By the jobs that joined a queue.
    Joined,
}

impl Metric {
    /// Whether the mean over parts of a run is not the value of the run: extremes, totals, and squares of means. Variances
    /// and quantiles count as means here: see [`Metric::mean`] and [`Outline`](super::Outline).
    pub fn is_no_mean(self) -> bool {
        matches!(self, Self::MaxQueue | Self::JobsPerDispatcher | Self::SquaredDistance)
    }

    /// The mean about which this is the variance.
    pub fn mean(self) -> Option<Self> {
        match self {
            Self::TailFractionVariance => Some(Self::TailFraction),
            Self::JobsVariance => Some(Self::MeanJobs),
            Self::ResponseTimeVariance => Some(Self::ResponseTimeMean),
            _ => None,
        }
    }

    /// What a replication counts for.
    pub fn weight(self) -> Weight {
        match self {
            Self::ResponseTimeMean
            | Self::ResponseTimeVariance
            | Self::ResponseTimeQuantile
            | Self::WaitingTimeMean
            | Self::WaitingTimeQuantile
            | Self::WaitingProbability
            | Self::JoinPosition
            | Self::ClassShare => Weight::Joined,
            Self::MessagesPerJob
            | Self::BlockedFraction
            | Self::RegretMean
            | Self::ChosenRankMean
            | Self::ChosenRank
            | Self::ChosenShortestProbability => Weight::Arrived,
            _ => Weight::Equal,
        }
    }

    /// Whether a key that a replication did not meet, such as a level it never reached, stands for 0.
    pub fn absent_is_zero(self) -> bool {
        matches!(
            self,
            Self::TailFraction
                | Self::TailFractionVariance
                | Self::JoinPosition
                | Self::BurstSize
                | Self::MessagesPerJob
                | Self::ClassTailFraction
        )
    }
}

/// One value of a metric in one replication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Which metric.
    pub metric: Metric,
    /// Which of its values; see [`Metric::key`].
    pub key: String,
    /// The value; `None` where there was nothing to measure.
    pub value: Option<f64>,
}

impl Reading {
    /// A reading without a key.
    pub fn plain(metric: Metric, value: Option<f64>) -> Self {
        Self::keyed(metric, String::new(), value)
    }

    /// A reading with a key.
    pub fn keyed(metric: Metric, key: impl Into<String>, value: Option<f64>) -> Self {
        Self { metric, key: key.into(), value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_metric_is_explained_in_words_of_its_own() {
        let texts: BTreeSet<&str> =
            Metric::ALL.iter().flat_map(|metric| [metric.name(), metric.meaning(), metric.equation()]).collect();
        assert_eq!(texts.len(), 3 * Metric::ALL.len());
        for metric in Metric::ALL {
            assert!(!metric.unit().is_empty() && metric.meaning().ends_with('.'), "{}", metric.name());
            assert!(metric.equation().is_ascii() && !metric.equation().ends_with('.'), "{}", metric.name());
        }
    }

    #[test]
    fn names_are_those_in_files() {
        for metric in Metric::ALL {
            let written = serde_json::to_string(metric).expect("a name");
            assert_eq!(written.trim_matches('"'), metric.name());
        }
    }
}

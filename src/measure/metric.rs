//! The metrics: names, keys, units and meanings.

use serde::{Deserialize, Serialize};

macro_rules! metrics {
    ($($variant:ident, $name:literal, $key:literal, $unit:literal, $meaning:literal;)*) => {
        /// A measured quantity.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Metric {
            $(#[doc = $meaning] $variant,)*
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
        }
    };
}

metrics! {
    TailFraction, "tail_fraction", "k", "fraction",
        "Time average of s_k, the fraction of servers with at least k jobs, the one in service included.";
    TailFractionVariance, "tail_fraction_variance", "k", "fraction^2",
        "Variance over time of s_k.";
    SquaredDistance, "squared_distance", "", "fraction^2",
        "N times the time average of the sum over k of |s_k - s*_k|^2, with s* the mean-field limit where one is known.";
    MeanJobs, "mean_jobs", "", "jobs",
        "Time average of the number of jobs per server, the sum of s_k over k >= 1.";
    JobsVariance, "jobs_variance", "", "jobs^2",
        "Variance over time of the total number of jobs.";
    EmptyProbability, "empty_probability", "", "fraction",
        "Fraction of time with no job in the system.";
    MaxQueue, "max_queue", "", "jobs",
        "Longest queue that lasted for any time.";
    ResponseTimeMean, "response_time_mean", "", "time",
        "Mean time from arrival to departure of the jobs that joined in the window.";
    ResponseTimeVariance, "response_time_variance", "", "time^2",
        "Variance of the response time over jobs.";
    ResponseTimeQuantile, "response_time_quantile", "quantile", "time",
        "Quantile of the response time, from the merged histogram of all replications.";
    WaitingTimeMean, "waiting_time_mean", "", "time",
        "Mean time from arrival to start of service, jobs that did not wait included.";
    WaitingTimeQuantile, "waiting_time_quantile", "quantile", "time",
        "Quantile of the waiting time, from the merged histogram of all replications.";
    WaitingProbability, "waiting_probability", "", "fraction",
        "Fraction of jobs that joined a server which was busy.";
    JoinPosition, "join_position", "jobs found", "fraction",
        "Fraction of jobs that found this many jobs at the server they joined.";
    MessagesPerJob, "messages_per_job", "kind", "messages",
        "Messages sent per arriving job: all, and by kind.";
    BlockedFraction, "blocked_fraction", "", "fraction",
        "Fraction of arriving jobs lost at a full buffer.";
    Utilization, "utilization", "class", "fraction",
        "Fraction of the service capacity in use; with a key, the fraction of busy servers of a class.";
    Throughput, "throughput", "", "jobs/time",
        "Completed jobs per unit of time.";
    UnusedService, "unused_service", "", "jobs/slot",
        "In slotted time: services offered in a slot that no job took, over all servers.";
    ClassTailFraction, "class_tail_fraction", "class/k", "fraction",
        "Time average of the fraction of servers of a class with at least k jobs.";
    ClassMeanJobs, "class_mean_jobs", "class", "jobs",
        "Time average of the number of jobs per server of a class.";
    ClassShare, "class_share", "class", "fraction",
        "Fraction of the jobs that joined which joined a server of a class.";
    ClassResponseTimeMean, "class_response_time_mean", "class", "time",
        "Mean response time of the jobs that joined a server of a class.";
    JobsPerDispatcher, "jobs_per_dispatcher", "dispatcher", "jobs",
        "Jobs that reached a dispatcher in the window.";
    EstimateError, "estimate_error", "", "jobs",
        "Time average of |estimate - true length| over dispatchers and servers; 0 when information is exact.";
    EstimateBias, "estimate_bias", "", "jobs",
        "Time average of (estimate - true length) over dispatchers and servers; 0 when information is exact.";
    RegretMean, "regret_mean", "", "jobs",
        "Mean over dispatched jobs of the length of the chosen queue minus that of the shortest.";
    Imbalance, "imbalance", "", "jobs^2",
        "Time average of the sum over servers of (length - mean length)^2.";
    QueueRangeMean, "queue_range_mean", "", "jobs",
        "Time average of the longest queue minus the shortest.";
    ChosenRankMean, "chosen_rank_mean", "", "rank",
        "Mean over dispatched jobs of the chosen server's rank: 1 + number of servers with strictly fewer jobs.";
    ChosenRank, "chosen_rank", "rank", "fraction",
        "Fraction of dispatched jobs whose chosen server had this rank, from 1 to 10, or more.";
    ChosenShortestProbability, "chosen_shortest_probability", "", "fraction",
        "Fraction of dispatched jobs for which a server with the fewest jobs was chosen.";
    BurstSizeMean, "burst_size_mean", "", "jobs",
        "Mean number of consecutive jobs that go to one server within a mean service time, over all dispatchers.";
    BurstSize, "burst_size", "jobs", "fraction",
        "Fraction of the bursts that have this many jobs, from 1 to 64, or more.";
    CoincidenceRatio, "coincidence_ratio", "", "ratio",
        "Probability, times N, that two jobs from different dispatchers within a short time go to one server.";
    EstimateAgeMean, "estimate_age_mean", "", "time",
        "Mean over dispatched jobs of the age of the local estimate of the chosen server, since it was sent.";
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
    /// Whether it is a variance or an extreme, of which the mean over parts of a run is not that of the run.
    pub fn is_of_second_order(self) -> bool {
        matches!(
            self,
            Self::TailFractionVariance
                | Self::JobsVariance
                | Self::MaxQueue
                | Self::ResponseTimeVariance
                | Self::JobsPerDispatcher
                | Self::SquaredDistance
        )
    }

    /// What a replication counts for.
    pub fn weight(self) -> Weight {
        match self {
            Self::ResponseTimeMean
            | Self::WaitingTimeMean
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

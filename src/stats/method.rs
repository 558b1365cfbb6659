//! Names of the ways to an interval, for outputs to state.

use std::fmt;

/// How an interval was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Student t interval for the mean of independent replications.
    Replications,
    /// Ratio of two means over independent replications (delta method, Student t).
    RatioEstimator,
    /// Quantile of pooled observations, its place from their distribution over the replications (Woodruff).
    PooledQuantile,
    /// Means of consecutive batches that do not overlap.
    BatchMeans {
        /// How many batches.
        batches: u64,
    },
    /// Means of all batches of one length.
    OverlappingBatchMeans {
        /// Length of the series over the length of a batch, rounded down.
        batches: u64,
    },
    /// Difference of two means or ratios, paired by replication.
    PairedDifference,
    /// Ratio of two means or ratios, paired by replication (delta method).
    PairedRatio,
    /// Difference of two means or ratios, taken as independent (Welch).
    IndependentDifference,
    /// Ratio of two means or ratios, taken as independent (delta method, degrees of freedom as Welch).
    IndependentRatio,
}

impl Method {
    /// Every method; the number of batches is any.
    pub const ALL: [Self; 9] = [
        Self::Replications,
        Self::RatioEstimator,
        Self::PooledQuantile,
        Self::BatchMeans { batches: 0 },
        Self::OverlappingBatchMeans { batches: 0 },
        Self::PairedDifference,
        Self::PairedRatio,
        Self::IndependentDifference,
        Self::IndependentRatio,
    ];

    /// How it makes an interval, in a line.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Replications => {
                "Interval of the mean of R independent replications: Student t, R - 1 degrees of freedom."
            }
            Self::RatioEstimator => {
                "Interval of a mean over jobs, which is the ratio of two sums over replications: delta method, Student t."
            }
            Self::PooledQuantile => {
                "Quantile of all jobs together; its interval is that of the part of the jobs below it, carried over: Woodruff."
            }
            Self::BatchMeans { .. } => {
                "Interval from one long run cut into batches, whose means count as independent: Student t."
            }
            Self::OverlappingBatchMeans { .. } => {
                "Interval from one long run by the means of all its stretches of one length, overlapping ones too."
            }
            Self::PairedDifference => {
                "Interval of policy minus baseline from the differences in replications with the same random numbers."
            }
            Self::PairedRatio => {
                "Interval of policy over baseline from replications with the same random numbers: delta method."
            }
            Self::IndependentDifference => "Interval of a difference of two means that share no random numbers: Welch.",
            Self::IndependentRatio => {
                "Interval of a ratio of two means that share no random numbers: delta method, degrees of freedom as Welch."
            }
        }
    }

    /// A short name that does not change, as for a column of a table.
    pub fn code(self) -> &'static str {
        match self {
            Self::Replications => "replications",
            Self::RatioEstimator => "ratio_estimator",
            Self::PooledQuantile => "pooled_quantile",
            Self::BatchMeans { .. } => "batch_means",
            Self::OverlappingBatchMeans { .. } => "overlapping_batch_means",
            Self::PairedDifference => "paired_difference",
            Self::PairedRatio => "paired_ratio",
            Self::IndependentDifference => "independent_difference",
            Self::IndependentRatio => "independent_ratio",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Replications => "Student t over independent replications",
            Self::RatioEstimator => "ratio estimator over independent replications, Student t",
            Self::PooledQuantile => {
                "quantile of pooled observations, Woodruff's interval over independent replications"
            }
            Self::BatchMeans { batches } => return write!(f, "batch means, {batches} batches, Student t"),
            Self::OverlappingBatchMeans { batches } => {
                return write!(f, "overlapping batch means, series of {batches} batch lengths, Student t");
            }
            Self::PairedDifference => "paired difference over common replications, Student t",
            Self::PairedRatio => "paired ratio over common replications, delta method, Student t",
            Self::IndependentDifference => "difference of independent samples, Welch",
            Self::IndependentRatio => "ratio of independent samples, delta method, Welch",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_how_many_batches() {
        assert_eq!(Method::BatchMeans { batches: 20 }.to_string(), "batch means, 20 batches, Student t");
        assert_eq!(Method::BatchMeans { batches: 20 }.code(), "batch_means");
        assert_eq!(Method::Replications.to_string(), "Student t over independent replications");
    }
}

//! What the words in results mean: metrics, columns, kinds of theory, ways to an interval, warnings. Those that have a
//! type bring their text with them.

use crate::measure::Metric;
use crate::stats::Method;
use crate::theory::Kind;

/// What sort of word a term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A measured quantity.
    Metric,
    /// A column of a table.
    Column,
    /// A value of `theory_kind`.
    Theory,
    /// A way to an interval.
    Interval,
    /// The code of a warning.
    Warning,
}

impl Sort {
    /// Every sort, in the order of [`terms`], with its title.
    pub const ALL: [(Self, &str); 5] = [
        (Self::Metric, "Metrics"),
        (Self::Column, "Columns"),
        (Self::Theory, "Kinds of theory (theory_kind)"),
        (Self::Interval, "Intervals"),
        (Self::Warning, "Warnings"),
    ];
}

/// A word in results, explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The word.
    pub name: &'static str,
    /// What sort of word it is.
    pub sort: Sort,
    /// What it means, in a line.
    pub meaning: &'static str,
    /// The metric, if it is one, with its unit, key and equation.
    pub metric: Option<Metric>,
}

/// Columns whose names do not say all. Intervals are at the confidence of the run.
const COLUMNS: [(&str, &str); 30] = [
    ("point", "Number of the point in the order of the sweep, from 0; the last swept key changes fastest."),
    ("metric", "The measured quantity; each is explained by its name."),
    ("key", "Which value of a metric that has several: the level k, the quantile, the class; empty for others."),
    (
        "estimate",
        "The mean over replications; means over jobs weigh them by their jobs, quantiles are of all jobs together.",
    ),
    ("low", "Lower end of the confidence interval, missing where there is none; in histograms, of the bin."),
    ("high", "Upper end of the confidence interval, missing where there is none; in histograms, of the bin."),
    ("std_error", "Standard error of the estimate: the standard deviation that repeating the whole run would show."),
    ("replications", "Replications, or pairs of them, that gave a value."),
    ("theory", "What the value should be, where it is known; theory_kind says how far that can be trusted."),
    ("theory_kind", "How far the theory can be trusted: exact, refined_mean_field, mean_field or bound."),
    ("server", "In snapshots: the number of the server, from 0."),
    ("jobs", "In snapshots: the jobs at the server at that time, the one in service included."),
    ("policy", "In a comparison: the policy that is compared with the baseline."),
    ("baseline", "In a comparison: the first policy named, which the others are compared with."),
    ("difference", "Policy minus baseline on the same arrivals and job sizes, with its interval beside it."),
    ("difference_low", "Lower end of the interval of the difference."),
    ("difference_high", "Upper end of the interval of the difference."),
    ("difference_std_error", "Standard error of the difference."),
    ("ratio", "Policy over baseline on the same arrivals and job sizes, with its interval beside it."),
    ("ratio_low", "Lower end of the interval of the ratio."),
    ("ratio_high", "Upper end of the interval of the ratio."),
    ("unpaired_half_width", "Half width that the interval of the difference would have without common random numbers."),
    ("saving", "Half width of the interval without pairing over that with it: what common random numbers saved."),
    ("replication", "Number of the replication, from 0; each has random numbers of its own."),
    ("value", "What one replication measured; missing where there was nothing to measure."),
    ("k", "A queue length: s_k is the fraction of servers with at least k jobs."),
    ("count", "Jobs of all replications with a response time in the bin."),
    ("cumulative_fraction", "Fraction of the jobs with a response time up to the end of the bin."),
    ("time", "The moment of the time course, in mean service times (in slots in slotted time)."),
    ("fraction_of_time", "Share of the window in which s_k was from low to high."),
];

/// The warnings, by their codes.
const WARNINGS: [(&str, &str); 16] = [
    ("backlog_grows", "The number of jobs grew by half or more within the window: no steady state, so no intervals."),
    ("batches_correlated", "Batches of a single run still depend on each other: its intervals are too narrow."),
    ("drift", "The number of jobs still changed from the first half of the window to the second: too short a warm-up."),
    ("heavy_tail", "A law has infinite variance: a few draws decide every mean; trust quantiles."),
    ("interrupted", "The run was stopped: fewer replications count than were asked for; go on with --resume."),
    ("no_jobs", "No job arrived within the windows although some should: too short a run, so no intervals."),
    ("no_warmup", "Measuring starts with the empty system, so delays are biased low; set run.warmup."),
    ("not_balanced", "Far more jobs arrived than left, or fewer: no steady state, so no intervals."),
    ("not_settled", "The pilot runs found no end of the transient within run.max_time."),
    ("not_stable", "The load is 1 or more, or some queue must grow without end: no steady state, so no intervals."),
    ("one_replication", "One replication says nothing of its own error: no intervals."),
    (
        "precision_not_reached",
        "run.max_replications were not enough for run.precision, or it is not met by what is pooled.",
    ),
    ("thin_quantiles", "Fewer than ten jobs, or too few independent ones, lie above a quantile: it says little."),
    ("trace_ends", "The trace has no more jobs before the run ends."),
    ("values_clamped", "Some response times were beyond the histogram: the highest quantiles are too low."),
    ("wide_interval", "The interval of the mean number of jobs is wider than 10 % of it each way: run longer."),
];

/// Every term, sort by sort.
pub fn terms() -> impl Iterator<Item = Term> {
    let plain = |sort| move |(name, meaning)| Term { name, sort, meaning, metric: None };
    let of_metric = |metric: &Metric| Term {
        name: metric.name(),
        sort: Sort::Metric,
        meaning: metric.meaning(),
        metric: Some(*metric),
    };
    let kinds = Kind::ALL.into_iter().map(|kind| (kind.name(), kind.meaning()));
    let methods = Method::ALL.into_iter().map(|method| (method.code(), method.meaning()));
    let metrics = Metric::ALL.iter().map(of_metric);
    metrics
        .chain(COLUMNS.into_iter().map(plain(Sort::Column)))
        .chain(kinds.map(plain(Sort::Theory)))
        // The column of that name counts them.
        .chain(methods.filter(|(name, _)| *name != "replications").map(plain(Sort::Interval)))
        .chain(WARNINGS.into_iter().map(plain(Sort::Warning)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn no_word_has_two_meanings() {
        let names: Vec<&str> = terms().map(|term| term.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for term in terms() {
            assert!(term.meaning.ends_with('.') && term.meaning.len() < 130, "{}: {}", term.name, term.meaning.len());
        }
    }

    /// The codes of warnings in the sources are those explained.
    #[test]
    fn every_warning_is_explained() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut codes: BTreeSet<String> = ["backlog_grows", "drift"].map(str::to_owned).into();
        for file in ["scenario/plan.rs", "experiment/mod.rs", "experiment/gather.rs"] {
            let text = std::fs::read_to_string(root.join(file)).expect("a source");
            for (_, after) in text.match_indices("Warning::new(").map(|(at, found)| text.split_at(at + found.len())) {
                let after = after.trim_start();
                if let Some(code) = after.strip_prefix('"').and_then(|rest| rest.split('"').next()) {
                    codes.insert(code.to_owned());
                }
            }
        }
        let known: BTreeSet<String> = WARNINGS.iter().map(|(code, _)| (*code).to_owned()).collect();
        assert_eq!(codes, known);
    }
}

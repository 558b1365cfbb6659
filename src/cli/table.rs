//! The compact table that a run prints: simulated, interval, theory.

use crate::measure::Metric;
use crate::output::{Estimate, Results};
use crate::theory::Kind;
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// Metrics worth a glance; the files have all.
const SHOWN: &[Metric] = &[
    Metric::MeanJobs,
    Metric::ResponseTimeMean,
    Metric::ResponseTimeQuantile,
    Metric::WaitingTimeMean,
    Metric::WaitingProbability,
    Metric::Utilization,
    Metric::MessagesPerJob,
    Metric::BlockedFraction,
    Metric::EstimateError,
    Metric::RegretMean,
    Metric::Imbalance,
    Metric::QueueRangeMean,
    Metric::ChosenRankMean,
    Metric::CoincidenceRatio,
    Metric::EstimateAgeMean,
    Metric::TailFraction,
];

/// Levels of s_k that are shown.
const LEVELS: u64 = 8;

/// A line above, one below the header, one at the end: rows stand close.
pub(super) const STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// The table of a result.
pub(super) fn table(results: &Results) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE);
    let percent = 100.0 * results.manifest.confidence;
    table.set_header(["metric", "", "simulated", &format!("{percent} % interval"), "theory", "theory is"]);
    let local = results.estimate(Metric::MessagesPerJob, "exact").is_none();
    for metric in SHOWN {
        for estimate in results.estimates.iter().filter(|estimate| estimate.metric == *metric) {
            if shown(estimate, local) {
                table.add_row([
                    estimate.metric.name().to_owned(),
                    estimate.key.clone(),
                    number(estimate.estimate),
                    interval(estimate),
                    number(estimate.theory),
                    standing(estimate),
                ]);
            }
        }
    }
    for column in 2..5 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Whether a row says something: not the zeros of what a scenario does not have.
fn shown(estimate: &Estimate, local: bool) -> bool {
    let zero = estimate.estimate == Some(0.0);
    match estimate.metric {
        Metric::TailFraction => estimate.key.parse::<u64>().is_ok_and(|k| k <= LEVELS),
        Metric::BlockedFraction | Metric::MessagesPerJob => !zero && estimate.key.is_empty(),
        Metric::EstimateError => local && !zero,
        // What the rows above do not already say is worth a line where dispatchers may herd.
        Metric::QueueRangeMean | Metric::ChosenRankMean | Metric::CoincidenceRatio | Metric::EstimateAgeMean => {
            local && estimate.estimate.is_some()
        }
        _ => true,
    }
}

/// How far the theory can be trusted; where it is exact, how many standard errors the estimate is off.
fn standing(estimate: &Estimate) -> String {
    let Some(kind) = estimate.theory_kind else { return String::new() };
    let errors = match (estimate.estimate, estimate.theory, estimate.std_error) {
        (Some(value), Some(theory), Some(error)) if error > 0.0 => Some((value - theory) / error),
        _ => None,
    };
    match (kind, errors) {
        (Kind::Exact, Some(errors)) => format!("exact, {errors:+.1} s.e."),
        (Kind::Bound, _) => "a lower bound".to_owned(),
        (kind, _) => kind.to_string(),
    }
}

/// A number to five significant digits.
pub(super) fn number(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(x) => {
            let magnitude = x.abs().log10().floor();
            if !(-4.0..9.0).contains(&magnitude) {
                return format!("{x:.4e}");
            }
            let decimals = (4.0 - magnitude).max(0.0) as usize;
            format!("{x:.decimals$}")
        }
    }
}

fn interval(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{} .. {}", number(Some(low)), number(Some(high))),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_five_digits() {
        for (x, text) in
            [(2.614_057, "2.6141"), (0.9, "0.90000"), (1234.56, "1234.6"), (1e-7, "1.0000e-7"), (123_456.7, "123457")]
        {
            assert_eq!(number(Some(x)), text);
        }
    }
}

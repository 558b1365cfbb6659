//! The compact table that a run prints: simulated, interval, theory.

use crate::measure::Metric;
use crate::output::{Estimate, Results, interval, number};
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
                    interval(estimate.low, estimate.high),
                    number(estimate.theory),
                    estimate.standing(),
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

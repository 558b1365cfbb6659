//! The tables of the report.

use super::html::{Room, escape, shorten};
use crate::measure::{Metric, SYMBOLS};
use crate::output::{Comparison, Estimate, Results, interval, number, terms};
use crate::scenario::Axis;
use crate::stats::Warning;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Metrics of the table of points; those that are zero or missing everywhere have no column.
const SHOWN: [(Metric, &str); 11] = [
    (Metric::MeanJobs, ""),
    (Metric::ResponseTimeMean, ""),
    (Metric::ResponseTimeQuantile, "0.99"),
    (Metric::WaitingTimeMean, ""),
    (Metric::WaitingProbability, ""),
    (Metric::BlockedFraction, ""),
    (Metric::MessagesPerJob, ""),
    (Metric::EstimateError, ""),
    (Metric::RegretMean, ""),
    (Metric::Imbalance, ""),
    (Metric::CoincidenceRatio, ""),
];

/// Metrics that are compared in the report.
const COMPARED: &[Metric] = &[
    Metric::MeanJobs,
    Metric::ResponseTimeMean,
    Metric::ResponseTimeQuantile,
    Metric::WaitingTimeMean,
    Metric::MessagesPerJob,
    Metric::RegretMean,
    Metric::Imbalance,
];

/// Whether a comparison has a row: of messages only the sum of all kinds.
pub(super) fn is_compared(row: &Comparison) -> bool {
    COMPARED.contains(&row.metric) && (row.metric != Metric::MessagesPerJob || row.key.is_empty())
}

/// Rows of one metric that are shown before the reader asks for more.
const KEYS: usize = 12;

/// Characters of a label.
const LABEL: usize = 200;

/// What a row of the table of points shows.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    labels: Vec<String>,
    /// Estimate, half width of its interval, theory.
    values: Vec<[Option<f64>; 3]>,
    replications: u64,
}

impl Cells {
    pub(super) fn new(results: &Results) -> Self {
        let value = |(metric, key): &(Metric, &str)| {
            let estimate = results.estimate(*metric, key);
            let half = estimate.and_then(|estimate| Some((estimate.high? - estimate.low?) / 2.0));
            [estimate.and_then(|estimate| estimate.estimate), half, estimate.and_then(|estimate| estimate.theory)]
        };
        Self {
            labels: results.labels.iter().map(|label| shorten(&label.to_string(), LABEL)).collect(),
            values: SHOWN.iter().map(value).collect(),
            replications: results.manifest.replications,
        }
    }

    /// Whether a column says something here.
    fn tells(&self, column: usize) -> bool {
        self.values[column][0].is_some_and(|value| value != 0.0)
    }
}

/// The words that a report uses and explains at its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    metrics: BTreeSet<Metric>,
    warnings: BTreeSet<String>,
    kinds: BTreeSet<&'static str>,
}

impl Words {
    pub(super) fn warning(&mut self, code: &str) {
        self.warnings.insert(code.to_owned());
    }

    /// The words with their meanings.
    pub(super) fn list(&self) -> String {
        let mut list = String::new();
        for term in terms() {
            // A string takes every line.
            if let Some(metric) = term.metric {
                if self.metrics.contains(&metric) {
                    let key = if metric.key().is_empty() { String::new() } else { format!("; by {}", metric.key()) };
                    let _ = write!(
                        list,
                        "<dt id=word-{0}><code>{0}</code> <span class=unit>{1}{key}</span></dt><dd>{2}<br><code \
                         class=equation>{3}</code></dd>",
                        term.name,
                        escape(metric.unit()),
                        escape(term.meaning),
                        escape(metric.equation())
                    );
                }
            } else if self.warnings.contains(term.name) || self.kinds.contains(term.name) {
                let _ =
                    write!(list, "<dt id=word-{0}><code>{0}</code></dt><dd>{1}</dd>", term.name, escape(term.meaning));
            }
        }
        format!("<dl class=words>{list}</dl><p class=note>{}</p>", escape(SYMBOLS))
    }
}

/// A metric's name, which tells its meaning and leads to it.
fn named(metric: Metric, words: &mut Words) -> String {
    words.metrics.insert(metric);
    let tip = format!("{} [{}] {}", metric.meaning(), metric.unit(), metric.equation());
    format!("<a href=\"#word-{0}\" title=\"{1}\">{0}</a>", metric.name(), escape(&tip))
}

/// A warning, as an item of a list.
pub(super) fn warning(place: &str, warning: &Warning) -> String {
    let place = if place.is_empty() { String::new() } else { format!("<b>{}</b>: ", escape(place)) };
    let known = terms().any(|term| term.name == warning.code);
    let code = escape(&warning.code);
    let code = if known { format!("<a href=\"#word-{code}\">{code}</a>") } else { code };
    format!("<li>{place}{} <small>({code})</small></li>", escape(&shorten(&warning.message, 1000)))
}

/// All estimates of a point; under a heading that opens it, if there is one.
pub(super) fn full(heading: &str, results: &Results, words: &mut Words) -> String {
    let mut rows = String::new();
    let mut hidden = false;
    let mut before: Option<(Metric, usize)> = None;
    let (last, first): (Vec<&Estimate>, _) = results.estimates.iter().partition(|estimate| comes_last(estimate.metric));
    for estimate in first.into_iter().chain(last) {
        let count = before.filter(|(metric, _)| *metric == estimate.metric).map_or(1, |(_, count)| count + 1);
        before = Some((estimate.metric, count));
        hidden |= count > KEYS;
        let class = match count {
            1 => " class=first",
            count if count > KEYS => " class=more",
            _ => "",
        };
        let name = if count == 1 { named(estimate.metric, words) } else { estimate.metric.name().to_owned() };
        rows.push_str(&row(estimate, class, &name, words));
    }
    let more = if hidden { "<button type=button class=all hidden>Show all rows</button>" } else { "" };
    let table = format!(
        "<div class=wide tabindex=0 role=region aria-label=\"Table of estimates\"><table class=full><thead><tr><th \
         scope=col>metric<th scope=col>key<th scope=col class=n>simulated<th scope=col class=n>interval<th scope=col \
         class=n>theory<th scope=col>theory is</thead><tbody>{rows}</tbody></table></div>{more}"
    );
    if heading.is_empty() { table } else { format!("<details><summary>{heading}</summary>{table}</details>") }
}

/// Whether it is for the second glance: laws, which have many values.
fn comes_last(metric: Metric) -> bool {
    matches!(
        metric,
        Metric::TailFraction
            | Metric::TailFractionVariance
            | Metric::SquaredDistance
            | Metric::JoinPosition
            | Metric::ClassTailFraction
            | Metric::JobsPerDispatcher
            | Metric::ChosenRank
            | Metric::BurstSize
    )
}

fn row(estimate: &Estimate, class: &str, name: &str, words: &mut Words) -> String {
    words.kinds.extend(estimate.theory_kind.map(crate::theory::Kind::name));
    format!(
        "<tr{class}><th scope=row>{name}<td>{}<td class=n>{}<td class=n>{}<td class=n>{}<td>{}\n",
        escape(&shorten(&estimate.key, LABEL)),
        number(estimate.estimate),
        interval(estimate.low, estimate.high),
        number(estimate.theory),
        escape(&estimate.standing()),
    )
}

/// A row for each point of a sweep.
pub(super) fn points(
    axes: &[Axis],
    cells: &[Cells],
    all: u64,
    bytes: usize,
    confidence: f64,
    words: &mut Words,
) -> String {
    let columns: Vec<usize> = (0..SHOWN.len()).filter(|&i| cells.iter().any(|cells| cells.tells(i))).collect();
    let mut rows = Room::new(bytes);
    for cells in cells {
        rows.add(|| point_row(cells, &columns));
    }
    rows.omit(all - cells.len() as u64);
    let key = |axis: &Axis| format!("<th scope=col>{}", escape(&shorten(&axis.key, LABEL)));
    let metric = |&i: &usize| {
        let (metric, key) = SHOWN[i];
        let key = if key.is_empty() { String::new() } else { format!(" {key}") };
        format!("<th scope=col class=n>{}{key}", named(metric, words))
    };
    let head: String = axes.iter().map(key).chain(columns.iter().map(metric)).collect();
    format!(
        "<section id=points aria-labelledby=points-title><h2 id=points-title>Results, point by point</h2><p>Simulated \
         value &plusmn; half its {confidence} % interval; below it, what theory says.</p><div class=wide tabindex=0 \
         role=region aria-label=\"Table of points\"><table class=points><thead><tr>{head}<th scope=col \
         class=n>replications</thead><tbody>{}</tbody></table></div>{}</section>",
        rows.text(),
        rows.left_out("points", "the table <code>estimates</code> has all"),
    )
}

fn point_row(cells: &Cells, columns: &[usize]) -> String {
    let mut row = String::from("<tr>");
    for label in &cells.labels {
        // A string takes every line.
        let _ = write!(row, "<th scope=row>{}", escape(label));
    }
    for &i in columns {
        let [value, half, theory] = cells.values[i];
        let half = half.map_or(String::new(), |half| format!(" <small>&plusmn; {}</small>", rough(half)));
        let theory = theory.map_or(String::new(), |theory| format!("<br><i>{}</i>", number(Some(theory))));
        let _ = write!(row, "<td class=n>{}{half}{theory}", number(value));
    }
    let _ = writeln!(row, "<td class=n>{}", cells.replications);
    row
}

/// A width to two significant digits.
fn rough(width: f64) -> String {
    let magnitude = width.abs().log10().floor();
    match magnitude {
        _ if width == 0.0 => "0".to_owned(),
        -4.0..9.0 => format!("{width:.*}", (1.0 - magnitude).max(0.0) as usize),
        _ => format!("{width:.1e}"),
    }
}

/// A row of a comparison.
pub(super) fn comparison(row: &Comparison, words: &mut Words) -> String {
    let mut text = String::from("<tr>");
    let label = |text: &str| escape(&shorten(text, LABEL));
    for value in &row.labels {
        // A string takes every line.
        let _ = write!(text, "<th scope=row>{}", label(&value.to_string()));
    }
    let key = if row.key.is_empty() { String::new() } else { format!(" {}", label(&row.key)) };
    let _ = writeln!(
        text,
        "<td>{}<td>{}<td>{}{key}<td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}",
        label(&row.policy),
        label(&row.baseline),
        named(row.metric, words),
        number(row.difference),
        interval(row.difference_low, row.difference_high),
        number(row.ratio),
        interval(row.ratio_low, row.ratio_high),
        number(row.saving),
    );
    text
}

/// The table of comparisons.
pub(super) fn comparisons(others: &[Axis], rows: &Room, confidence: f64) -> String {
    let keys: String =
        others.iter().map(|axis| format!("<th scope=col>{}", escape(&shorten(&axis.key, LABEL)))).collect();
    format!(
        "<section id=comparisons aria-labelledby=comparisons-title><h2 id=comparisons-title>Policies against the \
         baseline</h2><p>On the same arrivals and job sizes, with {confidence} % intervals. Saving is what that made the \
         interval of the difference narrower, as a factor.</p><div class=wide tabindex=0 role=region aria-label=\"Table of \
         comparisons\"><table><thead><tr>{keys}<th scope=col>policy<th scope=col>minus<th scope=col>metric<th scope=col \
         class=n>difference<th scope=col class=n>interval<th scope=col class=n>ratio<th scope=col class=n>interval<th \
         scope=col class=n>saving</thead><tbody>{}</tbody></table></div>{}</section>",
        rows.text(),
        rows.left_out("rows", "the table <code>comparison</code> has all"),
    )
}

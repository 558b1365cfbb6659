//! Estimates over replications, metric by metric.

use crate::measure::{DelayHistogram, Metric};
use crate::output::{Estimate, Replication};
use crate::scenario::Plan;
use crate::stats::Interval;
use crate::theory::Prediction;
use std::collections::BTreeMap;

/// All estimates in the order of the metrics, and keys in theirs.
pub(super) fn estimates(
    plan: &Plan,
    replications: &[Replication],
    response: Option<&DelayHistogram>,
    waiting: Option<&DelayHistogram>,
) -> Vec<Estimate> {
    let predictions = plan.predictions();
    let columns = columns(replications);
    let mut estimates = Vec::new();
    for (metric, keys) in columns {
        let measured: Vec<bool> = (0..replications.len())
            .map(|i| keys.values().any(|column| column.get(i).copied().flatten().is_some()))
            .collect();
        for (key, column) in keys {
            // Where a replication measured the metric but not this key, a fraction or a count is 0.
            let value = |i: usize| {
                let value = column.get(i).copied().flatten();
                value.or_else(|| (metric.absent_is_zero() && measured[i]).then_some(0.0))
            };
            let values: Vec<f64> = (0..replications.len()).filter_map(value).collect();
            let pooled = match metric {
                Metric::ResponseTimeQuantile => response,
                Metric::WaitingTimeQuantile => waiting,
                _ => None,
            };
            // The quantile of all jobs, not the mean of quantiles.
            let point = pooled.map(|histogram| key.text.parse().ok().and_then(|q| histogram.quantile(q)));
            let theory = predictions.of(metric, &key.text);
            estimates.push(estimate(plan, metric, key.text, &values, point, theory));
        }
    }
    estimates
}

/// The estimate of one key from its values, about `point` if that is given instead of their mean.
fn estimate(
    plan: &Plan,
    metric: Metric,
    key: String,
    values: &[f64],
    point: Option<Option<f64>>,
    theory: Option<Prediction>,
) -> Estimate {
    let interval = Interval::of_mean(values, plan.confidence);
    let estimate = point.unwrap_or(interval.map(|interval| interval.mean));
    // Without a steady state there is nothing that an interval could hold.
    let steady = interval.filter(|_| !plan.is_overloaded());
    let half_width = steady.and_then(|interval| interval.half_width);
    let around = |sign: f64| Some(estimate? + sign * half_width?);
    Estimate {
        point: 0,
        metric,
        key,
        estimate,
        low: around(-1.0),
        high: around(1.0),
        std_error: steady.and_then(|interval| interval.std_error),
        replications: values.len() as u64,
        theory: theory.map(|theory| theory.value),
        theory_kind: theory.map(|theory| theory.kind),
    }
}

/// The values of each metric and key, by replication; `None`, or the end of the list, where there is none.
type Columns = BTreeMap<Metric, BTreeMap<Key, Vec<Option<f64>>>>;

/// A key such as `7`, `0.99`, `fast` or `fast/7`, ordered by its name first and its number then.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    /// Place of the name among those of the metric.
    rank: usize,
    number: f64,
    text: String,
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank).then(self.number.total_cmp(&other.number)).then_with(|| self.text.cmp(&other.text))
    }
}

/// The name and the number of a key.
fn parts(key: &str) -> (&str, f64) {
    let (name, last) = key.rsplit_once('/').map_or(("", key), |(name, last)| (name, last));
    last.parse().map_or((key, 0.0), |number| (name, number))
}

fn columns(replications: &[Replication]) -> Columns {
    let mut names: BTreeMap<Metric, Vec<String>> = BTreeMap::new();
    let mut columns = Columns::new();
    for (i, replication) in replications.iter().enumerate() {
        for reading in &replication.readings {
            let (name, number) = parts(&reading.key);
            let names = names.entry(reading.metric).or_default();
            let rank = names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            let key = Key { rank, number, text: reading.key.clone() };
            let column = columns.entry(reading.metric).or_default().entry(key).or_default();
            column.resize(i, None);
            column.push(reading.value);
        }
    }
    columns
}

//! The values of metrics by replication.

use crate::measure::{Metric, Weight};
use crate::output::Replication;
use crate::stats::Sample;
use std::collections::BTreeMap;

/// The values of each metric and key, one per replication where there is one.
pub(super) type Columns = BTreeMap<Metric, BTreeMap<Key, Vec<Option<f64>>>>;

/// A key such as `7`, `0.99`, `fast` or `fast/7`, ordered by its name first and its number then.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    /// Place of the name among those of the metric.
    rank: usize,
    number: f64,
    pub(super) text: String,
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

/// The values of each metric and key, by replication. Where a replication measured a metric but did not meet a key, a
/// fraction or a count is 0. Where a replication was told what it contributes to an estimate, that is its value.
pub(super) fn columns(replications: &[Replication]) -> Columns {
    let mut names: BTreeMap<Metric, Vec<String>> = BTreeMap::new();
    let mut columns = Columns::new();
    let mut measured: BTreeMap<Metric, Vec<bool>> = BTreeMap::new();
    for (i, replication) in replications.iter().enumerate() {
        for reading in replication.readings.iter().chain(&replication.pooled) {
            let (name, number) = parts(&reading.key);
            let names = names.entry(reading.metric).or_default();
            let rank = names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            let key = Key { rank, number, text: reading.key.clone() };
            let column = columns.entry(reading.metric).or_default().entry(key).or_default();
            column.resize(replications.len(), None);
            column[i] = reading.value;
            if reading.value.is_some() {
                measured.entry(reading.metric).or_insert_with(|| vec![false; replications.len()])[i] = true;
            }
        }
    }
    for (metric, keys) in columns.iter_mut().filter(|(metric, _)| metric.absent_is_zero()) {
        let Some(measured) = measured.get(metric) else { continue };
        for column in keys.values_mut() {
            let empty = column.iter_mut().zip(measured).filter(|(value, measured)| value.is_none() && **measured);
            empty.for_each(|(value, _)| *value = Some(0.0));
        }
    }
    columns
}

/// The values of a metric by replication, with their weights where it is a ratio.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    values: Vec<f64>,
    /// Empty where all weigh the same.
    weights: Vec<f64>,
}

impl Values {
    /// The values that there are.
    pub(super) fn of(metric: Metric, column: &[Option<f64>], replications: &[Replication]) -> Self {
        let mut found = Self::default();
        for (value, replication) in column.iter().zip(replications) {
            if let Some(value) = value {
                found.add(metric, *value, replication);
            }
        }
        found
    }

    /// The values of two columns, where both have one.
    pub(super) fn pairs(
        metric: Metric,
        (first, of_first): (&[Option<f64>], &[Replication]),
        (second, of_second): (&[Option<f64>], &[Replication]),
    ) -> (Self, Self) {
        let mut found = (Self::default(), Self::default());
        for (value, replication) in first.iter().zip(of_first) {
            let same = of_second.iter().position(|other| other.replication == replication.replication);
            let other = same.and_then(|i| second.get(i).copied().flatten().map(|value| (value, &of_second[i])));
            if let (Some(value), Some((other, of_other))) = (value, other) {
                found.0.add(metric, *value, replication);
                found.1.add(metric, other, of_other);
            }
        }
        found
    }

    fn add(&mut self, metric: Metric, value: f64, replication: &Replication) {
        self.values.push(value);
        match metric.weight() {
            Weight::Equal => {}
            Weight::Arrived => self.weights.push(replication.arrived as f64),
            Weight::Joined => self.weights.push(replication.joined as f64),
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The sample to estimate from.
    pub(super) fn sample(&self) -> Sample<'_> {
        // Numbers of jobs are finite, and there is one for each value.
        let weighted = if self.weights.is_empty() { None } else { Sample::weighted(&self.values, &self.weights) };
        weighted.unwrap_or(Sample::plain(&self.values))
    }
}

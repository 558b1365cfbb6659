//! The squared distance of the occupancy from its mean-field limit, from what a replication measured.

use crate::measure::{Metric, Reading};
use crate::theory::MeanField;
use std::collections::BTreeMap;

/// N times the time average of `sum_k |s_k - s*_k|^2`: at each level the variance over time plus the square of the
/// distance of the mean; none when levels were not measured.
pub(super) fn squared_distance(readings: &[Reading], limit: &MeanField, servers: f64) -> Option<Reading> {
    let of = |metric: Metric| -> BTreeMap<usize, f64> {
        let own = readings.iter().filter(|reading| reading.metric == metric);
        own.filter_map(|reading| Some((reading.key.parse().ok()?, reading.value?))).collect()
    };
    let (means, variances) = (of(Metric::TailFraction), of(Metric::TailFractionVariance));
    if means.is_empty() {
        return None;
    }
    let tail = limit.tail();
    let deepest = means.keys().copied().max().unwrap_or(0).max(tail.len());
    let distance = |k: usize| {
        let mean = means.get(&k).copied().unwrap_or(0.0);
        let fixed = tail.get(k - 1).copied().unwrap_or(0.0);
        variances.get(&k).copied().unwrap_or(0.0) + (mean - fixed).powi(2)
    };
    let value = servers * (1..=deepest).map(distance).sum::<f64>();
    Some(Reading::plain(Metric::SquaredDistance, Some(value)))
}

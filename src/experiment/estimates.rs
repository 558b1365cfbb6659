//! Estimates over replications, metric by metric.

use super::columns::{Columns, Values, columns};
use super::pooled::{Pooled, Quantiles, keep};
use crate::measure::{Metric, Outlines};
use crate::output::{Estimate, Replication};
use crate::scenario::Plan;
use crate::stats::{BatchMeans, Batching, Confidence, Interval, batch_means};

/// Replications, or the parts of one, and how their delays are spread.
pub(super) type Measured<'a> = (&'a mut [Replication], &'a [Outlines]);

/// All estimates in the order of the metrics, and keys in theirs. Without a steady state there is nothing that an
/// interval could hold: estimates have none unless `steady`. Replications are told what they contribute to estimates
/// that are not means of their readings. The pooled quantiles come with them.
pub(super) fn estimates(
    plan: &Plan,
    pooled: &Pooled<'_>,
    (replications, outlines): Measured<'_>,
    (parts, of_parts): (&[Replication], &[Outlines]),
    steady: bool,
) -> (Vec<Estimate>, Quantiles) {
    let mut found = columns(replications);
    let mut quantiles =
        pooled.replace(&mut found, replications, outlines, |sample| Interval::of_sample(sample, plan.confidence));
    keep(&found, replications);
    let mut in_parts = Columns::new();
    if let Some(batching) = plan.batching {
        in_parts = columns(parts);
        quantiles = pooled.replace(&mut in_parts, parts, of_parts, |sample| {
            batch_means(sample, batching, plan.confidence).map(|batches| batches.interval)
        });
    }
    let predictions = plan.predictions();
    let mut estimates = Vec::new();
    for (metric, keys) in found {
        for (key, column) in keys {
            let values = Values::of(metric, &column, replications);
            let mut interval = Interval::of_sample(values.sample(), plan.confidence);
            if let Some(batching) = plan.batching {
                // What one run gives is the estimate; its parts give the width.
                let column = in_parts.get(&metric).filter(|_| !metric.is_no_mean()).and_then(|keys| keys.get(&key));
                let batches = column.and_then(|column| of_batches(metric, column, parts, batching, plan.confidence));
                interval = interval.map(|only| batches.map_or(only, |batches| batches.interval.about(only.mean)));
            }
            // The quantile of all jobs, not the mean of quantiles.
            let quantile = quantiles.get(&(metric, key.text.clone())).copied();
            let estimate = quantile.map_or(interval.map(|interval| interval.mean), |(point, _)| Some(point));
            let (ends, std_error) = match quantile {
                Some((_, found)) => (found.map(|found| (found.low, found.high)), found.map(|found| found.std_error)),
                None => (
                    interval.and_then(|interval| interval.low().zip(interval.high())),
                    interval.and_then(|interval| interval.std_error),
                ),
            };
            let ends = ends.filter(|_| steady);
            let theory = predictions.of(metric, &key.text);
            estimates.push(Estimate {
                metric,
                estimate,
                low: ends.map(|(low, _)| low),
                high: ends.map(|(_, high)| high),
                std_error: std_error.filter(|_| steady),
                replications: values.len() as u64,
                theory: theory.map(|theory| theory.value),
                theory_kind: theory.map(|theory| theory.kind),
                key: key.text,
            });
        }
    }
    (estimates, quantiles)
}

/// The interval from the parts of a single run; none if a part has no value.
pub(super) fn of_batches(
    metric: Metric,
    column: &[Option<f64>],
    parts: &[Replication],
    batching: Batching,
    confidence: Confidence,
) -> Option<BatchMeans> {
    let values = Values::of(metric, column, parts);
    if values.len() < parts.len() {
        return None;
    }
    batch_means(values.sample(), batching, confidence)
}

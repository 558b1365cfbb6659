//! Values by replication of which the mean is the value of all replications together, for variances and quantiles too.
//!
//! The variance within a replication is one about its own mean, and on average too small by the variance of that; its
//! quantiles are biased where few independent observations lie beyond. Both depend on the length of the replications.

use super::columns::{Columns, Values};
use crate::measure::{DelayHistogram, Metric, Outlines, Reading};
use crate::output::Replication;
use crate::stats::{Interval, QuantileInterval, Sample};
use std::collections::BTreeMap;

/// Metrics of which there is a pooled distribution.
const QUANTILES: [Metric; 2] = [Metric::ResponseTimeQuantile, Metric::WaitingTimeQuantile];

/// What all replications have in common.
pub(super) struct Pooled<'a> {
    pub(super) response: Option<&'a DelayHistogram>,
    pub(super) waiting: Option<&'a DelayHistogram>,
    pub(super) servers: f64,
}

/// The quantiles of pooled delays by metric and key, with their intervals.
pub(super) type Quantiles = BTreeMap<(Metric, String), (f64, Option<QuantileInterval>)>;

impl Pooled<'_> {
    /// Replaces variances and quantiles in the columns of replications, or of the parts of one, with their outlines.
    /// `interval` is that of a mean over them.
    pub(super) fn replace(
        &self,
        columns: &mut Columns,
        replications: &[Replication],
        outlines: &[Outlines],
        interval: impl Fn(Sample<'_>) -> Option<Interval>,
    ) -> Quantiles {
        self.replace_variances(columns, replications);
        let mut quantiles = Quantiles::new();
        for metric in QUANTILES {
            let is_of_response = metric == Metric::ResponseTimeQuantile;
            let delays = if is_of_response { self.response } else { self.waiting };
            let (Some(delays), Some(keys)) = (delays, columns.get_mut(&metric)) else { continue };
            let below = |of: &Outlines, delay| {
                let outline = if is_of_response { &of.response } else { &of.waiting };
                outline.as_ref().and_then(|outline| outline.fraction_below(delay))
            };
            for (key, column) in keys {
                let Some(q) = key.text.parse().ok() else { continue };
                let Some(point) = delays.quantile(q) else { continue };
                let mut fractions: Vec<Option<f64>> = outlines.iter().map(|of| below(of, point)).collect();
                let values = Values::of(metric, &fractions, replications);
                let of_fraction = interval(values.sample());
                let found = of_fraction.and_then(|of| QuantileInterval::of(q, of, |q| delays.quantile(q)));
                if let (Some(found), Some(of_fraction)) = (found, of_fraction) {
                    // To first order: the fewer of its delays are below, the larger is the quantile of a replication.
                    for fraction in fractions.iter_mut().flatten() {
                        *fraction = point + found.slope * (of_fraction.mean - *fraction);
                    }
                    *column = fractions;
                }
                quantiles.insert((metric, key.text.clone()), (point, found));
            }
        }
        quantiles
    }

    /// A variance is the mean square distance from the mean of all replications.
    fn replace_variances(&self, columns: &mut Columns, replications: &[Replication]) {
        let variances: Vec<(Metric, Metric)> =
            columns.keys().filter_map(|metric| metric.mean().map(|mean| (*metric, mean))).collect();
        for (metric, mean) in variances {
            let means = columns.get(&mean).cloned().unwrap_or_default();
            // The mean number of jobs is one per server.
            let scale = if metric == Metric::JobsVariance { self.servers } else { 1.0 };
            for (key, column) in columns.get_mut(&metric).into_iter().flatten() {
                let Some(means) = means.get(key) else { continue };
                let all = Values::of(mean, means, replications);
                let Some(of_all) = all.sample().mean() else { continue };
                for (value, own) in column.iter_mut().zip(means) {
                    *value = value.zip(*own).map(|(value, own)| value + (scale * (own - of_all)).powi(2));
                }
            }
        }
    }
}

/// Whether a metric of all replications together is not the mean of those of each.
pub(super) fn is_pooled(metric: Metric) -> bool {
    metric.mean().is_some() || QUANTILES.contains(&metric)
}

/// Keeps with each replication what was replaced.
pub(super) fn keep(columns: &Columns, replications: &mut [Replication]) {
    for (metric, keys) in columns.iter().filter(|(metric, _)| is_pooled(**metric)) {
        for (key, column) in keys {
            for (replication, value) in replications.iter_mut().zip(column) {
                replication.pooled.push(Reading::keyed(*metric, key.text.clone(), *value));
            }
        }
    }
}

//! Policies beside a baseline that met the same arrivals and job sizes.

use super::columns::{Values, columns};
use crate::output::{Comparison, Results};
use crate::scenario::Plan;
use crate::stats::compare as compare_samples;

/// Each metric of a policy beside the same of the baseline, replication by replication; `group` is the number of the
/// group of policies. Without a steady state of both there are no intervals.
pub(super) fn compare(plan: &Plan, group: u64, baseline: &Results, results: &Results) -> Vec<Comparison> {
    let steady = baseline.manifest.steady && results.manifest.steady;
    let Some((policy, labels)) = results.labels.split_last() else { return Vec::new() };
    let name = baseline.labels.last().map(ToString::to_string).unwrap_or_default();
    let of_baseline = columns(&baseline.replications);
    let mut rows = Vec::new();
    for (metric, keys) in columns(&results.replications) {
        let Some(others) = of_baseline.get(&metric) else { continue };
        for (key, column) in keys {
            // Keys are ranked by the order in which a result met them, which two results need not share.
            let Some((_, other)) = others.iter().find(|(other, _)| other.text == key.text) else { continue };
            let first = (&column[..], &results.replications[..]);
            let (of_policy, against) = Values::pairs(metric, first, (other, &baseline.replications));
            let Some(found) = compare_samples(of_policy.sample(), against.sample(), plan.confidence) else { continue };
            let difference = found.difference;
            let half_width = |interval: crate::stats::Interval| interval.half_width.filter(|_| steady);
            let paired = half_width(difference);
            let unpaired = half_width(found.independent_difference);
            let ratio = found.ratio.filter(|ratio| ratio.mean.is_finite());
            rows.push(Comparison {
                point: group,
                labels: labels.to_vec(),
                policy: policy.to_string(),
                baseline: name.clone(),
                metric,
                key: key.text,
                difference: Some(difference.mean),
                difference_low: difference.low().filter(|_| steady),
                difference_high: difference.high().filter(|_| steady),
                difference_std_error: difference.std_error.filter(|_| steady),
                ratio: ratio.map(|ratio| ratio.mean),
                ratio_low: ratio.and_then(|ratio| ratio.low()).filter(|_| steady),
                ratio_high: ratio.and_then(|ratio| ratio.high()).filter(|_| steady),
                unpaired_half_width: unpaired,
                saving: unpaired.zip(paired).filter(|(_, paired)| *paired > 0.0).map(|(apart, paired)| apart / paired),
                replications: difference.count,
            });
        }
    }
    rows
}

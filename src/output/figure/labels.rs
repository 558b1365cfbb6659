//! Words of figures: what axes, lines and captions are called.

use crate::measure::Metric;
use crate::output::Estimate;
use crate::scenario::{Axis, Kind, Label, Plan, Quantity};
use crate::theory;

/// The unit of time of a plan.
pub(super) fn unit_of_time(plan: &Plan) -> &'static str {
    if plan.slots.is_some() { "slots" } else { "mean service times" }
}

/// What a metric is called, with its unit.
pub(super) fn of_metric(metric: Metric, key: &str, plan: &Plan) -> String {
    let name = words(metric, key);
    match metric.unit() {
        "time" => format!("{name} ({})", unit_of_time(plan)),
        "time^2" => format!("{name} ({} squared)", unit_of_time(plan)),
        "jobs^2" => format!("{name} (jobs squared)"),
        "fraction" | "ratio" | "rank" | "messages" | "fraction^2" => name,
        "jobs/time" if plan.slots.is_some() => format!("{name} (jobs per slot)"),
        "jobs/time" => format!("{name} (jobs per mean service time)"),
        "jobs/slot" => format!("{name} (jobs per slot)"),
        unit => format!("{name} ({unit})"),
    }
}

/// What a metric is called.
pub(super) fn words(metric: Metric, key: &str) -> String {
    match (metric, key) {
        (Metric::ResponseTimeMean, _) => "mean response time".to_owned(),
        (Metric::WaitingTimeMean, _) => "mean waiting time".to_owned(),
        (Metric::SquaredDistance, _) => "N E sum |s - s*|²".to_owned(),
        (Metric::MeanJobs, _) => "mean jobs per server".to_owned(),
        (Metric::RegretMean, _) => "mean regret".to_owned(),
        (Metric::QueueRangeMean, _) => "mean queue range".to_owned(),
        (Metric::EstimateAgeMean, _) => "mean age of estimates".to_owned(),
        (Metric::BurstSizeMean, _) => "mean burst size".to_owned(),
        (Metric::ChosenRankMean, _) => "mean chosen rank".to_owned(),
        (Metric::ResponseTimeQuantile, key) if !key.is_empty() => format!("{key}-quantile of the response time"),
        (Metric::WaitingTimeQuantile, key) if !key.is_empty() => format!("{key}-quantile of the waiting time"),
        (Metric::TailFraction, key) if !key.is_empty() => format!("s_{key}"),
        (_, "") => metric.name().replace('_', " "),
        (_, key) => format!("{} of {key}", metric.name().replace('_', " ")),
    }
}

/// The first letter large, unless it is a symbol.
pub(super) fn capital(what: &str) -> String {
    let mut letters = what.chars();
    match letters.next() {
        Some(first) if first.is_ascii() && !what.starts_with("s_") => first.to_uppercase().chain(letters).collect(),
        _ => what.to_owned(),
    }
}

/// What a metric is called when it is multiplied by some quantities.
pub(super) fn scaled(metric: &str, times: &[Quantity]) -> String {
    let factors: Vec<&str> = times.iter().map(|&quantity| symbol(quantity)).collect();
    format!("{} × {metric}", factors.join(" "))
}

/// A quantity on an axis.
pub(super) fn of_quantity(quantity: Quantity) -> String {
    format!("{} ({})", symbol(quantity), quantity.meaning())
}

fn symbol(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Epsilon => "ε",
        Quantity::Slack => "(1 - load)",
        Quantity::Servers => "N",
        Quantity::ArrivalRate => "λ",
    }
}

/// What a swept key is called on an axis.
pub(super) fn of_key(key: &str, plan: &Plan) -> String {
    let time = unit_of_time(plan);
    let steps: Vec<&str> = key.split('.').collect();
    match steps[..] {
        ["servers"] => "number of servers N".to_owned(),
        ["many_server", "gamma"] => "exponent gamma of the load".to_owned(),
        ["dispatchers"] => "number of dispatchers M".to_owned(),
        ["policy", "information", "delayed", "age"] => format!("age of the information ({time})"),
        ["policy", "information", "periodic", "interval" | "period"] => format!("time between updates ({time})"),
        ["policy", "information", rule, "delay", ..] => format!("mean delay of {rule} messages ({time})"),
        ["policy", "information", "exact", "query_delay", ..] => format!("mean delay of answers ({time})"),
        _ => short(key),
    }
}

/// A key without the steps that say little.
fn short(key: &str) -> String {
    let mut rest = key;
    for prefix in ["policy.", "information.", "dispatch."] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    rest.to_owned()
}

/// The step of a key that says most: `d` of `power_of_d.d`, `delay` of `push.delay.exponential.mean`.
fn shortest(key: &str) -> &str {
    let steps: Vec<&str> = key.split('.').collect();
    let delay = steps.iter().find(|step| step.ends_with("delay"));
    delay.or(steps.last()).copied().unwrap_or(key)
}

/// The values of some swept keys at a point, for a legend; empty if there are none.
pub(super) fn place(axes: &[Axis], labels: &[Label], named: impl Fn(usize) -> bool) -> String {
    let one = |(i, (axis, label)): (usize, (&Axis, &Label))| {
        named(i).then(|| match axis.kind {
            Kind::Text => flat(&label.to_string()),
            Kind::Integer | Kind::Real => {
                format!("{} {label}", shortest(&axis.key))
            }
        })
    };
    axes.iter().zip(labels).enumerate().filter_map(one).collect::<Vec<_>>().join(", ")
}

/// `{power_of_d: {d: 2}}` reads better as `power_of_d (d: 2)`.
fn flat(text: &str) -> String {
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let parts = inner.and_then(|inner| inner.split_once(": {")).filter(|(name, _)| !name.contains([',', '{', ':']));
    match parts.and_then(|(name, rest)| Some((name, rest.strip_suffix('}')?))) {
        Some((name, rest)) if !rest.contains('{') => format!("{name} ({rest})"),
        _ => text.to_owned(),
    }
}

/// What theory expects; a bound is no expectation, and as a line would look like one.
pub(super) fn predicted(estimate: &Estimate) -> Option<f64> {
    estimate.theory.filter(|_| estimate.theory_kind != Some(theory::Kind::Bound))
}

/// What theory a line shows, if it is of one kind.
pub(super) fn of_theory(kinds: impl Iterator<Item = theory::Kind>) -> String {
    let mut kinds: Vec<theory::Kind> = kinds.collect();
    kinds.dedup();
    match kinds[..] {
        [kind] => kind.to_string(),
        _ => "theory".to_owned(),
    }
}

/// A line's name before what it shows of theory.
pub(super) fn theory_line(line: &str, theory: &str) -> String {
    if line.is_empty() { theory.to_owned() } else { format!("{line}: {theory}") }
}

/// What is simulated at the points with these values of the swept keys.
pub(super) fn setting(plan: &Plan, axes: &[Axis], replications: u64) -> String {
    let swept = |key: &str| axes.iter().any(|axis| axis.key == key || axis.key.starts_with(&format!("{key}.")));
    let mut parts = vec![plan.name.clone()];
    if !swept("servers") {
        let servers = plan.system.servers.len();
        parts.push(if servers == 1 { "1 server".to_owned() } else { format!("{servers} servers") });
    }
    if !swept("dispatchers") && plan.system.dispatchers.len() > 1 {
        parts.push(format!("{} dispatchers", plan.system.dispatchers.len()));
    }
    if !["load", "arrival_rate", "many_server", "servers", "arrivals"].into_iter().any(swept) {
        parts.push(format!("load {}", rounded(plan.system.load())));
    }
    if replications > 1 {
        parts.push(format!("{replications} replications"));
    }
    parts.join(", ")
}

/// Six digits are enough to read.
fn rounded(x: f64) -> String {
    format!("{x:.5e}").parse().unwrap_or(x).to_string()
}

/// The level of intervals, as a caption has it.
pub(super) fn intervals(plan: &Plan) -> String {
    let percent = 100.0 * plan.confidence.get();
    format!("bars: {} % intervals", rounded(percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_of_one_key_are_flat() {
        assert_eq!(flat("{power_of_d: {d: 2}}"), "power_of_d (d: 2)");
        assert_eq!(flat("shortest"), "shortest");
        for text in ["{a: 1, b: {c: 2}}", "{a: {b: {c: 2}}}", "{a: 1}", "{}", "{"] {
            assert_eq!(flat(text), text);
        }
    }
}

//! Which figures are wanted: by their names, or as a metric against a swept key.

use super::decode::suggestion;
use super::scaling::{Quantity, Reference};
use super::study::Point;
use super::sweep::{Axis, Kind};
use crate::measure::Metric;
use crate::model::Fault;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A figure that has a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureName {
    /// s_k against k.
    TailFraction,
    /// How s_k spreads in the course of time.
    TailHistogram,
    /// The law of the response time.
    ResponseTime,
    /// s_k in the course of time.
    Trajectory,
    /// Servers over time.
    Snapshots,
}

impl FigureName {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::TailFraction, Self::TailHistogram, Self::ResponseTime, Self::Trajectory, Self::Snapshots];

    /// The name in scenarios and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::TailFraction => "tail_fraction",
            Self::TailHistogram => "tail_histogram",
            Self::ResponseTime => "response_time",
            Self::Trajectory => "trajectory",
            Self::Snapshots => "snapshots",
        }
    }

    /// What it shows, in a line.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::TailFraction => "s_k, the fraction of servers with at least k jobs, against k, beside theory.",
            Self::TailHistogram => "How much of the time s_k spends where.",
            Self::ResponseTime => "P(T > t), the fraction of jobs that stay longer than t, beside theory.",
            Self::Trajectory => "s_k in the course of time beside the mean-field equation; needs measure.trajectory.",
            Self::Snapshots => "Servers over time, coloured by queue length; needs measure.snapshots.",
        }
    }
}

/// A figure that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// One with a name of its own.
    Named(FigureName),
    /// `METRIC`, `METRIC:KEY`, `METRIC times QUANTITY`, `METRIC beside REFERENCE`, `METRIC against PATH`, in this order.
    Metric(OfMetric),
}

/// A metric against a swept key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfMetric {
    /// The metric.
    pub metric: Metric,
    /// Which of its values; all of them, a line each, if the metric has no value without a key.
    pub key: Option<String>,
    /// What its values are multiplied by.
    pub times: Vec<Quantity>,
    /// A line from a paper.
    pub beside: Option<Reference>,
    /// The horizontal axis: a swept key, by default the one with most values, or a quantity that changes with that one.
    pub against: Option<String>,
}

impl Wanted {
    /// A metric against the swept key with most values.
    pub fn metric(metric: Metric) -> Self {
        Self::Metric(OfMetric { metric, key: None, times: Vec::new(), beside: None, against: None })
    }

    /// The name of its file, without an ending.
    pub fn file_name(&self) -> String {
        let portable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        self.to_string().chars().map(|c| if portable(c) { c } else { '-' }).collect()
    }

    /// Whether results of these points can show it.
    ///
    /// # Errors
    /// What is missing.
    pub fn check(&self, axes: &[Axis], points: &[Point]) -> Result<(), Fault> {
        let measure = &points[0].plan.measure;
        let lacks = |rule: &str, remedy: &str| Err(Fault::new(rule.to_owned(), remedy.to_owned()));
        match self {
            Self::Named(FigureName::Trajectory) if measure.trajectory.is_none() => {
                lacks("needs a time course, which is not measured", "add measure: {trajectory: {step: 1}}")
            }
            Self::Named(FigureName::Snapshots) if measure.snapshots.is_none() => {
                lacks("needs snapshots, which are not taken", "add measure: {snapshots: {count: 200}}")
            }
            Self::Named(FigureName::TailFraction | FigureName::TailHistogram) if !measure.tail_fraction => {
                lacks("needs s_k, which is not measured", "write measure: {tail_fraction: true}")
            }
            Self::Named(FigureName::ResponseTime) if !measure.delays => {
                lacks("needs the delays, which are not measured", "write measure: {delays: true}")
            }
            Self::Named(_) => Ok(()),
            Self::Metric(OfMetric { against, .. }) => {
                let numbers: Vec<&str> =
                    axes.iter().filter(|axis| axis.kind != Kind::Text).map(|axis| axis.key.as_str()).collect();
                match against {
                    _ if numbers.is_empty() => lacks(
                        "needs a key that is swept through numbers, and there is none",
                        "add for example sweep: {load: [0.5, 0.7, 0.9]}",
                    ),
                    Some(key) if !numbers.contains(&key.as_str()) && Quantity::named(key).is_none() => {
                        let rule = format!("`{key}` is not swept through numbers");
                        Err(Fault::new(rule, suggestion(key, &numbers)))
                    }
                    Some(key) if !numbers.contains(&key.as_str()) && is_constant(key, points) => {
                        let rule = format!("`{key}` is the same at every point of the sweep");
                        Err(Fault::new(rule, suggestion(key, &numbers)))
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name.name()),
            Self::Metric(OfMetric { metric, key, times, beside, against }) => {
                f.write_str(metric.name())?;
                if let Some(key) = key {
                    write!(f, ":{key}")?;
                }
                times.iter().try_for_each(|quantity| write!(f, " times {}", quantity.name()))?;
                beside.map_or(Ok(()), |reference| write!(f, " beside {}", reference.name()))?;
                against.as_ref().map_or(Ok(()), |against| write!(f, " against {against}"))
            }
        }
    }
}

impl FromStr for Wanted {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let text = text.trim();
        if let Some(name) = FigureName::ALL.into_iter().find(|name| name.name() == text) {
            return Ok(Self::Named(name));
        }
        let (what, against) = match text.split_once(" against ") {
            Some((what, against)) => (what.trim(), Some(against.trim().to_owned())),
            None => (text, None),
        };
        let (what, beside) = match what.split_once(" beside ") {
            Some((what, name)) => (what.trim(), Some(Reference::read(name.trim())?)),
            None => (what, None),
        };
        let mut parts = what.split(" times ").map(str::trim);
        let what = parts.next().unwrap_or_default();
        let times = parts.map(Quantity::read).collect::<Result<_, _>>()?;
        let (name, key) = match what.split_once(':') {
            Some((name, key)) => (name.trim(), Some(key.trim().to_owned())),
            None => (what, None),
        };
        if let Some(&metric) = Metric::ALL.iter().find(|metric| metric.name() == name) {
            return Ok(Self::Metric(OfMetric { metric, key, times, beside, against }));
        }
        let figures = FigureName::ALL.iter().map(|name| name.name());
        let known: Vec<&str> = figures.chain(Metric::ALL.iter().map(|metric| metric.name())).collect();
        let remedy = match suggestion(name, &known) {
            meant if meant.starts_with("did you mean") => meant,
            _ => {
                let figures: Vec<&str> = FigureName::ALL.iter().map(|name| name.name()).collect();
                format!("write {}, or a metric of herdsim list", figures.join(", "))
            }
        };
        Err(Fault::new(format!("`{name}` is neither a figure nor a metric"), remedy))
    }
}

impl Serialize for Wanted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Wanted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Wanted {
    fn schema_name() -> Cow<'static, str> {
        "Figure".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let figures: Vec<&str> = FigureName::ALL.iter().map(|name| name.name()).collect();
        let metrics: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
        json_schema!({
            "description": "A figure, or a metric against a swept key: METRIC, METRIC:KEY or METRIC against PATH; before \
                against, times QUANTITY and beside REFERENCE may stand.",
            "anyOf": [
                { "enum": figures },
                { "enum": metrics },
                { "type": "string", "pattern": "^[a-z_]+(:[^ ]+)?( times [a-z_]+)*( beside [a-z_]+)?( against [^ ]+)?$" }
            ]
        })
    }
}

/// Whether a quantity does not change from point to point; one point alone does not tell.
fn is_constant(name: &str, points: &[Point]) -> bool {
    let quantity = Quantity::named(name).filter(|_| points.len() > 1);
    quantity
        .is_some_and(|quantity| points.windows(2).all(|pair| quantity.of(&pair[0].plan) == quantity.of(&pair[1].plan)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_it_writes() {
        for text in [
            "tail_fraction",
            "snapshots",
            "tail_fraction:3",
            "response_time_mean",
            "response_time_quantile:0.99 against load",
            "mean_jobs times servers times epsilon beside heavy_traffic against epsilon",
            "tail_fraction:1 beside sub_halfin_whitt against servers",
            "regret_mean against policy.information.push.delay.exponential.mean",
        ] {
            let wanted: Wanted = text.parse().unwrap_or_else(|fault: Fault| panic!("{}", fault.rule));
            assert_eq!(wanted.to_string(), text);
        }
        let wanted: Wanted = "response_time_quantile:0.99 against load".parse().expect("a figure");
        assert_eq!(wanted.file_name(), "response_time_quantile-0.99-against-load");
    }

    #[test]
    fn what_is_unknown_gets_a_suggestion() {
        let told = |text: &str| text.parse::<Wanted>().expect_err(text);
        assert_eq!(told("tail_fractoin").remedy, "did you mean `tail_fraction`?");
        assert_eq!(told("regret_men against load").remedy, "did you mean `regret_mean`?");
        assert_eq!(told("mean_jobs times epsilno").remedy, "did you mean `epsilon`?");
        assert!(told("mean_jobs beside zeta").remedy.contains("heavy_traffic"));
        assert!(told("nonsense").remedy.contains("herdsim list"));
        assert!(told("").rule.contains("neither"));
    }
}

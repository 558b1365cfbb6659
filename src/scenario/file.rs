//! The file a person writes, as types.

use super::arrivals::ArrivalsSpec;
use super::auto::{Auto, Precision};
use super::plot::Wanted;
use super::quick::QuickSpec;
use super::sweep::SweepSpec;
use crate::measure::Measure;
use crate::model::slots::Slots;
use crate::model::{Count, Law, NonNegative, Positive};
use crate::policy::{Dispatch, Information};
use crate::stats::Confidence;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::borrow::Cow;
use std::fmt;

/// A scenario for herdsim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The name in results; by default that of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How time passes.
    #[serde(default)]
    pub clock: Clock,
    /// What moves the system along in continuous time; slots have an engine of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineSpec>,
    /// What happens in a slot; for clock: slotted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<Slots>,
    /// The servers: how many, or classes of equal rate.
    pub servers: ServersSpec,
    /// The dispatchers: how many, or their shares of the arrivals.
    #[serde(default)]
    pub dispatchers: DispatchersSpec,
    /// The load rho = arrival rate / total service rate. Give exactly one of load, arrival_rate, many_server and a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<NonNegative>,
    /// Arrivals per unit of time over all dispatchers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival_rate: Option<NonNegative>,
    /// Load that grows with the number of servers N: rho = 1 - beta N^(-gamma).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub many_server: Option<ManyServer>,
    /// The arrival process.
    #[serde(default)]
    pub arrivals: ArrivalsSpec,
    /// Law of job sizes, of mean 1; a job of size S takes S / rate.
    #[serde(default = "Law::standard_exponential")]
    pub service: Law,
    /// Largest number of jobs at a server, the one in service included; unlimited by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Count>,
    /// Who gets a job, on what information.
    pub policy: PolicySpec,
    /// The state at time 0; dispatchers know it.
    #[serde(default)]
    pub initial: InitialSpec,
    /// How long, how often, from which seed.
    #[serde(default)]
    pub run: RunSpec,
    /// What is measured.
    #[serde(default)]
    pub measure: Measure,
    /// Keys, by their path, and the values that each takes in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<SweepSpec>,
    /// The figures that `--plot` and `herdsim plot` make: tail_fraction, response_time, ..., or metrics against swept keys,
    /// such as `response_time_mean against load`; by default those that suit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plot: Option<Vec<Wanted>>,
    /// What `--quick` changes, by path; without it, a quick run has a tenth of `run.time` and at most three replications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick: Option<QuickSpec>,
    /// Policies to compare on the same arrivals and job sizes, in place of the policy; the first is the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<PolicySpec>>")]
    pub compare: Option<serde_json::Value>,
}

/// How time passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// In continuous time, event by event.
    #[default]
    Continuous,
    /// In slots, as in the LED paper.
    Slotted,
}

/// What moves a system along in continuous time. All engines are exact; they differ in what they can do and in speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineSpec {
    /// The cheapest that can do the scenario.
    #[default]
    Auto,
    /// One calendar of events: any law.
    Event,
    /// One clock instead of a calendar: Poisson arrivals, exponential sizes, any policy and information.
    Clock,
    /// Counts of servers by length: cost and memory do not depend on their number. For exact information, exchangeable
    /// servers, and what the clock engine can do.
    Occupancy,
}

/// The servers: how many of rate 1, or a list of classes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ServersSpec {
    /// So many servers of rate 1.
    Number(Count),
    /// Classes of servers.
    Classes(Vec<ClassSpec>),
}

/// A class of servers of equal rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassSpec {
    /// The name in results; by default class_1, class_2, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many servers.
    pub count: Count,
    /// Jobs of size 1 completed per unit of time.
    pub rate: Positive,
}

/// The dispatchers: how many with equal shares, or a share for each.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DispatchersSpec {
    /// So many dispatchers with equal shares.
    Number(Count),
    /// A share of the arrivals for each dispatcher.
    Shares(Shares),
}

/// Shares of the arrivals, one per dispatcher; they sum to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shares {
    /// The shares.
    pub shares: Vec<NonNegative>,
}

/// Load in a many-server regime: rho = 1 - beta N^(-gamma).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ManyServer {
    /// The factor beta.
    pub beta: Positive,
    /// The exponent gamma: 0 mean field, 1/2 Halfin-Whitt, 1 non-degenerate slowdown.
    pub gamma: NonNegative,
}

/// Who gets a job, on what information.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicySpec {
    /// A name for tables and comparisons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The dispatching strategy.
    pub dispatch: Dispatch,
    /// What its view of the queues is.
    #[serde(default = "exact")]
    pub information: Information,
    /// Whether a dispatcher adds each job it sends to its own estimate.
    #[serde(default = "yes")]
    pub count_own_jobs: bool,
    /// Messages counted per question to a server: 2 for question and answer, or 1.
    #[serde(default)]
    pub per_probe: PerProbe,
}

/// Messages counted per question to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct PerProbe(u64);

impl PerProbe {
    /// The plain number, 1 or 2.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl Default for PerProbe {
    fn default() -> Self {
        Self(2)
    }
}

impl<'de> Deserialize<'de> for PerProbe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            count @ (1 | 2) => Ok(Self(count)),
            _ => Err(de::Error::custom("must be 1 or 2\nwrite 2 to count question and answer, 1 to count them as one")),
        }
    }
}

impl JsonSchema for PerProbe {
    fn schema_name() -> Cow<'static, str> {
        "PerProbe".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": [1, 2] })
    }
}

fn exact() -> Information {
    Information::exact()
}

fn yes() -> bool {
    true
}

/// The state at time 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InitialSpec {
    /// No jobs.
    #[default]
    Empty,
    /// Lengths in the proportions of the mean-field fixed point.
    FixedPoint,
    /// So many jobs at every server.
    Length(u32),
}

/// How long, how often, from which seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunSpec {
    /// Time before measuring starts; with auto, pilot runs show how long the transient lasts.
    pub warmup: Auto<NonNegative>,
    /// Length of the measuring window, which follows the warm-up; with auto, pilot runs show what is long enough.
    pub time: Auto<Positive>,
    /// The longest warm-up and window together that auto may choose, in units of time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_time: Option<Positive>,
    /// Independent replications; with a precision, the fewest.
    pub replications: Count,
    /// Adds replications until the interval of each metric in `precision_of` has at most this half-width, relative to
    /// the estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// The metrics that must be precise, as `metric` or `metric:key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision_of: Option<Vec<String>>,
    /// The most replications that a precision may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_replications: Option<Count>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Level of the confidence intervals.
    pub confidence: Confidence,
    /// What intervals are made from.
    pub interval: IntervalSpec,
}

/// What confidence intervals are made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntervalSpec {
    /// Independent replications.
    #[default]
    Replications,
    /// Batches of a single long run, one after the other.
    BatchMeans,
    /// Overlapping batches of a single long run.
    OverlappingBatchMeans,
}

impl Default for RunSpec {
    fn default() -> Self {
        Self {
            warmup: Auto::Auto,
            time: Auto::Auto,
            max_time: None,
            precision: None,
            precision_of: None,
            max_replications: None,
            replications: Count::new(10).expect("10 is a count"),
            seed: 1,
            confidence: Confidence::default(),
            interval: IntervalSpec::default(),
        }
    }
}

impl Default for DispatchersSpec {
    fn default() -> Self {
        Self::Number(Count::new(1).expect("1 is a count"))
    }
}

impl<'de> Deserialize<'de> for ServersSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = ServersSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, or a list of classes such as [{count: 10, rate: 1}]")
            }
            fn visit_u64<E: de::Error>(self, n: u64) -> Result<ServersSpec, E> {
                Count::new(n).map(ServersSpec::Number).map_err(E::custom)
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, seq: A) -> Result<ServersSpec, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(ServersSpec::Classes)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl<'de> Deserialize<'de> for DispatchersSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = DispatchersSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, or {shares: [0.5, 0.5]}")
            }
            fn visit_u64<E: de::Error>(self, n: u64) -> Result<DispatchersSpec, E> {
                Count::new(n).map(DispatchersSpec::Number).map_err(E::custom)
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<DispatchersSpec, A::Error> {
                Shares::deserialize(MapAccessDeserializer::new(map)).map(DispatchersSpec::Shares)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

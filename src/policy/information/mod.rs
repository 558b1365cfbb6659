//! What a dispatcher believes and how it hears: one file per update rule.

mod delayed;
mod exact;
mod on_idle;
mod periodic;
mod pull;
mod push;

pub use delayed::Delayed;
pub use exact::Exact;
pub use on_idle::OnIdle;
pub use periodic::{Periodic, Phase};
pub use pull::Pull;
pub use push::Push;

use crate::model::{Fault, Law, NonNegative, Probability, Servers};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;

/// How messages travel: how long they take and how often they are lost.
#[derive(Clone, Copy, Debug)]
pub struct Channel<'a> {
    /// Law of the time from sending to arrival.
    pub delay: &'a Law,
    /// Probability that a message never arrives.
    pub loss: f64,
}

/// The information a strategy acts on.
#[derive(Clone, Debug, PartialEq)]
pub enum Information {
    /// The view is the true queue lengths, which it may take time to ask for.
    Exact(Exact),
    /// The view is the true queue lengths of some time ago, the same for all dispatchers.
    Delayed(Delayed),
    /// Local estimates that nothing ever refreshes.
    None,
    /// Local estimates refreshed by messages.
    Rules(Box<Rules>),
}

/// The update rules in force, at least one, and how messages that meet are treated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// Dispatchers ask sampled servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push: Option<Push>,
    /// Servers report when they complete a job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull: Option<Pull>,
    /// Servers report when they become idle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_idle: Option<OnIdle>,
    /// All servers report to all dispatchers from time to time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub periodic: Option<Periodic>,
    /// What happens to a message that a later one from the same server has overtaken.
    pub overtaking: Overtaking,
    /// What happens to the jobs that a dispatcher sent while a message was on its way.
    pub in_flight: InFlight,
}

/// What happens to a message that a later-sent one from the same server has overtaken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overtaking {
    /// It is dropped.
    #[default]
    Drop,
    /// It overwrites the estimate all the same.
    Keep,
}

/// What happens, when a message arrives, to the jobs that the dispatcher sent to its server after it left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InFlight {
    /// They are forgotten: the message overwrites the estimate.
    #[default]
    Forget,
    /// They are added to the length that the message tells.
    Replay,
}

impl Information {
    /// Every kind of information: its tag in a scenario and a line about it.
    pub const CATALOGUE: &'static [(&'static str, &'static str)] = &[
        ("exact", "the true queue lengths; {exact: {query_delay: 0.1}}: a job waits for the answers"),
        ("delayed", "{delayed: {age: 2}}: the true queue lengths of that long ago"),
        ("none", "local estimates that nothing refreshes"),
        ("push", "{push: {d: 2, probability: 0.1, delay: 0, loss: 0, joint: false}}: after a job, ask d servers"),
        ("pull", "{pull: {probability: 0.1, delay: 0, loss: 0}}: a server tells one dispatcher at a completion"),
        ("on_idle", "{on_idle: {delay: 0, loss: 0}}: a server tells one dispatcher when it becomes idle (JIQ)"),
        ("periodic", "{periodic: {period: 1, phase: common | own}}: all servers tell all dispatchers"),
        ("overtaking", "beside rules: drop | keep messages that a later one from the same server has overtaken"),
        ("in_flight", "beside rules: forget | replay own jobs sent while a message was on its way"),
    ];

    /// Information that is true at every moment and costs no time.
    pub fn exact() -> Self {
        Self::Exact(Exact::default())
    }

    /// Whether dispatchers act on estimates of their own.
    pub fn is_local(&self) -> bool {
        matches!(self, Self::None | Self::Rules(_))
    }

    /// Whether a strategy sees the true queue lengths of the moment.
    pub fn is_exact(&self) -> bool {
        match self {
            Self::Exact(exact) => exact.query_delay.is_zero(),
            Self::Delayed(delayed) => delayed.age.get() == 0.0,
            Self::None | Self::Rules(_) => false,
        }
    }

    /// Whether nothing takes time: jobs do not wait for answers, no picture is late, messages are there at once and none is
    /// sent on a schedule.
    pub fn is_prompt(&self) -> bool {
        match self {
            Self::Exact(_) | Self::Delayed(_) => self.is_exact(),
            Self::None => true,
            Self::Rules(rules) => rules.periodic.is_none() && rules.channels().all(|channel| channel.delay.is_zero()),
        }
    }

    /// The update rules; none for exact information and for none.
    pub fn rules(&self) -> Rules {
        match self {
            Self::Rules(rules) => (**rules).clone(),
            _ => Rules::default(),
        }
    }

    /// Checks the rules against the servers and the habit of counting own jobs.
    ///
    /// # Errors
    /// The broken rule, with the path of its key below `information`.
    pub fn validate(&self, servers: &Servers, count_own_jobs: bool) -> Result<(), Fault> {
        let Self::Rules(rules) = self else { return Ok(()) };
        if rules.is_silent() {
            return Err(Fault::new("names no update rule", "write information: none, or a rule such as pull"));
        }
        if rules.pull.is_some() && rules.on_idle.is_some() {
            return Err(Fault::at(
                "on_idle",
                "pull already reports every server that becomes idle",
                "drop on_idle or pull",
            ));
        }
        if rules.in_flight == InFlight::Replay && !count_own_jobs {
            return Err(Fault::at(
                "in_flight",
                "own jobs cannot be replayed when they are not counted",
                "write count_own_jobs: true or in_flight: forget",
            ));
        }
        if let Some(periodic) = &rules.periodic {
            periodic.validate()?;
        }
        rules.push.as_ref().map_or(Ok(()), |push| push.validate(servers))
    }
}

impl Rules {
    /// How the messages of each rule travel.
    pub fn channels(&self) -> impl Iterator<Item = Channel<'_>> {
        let push = self.push.as_ref().map(Push::channel);
        let pull = self.pull.as_ref().map(Pull::channel);
        let on_idle = self.on_idle.as_ref().map(OnIdle::channel);
        let periodic = self.periodic.as_ref().map(Periodic::channel);
        [push, pull, on_idle, periodic].into_iter().flatten()
    }

    /// Whether every message takes the same constant time, so that none can overtake another.
    pub fn keep_order(&self) -> bool {
        let mut delays = self.channels().map(|channel| channel.delay);
        let Some(first) = delays.next() else { return true };
        matches!(first, Law::Constant(_)) && delays.all(|delay| delay == first)
    }

    /// Whether no rule is in force.
    pub fn is_silent(&self) -> bool {
        self.push.is_none() && self.pull.is_none() && self.on_idle.is_none() && self.periodic.is_none()
    }
}

impl Serialize for Information {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_str("none"),
            Self::Exact(exact) if *exact == Exact::default() => serializer.serialize_str("exact"),
            Self::Exact(exact) => serializer.serialize_newtype_variant("Information", 0, "exact", exact),
            Self::Delayed(delayed) => serializer.serialize_newtype_variant("Information", 1, "delayed", delayed),
            Self::Rules(rules) => rules.serialize(serializer),
        }
    }
}

impl JsonSchema for Information {
    fn schema_name() -> Cow<'static, str> {
        "Information".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What dispatchers know: the truth, or estimates refreshed by the rules named.",
            "anyOf": [{ "enum": WORDS }, generator.subschema_for::<Written>()]
        })
    }
}

/// Words that stand for information without settings of its own.
const WORDS: &[&str] = &["exact", "none", "push", "pull", "on_idle"];

/// Information as a map, before it is seen which kind it is.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    exact: Option<Exact>,
    delayed: Option<Delayed>,
    push: Option<Push>,
    pull: Option<Pull>,
    on_idle: Option<OnIdle>,
    periodic: Option<Periodic>,
    overtaking: Option<Overtaking>,
    in_flight: Option<InFlight>,
}

impl TryFrom<Written> for Information {
    type Error = Fault;

    fn try_from(written: Written) -> Result<Self, Fault> {
        let Written { exact, delayed, push, pull, on_idle, periodic, overtaking, in_flight } = written;
        let others = push.is_some()
            || pull.is_some()
            || on_idle.is_some()
            || periodic.is_some()
            || overtaking.is_some()
            || in_flight.is_some();
        match (exact, delayed) {
            (None, None) => Ok(Self::Rules(Box::new(Rules {
                push,
                pull,
                on_idle,
                periodic,
                overtaking: overtaking.unwrap_or_default(),
                in_flight: in_flight.unwrap_or_default(),
            }))),
            (Some(exact), None) if !others => Ok(Self::Exact(exact)),
            (None, Some(delayed)) if !others => Ok(Self::Delayed(delayed)),
            _ => Err(Fault::new(
                "exact and delayed information leave nothing to update rules and stand alone",
                "keep exact, or delayed, or the other keys",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Information {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Information;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("exact, none or a map of update rules")
            }
            fn visit_str<E: de::Error>(self, tag: &str) -> Result<Information, E> {
                let rules = match tag {
                    "exact" => return Ok(Information::exact()),
                    "none" => return Ok(Information::None),
                    "push" => Rules { push: Some(Push::default()), ..Rules::default() },
                    "pull" => Rules { pull: Some(Pull::default()), ..Rules::default() },
                    "on_idle" => Rules { on_idle: Some(OnIdle::default()), ..Rules::default() },
                    _ => return Err(E::unknown_variant(tag, WORDS)),
                };
                Ok(Information::Rules(Box::new(rules)))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Information, A::Error> {
                let written = Written::deserialize(MapAccessDeserializer::new(map))?;
                Information::try_from(written).map_err(de::Error::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Messages that take no time.
fn instantaneous() -> Law {
    Law::from(NonNegative::new(0.0).expect("0 is not negative"))
}

/// The probability 0.
fn never() -> Probability {
    Probability::new(0.0).expect("0 is a probability")
}

/// The probability 1.
fn always() -> Probability {
    Probability::new(1.0).expect("1 is a probability")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(keys: &[&str]) -> Result<Information, serde_json::Error> {
        serde_json::from_str(&format!("{{{}}}", keys.join(", ")))
    }

    /// What would have no effect is refused instead of ignored.
    #[test]
    fn exact_and_delayed_information_stand_alone() {
        let whole = [r#""exact": {}"#, r#""delayed": {"age": 1}"#];
        for one in whole {
            assert!(read(&[one]).is_ok(), "{one}");
            for rule in [
                r#""push": {"d": 1}"#,
                r#""pull": {}"#,
                r#""on_idle": {}"#,
                r#""periodic": {"period": 1}"#,
                r#""overtaking": "keep""#,
                r#""in_flight": "replay""#,
            ] {
                assert!(read(&[rule]).is_ok(), "{rule}");
                assert!(read(&[one, rule]).is_err(), "{one}, {rule}");
            }
        }
        assert!(read(&whole).is_err());
    }
}

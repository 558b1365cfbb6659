//! What a dispatcher believes and how it hears: one file per update rule.

mod on_idle;
mod pull;
mod push;

pub use on_idle::OnIdle;
pub use pull::Pull;
pub use push::Push;

use crate::model::{Fault, Law, NonNegative, Probability, Servers};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, de};
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
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Information {
    /// The view is the true queue lengths at every moment.
    Exact,
    /// Local estimates that nothing ever refreshes.
    None,
    /// Local estimates refreshed by messages.
    #[serde(untagged)]
    Rules(Rules),
}

/// The update rules in force, at least one.
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
}

impl Information {
    /// Every kind of information: its tag in a scenario and a line about it.
    pub const CATALOGUE: &'static [(&'static str, &'static str)] = &[
        ("exact", "the true queue lengths at every moment; 2 messages per length a strategy asks for"),
        ("none", "local estimates that nothing refreshes; 0 messages"),
        ("push", "{push: {d: 2, probability: 0.1, delay: 0, loss: 0}}: after a job, ask d servers; 2d messages"),
        ("pull", "{pull: {probability: 0.1, delay: 0, loss: 0}}: a server tells one dispatcher at a completion"),
        ("on_idle", "{on_idle: {delay: 0, loss: 0}}: a server tells one dispatcher when it becomes idle (JIQ)"),
    ];

    /// Whether dispatchers act on estimates of their own.
    pub fn is_local(&self) -> bool {
        *self != Self::Exact
    }

    /// The update rules; none for exact information and for none.
    pub fn rules(&self) -> Rules {
        match self {
            Self::Rules(rules) => rules.clone(),
            Self::Exact | Self::None => Rules::default(),
        }
    }

    /// Checks the rules against the servers.
    ///
    /// # Errors
    /// The broken rule, with the path of its key below `information`.
    pub fn validate(&self, servers: &Servers) -> Result<(), Fault> {
        let rules = self.rules();
        if *self == Self::Rules(Rules::default()) {
            return Err(Fault::new("names no update rule", "write information: none, or a rule such as pull"));
        }
        if rules.pull.is_some() && rules.on_idle.is_some() {
            return Err(Fault::at(
                "on_idle",
                "pull already reports every server that becomes idle",
                "drop on_idle or pull",
            ));
        }
        rules.push.map_or(Ok(()), |push| push.validate(servers))
    }
}

impl JsonSchema for Information {
    fn schema_name() -> Cow<'static, str> {
        "Information".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What dispatchers know: the truth, or estimates refreshed by the rules named.",
            "anyOf": [{ "enum": WORDS }, generator.subschema_for::<Rules>()]
        })
    }
}

/// Words that stand for information without settings of its own.
const WORDS: &[&str] = &["exact", "none", "push", "pull", "on_idle"];

impl<'de> Deserialize<'de> for Information {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Information;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("exact, none or a map of update rules")
            }
            fn visit_str<E: de::Error>(self, tag: &str) -> Result<Information, E> {
                match tag {
                    "exact" => Ok(Information::Exact),
                    "none" => Ok(Information::None),
                    "push" => Ok(Information::Rules(Rules { push: Some(Push::default()), ..Rules::default() })),
                    "pull" => Ok(Information::Rules(Rules { pull: Some(Pull::default()), ..Rules::default() })),
                    "on_idle" => Ok(Information::Rules(Rules { on_idle: Some(OnIdle::default()), ..Rules::default() })),
                    _ => Err(E::unknown_variant(tag, WORDS)),
                }
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Information, A::Error> {
                Rules::deserialize(MapAccessDeserializer::new(map)).map(Information::Rules)
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

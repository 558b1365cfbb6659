//! Probability laws of durations: message delays, job sizes, times between arrivals.

mod constant;
mod exponential;
mod uniform;

pub use constant::Constant;
pub use exponential::Exponential;
pub use uniform::Uniform;

use crate::model::number::NonNegative;
use crate::random::Stream;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::borrow::Cow;
use std::fmt;

macro_rules! laws {
    ($($(#[$doc:meta])* $variant:ident, $tag:literal, $summary:literal;)*) => {
        /// A law on `[0, infinity)`.
        ///
        /// In a scenario a plain number is a constant, and `exponential` alone has mean 1.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Law {
            $($(#[$doc])* $variant($variant),)*
        }

        /// The same without the short forms, for the derived reader and schema.
        #[derive(Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        enum Tagged {
            $($(#[$doc])* $variant($variant),)*
        }

        impl From<Tagged> for Law {
            fn from(tagged: Tagged) -> Self {
                match tagged {
                    $(Tagged::$variant(law) => Self::$variant(law),)*
                }
            }
        }

        impl Law {
            /// Every law: its tag in a scenario and a line about it.
            pub const CATALOGUE: &'static [(&'static str, &'static str)] = &[$(($tag, $summary),)*];

            /// Draws from the law.
            #[inline]
            pub fn sample(&self, stream: &mut Stream) -> f64 {
                match self {
                    $(Self::$variant(law) => law.sample(stream),)*
                }
            }

            /// The mean, in the unit of the durations.
            pub fn mean(&self) -> f64 {
                match self {
                    $(Self::$variant(law) => law.mean(),)*
                }
            }

            /// The variance, in the squared unit of the durations.
            pub fn variance(&self) -> f64 {
                match self {
                    $(Self::$variant(law) => law.variance(),)*
                }
            }
        }
    };
}

laws! {
    /// Always the same value.
    Constant, "constant", "always the same value: a number, or {constant: 2}";
    /// Exponential with a given mean.
    Exponential, "exponential", "{exponential: {mean: 0.5}}; the plain word has mean 1";
    /// Uniform on an interval.
    Uniform, "uniform", "{uniform: {low: 0, high: 2}}";
}

impl Law {
    /// The exponential law of mean 1.
    pub fn standard_exponential() -> Self {
        Self::Exponential(Exponential::default())
    }

    /// Whether every draw is 0, so that nothing needs to wait.
    pub fn is_zero(&self) -> bool {
        // A law on [0, infinity) has mean 0 only if it is the point 0.
        self.mean() == 0.0
    }
}

impl From<NonNegative> for Law {
    fn from(value: NonNegative) -> Self {
        Self::Constant(Constant(value))
    }
}

impl JsonSchema for Law {
    fn schema_name() -> Cow<'static, str> {
        "Law".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A law on [0, infinity): a number is a constant, `exponential` alone has mean 1.",
            "anyOf": [{ "type": "number", "minimum": 0 }, { "const": "exponential" }, Tagged::json_schema(generator)]
        })
    }
}

impl<'de> Deserialize<'de> for Law {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Law;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a law such as {exponential: {mean: 0.5}}")
            }
            fn visit_f64<E: de::Error>(self, x: f64) -> Result<Law, E> {
                NonNegative::new(x).map(Law::from).map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, x: u64) -> Result<Law, E> {
                self.visit_f64(x as f64)
            }
            fn visit_i64<E: de::Error>(self, x: i64) -> Result<Law, E> {
                self.visit_f64(x as f64)
            }
            fn visit_str<E: de::Error>(self, tag: &str) -> Result<Law, E> {
                if tag == "exponential" {
                    return Ok(Law::standard_exponential());
                }
                Tagged::deserialize(StrDeserializer::new(tag)).map(Law::from)
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Law, A::Error> {
                let law = Tagged::deserialize(MapAccessDeserializer::new(&mut map))?;
                // The reader of enums stops after the first key; a second one must not be lost in silence.
                match map.next_key::<de::IgnoredAny>()? {
                    None => Ok(law.into()),
                    Some(_) => Err(de::Error::custom("must have exactly one key, the name of a law\nkeep one of them")),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Component;

    /// Every law, drawn a million times: mean within |z| < 4 of its own claim, and so the variance.
    #[test]
    fn samples_have_the_mean_and_variance_claimed() {
        let laws = [
            Law::from(NonNegative::new(2.5).expect("positive")),
            Law::Exponential(Exponential { mean: NonNegative::new(0.5).expect("positive") }),
            Law::Uniform(Uniform::new(1.0, 4.0).expect("ordered")),
        ];
        assert_eq!(laws.len(), Law::CATALOGUE.len(), "a law is missing from this test");
        for law in laws {
            let mut stream = Stream::new(11, 0, Component::Delays);
            let n = 1_000_000;
            let draws: Vec<f64> = (0..n).map(|_| law.sample(&mut stream)).collect();
            let n = f64::from(n);
            let mean = draws.iter().sum::<f64>() / n;
            let central = |power: i32| draws.iter().map(|x| (x - law.mean()).powi(power)).sum::<f64>() / n;
            let (variance, fourth) = (central(2), central(4));
            assert!((mean - law.mean()).abs() <= 4.0 * (law.variance() / n).sqrt(), "{law:?} mean {mean}");
            let error = ((fourth - variance * variance).max(0.0) / n).sqrt();
            assert!((variance - law.variance()).abs() <= 4.0 * error, "{law:?} variance {variance}");
        }
    }
}

//! Numbers that may be left to the program.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, IntoDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A number, or `auto`: the program chooses it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Auto<T> {
    /// The program chooses.
    Auto,
    /// This number.
    Is(T),
}

impl<T: Copy> Auto<T> {
    /// The number, if one is given.
    pub fn given(self) -> Option<T> {
        match self {
            Self::Auto => None,
            Self::Is(number) => Some(number),
        }
    }
}

impl<T: Serialize> Serialize for Auto<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Is(number) => number.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Auto<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Visitor<T> {
            type Value = Auto<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or auto")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Auto<T>, E> {
                match text {
                    "auto" => Ok(Auto::Auto),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
            fn visit_f64<E: de::Error>(self, x: f64) -> Result<Auto<T>, E> {
                T::deserialize(x.into_deserializer()).map(Auto::Is)
            }
            fn visit_u64<E: de::Error>(self, n: u64) -> Result<Auto<T>, E> {
                self.visit_f64(n as f64)
            }
        }
        deserializer.deserialize_any(Visitor(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Auto<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}OrAuto", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [generator.subschema_for::<T>(), { "const": "auto" }] })
    }
}

/// A relative precision: a number between 0 and 1, or a percentage such as `0.5%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision(f64);

impl Precision {
    /// The plain number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Serialize for Precision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Precision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Precision;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a relative precision, such as 1% or 0.01")
            }
            fn visit_f64<E: de::Error>(self, x: f64) -> Result<Precision, E> {
                if x > 0.0 && x < 1.0 {
                    Ok(Precision(x))
                } else {
                    Err(E::custom("must lie between 0 and 1\nwrite for example 1% or 0.01"))
                }
            }
            fn visit_u64<E: de::Error>(self, n: u64) -> Result<Precision, E> {
                self.visit_f64(n as f64)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Precision, E> {
                let percent = text.strip_suffix('%').and_then(|digits| super::decode::number(digits.trim_end()));
                match percent {
                    Some(percent) => self.visit_f64(percent / 100.0),
                    None => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Precision {
    fn schema_name() -> Cow<'static, str> {
        "Precision".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 },
            { "type": "string", "pattern": "^[0-9.eE+-]+ ?%$" }
        ] })
    }
}

//! Numbers with a rule: probabilities, rates and counts that cannot hold a bad value.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::borrow::Cow;
use std::fmt;

/// A broken rule: where (a path below the value at hand, empty for the value itself), which rule, how to mend it.
///
/// It prints as the rule, a line feed and the remedy; the scenario reader turns that into a located error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Path of the offending key below the value that was checked; empty for the value itself.
    pub path: String,
    /// The rule that was broken.
    pub rule: String,
    /// What to write instead.
    pub remedy: String,
}

impl Fault {
    /// A fault of the value itself.
    pub fn new(rule: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::at("", rule, remedy)
    }

    /// A fault of the key at `path` below the value.
    pub fn at(path: impl Into<String>, rule: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { path: path.into(), rule: rule.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.rule, self.remedy)
    }
}

impl std::error::Error for Fault {}

macro_rules! real_number {
    ($(#[$doc:meta])* $name:ident, $test:expr, $rule:literal, $remedy:literal, $schema:tt) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
        #[serde(transparent)]
        pub struct $name(f64);

        impl $name {
            /// The number, if it obeys the rule.
            ///
            /// # Errors
            /// The rule and its remedy.
            pub fn new(x: f64) -> Result<Self, Fault> {
                let obeys: fn(f64) -> bool = $test;
                // NaN and infinities are refused here: comparisons alone would let NaN pass or fail by accident.
                // Negative zero is zero, and prints as such.
                if x.is_finite() && obeys(x) { Ok(Self(x + 0.0)) } else { Err(Fault::new($rule, $remedy)) }
            }

            /// The plain number.
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(f64::deserialize(deserializer)?).map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

real_number!(
    /// A number from 0 to 1.
    Probability,
    |x| (0.0..=1.0).contains(&x),
    "must be a probability: a number from 0 to 1",
    "write for example 0.1",
    { "type": "number", "minimum": 0, "maximum": 1 }
);
real_number!(
    /// A finite number above 0.
    Positive,
    |x| x > 0.0,
    "must be a finite number above 0",
    "write for example 1",
    { "type": "number", "exclusiveMinimum": 0 }
);
real_number!(
    /// A finite number of at least 0.
    NonNegative,
    |x| x >= 0.0,
    "must be a finite number of at least 0",
    "write for example 0.5",
    { "type": "number", "minimum": 0 }
);

/// A whole number of at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Count(u64);

impl Count {
    /// The count, if it is at least 1.
    ///
    /// # Errors
    /// The rule and its remedy.
    pub fn new(n: u64) -> Result<Self, Fault> {
        if n == 0 {
            Err(Fault::new("must be a whole number of at least 1", "write for example 1"))
        } else {
            Ok(Self(n))
        }
    }

    /// The plain number.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(u64::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl JsonSchema for Count {
    fn schema_name() -> Cow<'static, str> {
        "Count".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_hold_at_their_edges() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e-300] {
            assert!(Probability::new(bad).is_err());
            assert!(Positive::new(bad).is_err());
            assert!(NonNegative::new(bad).is_err());
        }
        assert!(Probability::new(0.0).is_ok() && Probability::new(1.0).is_ok());
        assert!(Probability::new(1.0 + f64::EPSILON).is_err());
        assert!(Positive::new(0.0).is_err() && Positive::new(f64::MIN_POSITIVE).is_ok());
        assert!(NonNegative::new(0.0).is_ok());
        assert!(Count::new(0).is_err() && Count::new(1).is_ok());
    }
}

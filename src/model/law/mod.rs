//! Probability laws of durations: message delays, job sizes, times between arrivals.

mod constant;
mod draws;
mod empirical;
mod erlang;
mod exponential;
mod hyperexponential;
mod lognormal;
mod pareto;
mod table;
mod uniform;
mod weibull;

pub use constant::Constant;
pub use draws::Draws;
pub use empirical::Empirical;
pub use erlang::Erlang;
pub use exponential::Exponential;
pub use hyperexponential::Hyperexponential;
pub use lognormal::Lognormal;
pub use pareto::Pareto;
pub use uniform::Uniform;
pub use weibull::Weibull;

use crate::model::number::{Fault, NonNegative};
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

            /// Fills a list with draws.
            pub(super) fn fill(&self, stream: &mut Stream, draws: &mut [f64]) {
                // A stream of its own stays in registers.
                let mut own = stream.clone();
                match self {
                    $(Self::$variant(law) => draws.iter_mut().for_each(|draw| *draw = law.sample(&mut own)),)*
                }
                *stream = own;
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
    /// Erlang: a sum of exponential times.
    Erlang, "erlang", "{erlang: {shape: 4, mean: 1}}: a sum of 4 exponential times, less variable than one";
    /// Hyperexponential: a mixture of exponential laws.
    Hyperexponential, "hyperexponential",
        "{hyperexponential: {mean: 1, scv: 4}} with balanced means, or {probabilities: [..], means: [..]}";
    /// Lognormal with a given mean and variability.
    Lognormal, "lognormal", "{lognormal: {mean: 1, scv: 2}}; scv is variance / mean^2";
    /// Weibull with a given shape and mean.
    Weibull, "weibull", "{weibull: {shape: 0.5, mean: 1}}; a shape below 1 has a heavy tail";
    /// Pareto with a given tail exponent and mean.
    Pareto, "pareto", "{pareto: {alpha: 2.5, mean: 1}}: P(X > x) falls as x^-alpha; infinite variance up to 2";
    /// One of given values.
    Empirical, "empirical", "{empirical: {values: [0.5, 1.5], weights: [3, 1]}}; equally likely without weights";
}

/// Largest variance / mean^2 that a law takes: beyond it, the draws that matter are too rare to be seen.
const LARGEST_SCV: f64 = 1e9;

/// Refuses durations whose squares, and draws far beyond the mean, a floating-point number might not hold.
fn bounded(key: &str, x: NonNegative) -> Result<(), Fault> {
    if x.get() <= 1e100 {
        return Ok(());
    }
    Err(Fault::new(format!("{key} must be at most 1e100"), "use another unit of time"))
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
    use statrs::function::{erf::erfc, gamma::gamma_lr};
    use std::collections::BTreeSet;
    use std::f64::consts::{FRAC_PI_4, SQRT_2};

    /// The law that stands in a scenario as this text.
    pub(super) fn read(json: &str) -> Law {
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
    }

    /// Reading must fail with this rule, and if the rule is one of ours, with a remedy.
    pub(super) fn assert_refused(json: &str, rule: &str) {
        let error = serde_json::from_str::<Law>(json).expect_err(json).to_string();
        assert!(error.contains(rule), "{json}: {error}");
        // Keys that are missing or unknown get their remedy from the scenario reader.
        assert!(error.contains(" field `") || error.contains('\n'), "{json}: {error} has no remedy");
    }

    /// What can be tested of a law by its sample: the distribution function if it is continuous, and whether the
    /// fourth moment exists and shows in a million draws.
    struct Case(&'static str, Option<fn(f64) -> f64>, bool);

    const CASES: &[Case] = &[
        Case("2.5", None, true),
        Case(r#"{"exponential": {"mean": 0.5}}"#, Some(|x| 1.0 - (-2.0 * x).exp()), true),
        Case(r#"{"uniform": {"low": 1, "high": 4}}"#, Some(|x| (x - 1.0) / 3.0), true),
        Case(r#"{"erlang": {"shape": 1, "mean": 3}}"#, Some(|x| 1.0 - (-x / 3.0).exp()), true),
        Case(r#"{"erlang": {"shape": 4, "mean": 2}}"#, Some(|x| gamma_lr(4.0, 2.0 * x)), true),
        Case(r#"{"erlang": {"shape": 400, "mean": 1}}"#, Some(|x| gamma_lr(400.0, 400.0 * x)), true),
        Case(
            r#"{"hyperexponential": {"mean": 1, "scv": 4}}"#,
            Some(|x| {
                let p = (1.0 + 0.6_f64.sqrt()) / 2.0;
                1.0 - p * (-2.0 * p * x).exp() - (1.0 - p) * (-2.0 * (1.0 - p) * x).exp()
            }),
            true,
        ),
        Case(
            r#"{"hyperexponential": {"probabilities": [0.5, 0.3, 0.2], "means": [0.1, 2, 5]}}"#,
            Some(|x| 1.0 - 0.5 * (-10.0 * x).exp() - 0.3 * (-x / 2.0).exp() - 0.2 * (-x / 5.0).exp()),
            true,
        ),
        Case(r#"{"lognormal": {"mean": 1, "scv": 0.5}}"#, Some(|x| lognormal(x, 1.0, 0.5)), true),
        Case(r#"{"lognormal": {"mean": 3, "scv": 20}}"#, Some(|x| lognormal(x, 3.0, 20.0)), false),
        Case(r#"{"weibull": {"shape": 0.5, "mean": 1}}"#, Some(|x| 1.0 - (-(2.0 * x).sqrt()).exp()), true),
        Case(r#"{"weibull": {"shape": 2, "mean": 1}}"#, Some(|x| 1.0 - (-FRAC_PI_4 * x * x).exp()), true),
        Case(r#"{"pareto": {"alpha": 9, "mean": 1}}"#, Some(|x| 1.0 - (8.0 / 9.0 / x).powi(9)), true),
        Case(r#"{"pareto": {"alpha": 2.5, "mean": 1}}"#, Some(|x| 1.0 - (0.6 / x).powf(2.5)), false),
        Case(r#"{"pareto": {"alpha": 1.5, "mean": 1}}"#, Some(|x| 1.0 - (1.0 / 3.0 / x).powf(1.5)), false),
        Case(r#"{"empirical": {"values": [0.5, 1, 1.5]}}"#, None, true),
        Case(r#"{"empirical": {"values": [0.5, 9, 4], "weights": [2, 0, 1]}}"#, None, true),
    ];

    fn lognormal(x: f64, mean: f64, scv: f64) -> f64 {
        let variance = scv.ln_1p();
        0.5 * erfc(-((x / mean).ln() + variance / 2.0) / variance.sqrt() / SQRT_2)
    }

    /// The tag under which a law is written.
    fn tag(law: &Law) -> String {
        let value = serde_json::to_value(law).expect("laws can be written");
        value.as_object().and_then(|map| map.keys().next()).expect("a law is a map").clone()
    }

    #[test]
    fn every_law_is_tested() {
        let tested: BTreeSet<String> = CASES.iter().map(|case| tag(&read(case.0))).collect();
        let known: BTreeSet<String> = Law::CATALOGUE.iter().map(|(tag, _)| (*tag).to_owned()).collect();
        assert_eq!(tested, known, "a law is missing from these tests");
    }

    /// Every law, drawn a million times: mean within |z| < 4 of its own claim, and so the variance.
    #[test]
    fn samples_have_the_mean_and_variance_claimed() {
        for Case(json, _, fourth_moment) in CASES {
            let law = read(json);
            let draws = sample(&law);
            let n = draws.len() as f64;
            if law.variance().is_finite() {
                let mean = draws.iter().sum::<f64>() / n;
                let error = (law.variance() / n).sqrt() + f64::EPSILON * mean;
                assert!((mean - law.mean()).abs() <= 4.0 * error, "{law:?} mean {mean}");
            }
            if *fourth_moment {
                let central = |power: i32| draws.iter().map(|x| (x - law.mean()).powi(power)).sum::<f64>() / n;
                let (variance, fourth) = (central(2), central(4));
                let error = ((fourth - variance * variance).max(0.0) / n).sqrt();
                assert!((variance - law.variance()).abs() <= 4.0 * error, "{law:?} variance {variance}");
            }
        }
    }

    /// Every continuous law, drawn a million times, by Kolmogorov and Smirnov: the largest distance D of the empirical
    /// distribution function exceeds 2.47 / sqrt(n) with probability 2 exp(-2 * 2.47^2) = 1e-5, so that about one
    /// choice of the seed in 7000 would make this test fail without cause.
    #[test]
    fn samples_follow_their_distribution_functions() {
        for Case(json, distribution, _) in CASES {
            let Some(distribution) = distribution else { continue };
            let mut draws = sample(&read(json));
            draws.sort_by(f64::total_cmp);
            let n = draws.len() as f64;
            let distance = (0..).zip(&draws).fold(0.0_f64, |largest, (i, &x)| {
                let (below, p) = (f64::from(i) / n, distribution(x));
                largest.max(p - below).max(below + 1.0 / n - p)
            });
            assert!(distance * n.sqrt() < 2.47, "{json}: {}", distance * n.sqrt());
        }
    }

    fn sample(law: &Law) -> Vec<f64> {
        let mut stream = Stream::new(11, 0, Component::Delays);
        let draws: Vec<f64> = (0..1_000_000).map(|_| law.sample(&mut stream)).collect();
        assert!(draws.iter().all(|x| x.is_finite() && *x >= 0.0), "{law:?}");
        draws
    }

    /// Pitfall D05: the ends of the unit interval come up once in 2^53 draws, and give a number like any other.
    #[test]
    fn draws_at_the_ends_of_the_unit_interval_are_finite() {
        for Case(json, ..) in CASES {
            let law = read(json);
            for bits in [0, 1, (1 << 11) - 1, 1 << 11, 1 << 63, (1 << 63) - 1, u64::MAX - (1 << 11), u64::MAX] {
                // The ziggurat takes its layer from the lowest bits.
                for bits in (0..=255).map(|layer| bits & !255 | layer) {
                    for then_zeros in [true, false] {
                        let mut stream = Stream::starting_with(bits, then_zeros);
                        let draws = [law.sample(&mut stream), law.sample(&mut stream)];
                        let fits = |x: f64| (0.0..1e100).contains(&x);
                        assert!(draws.into_iter().all(fits), "{json}: {draws:?} from {bits:x}, {then_zeros}");
                    }
                }
            }
        }
    }

    /// Results of old versions can be had again only while the draws stay the same.
    #[test]
    fn first_draws_are_pinned() {
        let pinned: &[(&str, [f64; 3])] = &[
            ("2.5", [2.5; 3]),
            (r#"{"exponential": {"mean": 0.5}}"#, [0.9115026076703509, 0.37080786041820524, 0.09239819737815676]),
            (r#"{"uniform": {"low": 1, "high": 4}}"#, [3.216056837932223, 2.116664125435014, 1.9704549310363266]),
            (r#"{"erlang": {"shape": 4, "mean": 2}}"#, [2.8632502510787705, 1.574808569445966, 1.5972270314547363]),
            (
                r#"{"hyperexponential": {"mean": 1, "scv": 4}}"#,
                [0.4179066340485129, 0.42719506390311135, 0.02566298232583298],
            ),
            (
                r#"{"hyperexponential": {"probabilities": [0.5, 0.3, 0.2], "means": [0.1, 2, 5]}}"#,
                [1.483231441672821, 0.0758098937518864, 0.0045541442958226255],
            ),
            (r#"{"lognormal": {"mean": 1, "scv": 2}}"#, [1.5149538172344423, 0.36590562755973116, 0.4287925887457528]),
            (
                r#"{"weibull": {"shape": 0.5, "mean": 1}}"#,
                [1.6616740075796939, 0.27499693869585345, 0.017074853757465574],
            ),
            (r#"{"pareto": {"alpha": 2.5, "mean": 1}}"#, [1.2440553194882737, 0.8072036118336111, 0.6460314669974632]),
            (r#"{"empirical": {"values": [0.5, 1, 1.5]}}"#, [1.5, 1.0, 0.5]),
            (r#"{"empirical": {"values": [0.5, 9, 4], "weights": [2, 0, 1]}}"#, [4.0, 0.5, 0.5]),
        ];
        let mut tags = BTreeSet::new();
        for (json, expected) in pinned {
            let law = read(json);
            let mut stream = Stream::new(42, 0, Component::Sizes);
            for x in expected {
                let drawn = law.sample(&mut stream);
                // The last digits of exp and ln differ between platforms.
                let same = (drawn - x).abs() <= 1e-12 * x.abs();
                assert!(same, "{json} drew {drawn:?} for {x:?}: value-breaking: say so in the README's changes");
            }
            tags.insert(tag(&law));
        }
        assert_eq!(tags.len(), Law::CATALOGUE.len(), "a law is missing from this test");
    }

    /// What is given as a mean is the mean to the last digit, since sizes must have mean 1.
    #[test]
    fn a_mean_of_one_is_exactly_one() {
        for Case(json, ..) in CASES.iter().filter(|case| case.0.contains(r#""mean": 1"#)) {
            assert_eq!(read(json).mean(), 1.0, "{json}");
        }
    }
}

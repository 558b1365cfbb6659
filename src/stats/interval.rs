//! Confidence intervals, from independent replications unless said otherwise.

use super::{Method, Sample};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use std::borrow::Cow;

/// A confidence level strictly between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Confidence(f64);

impl Confidence {
    /// The level, if it lies strictly between 0 and 1.
    pub fn new(level: f64) -> Option<Self> {
        (level > 0.0 && level < 1.0).then_some(Self(level))
    }

    /// The plain number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Default for Confidence {
    fn default() -> Self {
        Self(0.95)
    }
}

impl<'de> Deserialize<'de> for Confidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(f64::deserialize(deserializer)?)
            .ok_or_else(|| de::Error::custom("must lie strictly between 0 and 1\nwrite for example 0.95"))
    }
}

impl JsonSchema for Confidence {
    fn schema_name() -> Cow<'static, str> {
        "Confidence".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 })
    }
}

/// An estimate and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate: a mean, a ratio of means, or the point that the interval was put about.
    pub mean: f64,
    /// Standard error of the estimate; needs two values. For a plain mean `s / sqrt(n)` with `s^2` the sample variance
    /// (divisor n - 1).
    pub std_error: Option<f64>,
    /// Half the width of the interval, Student's t times the standard error; needs two values.
    pub half_width: Option<f64>,
    /// Degrees of freedom of Student's t; 0 for one value.
    pub freedom: f64,
    /// How many values.
    pub count: u64,
    /// How the interval was found.
    pub method: Method,
}

impl Interval {
    /// The interval for the mean of independent, identically distributed values; `None` for no values.
    ///
    /// The half width is `t_{n-1} s / sqrt(n)`.
    pub fn of_mean(values: &[f64], confidence: Confidence) -> Option<Self> {
        Self::of_sample(Sample::plain(values), confidence)
    }

    /// The interval of the same width about another point, as for the value of a run where the width comes from its parts.
    pub fn about(self, point: f64) -> Self {
        Self { mean: point, ..self }
    }

    /// Lower end; needs two values.
    pub fn low(&self) -> Option<f64> {
        Some(self.mean - self.half_width?)
    }

    /// Upper end; needs two values.
    pub fn high(&self) -> Option<f64> {
        Some(self.mean + self.half_width?)
    }

    /// Half width over the size of the estimate: 0 if the width is, infinite for an estimate of 0; needs two values.
    pub fn relative_half_width(&self) -> Option<f64> {
        self.half_width.map(|half| if half == 0.0 { 0.0 } else { half / self.mean.abs() })
    }

    /// The Student t interval with this standard error and these degrees of freedom.
    pub(super) fn student(
        mean: f64,
        std_error: Option<f64>,
        freedom: f64,
        confidence: Confidence,
        method: Method,
        count: u64,
    ) -> Self {
        let half_width = std_error.map(|error| real_student_quantile(confidence, freedom) * error);
        Self { mean, std_error, half_width, freedom, count, method }
    }
}

/// The two-sided Student t quantile: `P(|T| <= t) = confidence` for `freedom` degrees of freedom.
pub fn student_quantile(confidence: Confidence, freedom: u64) -> f64 {
    real_student_quantile(confidence, freedom as f64)
}

/// The two-sided Student t quantile for any positive number of degrees of freedom; infinite otherwise.
pub(super) fn real_student_quantile(confidence: Confidence, freedom: f64) -> f64 {
    let probability = 0.5 + confidence.get() / 2.0;
    if freedom >= MANY {
        let z = Normal::standard().inverse_cdf(probability);
        let second = 5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z;
        return z + (z.powi(3) + z) / (4.0 * freedom) + second / (96.0 * freedom * freedom);
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |law| law.inverse_cdf(probability))
}

/// From here on the quantile comes from its expansion about that of the normal law (Abramowitz and Stegun, 26.7.5),
/// which agrees to 11 digits at this place. The inverse of the law loses its digits at 10^5: it says 1.83 for 1.96
/// at 10^7.
const MANY: f64 = 1e4;

/// Whether the mean of the differences is significantly not 0 at a two-sided level `alpha`: the mean if so.
pub fn paired_t(differences: &[f64], alpha: f64) -> Option<f64> {
    let interval = Interval::of_mean(differences, Confidence::new(1.0 - alpha)?)?;
    (interval.mean.abs() > interval.half_width?).then_some(interval.mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_multipliers_are_those_of_the_tables() {
        for (level, t) in [(0.90, 2.131_846_79), (0.95, 2.776_445_11), (0.99, 4.604_094_87)] {
            let confidence = Confidence::new(level).expect("between 0 and 1");
            assert!((student_quantile(confidence, 4) - t).abs() < 1e-6);
        }
        // From one degree of freedom to nearly the normal law, and between whole numbers.
        let at = |freedom| real_student_quantile(Confidence::default(), freedom);
        let table = [(1.0, 12.706_204_74), (30.0, 2.042_272_46), (1e3, 1.962_339_08), (1e7, 1.959_964_22)];
        for (freedom, t) in table {
            assert!((at(freedom) - t).abs() < 1e-8, "{freedom}: {}", at(freedom));
        }
        assert!((at(MANY) - at(MANY - 1e-6)).abs() < 1e-10);
        assert!(at(29.0) > at(29.5) && at(29.5) > at(30.0));
    }

    #[test]
    fn the_interval_uses_n_minus_one() {
        let interval = Interval::of_mean(&[1.0, 2.0, 3.0, 4.0, 5.0], Confidence::default()).expect("values");
        assert_eq!(interval.mean, 3.0);
        assert!((interval.std_error.expect("five values") - (2.5_f64 / 5.0).sqrt()).abs() < 1e-15);
        assert!((interval.half_width.expect("five values") - 2.776_445_11 * 0.5_f64.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn about_keeps_the_width() {
        let interval = Interval::of_mean(&[1.0, 2.0, 3.0], Confidence::default()).expect("values");
        let moved = interval.about(2.5);
        assert_eq!((moved.mean, moved.half_width, moved.method), (2.5, interval.half_width, interval.method));
        assert_eq!(moved.high().zip(moved.low()).map(|(high, low)| high + low), Some(5.0));
    }

    #[test]
    fn one_value_has_no_interval_and_equal_values_have_width_zero() {
        let one = Interval::of_mean(&[7.0], Confidence::default()).expect("a value");
        assert_eq!((one.mean, one.std_error, one.half_width), (7.0, None, None));
        let equal = Interval::of_mean(&[0.1; 7], Confidence::default()).expect("values");
        assert_eq!((equal.mean, equal.half_width), (0.1, Some(0.0)));
        assert_eq!(Interval::of_mean(&[], Confidence::default()), None);
    }
}

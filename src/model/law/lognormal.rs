//! The lognormal law: density `exp(-(ln x - a)^2 / (2 s^2)) / (x s sqrt(2 pi))` for x > 0, where a = ln m - s^2 / 2.

use super::{LARGEST_SCV, bounded};
use crate::model::number::{Fault, NonNegative};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lognormal with a given mean and squared coefficient of variation (variance / mean^2), `scv = exp(s^2) - 1`.
///
/// A mean of 0 is the constant 0, and `scv = 0` the constant mean. Drawn as the exponential function of a normal
/// number (ziggurat; Doornik 2005).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenLognormal")]
pub struct Lognormal {
    mean: NonNegative,
    scv: NonNegative,
    /// Standard deviation s of the logarithm.
    #[serde(skip)]
    sigma: f64,
}

/// The law as written, before its bounds are checked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenLognormal {
    /// The mean, in units of time.
    mean: NonNegative,
    /// Variance / mean^2.
    scv: NonNegative,
}

impl TryFrom<WrittenLognormal> for Lognormal {
    type Error = Fault;

    fn try_from(written: WrittenLognormal) -> Result<Self, Fault> {
        Self::new(written.mean, written.scv)
    }
}

impl Lognormal {
    /// The lognormal law with this mean, in units of time, and this squared coefficient of variation.
    ///
    /// # Errors
    /// If the mean exceeds 1e100 or `scv` exceeds 1e9.
    pub fn new(mean: NonNegative, scv: NonNegative) -> Result<Self, Fault> {
        bounded("mean", mean)?;
        if scv.get() > LARGEST_SCV {
            return Err(Fault::new("scv (variance / mean^2) must be at most 1e9", "write for example scv: 4"));
        }
        Ok(Self { mean, scv, sigma: scv.get().ln_1p().sqrt() })
    }

    #[inline]
    pub(super) fn sample(&self, stream: &mut Stream) -> f64 {
        self.at(stream.normal())
    }

    /// What a standard normal number becomes.
    #[inline]
    fn at(&self, normal: f64) -> f64 {
        self.mean.get() * (self.sigma * (normal - 0.5 * self.sigma)).exp()
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean.get()
    }

    pub(super) fn variance(&self) -> f64 {
        self.scv.get() * self.mean.get().powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::law::tests::{assert_refused, read};

    #[test]
    fn bad_parameters_are_refused() {
        assert_refused(r#"{"lognormal": {"mean": -1, "scv": 2}}"#, "at least 0");
        assert_refused(r#"{"lognormal": {"mean": 1e101, "scv": 2}}"#, "mean must be at most 1e100");
        assert_refused(r#"{"lognormal": {"mean": 1, "scv": -2}}"#, "at least 0");
        assert_refused(r#"{"lognormal": {"mean": 1, "scv": 1e10}}"#, "scv (variance / mean^2) must be at most 1e9");
        assert_refused(r#"{"lognormal": {"mean": 1}}"#, "missing field `scv`");
        assert_refused(r#"{"lognormal": {"mean": 1, "scv": 2, "sigma": 1}}"#, "unknown field `sigma`");
    }

    #[test]
    fn extreme_draws_stay_finite_and_at_least_zero() {
        for scv in [0.0, 2.0, LARGEST_SCV] {
            let law = Lognormal::new(
                NonNegative::new(1e100).expect("not negative"),
                NonNegative::new(scv).expect("not negative"),
            )
            .expect("in range");
            // The largest normal number is about 13.
            for normal in [-14.0, 0.0, 14.0] {
                assert!(law.at(normal).is_finite() && law.at(normal) >= 0.0);
            }
        }
    }

    #[test]
    fn constants_are_edge_cases() {
        assert!(read(r#"{"lognormal": {"mean": 0, "scv": 2}}"#).is_zero());
        let law = Lognormal::new(NonNegative::new(3.0).expect("positive"), NonNegative::new(0.0).expect("zero"));
        assert_eq!(law.map(|law| (law.at(-2.0), law.variance())), Ok((3.0, 0.0)));
    }
}

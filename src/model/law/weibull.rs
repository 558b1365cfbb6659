//! The Weibull law: density `k / c (x / c)^(k - 1) exp(-(x / c)^k)` for x >= 0, mean `c Gamma(1 + 1 / k)`.

use super::bounded;
use crate::model::number::{Fault, NonNegative, Positive};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

/// Weibull with a given shape k and mean; a shape below 1 has a tail heavier than exponential.
///
/// A mean of 0 is the constant 0. Drawn as a power of an exponential number (inversion; Devroye 1986, VII.3.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenWeibull")]
pub struct Weibull {
    shape: Positive,
    mean: NonNegative,
    /// `1 / shape`.
    #[serde(skip)]
    power: f64,
    /// The scale c.
    #[serde(skip)]
    scale: f64,
}

/// The law as written, before its bounds are checked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenWeibull {
    /// The shape k, from 0.1 to 1000.
    shape: Positive,
    /// The mean, in units of time.
    mean: NonNegative,
}

impl TryFrom<WrittenWeibull> for Weibull {
    type Error = Fault;

    fn try_from(written: WrittenWeibull) -> Result<Self, Fault> {
        Self::new(written.shape, written.mean)
    }
}

impl Weibull {
    /// The Weibull law with this shape and this mean, in units of time.
    ///
    /// # Errors
    /// If the shape is not from 0.1 to 1000, or the mean exceeds 1e100.
    pub fn new(shape: Positive, mean: NonNegative) -> Result<Self, Fault> {
        bounded("mean", mean)?;
        // Below, nearly all work comes with draws too rare to be seen; above, the variance loses its digits.
        if !(0.1..=1000.0).contains(&shape.get()) {
            return Err(Fault::new(
                "shape must be a number from 0.1 to 1000",
                "write for example shape: 0.5; for times that hardly vary use constant",
            ));
        }
        let power = 1.0 / shape.get();
        Ok(Self { shape, mean, power, scale: mean.get() * (-ln_gamma(1.0 + power)).exp() })
    }

    #[inline]
    pub(super) fn sample(&self, stream: &mut Stream) -> f64 {
        self.at(stream.exponential())
    }

    /// What an exponential number of mean 1 becomes.
    #[inline]
    fn at(&self, exponential: f64) -> f64 {
        self.scale * exponential.powf(self.power)
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean.get()
    }

    pub(super) fn variance(&self) -> f64 {
        // Gamma(1 + 2 / k) / Gamma(1 + 1 / k)^2 - 1.
        let scv = (ln_gamma(1.0 + 2.0 * self.power) - 2.0 * ln_gamma(1.0 + self.power)).exp_m1();
        scv * self.mean.get().powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::law::tests::{assert_refused, read};

    fn weibull(shape: f64, mean: f64) -> Weibull {
        Weibull::new(Positive::new(shape).expect("positive"), NonNegative::new(mean).expect("not negative"))
            .expect("in range")
    }

    #[test]
    fn bad_parameters_are_refused() {
        assert_refused(r#"{"weibull": {"shape": 0, "mean": 1}}"#, "finite number above 0");
        assert_refused(r#"{"weibull": {"shape": 0.09, "mean": 1}}"#, "shape must be a number from 0.1 to 1000");
        assert_refused(r#"{"weibull": {"shape": 1001, "mean": 1}}"#, "shape must be a number from 0.1 to 1000");
        assert_refused(r#"{"weibull": {"shape": 0.5, "mean": -1}}"#, "at least 0");
        assert_refused(r#"{"weibull": {"shape": 0.5, "mean": 1e101}}"#, "mean must be at most 1e100");
        assert_refused(r#"{"weibull": {"shape": 0.5}}"#, "missing field `mean`");
        assert_refused(r#"{"weibull": {"shape": 0.5, "mean": 1, "scale": 1}}"#, "unknown field `scale`");
    }

    #[test]
    fn extreme_draws_stay_finite_and_at_least_zero() {
        for shape in [0.1, 0.5, 1.0, 1000.0] {
            let law = weibull(shape, 1e100);
            // The largest exponential number is about 44.
            for exponential in [0.0, f64::MIN_POSITIVE, 50.0] {
                assert!(law.at(exponential).is_finite() && law.at(exponential) >= 0.0);
            }
            assert!(law.variance().is_finite());
        }
        assert!(read(r#"{"weibull": {"shape": 0.5, "mean": 0}}"#).is_zero());
    }

    /// Exact at 1/k = 1, 2 and 10, where the gamma function is a factorial; for large k the scv is nearly
    /// `zeta(2) / k^2 - 2 zeta(3) / k^3`.
    #[test]
    fn the_variance_is_exact_where_it_is_known() {
        let close = |x: f64, y: f64, error: f64| assert!((x / y - 1.0).abs() < error, "{x} {y}");
        close(weibull(1.0, 3.0).variance(), 9.0, 1e-13);
        close(weibull(0.5, 1.0).variance(), 5.0, 1e-13);
        close(weibull(0.1, 1.0).variance(), 184_755.0, 1e-12);
        close(weibull(1000.0, 1.0).variance(), 1.644_934_067e-6 - 2.0 * 1.202_056_903e-9, 1e-5);
        close(weibull(0.5, 1.0).scale, 0.5, 1e-14);
    }
}

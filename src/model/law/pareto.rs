//! The Pareto law: density `a x_m^a / x^(a + 1)` for x >= x_m, mean `a x_m / (a - 1)`.

use super::bounded;
use crate::model::number::{Fault, NonNegative, Positive};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pareto with tail exponent alpha > 1 and a given mean, so that the least duration is `mean (alpha - 1) / alpha`.
///
/// A mean of 0 is the constant 0. The variance is infinite for alpha up to 2. The logarithm of a Pareto number is
/// exponential, and so it is drawn (inversion; Devroye 1986, II.2.1): finely also in the tail, up to a probability of
/// 1e-19.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenPareto")]
pub struct Pareto {
    alpha: Positive,
    mean: NonNegative,
}

/// The law as written, before alpha is checked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenPareto {
    /// The tail exponent: P(X > x) falls as x^-alpha; above 1.
    alpha: Positive,
    /// The mean, in units of time.
    mean: NonNegative,
}

impl TryFrom<WrittenPareto> for Pareto {
    type Error = Fault;

    fn try_from(written: WrittenPareto) -> Result<Self, Fault> {
        Self::new(written.alpha, written.mean)
    }
}

impl Pareto {
    /// The Pareto law with this tail exponent and this mean, in units of time.
    ///
    /// # Errors
    /// If alpha is at most 1, since the mean is then infinite, or the mean exceeds 1e100.
    pub fn new(alpha: Positive, mean: NonNegative) -> Result<Self, Fault> {
        bounded("mean", mean)?;
        if alpha.get() <= 1.0 {
            return Err(Fault::new("alpha must exceed 1, since the mean is infinite up to 1", "write for example 2.5"));
        }
        Ok(Self { alpha, mean })
    }

    #[inline]
    pub(super) fn sample(&self, stream: &mut Stream) -> f64 {
        self.at(stream.exponential())
    }

    /// What an exponential number of mean 1 becomes.
    #[inline]
    fn at(&self, exponential: f64) -> f64 {
        let alpha = self.alpha.get();
        self.mean.get() * ((alpha - 1.0) / alpha) * (exponential / alpha).exp()
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean.get()
    }

    pub(super) fn variance(&self) -> f64 {
        let alpha = self.alpha.get();
        if self.mean.get() == 0.0 {
            0.0
        } else if alpha <= 2.0 {
            f64::INFINITY
        } else {
            self.mean.get().powi(2) / (alpha * (alpha - 2.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::law::tests::{assert_refused, read};

    #[test]
    fn bad_parameters_are_refused() {
        assert_refused(r#"{"pareto": {"alpha": 1, "mean": 1}}"#, "alpha must exceed 1");
        assert_refused(r#"{"pareto": {"alpha": 0.5, "mean": 1}}"#, "alpha must exceed 1");
        assert_refused(r#"{"pareto": {"alpha": 0, "mean": 1}}"#, "finite number above 0");
        assert_refused(r#"{"pareto": {"alpha": 2.5, "mean": -1}}"#, "at least 0");
        assert_refused(r#"{"pareto": {"alpha": 2.5, "mean": 1e101}}"#, "mean must be at most 1e100");
        assert_refused(r#"{"pareto": {"alpha": 2.5}}"#, "missing field `mean`");
        assert_refused(r#"{"pareto": {"alpha": 2.5, "mean": 1, "least": 1}}"#, "unknown field `least`");
    }

    #[test]
    fn extreme_draws_stay_finite_and_at_least_zero() {
        for alpha in [1.0 + f64::EPSILON, 2.0, 1e300] {
            let law = Pareto::new(Positive::new(alpha).expect("positive"), NonNegative::new(1e100).expect("positive"))
                .expect("in range");
            // The largest exponential number is about 44.
            for exponential in [0.0, 50.0] {
                assert!(law.at(exponential).is_finite() && law.at(exponential) >= 0.0);
            }
        }
    }

    #[test]
    fn the_variance_is_infinite_up_to_two() {
        assert_eq!(read(r#"{"pareto": {"alpha": 2, "mean": 1}}"#).variance(), f64::INFINITY);
        assert_eq!(read(r#"{"pareto": {"alpha": 2.5, "mean": 1}}"#).variance(), 0.8);
        let zero = read(r#"{"pareto": {"alpha": 1.5, "mean": 0}}"#);
        assert!(zero.is_zero() && zero.variance() == 0.0);
    }
}

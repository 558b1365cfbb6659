//! The Erlang law: density `(k / m)^k x^(k - 1) exp(-k x / m) / (k - 1)!` for x >= 0, variance `m^2 / k`.

use super::bounded;
use crate::model::number::{Count, Fault, NonNegative};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Erlang: the sum of `shape` independent exponential times of equal mean; a mean of 0 is the constant 0.
///
/// Drawn as a gamma number by the method of Marsaglia and Tsang (2000), whose cost does not grow with the shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenErlang")]
pub struct Erlang {
    shape: Count,
    mean: NonNegative,
    /// `shape - 1/3`, named d by Marsaglia and Tsang.
    #[serde(skip)]
    center: f64,
    /// `1 / sqrt(9 d)`, named c by Marsaglia and Tsang.
    #[serde(skip)]
    spread: f64,
}

/// The law as written, before the mean is checked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenErlang {
    /// How many exponential times are added.
    shape: Count,
    /// The mean of their sum, in units of time.
    mean: NonNegative,
}

impl TryFrom<WrittenErlang> for Erlang {
    type Error = Fault;

    fn try_from(written: WrittenErlang) -> Result<Self, Fault> {
        Self::new(written.shape, written.mean)
    }
}

impl Erlang {
    /// The law of the sum of `shape` exponential times that has this mean, in units of time.
    ///
    /// # Errors
    /// If the mean exceeds 1e100.
    pub fn new(shape: Count, mean: NonNegative) -> Result<Self, Fault> {
        bounded("mean", mean)?;
        let center = shape.get() as f64 - 1.0 / 3.0;
        Ok(Self { shape, mean, center, spread: 1.0 / (9.0 * center).sqrt() })
    }

    #[inline]
    pub(super) fn sample(&self, stream: &mut Stream) -> f64 {
        loop {
            let x = stream.normal();
            if let Some(drawn) = self.proposed(x, stream.uniform()) {
                return drawn;
            }
        }
    }

    /// What a normal number `x` becomes, if the uniform number `u` accepts it.
    #[inline]
    fn proposed(&self, x: f64, u: f64) -> Option<f64> {
        let y = self.spread * x;
        if y <= -1.0 {
            return None;
        }
        // The quick test by which nearly all numbers are accepted without a logarithm.
        let accepted = u < 1.0 - 0.0331 * x.powi(4) || {
            // With v = (1 + y)^3 this is x^2 / 2 + d (1 - v + ln v), written so that no digits cancel for large d.
            u.ln() < 0.5 * x * x + self.center * (3.0 * (y.ln_1p() - y) - y * y * (3.0 + y))
        };
        accepted.then(|| self.mean.get() * (self.center / self.shape.get() as f64) * (1.0 + y).powi(3))
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean.get()
    }

    pub(super) fn variance(&self) -> f64 {
        self.mean.get().powi(2) / self.shape.get() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::law::tests::{assert_refused, read};
    use crate::random::Component;

    #[test]
    fn bad_parameters_are_refused() {
        assert_refused(r#"{"erlang": {"shape": 0, "mean": 1}}"#, "whole number of at least 1");
        assert_refused(r#"{"erlang": {"shape": 2, "mean": -1}}"#, "at least 0");
        assert_refused(r#"{"erlang": {"shape": 2, "mean": 1e101}}"#, "mean must be at most 1e100");
        assert_refused(r#"{"erlang": {"shape": 2}}"#, "missing field `mean`");
        assert_refused(r#"{"erlang": {"shape": 2, "mean": 1, "rate": 1}}"#, "unknown field `rate`");
    }

    #[test]
    fn extreme_draws_stay_finite_and_at_least_zero() {
        for shape in [1, 2, 1000, u64::MAX] {
            let mean = NonNegative::new(1e100).expect("not negative");
            let law = Erlang::new(Count::new(shape).expect("positive"), mean).expect("short enough");
            for u in [0.0, 1.0 - f64::EPSILON / 2.0] {
                // The largest normal number is about 13.
                for x in [-14.0, -1.0, 0.0, 1.0, 14.0] {
                    assert!(law.proposed(x, u).is_none_or(|drawn| drawn.is_finite() && drawn >= 0.0));
                }
            }
        }
    }

    #[test]
    fn a_mean_of_zero_is_the_constant_zero() {
        let law = read(r#"{"erlang": {"shape": 3, "mean": 0}}"#);
        assert!(law.is_zero());
        assert_eq!(law.sample(&mut Stream::new(1, 0, Component::Delays)), 0.0);
    }

    /// A very large shape is the normal law to all visible digits: |z| < 4.
    #[test]
    fn a_very_large_shape_keeps_its_spread() {
        let law = read(r#"{"erlang": {"shape": 1000000000000, "mean": 1}}"#);
        let mut stream = Stream::new(5, 0, Component::Sizes);
        let n = 100_000;
        let scaled: Vec<f64> = (0..n).map(|_| (law.sample(&mut stream) - 1.0) * 1e6).collect();
        let n = f64::from(n);
        assert!((scaled.iter().sum::<f64>() / n).abs() < 4.0 / n.sqrt());
        let variance = scaled.iter().map(|z| z * z).sum::<f64>() / n;
        assert!((variance - 1.0).abs() < 4.0 * (2.0 / n).sqrt(), "{variance}");
    }
}

//! The uniform law: density `1 / (high - low)` on `[low, high)`, variance `(high - low)^2 / 12`.

use crate::model::number::{Fault, NonNegative};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Uniform on an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Interval")]
pub struct Uniform {
    low: NonNegative,
    high: NonNegative,
}

/// The interval as written, before its order is checked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Interval {
    low: NonNegative,
    high: NonNegative,
}

impl TryFrom<Interval> for Uniform {
    type Error = Fault;

    fn try_from(interval: Interval) -> Result<Self, Fault> {
        Self::new(interval.low.get(), interval.high.get())
    }
}

impl Uniform {
    /// The uniform law on `[low, high)`.
    ///
    /// # Errors
    /// If an end is negative or not finite, or `low > high`.
    pub fn new(low: f64, high: f64) -> Result<Self, Fault> {
        if low > high {
            return Err(Fault::new("low must not exceed high", "swap low and high"));
        }
        Ok(Self { low: NonNegative::new(low)?, high: NonNegative::new(high)? })
    }

    #[inline]
    pub(super) fn sample(&self, stream: &mut Stream) -> f64 {
        let (low, high) = (self.low.get(), self.high.get());
        low + (high - low) * stream.uniform()
    }

    pub(super) fn mean(&self) -> f64 {
        self.low.get() + (self.high.get() - self.low.get()) / 2.0
    }

    pub(super) fn variance(&self) -> f64 {
        (self.high.get() - self.low.get()).powi(2) / 12.0
    }
}

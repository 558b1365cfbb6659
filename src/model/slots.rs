//! Slotted time: how many jobs arrive in a slot, and how many services a server offers.

use super::alias::Alias;
use super::number::{Count, Fault, NonNegative};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A law on whole numbers from 0, whose mean is given elsewhere: by the load, or by a server's rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountLaw {
    /// Poisson.
    Poisson,
    /// Geometric on {0, 1, ...}: `P(k) = (1 - r) r^k` with `r = mean / (1 + mean)`.
    Geometric,
    /// 0 or 1.
    Bernoulli,
    /// Always the mean, which must be whole.
    Constant,
    /// The number of successes in so many trials.
    Binomial(Binomial),
    /// A Poisson number of batches of equal size.
    Batch(Batch),
    /// A table of values and weights, whose mean must be the one given elsewhere.
    Empirical(CountTable),
}

/// The number of trials of a binomial law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Binomial {
    /// Trials.
    pub trials: Count,
}

/// The size of batches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// Jobs per batch.
    pub size: Count,
}

/// Values with their weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountTable {
    /// The values.
    pub values: Vec<u32>,
    /// The weight of each value; they need not sum to 1.
    pub weights: Vec<NonNegative>,
}

/// How the jobs of a slot are spread over the dispatchers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// The total has the law of arrivals, and each job reaches a dispatcher by the shares.
    #[default]
    Multinomial,
    /// Each dispatcher has arrivals of its own, with the law of arrivals and its share of the mean.
    Independent,
}

/// What happens in a slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Slots {
    /// Law of the jobs that arrive in a slot.
    pub arrivals: CountLaw,
    /// How they are spread over the dispatchers.
    pub split: Split,
    /// Law of the services that a server offers in a slot, with its rate as the mean.
    pub service: CountLaw,
}

impl Default for Slots {
    fn default() -> Self {
        Self { arrivals: CountLaw::Poisson, split: Split::Multinomial, service: CountLaw::Geometric }
    }
}

/// Probabilities below this are left out: 2^-53 is what a random number can tell.
const NEGLIGIBLE: f64 = 1e-17;

/// The largest mean, and the largest value, that a table is made for.
const LARGEST: usize = 100_000;

impl CountLaw {
    /// Every law: its tag in a scenario and a line about it.
    pub const CATALOGUE: &'static [(&'static str, &'static str)] = &[
        ("poisson", "Poisson"),
        ("geometric", "geometric on {0, 1, ...}"),
        ("bernoulli", "0 or 1"),
        ("constant", "always the mean, which must be whole"),
        ("binomial", "{binomial: {trials: 20}}"),
        ("batch", "{batch: {size: 5}}: a Poisson number of batches"),
        ("empirical", "{empirical: {values: [0, 1, 4], weights: [5, 3, 2]}}"),
    ];

    /// The law with this mean, ready to be drawn from.
    ///
    /// # Errors
    /// If the law cannot have the mean.
    pub fn with_mean(&self, mean: f64) -> Result<Counts, Fault> {
        let cannot = |rule: String, remedy: &str| Err(Fault::new(rule, remedy));
        if !(mean.is_finite() && mean >= 0.0) {
            return cannot(format!("the mean {mean} must be finite and at least 0"), "change the load or the rates");
        }
        if mean > LARGEST as f64 {
            let rule = format!("the mean {mean} per slot is too large for a table; it may be {LARGEST}");
            return cannot(rule, "use shorter slots: smaller rates, fewer servers");
        }
        Ok(match self {
            Self::Poisson => Counts::from_ratio(mean, |k| mean / k),
            Self::Geometric => {
                let r = mean / (1.0 + mean);
                Counts::from_ratio(mean, |_| r)
            }
            Self::Bernoulli if mean <= 1.0 => Counts::new(&[1.0 - mean, mean]),
            Self::Bernoulli => {
                return cannot(format!("a Bernoulli number cannot have the mean {mean}"), "use a mean of at most 1");
            }
            Self::Constant if mean.fract() == 0.0 => Counts::constant(mean as u32),
            Self::Constant => {
                return cannot(format!("a constant number of jobs cannot be {mean}"), "use a whole mean");
            }
            Self::Binomial(Binomial { trials }) => {
                let n = trials.get() as f64;
                let p = mean / n;
                if p > 1.0 {
                    return cannot(format!("{n} trials cannot have the mean {mean}"), "use more trials");
                }
                if p == 1.0 {
                    Counts::constant(n as u32)
                } else {
                    Counts::from_ratio(mean, |k| (n - k + 1.0) / k * p / (1.0 - p))
                }
            }
            Self::Batch(Batch { size }) => {
                let batches = mean / size.get() as f64;
                let Some(size) = u32::try_from(size.get()).ok().filter(|&size| (size as usize) < LARGEST) else {
                    return cannot(format!("a batch may hold {LARGEST} jobs"), "use smaller batches");
                };
                Counts::from_ratio(batches, |k| batches / k).times(size)
            }
            Self::Empirical(table) => return table.with_mean(mean),
        })
    }

    /// Whether the law is Poisson, so that a multinomial split leaves dispatchers independent.
    pub fn is_poisson(&self) -> bool {
        *self == Self::Poisson
    }
}

impl CountTable {
    fn with_mean(&self, mean: f64) -> Result<Counts, Fault> {
        if self.values.is_empty() || self.values.len() != self.weights.len() {
            return Err(Fault::at("empirical", "needs as many weights as values", "write for example values: [0, 2]"));
        }
        let weights: Vec<f64> = self.weights.iter().map(|weight| weight.get()).collect();
        let total: f64 = weights.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(Fault::at("empirical.weights", "must have a finite sum above 0", "write for example [1, 1]"));
        }
        let own: f64 =
            self.values.iter().zip(&weights).map(|(&value, weight)| f64::from(value) * weight).sum::<f64>() / total;
        if (own - mean).abs() > 1e-6 * mean.max(1.0) {
            return Err(Fault::at(
                "empirical",
                format!("the table has mean {own}, but {mean} is wanted"),
                format!("set the arrival rate, or the rate of the servers, to {own}"),
            ));
        }
        let largest = self.values.iter().copied().max().unwrap_or(0) as usize;
        if largest >= LARGEST {
            return Err(Fault::at("empirical.values", format!("must be below {LARGEST}"), "use smaller values"));
        }
        let mut law = vec![0.0; largest + 1];
        for (&value, weight) in self.values.iter().zip(&weights) {
            law[value as usize] += weight;
        }
        Ok(Counts::new(&law))
    }
}

/// A law on whole numbers, ready to be drawn from with one random number.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    alias: Alias,
    step: u32,
    mean: f64,
    variance: f64,
}

impl Counts {
    fn new(law: &[f64]) -> Self {
        let total: f64 = law.iter().sum();
        let moment = |power: i32| (0_u32..).zip(law).map(|(k, p)| f64::from(k).powi(power) * p).sum::<f64>() / total;
        let mean = moment(1);
        Self { alias: Alias::new(law), step: 1, mean, variance: moment(2) - mean * mean }
    }

    fn constant(value: u32) -> Self {
        Self { alias: Alias::new(&[0.0, 1.0]), step: 1, mean: 1.0, variance: 0.0 }.times(value)
    }

    /// The law of the number times a factor.
    fn times(self, factor: u32) -> Self {
        let f = f64::from(factor);
        Self { step: self.step * factor, mean: self.mean * f, variance: self.variance * f * f, ..self }
    }

    /// The law of the given mean with `P(k) / P(k - 1) = ratio(k)`, as far as it is not negligible.
    fn from_ratio(mean: f64, ratio: impl Fn(f64) -> f64) -> Self {
        // Started from 1, and scaled down whenever it grows large: P(0) itself may be too small to be written.
        let mut law = vec![1.0];
        let (mut last, mut sum): (f64, f64) = (1.0, 1.0);
        while law.len() as f64 <= mean || last > NEGLIGIBLE * sum {
            last *= ratio(law.len() as f64);
            law.push(last);
            sum += last;
            if sum > 1e200 {
                law.iter_mut().for_each(|p| *p *= 1e-200);
                (last, sum) = (last * 1e-200, sum * 1e-200);
            }
        }
        Self::new(&law)
    }

    /// Draws a number.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> u32 {
        self.alias.draw(stream) * self.step
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The variance.
    pub fn variance(&self) -> f64 {
        self.variance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Component;

    #[test]
    fn laws_have_their_means_and_variances() {
        let count = |n| Count::new(n).expect("positive");
        let weight = |w| NonNegative::new(w).expect("not negative");
        let table = CountTable { values: vec![0, 1, 4], weights: vec![weight(5.0), weight(3.0), weight(2.0)] };
        for (law, mean, variance) in [
            (CountLaw::Poisson, 0.7, 0.7),
            (CountLaw::Poisson, 900.0, 900.0),
            (CountLaw::Geometric, 1.4, 1.4 * 2.4),
            (CountLaw::Bernoulli, 0.3, 0.21),
            (CountLaw::Constant, 3.0, 0.0),
            (CountLaw::Binomial(Binomial { trials: count(20) }), 5.0, 3.75),
            (CountLaw::Binomial(Binomial { trials: count(2) }), 2.0, 0.0),
            (CountLaw::Batch(Batch { size: count(5) }), 2.0, 10.0),
            (CountLaw::Empirical(table), 1.1, 0.3 + 3.2 - 1.21),
        ] {
            let counts = law.with_mean(mean).expect("the law can have the mean");
            assert!((counts.mean() - mean).abs() < 1e-9 * mean, "{law:?}: mean {}", counts.mean());
            assert!((counts.variance() - variance).abs() < 1e-8 * (1.0 + variance), "{law:?}: {}", counts.variance());
            let mut stream = Stream::new(12, 0, Component::Arrivals);
            let n = 400_000;
            let sum: u64 = (0..n).map(|_| u64::from(counts.draw(&mut stream))).sum();
            let z = (sum as f64 / f64::from(n) - mean) / (variance / f64::from(n)).sqrt().max(1e-12);
            assert!(z.abs() < 4.0, "{law:?}: z = {z}");
        }
    }

    #[test]
    fn means_that_a_law_cannot_have_are_refused() {
        let trials = Count::new(3).expect("positive");
        for (law, mean) in [
            (CountLaw::Bernoulli, 1.1),
            (CountLaw::Constant, 0.5),
            (CountLaw::Binomial(Binomial { trials }), 3.5),
            (CountLaw::Poisson, 1e9),
            (CountLaw::Poisson, f64::NAN),
        ] {
            assert!(law.with_mean(mean).is_err(), "{law:?} {mean}");
        }
    }
}

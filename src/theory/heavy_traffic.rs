//! Heavy traffic in slotted time: what every policy is above, and delay-optimal ones reach.

use crate::model::{CountLaw, Slots, Split, System};

/// The heavy-traffic constants of a slotted system, with epsilon = total service rate - total arrival rate.
///
/// As epsilon goes to 0, `epsilon E[sum Q]` goes to `zeta / 2` under a heavy-traffic delay-optimal policy, and under any
/// policy it is at least that in the limit (the LED paper); `zeta` is the variance per slot of all arrivals plus that of
/// all services offered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeavyTraffic {
    /// Variance per slot of all arrivals and of all services offered.
    pub zeta: f64,
    /// Total service rate minus total arrival rate; 0 or less is no steady state. In steady state the services unused
    /// in a slot have just this mean.
    pub epsilon: f64,
    /// Variance of the arrivals alone.
    pub arrivals: f64,
}

impl HeavyTraffic {
    /// The constants of a system with these laws of a slot.
    pub fn new(system: &System, slots: &Slots) -> Self {
        let mean = system.arrivals.rate;
        let arrivals = match slots.split {
            Split::Multinomial => variance(&slots.arrivals, mean),
            Split::Independent => {
                system.dispatchers.shares().iter().map(|share| variance(&slots.arrivals, mean * share)).sum()
            }
        };
        let services: f64 = system
            .servers
            .classes()
            .iter()
            .map(|class| class.count as f64 * variance(&slots.service, class.rate))
            .sum();
        Self { zeta: arrivals + services, epsilon: system.servers.total_rate() - mean, arrivals }
    }

    /// zeta / 2, the limit of `epsilon E[sum Q]` under a delay-optimal policy.
    pub fn limit(&self) -> f64 {
        self.zeta / 2.0
    }

    /// What the mean number of jobs at the start of a slot, over all servers, is near for small epsilon under a
    /// delay-optimal policy: `zeta / (2 epsilon)`; none without a steady state.
    pub fn jobs(&self) -> Option<f64> {
        (self.epsilon > 0.0).then(|| self.limit() / self.epsilon)
    }

    /// A lower bound of the mean number of jobs at the start of a slot, for every policy and every epsilon above 0.
    ///
    /// The single queue with all services pooled has fewer jobs on every path. For it, squaring one slot gives
    /// `E[q] = (zeta + epsilon^2 - E[U^2]) / (2 epsilon)` with U the services unused and `E[U] = epsilon`. Given what
    /// there is to do, x, U is what S has beyond x. If S is log-concave that falls with x in likelihood ratio, and so does
    /// the mean of its size-biased law, so that `E[U^2] <= epsilon E[S^2] / E[S]`; if S is bounded, `E[U^2] <= epsilon
    /// max S`. None is told where neither holds.
    pub fn lower_bound(&self, system: &System, slots: &Slots) -> Option<f64> {
        let classes = system.servers.classes();
        let all = |of: &dyn Fn(f64) -> Option<f64>| -> Option<f64> {
            classes.iter().map(|class| Some(class.count as f64 * of(class.rate)?)).sum()
        };
        let mean = system.servers.total_rate();
        let spread = self.zeta - self.arrivals;
        let biased = is_log_concave(&slots.service).then_some(mean + spread / mean);
        let largest = all(&|rate| largest(&slots.service, rate));
        let ratio = match (biased, largest) {
            (Some(biased), Some(largest)) => biased.min(largest),
            (biased, largest) => biased.or(largest)?,
        };
        let bound = (self.zeta + self.epsilon.powi(2) - ratio * self.epsilon) / (2.0 * self.epsilon);
        (self.epsilon > 0.0).then_some(bound.max(0.0))
    }
}

/// Whether the probabilities of a law are log-concave; sums of such laws are too.
fn is_log_concave(law: &CountLaw) -> bool {
    match law {
        CountLaw::Poisson | CountLaw::Geometric | CountLaw::Bernoulli | CountLaw::Constant | CountLaw::Binomial(_) => {
            true
        }
        CountLaw::Batch(_) | CountLaw::Empirical(_) => false,
    }
}

/// The variance of a law of a slot with this mean.
fn variance(law: &CountLaw, mean: f64) -> f64 {
    match law {
        CountLaw::Poisson => mean,
        CountLaw::Geometric => mean * (1.0 + mean),
        CountLaw::Bernoulli => mean * (1.0 - mean),
        CountLaw::Constant => 0.0,
        CountLaw::Binomial(binomial) => mean * (1.0 - mean / binomial.trials.get() as f64),
        CountLaw::Batch(batch) => mean * batch.size.get() as f64,
        CountLaw::Empirical(table) => {
            let weights: f64 = table.weights.iter().map(|weight| weight.get()).sum();
            let parts = table.values.iter().zip(&table.weights);
            parts.map(|(&value, weight)| weight.get() * (f64::from(value) - mean).powi(2)).sum::<f64>() / weights
        }
    }
}

/// The most that a law of a slot with this mean can give.
fn largest(law: &CountLaw, mean: f64) -> Option<f64> {
    match law {
        CountLaw::Poisson | CountLaw::Geometric | CountLaw::Batch(_) => None,
        CountLaw::Bernoulli => Some(1.0),
        CountLaw::Constant => Some(mean),
        CountLaw::Binomial(binomial) => Some(binomial.trials.get() as f64),
        CountLaw::Empirical(table) => table.values.iter().map(|&value| f64::from(value)).reduce(f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    #[test]
    fn variances_are_those_of_draws() {
        for (text, mean) in [
            (r#""poisson""#, 1.5),
            (r#""geometric""#, 1.5),
            (r#""bernoulli""#, 0.7),
            (r#""constant""#, 3.0),
            (r#"{"binomial": {"trials": 5}}"#, 3.0),
            (r#"{"batch": {"size": 4}}"#, 3.0),
            (r#"{"empirical": {"values": [0, 2, 10], "weights": [5, 2, 3]}}"#, 3.4),
        ] {
            let law: CountLaw = serde_json::from_str(text).expect("a law");
            let counts = law.with_mean(mean).expect("the law can have the mean");
            let mut stream = Stream::new(6, 0, Component::Dispatchers);
            let draws = 200_000;
            let squares: Vec<f64> = (0..draws).map(|_| (f64::from(counts.draw(&mut stream)) - mean).powi(2)).collect();
            let found = squares.iter().sum::<f64>() / f64::from(draws);
            let spread = squares.iter().map(|x| (x - found).powi(2)).sum::<f64>() / f64::from(draws);
            let error = (spread / f64::from(draws)).sqrt();
            assert!((found - variance(&law, mean)).abs() <= 4.0 * error + 1e-12, "{text}: {found} ± {error}");
        }
    }
}

//! Laws of the counts of a slot, as lists of probabilities written from their definitions.

use super::not_solved::NotSolved;
use crate::model::CountLaw;

/// Probabilities below this, beyond the mean, are left out.
const NEGLIGIBLE: f64 = 1e-18;

/// The largest count that is listed.
const LARGEST: usize = 5_000;

/// `P(0), P(1), ...` of a law with this mean.
///
/// # Errors
/// If the law cannot have the mean, or the list would be too long.
pub(super) fn probabilities(law: &CountLaw, mean: f64) -> Result<Vec<f64>, NotSolved> {
    let wrong = || NotSolved::not_covered(format!("the law of a slot cannot have the mean {mean}"));
    if mean == 0.0 {
        return Ok(vec![1.0]);
    }
    let listed = match law {
        CountLaw::Poisson => list(mean, |k| poisson(mean, k)),
        CountLaw::Geometric => {
            let r = mean / (1.0 + mean);
            list(mean, |k| (1.0 - r) * r.powf(k as f64))
        }
        // A probability above 1 is refused below.
        CountLaw::Bernoulli => Some(vec![1.0 - mean, mean]),
        CountLaw::Constant => {
            let whole = mean as usize;
            (whole <= LARGEST).then(|| (0..=whole).map(|k| if k == whole { 1.0 } else { 0.0 }).collect())
        }
        CountLaw::Binomial(binomial) => {
            let trials = binomial.trials.get();
            list(mean, |k| binomial_probability(trials, mean / trials as f64, k))
        }
        CountLaw::Batch(batch) => {
            let size = batch.size.get();
            let batches = mean / size as f64;
            list(mean + size as f64, |k| if k % size == 0 { poisson(batches, k / size) } else { 0.0 })
        }
        CountLaw::Empirical(table) => {
            let largest = table.values.iter().copied().max().unwrap_or(0) as usize;
            (largest <= LARGEST).then(|| {
                let mut law = vec![0.0; largest + 1];
                for (&value, weight) in table.values.iter().zip(&table.weights) {
                    law[value as usize] += weight.get();
                }
                law
            })
        }
    };
    let mut law =
        listed.ok_or_else(|| NotSolved::too_large(format!("a slot may bring more than {LARGEST} at once")))?;
    let total: f64 = law.iter().sum();
    if law.iter().any(|p| !(0.0..=f64::MAX).contains(p)) || total <= 0.0 {
        return Err(wrong());
    }
    law.iter_mut().for_each(|p| *p /= total);
    Ok(law)
}

/// The probabilities as far as they matter; none if that is too far.
fn list(mean: f64, probability: impl Fn(u64) -> f64) -> Option<Vec<f64>> {
    let mut law = Vec::new();
    // A batch law is 0 in between: only a whole mean's worth of nothing beyond the mean ends the list.
    let mut nothing = 0.0;
    while nothing <= mean + 1.0 {
        let p = probability(law.len() as u64);
        nothing = if law.len() as f64 > mean && p < NEGLIGIBLE { nothing + 1.0 } else { 0.0 };
        law.push(p);
        if law.len() > LARGEST {
            return None;
        }
    }
    while law.last().is_some_and(|&p| p < NEGLIGIBLE) {
        law.pop();
    }
    Some(law)
}

/// The law of the number that one dispatcher receives out of `total`, each with probability `share`.
pub(super) fn split(total: u16, share: f64) -> Vec<f64> {
    let total = u64::from(total);
    (0..=total).map(|k| binomial_probability(total, share.min(1.0), k)).collect()
}

/// `e^-mean mean^k / k!`, factor by factor.
fn poisson(mean: f64, k: u64) -> f64 {
    // An equal part of the exponential goes with each factor, so that none of the products is too small or large.
    let part = (-mean / (k as f64 + 1.0)).exp();
    (1..=k).fold(part, |product, i| product * part * mean / i as f64)
}

/// `(n over k) p^k (1 - p)^(n - k)`, factor by factor.
fn binomial_probability(n: u64, p: f64, k: u64) -> f64 {
    if k > n {
        return 0.0;
    }
    let few = k.min(n - k);
    let ways = (1..=few).fold(1.0, |ways, i| ways * (n - few + i) as f64 / i as f64);
    ways * p.powf(k as f64) * (1.0 - p).powf((n - k) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Count;
    use crate::model::slots::{Batch, Binomial};

    #[test]
    fn laws_have_their_means() {
        let count = |n| Count::new(n).expect("positive");
        for (law, mean) in [
            (CountLaw::Poisson, 1.4),
            (CountLaw::Geometric, 1.4),
            (CountLaw::Bernoulli, 0.3),
            (CountLaw::Constant, 3.0),
            (CountLaw::Binomial(Binomial { trials: count(6) }), 1.5),
            (CountLaw::Batch(Batch { size: count(5) }), 0.7),
        ] {
            let probabilities = probabilities(&law, mean).expect("the law can have the mean");
            let own: f64 = (0_u32..).zip(&probabilities).map(|(k, p)| f64::from(k) * p).sum();
            assert!((own - mean).abs() < 1e-12, "{law:?} has mean {own}");
        }
        assert!(probabilities(&CountLaw::Bernoulli, 1.5).is_err());
    }

    #[test]
    fn a_split_is_binomial() {
        assert_eq!(split(2, 1.0), [0.0, 0.0, 1.0]);
        let half = split(2, 0.5);
        assert!((half[0] - 0.25).abs() < 1e-15 && (half[1] - 0.5).abs() < 1e-15);
    }
}

//! Laws of the counts of a slot, as lists of probabilities written from their definitions.

use super::not_solved::NotSolved;
use crate::model::CountLaw;
use statrs::distribution::{Binomial, Discrete, Poisson};

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
        CountLaw::Poisson => {
            let law = Poisson::new(mean).map_err(|_| wrong())?;
            list(mean, |k| law.pmf(k))
        }
        CountLaw::Geometric => {
            let r = mean / (1.0 + mean);
            list(mean, |k| (1.0 - r) * r.powf(k as f64))
        }
        CountLaw::Bernoulli => Some(vec![1.0 - mean, mean]),
        CountLaw::Constant => {
            let whole = mean as usize;
            (whole <= LARGEST).then(|| (0..=whole).map(|k| if k == whole { 1.0 } else { 0.0 }).collect())
        }
        CountLaw::Binomial(binomial) => {
            let trials = binomial.trials.get();
            let law = Binomial::new(mean / trials as f64, trials).map_err(|_| wrong())?;
            list(mean, |k| law.pmf(k))
        }
        CountLaw::Batch(batch) => {
            let size = batch.size.get();
            let batches = Poisson::new(mean / size as f64).map_err(|_| wrong())?;
            list(mean + size as f64, |k| if k % size == 0 { batches.pmf(k / size) } else { 0.0 })
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
    if share >= 1.0 {
        return (0..=total).map(|k| if k == total { 1.0 } else { 0.0 }).collect();
    }
    match Binomial::new(share, u64::from(total)) {
        Ok(law) => (0..=u64::from(total)).map(|k| law.pmf(k)).collect(),
        Err(_) => vec![1.0],
    }
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

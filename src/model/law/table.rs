//! A finite choice: `P(i) = w_i / sum w`, drawn by searching the cumulative sums (inversion; Devroye 1986, III.2).

use crate::model::number::Fault;
use crate::model::sum::Sum;

/// Cumulative probabilities of a finite choice.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table(Box<[f64]>);

impl Table {
    /// The choice of `0..weights.len()` with these weights, which must be finite and at least 0; `key` is their name.
    ///
    /// # Errors
    /// If no weight is positive.
    pub(super) fn new(key: &str, weights: &[f64]) -> Result<Self, Fault> {
        let largest = weights.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return Err(Fault::new(format!("{key} must not all be 0"), "make at least one of them positive"));
        }
        let mut sum = Sum::default();
        // Weights are taken relative to the largest, so that their sum cannot overflow.
        let sums: Vec<f64> = weights
            .iter()
            .map(|weight| {
                sum.add(weight / largest);
                sum.value()
            })
            .collect();
        let last = weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0);
        // From the last item that can be drawn on, the sum is 1 whatever was rounded: every u < 1 finds its item.
        let scaled = sums.iter().enumerate().map(|(i, s)| if i < last { s / sum.value() } else { 1.0 });
        Ok(Self(scaled.collect()))
    }

    /// The item at `u` in `[0, 1)`: the first whose cumulative probability exceeds `u`, so never one of weight 0.
    #[inline]
    pub(super) fn at(&self, u: f64) -> usize {
        self.0.partition_point(|&sum| sum <= u)
    }
}

/// The mean of `values` under `weights`, to the last digits; one of the weights must be positive.
pub(super) fn weighted_mean(weights: &[f64], values: impl Iterator<Item = f64>) -> f64 {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let (mut total, mut sum) = (Sum::default(), Sum::default());
    for (weight, value) in weights.iter().zip(values) {
        total.add(weight / largest);
        sum.add(weight / largest * value);
    }
    sum.value() / total.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGEST_U: f64 = 1.0 - f64::EPSILON / 2.0;

    #[test]
    fn extreme_draws_find_an_item_of_positive_weight() {
        for (weights, first, last) in [
            (vec![0.0, 0.1, 0.2, 0.7, 0.0], 1, 3),
            (vec![1e308, 1e308], 0, 1),
            (vec![1.0; 49], 0, 48),
            (vec![0.0, 1e-300], 1, 1),
        ] {
            let table = Table::new("weights", &weights).expect("some are positive");
            assert_eq!((table.at(0.0), table.at(LARGEST_U)), (first, last), "{weights:?}");
        }
    }

    #[test]
    fn a_choice_of_nothing_is_refused() {
        for weights in [vec![], vec![0.0, 0.0]] {
            let fault = Table::new("weights", &weights).expect_err("nothing can be drawn");
            assert!(fault.rule.contains("weights must not all be 0"), "{fault}");
        }
    }

    #[test]
    fn the_mean_does_not_overflow() {
        assert_eq!(weighted_mean(&[1e308, 1e308], [1.0, 3.0].into_iter()), 2.0);
    }
}

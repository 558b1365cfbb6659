//! Values by replication or by part of a run, with weights where their mean is a ratio.

/// A series of values `x_i`, each with a weight `w_i` where the quantity is a ratio of two means.
///
/// With `x_i` the ratio measured by replication (or part of a run) `i` and `w_i` its denominator (jobs, time, ...), the
/// estimate is `sum w_i x_i / sum w_i`: the sum of the numerators over the sum of the denominators.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    values: &'a [f64],
    weights: Option<&'a [f64]>,
}

impl<'a> Sample<'a> {
    /// Values of equal weight.
    pub fn plain(values: &'a [f64]) -> Self {
        Self { values, weights: None }
    }

    /// Values with their weights; `None` unless there are as many of both and every weight is finite and at least 0.
    ///
    /// A value of weight 0 counts as one that was looked for and did not occur. It may be anything, NaN too.
    pub fn weighted(values: &'a [f64], weights: &'a [f64]) -> Option<Self> {
        let valid = weights.len() == values.len() && weights.iter().all(|w| w.is_finite() && *w >= 0.0);
        valid.then_some(Self { values, weights: Some(weights) })
    }

    /// How many values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The first `n` values, or all if there are fewer.
    pub fn first(&self, n: usize) -> Self {
        let n = n.min(self.len());
        Self { values: &self.values[..n], weights: self.weights.map(|weights| &weights[..n]) }
    }

    /// Whether the values have weights.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// The mean, or the ratio of means; `None` for no values or no weight.
    pub fn mean(&self) -> Option<f64> {
        self.linearise().map(|linear| linear.estimate)
    }

    /// The estimate and what each value adds to its error; `None` for no values or no weight.
    pub(super) fn linearise(&self) -> Option<Linearised> {
        let n = self.len() as f64;
        let Some(weights) = self.weights else {
            let shift = *self.values.first()?;
            // Differences from the first value keep the digits of a small spread, and make equal values exactly equal.
            let offset = self.values.iter().map(|x| x - shift).sum::<f64>() / n;
            let residuals = self.values.iter().map(|x| x - shift - offset).collect();
            return Some(Linearised { estimate: shift + offset, residuals });
        };
        let first = *weights.first()?;
        let mean_weight = first + weights.iter().map(|w| w - first).sum::<f64>() / n;
        // Relative weights; equal ones are exactly 1, so that what follows is then the plain mean to the last bit.
        let relative: Vec<f64> = weights.iter().map(|w| w / mean_weight).collect();
        let shift = self.values[weights.iter().position(|w| *w > 0.0)?];
        // Without weight a value is not looked at.
        let weigh = |offset: f64| {
            let terms = self.values.iter().zip(&relative);
            terms.map(move |(x, w)| if *w > 0.0 { (x - shift - offset) * w } else { 0.0 })
        };
        let offset = weigh(0.0).sum::<f64>() / relative.iter().sum::<f64>();
        Some(Linearised { estimate: shift + offset, residuals: weigh(offset).collect() })
    }
}

/// An estimate and its terms of first order: the error of the estimate is about the mean of the residuals.
///
/// For a ratio of means `r = Y / W` (Taylor, the delta method) the residual is `(y_i - r w_i) / mean(w)`.
#[derive(Clone, Debug)]
pub(super) struct Linearised {
    /// The mean or the ratio of means.
    pub(super) estimate: f64,
    /// One per value; their mean is 0 but for rounding.
    pub(super) residuals: Vec<f64>,
}

impl Linearised {
    /// Standard error of the estimate when values are independent: `sqrt(sum z^2 / (n - 1) / n)`; needs two values.
    pub(super) fn std_error(&self) -> Option<f64> {
        let n = self.residuals.len() as f64;
        (self.residuals.len() > 1).then(|| {
            let squares: f64 = self.residuals.iter().map(|z| z.powi(2)).sum();
            (squares / (n - 1.0) / n).sqrt()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_must_fit() {
        assert_eq!(Sample::weighted(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(Sample::weighted(&[1.0], &[-1.0]), None);
        assert_eq!(Sample::weighted(&[1.0], &[f64::NAN]), None);
        assert!(Sample::weighted(&[1.0], &[0.0]).expect("valid").linearise().is_none());
        assert!(Sample::plain(&[]).linearise().is_none());
    }

    #[test]
    fn a_ratio_is_the_sum_of_numerators_over_that_of_denominators() {
        let (values, weights) = ([f64::NAN, 2.0, 5.0, 3.0], [0.0, 3.0, 1.0, 4.0]);
        let linear = Sample::weighted(&values, &weights).expect("valid").linearise().expect("weight");
        assert!((linear.estimate - (6.0 + 5.0 + 12.0) / 8.0).abs() < 1e-15);
        // (y - r w) / mean(w) with r = 23/8 and mean weight 2.
        let by_hand = [0.0, (6.0 - 69.0 / 8.0) / 2.0, (5.0 - 23.0 / 8.0) / 2.0, (12.0 - 92.0 / 8.0) / 2.0];
        for (z, expected) in linear.residuals.iter().zip(by_hand) {
            assert!((z - expected).abs() < 1e-14);
        }
        assert!(linear.residuals.iter().sum::<f64>().abs() < 1e-14);
    }

    #[test]
    fn the_first_values_keep_their_weights() {
        let (values, weights) = ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
        let sample = Sample::weighted(&values, &weights).expect("valid");
        assert_eq!(Some(sample.first(2)), Sample::weighted(&values[..2], &weights[..2]));
        assert_eq!(sample.first(9), sample);
    }
}

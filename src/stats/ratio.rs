//! Ratio estimator over independent replications.

use super::{Confidence, Interval, Method, Sample};

impl Interval {
    /// The interval for a ratio of means from the ratio `x_i` of every replication and its denominator `w_i`.
    ///
    /// The estimate is `r = sum w_i x_i / sum w_i` and its standard error (delta method)
    /// `sqrt(sum (w_i (x_i - r))^2 / (n - 1) / n) / mean(w)`; the half width is that times `t_{n-1}` (Law 2015, section
    /// 9.5.3 on regenerative ratios; Cochran 1977, chapter 6). The bias of `r` is of order `1/n`. With equal weights
    /// this is [`Interval::of_mean`] to the last bit. `None` for no values, no weight, or weights that do not fit
    /// (see [`Sample::weighted`]).
    pub fn of_ratio(values: &[f64], weights: &[f64], confidence: Confidence) -> Option<Self> {
        Self::of_sample(Sample::weighted(values, weights)?, confidence)
    }

    /// The interval for the mean or the ratio of means of independent replications, whichever the sample is of.
    ///
    /// `None` for no values or no weight.
    pub fn of_sample(sample: Sample<'_>, confidence: Confidence) -> Option<Self> {
        let linear = sample.linearise()?;
        let count = sample.len() as u64;
        let method = if sample.is_weighted() { Method::RatioEstimator } else { Method::Replications };
        Some(Self::student(linear.estimate, linear.std_error(), count as f64 - 1.0, confidence, method, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    #[test]
    fn equal_weights_give_the_interval_of_the_mean_to_the_last_bit() {
        let mut stream = Stream::new(11, 0, Component::Sizes);
        for n in [1, 2, 5, 30] {
            let values: Vec<f64> = (0..n).map(|_| 1e3 + stream.normal()).collect();
            for weight in [1.0, 0.1, 12_345.678] {
                let ratio = Interval::of_ratio(&values, &vec![weight; n], Confidence::default()).expect("values");
                let mean = Interval::of_mean(&values, Confidence::default()).expect("values");
                assert_eq!(ratio, Interval { method: Method::RatioEstimator, ..mean });
            }
        }
    }

    #[test]
    fn coverage_is_nominal_where_the_mean_of_ratios_is_biased() {
        // Numerator 2 w + noise, w = 1 + exponential: the ratio of means is 2.
        let mut stream = Stream::new(12, 0, Component::Sizes);
        let (runs, n) = (4000, 30);
        let mut covered = 0;
        for _ in 0..runs {
            let weights: Vec<f64> = (0..n).map(|_| 1.0 + stream.exponential()).collect();
            let values: Vec<f64> = weights.iter().map(|w| (2.0 * w + stream.normal()) / w).collect();
            let interval = Interval::of_ratio(&values, &weights, Confidence::default()).expect("values");
            covered += u32::from((interval.mean - 2.0).abs() <= interval.half_width.expect("thirty values"));
        }
        let z = (f64::from(covered) - 0.95 * f64::from(runs)) / (0.95 * 0.05 * f64::from(runs)).sqrt();
        assert!(z.abs() < 4.0, "covered {covered} of {runs}, z {z}");
    }

    #[test]
    fn what_did_not_occur_still_counts_as_looked_for() {
        let interval = Interval::of_ratio(&[f64::NAN, 2.0, 4.0], &[0.0, 1.0, 1.0], Confidence::default());
        let interval = interval.expect("some weight");
        assert_eq!((interval.mean, interval.count), (3.0, 3));
        assert!((interval.std_error.expect("three values") - (4.5_f64 / 2.0 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(Interval::of_ratio(&[1.0], &[0.0], Confidence::default()), None);
        assert_eq!(Interval::of_ratio(&[1.0], &[], Confidence::default()), None);
    }
}

//! Interval of a quantile of observations that depend on each other within replications.

use super::{Interval, Method};

/// The interval of a quantile, which need not be symmetric about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantileInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Standard error: the width over twice the quantile of Student's t.
    pub std_error: f64,
    /// By how much the quantile changes with the part of the observations below it.
    pub slope: f64,
    /// Relative standard error of the part of the observations above the quantile. One over its square is the number of
    /// independent observations above that are as good as the ones there were; with few the interval is too narrow.
    pub error_above: f64,
    /// How it was found.
    pub method: Method,
}

impl QuantileInterval {
    /// The interval of the `q`-quantile of pooled observations.
    ///
    /// `of_fraction` is the interval of the part of the observations that lies below the pooled quantile, from the
    /// parts `F_r` in the replications, each weighted by its observations: how well the place of the quantile is known.
    /// Its ends are carried over to the quantile by the pooled distribution, of which `quantile` gives any quantile
    /// (Woodruff 1952, "Confidence intervals for medians and other position measures"), on the scale of the log-odds,
    /// `ln(q / (1 - q)) +- h / (q (1 - q))`, where they stay between 0 and 1.
    ///
    /// The spread of the quantiles of the replications is no measure of it: they are biased where few independent
    /// observations lie beyond. `None` for one replication, for an end (q = 0 or 1), or without observations.
    pub fn of(q: f64, of_fraction: Interval, quantile: impl Fn(f64) -> Option<f64>) -> Option<Self> {
        let (half, error) = of_fraction.half_width.zip(of_fraction.std_error)?;
        let variance = q * (1.0 - q);
        if variance <= 0.0 {
            return None;
        }
        let odds = (q / (1.0 - q)).ln();
        let moved = |by: f64| quantile((1.0 + (-odds - by / variance).exp()).recip());
        let (low, high) = (moved(-half)?, moved(half)?);
        let width = high - low;
        let over = |divisor: f64| if divisor > 0.0 && width > 0.0 { width / divisor } else { 0.0 };
        let (std_error, slope) = (over(2.0 * half / error), over(2.0 * half));
        let error_above = error / (1.0 - q);
        Some(Self { low, high, std_error, slope, error_above, method: Method::PooledQuantile })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};
    use crate::stats::Confidence;

    /// The quantile of sorted values.
    fn quantile(values: &[f64], q: f64) -> Option<f64> {
        let last = values.len().checked_sub(1)?;
        values.get(((q * values.len() as f64).ceil() as usize).saturating_sub(1).min(last)).copied()
    }

    /// Observations come in clumps of equal ones, as delays in busy periods do, few in each replication: the spread of the
    /// quantiles of replications would be too small and off its place.
    #[test]
    fn coverage_is_nominal_for_clumps() {
        let mut stream = Stream::new(21, 0, Component::Sizes);
        let (runs, replications, clumps) = (2_000, 20, 200);
        for (q, least) in [(0.5_f64, 0.935), (0.9, 0.935), (0.99, 0.925)] {
            let exact = -(1.0 - q).ln();
            let mut covered = 0;
            for _ in 0..runs {
                let values: Vec<Vec<f64>> =
                    (0..replications).map(|_| (0..clumps).map(|_| stream.exponential()).collect()).collect();
                let mut pooled: Vec<f64> = values.iter().flatten().copied().collect();
                pooled.sort_by(f64::total_cmp);
                let point = quantile(&pooled, q).expect("values");
                let below = |values: &Vec<f64>| values.iter().filter(|&&x| x <= point).count() as f64 / clumps as f64;
                let fractions: Vec<f64> = values.iter().map(below).collect();
                let of_fraction = Interval::of_mean(&fractions, Confidence::default()).expect("fractions");
                let found = QuantileInterval::of(q, of_fraction, |q| quantile(&pooled, q)).expect("an interval");
                covered += u32::from(found.low <= exact && exact <= found.high);
            }
            let coverage = f64::from(covered) / f64::from(runs);
            // Four standard errors of 2000 runs are 0.02.
            assert!(coverage > least && coverage < 0.97, "{q}: {coverage}");
        }
    }

    #[test]
    fn ends_and_equal_observations() {
        let none = Interval::of_mean(&[0.9], Confidence::default()).expect("a value");
        assert_eq!(QuantileInterval::of(0.9, none, Some), None);
        let some = Interval::of_mean(&[0.8, 0.9], Confidence::default()).expect("values");
        assert_eq!(QuantileInterval::of(1.0, some, Some), None);
        assert_eq!(QuantileInterval::of(0.9, some, |_| None), None);
        let constant = QuantileInterval::of(0.9, some, |_| Some(7.0)).expect("an interval");
        assert_eq!((constant.low, constant.high, constant.std_error, constant.slope), (7.0, 7.0, 0.0, 0.0));
        let wide = QuantileInterval::of(0.9, some, Some).expect("an interval");
        assert!(wide.low > 0.0 && wide.low < 0.9 && wide.high > 0.9 && wide.high < 1.0, "{wide:?}");
        assert!((wide.slope * some.std_error.expect("two values") - wide.std_error).abs() < 1e-12);
    }
}

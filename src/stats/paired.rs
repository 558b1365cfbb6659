//! Comparison of two policies that met the same random numbers.

use super::{Confidence, Interval, Method, Sample};

/// A policy beside a baseline: their difference and their ratio, paired by replication and as if independent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Policy minus baseline, paired.
    pub difference: Interval,
    /// Policy minus baseline, had the samples been independent (Welch 1947).
    pub independent_difference: Interval,
    /// Policy over baseline, paired; `None` if the baseline is not known to differ from 0.
    pub ratio: Option<Interval>,
    /// Policy over baseline, had the samples been independent.
    pub independent_ratio: Option<Interval>,
    /// Correlation of policy and baseline over replications; `None` if one does not vary.
    pub correlation: Option<f64>,
    /// How many times as many replications independent samples would need for the same standard error of the
    /// difference: the ratio of the variances. Below 1 if pairing did harm, `None` if the paired differences do not vary.
    pub saved: Option<f64>,
}

/// Compares a policy with a baseline, the same replication of both at the same place.
///
/// With the estimates `a` and `b` and the residuals `x_i` and `y_i` of the replications (deviations, or for ratio
/// estimators terms of first order; see [`Interval::of_ratio`]), the difference `a - b` has residuals `x_i - y_i` and
/// the ratio `a / b` has `(x_i - (a / b) y_i) / b` (delta method); both get Student's t with `n - 1` degrees of freedom.
/// Independent samples get the sum of the two variances and Welch's degrees of freedom. The ratio is left out
/// where the interval of the baseline holds 0, which is where Fieller's set (1954) is no longer an interval.
///
/// `None` if the samples differ in size, have fewer than two values, or one has no weight.
pub fn compare(policy: Sample<'_>, baseline: Sample<'_>, confidence: Confidence) -> Option<Comparison> {
    if policy.len() != baseline.len() {
        return None;
    }
    let known = Interval::of_sample(baseline, confidence)?;
    let (a, b) = (policy.linearise()?, baseline.linearise()?);
    let squares = Squares::of(&a.residuals, &b.residuals)?;
    let pair = |estimate: f64, slope: f64, scale: f64, [paired, independent]: [Method; 2]| {
        let freedom = squares.n - 1.0;
        let count = squares.n as u64;
        // From the terms themselves: sums of squares and products would lose the digits of a small difference.
        let sum: f64 = a.residuals.iter().zip(&b.residuals).map(|(x, y)| (x - slope * y).powi(2)).sum();
        let error = (sum / freedom / squares.n).sqrt() / scale;
        let (apart, welch) = squares.independent(slope);
        [
            Interval::student(estimate, Some(error), freedom, confidence, paired, count),
            Interval::student(estimate, Some(apart / scale), welch, confidence, independent, count),
        ]
    };
    let methods = [Method::PairedDifference, Method::IndependentDifference];
    let [difference, independent_difference] = pair(a.estimate - b.estimate, 1.0, 1.0, methods);
    let ratio = (known.mean.abs() > known.half_width?).then(|| {
        let ratio = a.estimate / b.estimate;
        pair(ratio, ratio, b.estimate.abs(), [Method::PairedRatio, Method::IndependentRatio])
    });
    let saved = difference.std_error.zip(independent_difference.std_error);
    Some(Comparison {
        difference,
        independent_difference,
        ratio: ratio.map(|[paired, _]| paired),
        independent_ratio: ratio.map(|[_, independent]| independent),
        correlation: squares.correlation(),
        saved: saved.filter(|(paired, _)| *paired > 0.0).map(|(paired, apart)| (apart / paired).powi(2)),
    })
}

/// Sums of squares and products of the residuals of two samples.
struct Squares {
    n: f64,
    first: f64,
    second: f64,
    product: f64,
}

impl Squares {
    /// The sums; `None` for fewer than two values.
    fn of(first: &[f64], second: &[f64]) -> Option<Self> {
        let sum = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        (first.len() > 1).then(|| Self {
            n: first.len() as f64,
            first: sum(first, first),
            second: sum(second, second),
            product: sum(first, second),
        })
    }

    /// Standard error and degrees of freedom (Welch) of `first - slope second` for independent samples.
    fn independent(&self, slope: f64) -> (f64, f64) {
        let freedom = self.n - 1.0;
        let [u, v] = [self.first, slope * slope * self.second].map(|squares| squares / freedom / self.n);
        let fourth = u * u + v * v;
        // Equal values have no error, and any number of degrees of freedom serves.
        let welch = if fourth > 0.0 { freedom * (u + v).powi(2) / fourth } else { freedom };
        ((u + v).sqrt(), welch)
    }

    fn correlation(&self) -> Option<f64> {
        let scale = (self.first * self.second).sqrt();
        (scale > 0.0).then(|| (self.product / scale).clamp(-1.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs().max(1.0)
    }

    #[test]
    fn the_difference_is_the_interval_of_the_differences() {
        let (a, b) = ([3.0, 5.0, 4.0, 8.0], [2.0, 3.0, 3.5, 5.0]);
        let found = compare(Sample::plain(&a), Sample::plain(&b), Confidence::default()).expect("pairs");
        let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        let direct = Interval::of_mean(&differences, Confidence::default()).expect("values");
        assert!(close(found.difference.mean, direct.mean));
        assert!(close(found.difference.half_width.expect("pairs"), direct.half_width.expect("values")));
        // Welch by hand: variances 14/3 and 1.5625 (divisor n - 1) over 4.
        let (u, v): (f64, f64) = (14.0 / 3.0 / 4.0, 4.6875 / 3.0 / 4.0);
        let apart = found.independent_difference;
        assert!(close(apart.std_error.expect("pairs"), (u + v).sqrt()));
        assert!(close(apart.freedom, (u + v).powi(2) / (u * u / 3.0 + v * v / 3.0)));
        assert!(close(found.saved.expect("they vary"), (u + v) / direct.std_error.expect("values").powi(2)));
        assert!(close(found.ratio.expect("a baseline off 0").mean, 20.0 / 13.5));
    }

    #[test]
    fn a_policy_beside_itself_differs_by_exactly_nothing() {
        let values = [0.1, 0.7, 0.4];
        let found = compare(Sample::plain(&values), Sample::plain(&values), Confidence::default()).expect("pairs");
        assert_eq!((found.difference.mean, found.difference.half_width), (0.0, Some(0.0)));
        let ratio = compare(Sample::plain(&[9.0, 9.1]), Sample::plain(&[9.0, 9.1]), Confidence::default());
        let ratio = ratio.and_then(|found| found.ratio).expect("a baseline off 0");
        assert_eq!((ratio.mean, ratio.half_width), (1.0, Some(0.0)));
        assert_eq!(found.saved, None);
        let constant = compare(Sample::plain(&[1.0, 1.0]), Sample::plain(&[2.0, 2.0]), Confidence::default());
        let constant = constant.expect("pairs");
        assert_eq!((constant.correlation, constant.independent_difference.half_width), (None, Some(0.0)));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let of = |a: &[f64], b: &[f64]| compare(Sample::plain(a), Sample::plain(b), Confidence::default());
        assert_eq!(of(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(of(&[1.0], &[1.0]), None);
        assert_eq!(of(&[1.0, 2.0], &[-1.0, 1.1]).and_then(|found| found.ratio), None);
    }

    #[test]
    fn intervals_cover_and_pairing_saves_what_the_correlation_promises() {
        // Replications share u: a = 3 + 2 u + e, b = 2 + u + e', with weights that differ between the policies.
        let mut stream = Stream::new(31, 0, Component::Sizes);
        let (runs, n) = (3000, 25);
        let mut covered = [0; 4];
        let mut saved = 0.0;
        for _ in 0..runs {
            let (mut a, mut b, mut v, mut w) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for _ in 0..n {
                let shared = 0.2 * stream.normal();
                let [first, second] = [stream.uniform() + 9.5, stream.uniform() + 19.5];
                a.push(3.0 + (2.0 * shared + 0.1 * stream.normal()) / first * 10.0);
                b.push(2.0 + (shared + 0.1 * stream.normal()) / second * 20.0);
                v.push(first);
                w.push(second);
            }
            let samples = [Sample::weighted(&a, &v), Sample::weighted(&b, &w)].map(|sample| sample.expect("valid"));
            let found = compare(samples[0], samples[1], Confidence::default()).expect("pairs");
            let holds = |interval: Interval, truth: f64| {
                u32::from((interval.mean - truth).abs() <= interval.half_width.expect("pairs"))
            };
            covered[0] += holds(found.difference, 1.0);
            covered[1] += holds(found.ratio.expect("a baseline off 0"), 1.5);
            covered[2] += holds(found.independent_difference, 1.0);
            covered[3] += holds(found.independent_ratio.expect("a baseline off 0"), 1.5);
            saved += found.saved.expect("they vary") / f64::from(runs);
        }
        eprintln!("covered {covered:?} of {runs}, saved {saved}");
        let z = |covered: u32| (f64::from(covered) - 0.95 * f64::from(runs)) / (0.0475 * f64::from(runs)).sqrt();
        assert!(z(covered[0]).abs() < 4.0 && z(covered[1]).abs() < 4.0, "{covered:?} of {runs}");
        // Taken as independent, positively correlated samples give intervals that are too wide.
        assert!(z(covered[2]) > 4.0 && z(covered[3]) > 4.0, "{covered:?} of {runs}");
        // Variances 0.17 and 0.05, difference 0.06: a factor of 0.22 / 0.06, and a little for the ratio of two estimates.
        assert!(saved > 3.0 && saved < 4.5, "saved {saved}");
    }
}

//! Interval from the correlated parts of one long run.

use super::{Confidence, Interval, Method, Sample};
use statrs::distribution::{ContinuousCDF, Normal};

/// Numbers of batches to choose from: more than 30 narrow an interval hardly, fewer than 10 widen it much (Schmeiser
/// 1982, "Batch size effects in the analysis of simulation output").
const BATCHES: [usize; 3] = [30, 20, 10];

/// The test of correlation looks at this many times as many, shorter batches, where it has more power.
const FINER: usize = 4;

/// Level of the one-sided test of correlation.
const LEVEL: f64 = 0.05;

/// Whether the batches overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batching {
    /// Consecutive batches.
    Separate,
    /// A batch begins with every part of the run.
    Overlapping,
}

/// An interval from one run, and whether its batches are long enough for it to be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchMeans {
    /// The interval for the mean, or the ratio of means, over the run.
    pub interval: Interval,
    /// How many batches fit one after the other.
    pub batches: u64,
    /// Parts of the run in a batch.
    pub batch_length: u64,
    /// Lag-1 correlation of batches a quarter as long (or as near to that as the series permits), standard normal
    /// without correlation (see [`von_neumann`]).
    pub correlation_z: f64,
    /// Whether even the longest batches were found correlated at level 5 %: then the interval is too narrow, and
    /// the run too short.
    pub correlated: bool,
}

/// The interval for the mean of a series in order of time, such as means over equal parts of one run.
///
/// With the residuals `z_i` (deviations, or terms of first order of a ratio) of the `n` parts and their means `B_j`
/// over batches of `m`, the variance of the estimate is taken as
/// - separate: `m / n` times the sample variance of the last `b` batch means, `b - 1` degrees of freedom;
/// - overlapping: `m / ((n - m + 1) (n - m)) sum B_j^2` (Meketon and Schmeiser 1984, "Overlapping batch means:
///   something for nothing?"), with `3/2 (n/m - 1)` degrees of freedom, as the variance of this estimate is two
///   thirds of that of separate batches.
///
/// The number of batches is the largest of 30, 20 and 10 at which up to four times as many shorter batches pass the
/// von Neumann test of correlation; 10 if none passes, which is then said. `None` for fewer than 10 parts.
pub fn batch_means(sample: Sample<'_>, batching: Batching, confidence: Confidence) -> Option<BatchMeans> {
    let n = sample.len();
    let linear = sample.linearise()?;
    let (count, correlation_z, correlated) = choose(&linear.residuals)?;
    let length = n / count;
    let batches = count as u64;
    let (variance, freedom, method) = match batching {
        Batching::Separate => {
            let means = separate(&linear.residuals, count);
            let spread = Interval::of_mean(&means, confidence)?.std_error?.powi(2) * count as f64;
            (spread * length as f64 / n as f64, count as f64 - 1.0, Method::BatchMeans { batches })
        }
        Batching::Overlapping => {
            let squares: f64 = overlapping(&linear.residuals, length).map(|mean| mean.powi(2)).sum();
            let starts = (n - length + 1) as f64;
            let variance = length as f64 / starts / (n - length) as f64 * squares;
            let freedom = 1.5 * (n as f64 / length as f64 - 1.0);
            (variance, freedom, Method::OverlappingBatchMeans { batches })
        }
    };
    let interval = Interval::student(linear.estimate, Some(variance.sqrt()), freedom, confidence, method, n as u64);
    Some(BatchMeans { interval, batches, batch_length: length as u64, correlation_z, correlated })
}

/// How many batches, the statistic of the test that decided, and whether that found correlation.
fn choose(series: &[f64]) -> Option<(usize, f64, bool)> {
    let quantile = Normal::standard().inverse_cdf(1.0 - LEVEL);
    let mut last = None;
    for count in BATCHES.into_iter().filter(|count| *count <= series.len()) {
        let finer = FINER.min(series.len() / count);
        let z = von_neumann(&separate(series, finer * count))?;
        last = Some((count, z, z > quantile));
        if z <= quantile {
            break;
        }
    }
    last
}

/// The means of `count` batches of equal length at the end of the series, farthest from the initial transient.
fn separate(series: &[f64], count: usize) -> Vec<f64> {
    let length = series.len() / count;
    let (_, used) = series.split_at(series.len() - count * length);
    used.chunks_exact(length).map(|batch| batch.iter().sum::<f64>() / length as f64).collect()
}

/// The means of all batches of this length.
fn overlapping(series: &[f64], length: usize) -> impl Iterator<Item = f64> {
    let first: f64 = series[..length].iter().sum();
    let steps = series.iter().zip(&series[length..]);
    let sums = steps.scan(first, |sum, (leaving, entering)| {
        *sum += entering - leaving;
        Some(*sum)
    });
    std::iter::once(first).chain(sums).map(move |sum| sum / length as f64)
}

/// The von Neumann ratio as a test of lag-1 correlation: `(1 - D / (2 S)) sqrt((n^2 - 1) / (n - 2))` with `D` the sum
/// of squared successive differences and `S` that of squared deviations.
///
/// Standard normal, nearly, for independent normal values (von Neumann 1941; Young 1941; Fishman 1978, "Grouping
/// observations in digital simulation"); large for positive correlation. 0 for equal values, `None` for fewer than 3.
pub fn von_neumann(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let residuals = Sample::plain(values).linearise()?.residuals;
    let squares: f64 = residuals.iter().map(|z| z.powi(2)).sum();
    if squares == 0.0 {
        return Some(0.0);
    }
    let steps: f64 = residuals.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let n = values.len() as f64;
    Some((1.0 - steps / (2.0 * squares)) * ((n * n - 1.0) / (n - 2.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    /// A stationary AR(1) series of mean `mean` and unit variance.
    fn series(stream: &mut Stream, mean: f64, correlation: f64, n: usize) -> Vec<f64> {
        let mut x = stream.normal();
        let noise = (1.0 - correlation * correlation).sqrt();
        let step = |_| {
            x = correlation * x + noise * stream.normal();
            mean + x
        };
        (0..n).map(step).collect()
    }

    fn z(count: u32, of: u32, probability: f64) -> f64 {
        (f64::from(count) - probability * f64::from(of)) / (probability * (1.0 - probability) * f64::from(of)).sqrt()
    }

    #[test]
    fn by_hand() {
        let values: Vec<f64> = (0..21).map(|i| f64::from(i * i % 7)).collect();
        let separate = batch_means(Sample::plain(&values), Batching::Separate, Confidence::default()).expect("parts");
        assert_eq!((separate.batches, separate.batch_length, separate.interval.count), (20, 1, 21));
        assert_eq!(separate.interval.freedom, 19.0);
        // Batches of one part, all overlapping: the sample variance itself.
        let all = batch_means(Sample::plain(&values), Batching::Overlapping, Confidence::default()).expect("parts");
        let plain = Interval::of_mean(&values, Confidence::default()).expect("values");
        let ratio = all.interval.std_error.expect("parts") / plain.std_error.expect("values");
        assert!((ratio - 1.0).abs() < 1e-14);
        assert_eq!(all.interval.freedom, 30.0);
        let means: Vec<f64> = overlapping(&[1.0, 3.0, 8.0, 2.0], 2).collect();
        assert_eq!(means, [2.0, 5.5, 5.0]);
        assert!((von_neumann(&[1.0, 2.0, 4.0]).expect("three") - (1.0 - 2.5 / (14.0 / 3.0)) * 8_f64.sqrt()) < 1e-15);
    }

    #[test]
    fn too_few_parts_have_no_interval_and_equal_ones_have_width_zero() {
        let of = |values: &[f64]| batch_means(Sample::plain(values), Batching::Separate, Confidence::default());
        assert_eq!(of(&[1.0; 9]), None);
        let equal = of(&[0.1; 50]).expect("parts");
        assert_eq!((equal.interval.mean, equal.interval.half_width, equal.correlated), (0.1, Some(0.0), false));
    }

    #[test]
    fn the_test_of_independence_keeps_its_level() {
        let mut stream = Stream::new(21, 0, Component::Sizes);
        let (runs, mut rejected) = (4000, 0);
        for _ in 0..runs {
            rejected += u32::from(von_neumann(&series(&mut stream, 0.0, 0.0, 40)).expect("values") > 1.644_854);
        }
        assert!(z(rejected, runs, LEVEL).abs() < 4.0, "{rejected} of {runs}");
    }

    #[test]
    fn intervals_of_a_correlated_series_cover_and_overlapping_ones_are_narrower() {
        let mut stream = Stream::new(22, 0, Component::Sizes);
        let (runs, n) = (2000, 3000);
        let (mut covered, mut width) = ([0; 2], [0.0; 2]);
        for _ in 0..runs {
            let values = series(&mut stream, 5.0, 0.8, n);
            for (i, batching) in [Batching::Separate, Batching::Overlapping].into_iter().enumerate() {
                let found = batch_means(Sample::plain(&values), batching, Confidence::default()).expect("parts");
                let half = found.interval.half_width.expect("parts");
                covered[i] += u32::from((found.interval.mean - 5.0).abs() <= half);
                width[i] += half;
            }
        }
        eprintln!("covered {covered:?} of {runs}, widths {width:?}");
        for covered in covered {
            assert!(z(covered, runs, 0.95).abs() < 4.0, "{covered} of {runs}");
        }
        assert!(width[1] < width[0]);
    }

    #[test]
    fn a_ratio_covers_the_ratio_of_means() {
        // Parts with a correlated weight w and numerator 2 w + correlated noise: the ratio of means is 2.
        let mut stream = Stream::new(23, 0, Component::Sizes);
        let (runs, n) = (2000, 2000);
        let mut covered = [0; 2];
        for _ in 0..runs {
            let weights: Vec<f64> = series(&mut stream, 0.0, 0.6, n).iter().map(|x| (0.4 * x).exp()).collect();
            let noise = series(&mut stream, 0.0, 0.6, n);
            let values: Vec<f64> = weights.iter().zip(noise).map(|(w, e)| 2.0 + e / w).collect();
            let sample = Sample::weighted(&values, &weights).expect("as many");
            for (i, batching) in [Batching::Separate, Batching::Overlapping].into_iter().enumerate() {
                let interval = batch_means(sample, batching, Confidence::default()).expect("parts").interval;
                covered[i] += u32::from((interval.mean - 2.0).abs() <= interval.half_width.expect("parts"));
            }
        }
        eprintln!("covered {covered:?} of {runs}");
        for covered in covered {
            assert!(z(covered, runs, 0.95).abs() < 4.0, "{covered} of {runs}");
        }
    }

    #[test]
    fn a_run_too_short_for_its_correlation_is_found_out() {
        let mut stream = Stream::new(24, 0, Component::Sizes);
        let runs = 500;
        let mut found = [0; 2];
        for _ in 0..runs {
            for (i, correlation) in [0.97, 0.0].into_iter().enumerate() {
                let values = series(&mut stream, 0.0, correlation, 200);
                let verdict = batch_means(Sample::plain(&values), Batching::Separate, Confidence::default());
                found[i] += u32::from(verdict.expect("parts").correlated);
            }
        }
        assert!(found[0] > runs * 9 / 10, "{found:?}");
        assert!(z(found[1], runs, LEVEL) < 4.0, "{found:?}");
    }
}

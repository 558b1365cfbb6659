//! How much of the beginning of a run to leave out, and whether a trend remains.

use super::{Confidence, Interval};

/// Entries of the series in a group of MSER-5.
const GROUP: usize = 5;

/// The fewest groups that MSER-5 can judge.
const FEWEST_GROUPS: usize = 10;

/// Where a series is cut to be free of its transient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// How many entries at the beginning to leave out.
    pub cut: usize,
    /// Whether that is in the last tenth of the first half, where the search ends: the transient may be longer, and
    /// the run is too short to tell.
    pub at_border: bool,
}

/// A contrast of early and late entries over replications.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Mean of the first quarter minus mean of the last half, with its interval over replications.
    pub difference: Interval,
    /// Whether that interval leaves 0 out.
    pub significant: bool,
}

/// The verdict on a transient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    /// How many entries at the beginning to leave out.
    pub cut: usize,
    /// How many MSER-5 alone would leave out; less if the test of trend asked for more.
    pub mser_cut: usize,
    /// Whether the end of the search was reached: the run is too short for its transient.
    pub at_border: bool,
    /// The trend that remains after the cut; `None` if there are too few replications to tell (fewer than two).
    pub trend: Option<Trend>,
}

impl WarmUp {
    /// Whether what remains can be taken for stationary as far as this test can see.
    pub fn is_settled(&self) -> bool {
        !self.at_border && !self.trend.is_some_and(|trend| trend.significant)
    }
}

/// MSER-5: the cut `5 d` that minimises `sum_{j >= d} (Y_j - mean)^2 / (k - d)^2`, `d <= k/2`, where `Y_j` are the means
/// of groups of 5 entries and the mean is of those kept.
///
/// White (1997), "An effective truncation heuristic for bias reduction in simulation output"; groups of 5 and the search
/// in the first half: White, Cobb and Spratt (2000). Meant for a series averaged over replications (see
/// [`average`]). Entries at the end that fill no group are ignored. `None` for fewer than 50 entries.
pub fn mser5(series: &[f64]) -> Option<Truncation> {
    let groups: Vec<f64> = series.chunks_exact(GROUP).map(|group| group.iter().sum::<f64>() / GROUP as f64).collect();
    let k = groups.len();
    if k < FEWEST_GROUPS {
        return None;
    }
    let (mut mean, mut squares) = (0.0, 0.0);
    let (mut least, mut best) = (f64::INFINITY, k / 2);
    // From the end, so that each step adds one value (Welford 1962).
    for (d, value) in groups.iter().enumerate().rev() {
        let kept = (k - d) as f64;
        let step = value - mean;
        mean += step / kept;
        squares += step * (value - mean);
        let statistic = squares / kept / kept;
        if d <= k / 2 && statistic <= least {
            (least, best) = (statistic, d);
        }
    }
    Some(Truncation { cut: GROUP * best, at_border: 20 * best >= 9 * k })
}

/// The mean over replications at every place that all of them reach; empty without replications.
pub fn average<S: AsRef<[f64]>>(replications: &[S]) -> Vec<f64> {
    let n = replications.len() as f64;
    let mean = |i: usize| replications.iter().map(|series| series.as_ref()[i]).sum::<f64>() / n;
    (0..shortest(replications)).map(mean).collect()
}

/// Whether the entries after the first `cut` still have a trend: a t test over replications, at the two-sided level
/// `alpha`, of the mean of their first quarter minus that of their last half.
///
/// The contrast (as in Geweke 1992) sees what an exponential transient leaves better than that of two halves does,
/// and a steady drift as well. It needs no independence within a run. `None` for fewer than two replications, fewer
/// than four entries, or a level not strictly between 0 and 1.
pub fn remaining_trend<S: AsRef<[f64]>>(replications: &[S], cut: usize, alpha: f64) -> Option<Trend> {
    let end = shortest(replications);
    let length = end.checked_sub(cut).filter(|length| *length >= 4)?;
    let mean = |entries: &[f64]| entries.iter().sum::<f64>() / entries.len() as f64;
    let contrast = |series: &S| {
        let kept = &series.as_ref()[cut..end];
        mean(&kept[..length / 4]) - mean(&kept[length - length / 2..])
    };
    let differences: Vec<f64> = replications.iter().map(contrast).collect();
    let difference = Interval::of_mean(&differences, Confidence::new(1.0 - alpha)?)?;
    Some(Trend { difference, significant: difference.mean.abs() > difference.half_width? })
}

/// The cut for these replications of one series: that of MSER-5 on their average, moved on in steps of a fortieth of the
/// series, no further than its middle, as long as a trend remains at level `alpha`.
///
/// MSER balances bias against spread and keeps some bias by design, which many replications make significant; hence
/// the test. `None` for fewer than 50 entries or a level not strictly between 0 and 1.
pub fn judge_warm_up<S: AsRef<[f64]>>(replications: &[S], alpha: f64) -> Option<WarmUp> {
    Confidence::new(1.0 - alpha)?;
    let series = average(replications);
    let Truncation { cut: mser_cut, mut at_border } = mser5(&series)?;
    let groups = series.len() / GROUP;
    let (step, end) = (GROUP * groups.div_ceil(40), GROUP * (groups / 2));
    let mut cut = mser_cut;
    let mut trend = remaining_trend(replications, cut, alpha);
    while trend.is_some_and(|trend| trend.significant) && cut < end {
        cut = (cut + step).min(end);
        trend = remaining_trend(replications, cut, alpha);
        at_border |= cut == end;
    }
    Some(WarmUp { cut, mser_cut, at_border, trend })
}

/// Entries that all replications have.
fn shortest<S: AsRef<[f64]>>(replications: &[S]) -> usize {
    replications.iter().map(|series| series.as_ref().len()).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    /// Replications of a stationary AR(1) series of mean 0 and variance 1 plus a transient.
    fn replications(stream: &mut Stream, count: usize, n: usize, transient: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
        let correlation: f64 = 0.7;
        let noise = (1.0 - correlation * correlation).sqrt();
        let run = |_| {
            let mut x = stream.normal();
            let mut step = |i: usize| {
                x = correlation * x + noise * stream.normal();
                x + transient(i as f64)
            };
            (0..n).map(&mut step).collect()
        };
        (0..count).map(run).collect()
    }

    #[test]
    fn mser_is_the_minimum_by_definition() {
        let mut stream = Stream::new(51, 0, Component::Sizes);
        for length in [50, 63, 200] {
            let series = average(&replications(&mut stream, 3, length, |i| -4.0 * (-i / 15.0).exp()));
            let groups: Vec<f64> = series.chunks_exact(5).map(|group| group.iter().sum::<f64>() / 5.0).collect();
            let statistic = |d: usize| {
                let kept = &groups[d..];
                let mean = kept.iter().sum::<f64>() / kept.len() as f64;
                kept.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / (kept.len() as f64).powi(2)
            };
            let best = (0..=groups.len() / 2).min_by(|a, b| statistic(*a).total_cmp(&statistic(*b)));
            assert_eq!(mser5(&series).map(|found| found.cut), best.map(|d| 5 * d));
        }
        assert_eq!(mser5(&[0.0; 49]), None);
        assert_eq!(mser5(&[0.1; 100]), Some(Truncation { cut: 0, at_border: false }));
    }

    #[test]
    fn a_drift_without_end_reaches_the_border() {
        let mut stream = Stream::new(52, 0, Component::Sizes);
        let found = judge_warm_up(&replications(&mut stream, 10, 400, |i| 0.01 * i), 0.01).expect("long enough");
        assert!(found.at_border && !found.is_settled(), "{found:?}");
        assert!(found.trend.expect("ten replications").significant);
        assert_eq!(judge_warm_up(&[vec![0.0; 40]], 0.01), None);
        assert_eq!(judge_warm_up(&[vec![0.0; 80]], 1.0), None);
        let one = judge_warm_up(&[vec![0.0; 80]], 0.01).expect("long enough");
        assert_eq!((one.cut, one.trend, one.is_settled()), (0, None, true));
    }

    #[test]
    fn the_test_of_trend_keeps_its_level() {
        let mut stream = Stream::new(53, 0, Component::Sizes);
        let (runs, alpha) = (4000, 0.01);
        let mut rejected = 0;
        for _ in 0..runs {
            let trend = remaining_trend(&replications(&mut stream, 8, 60, |_| 0.0), 10, alpha).expect("eight");
            rejected += u32::from(trend.significant);
        }
        let z = (f64::from(rejected) - alpha * f64::from(runs)) / (alpha * (1.0 - alpha) * f64::from(runs)).sqrt();
        assert!(z.abs() < 4.0, "{rejected} of {runs}");
    }

    #[test]
    fn stationary_runs_are_mostly_kept_and_called_settled() {
        let mut stream = Stream::new(54, 0, Component::Sizes);
        let runs = 500;
        let (mut settled, mut kept) = (0, 0.0);
        for _ in 0..runs {
            let found = judge_warm_up(&replications(&mut stream, 10, 400, |_| 0.0), 0.01).expect("long enough");
            settled += u32::from(found.is_settled());
            kept += 1.0 - found.cut as f64 / 400.0;
        }
        let kept = kept / f64::from(runs);
        eprintln!("settled {settled} of {runs}, kept {kept}");
        assert!(settled > runs * 9 / 10 && kept > 0.85, "settled {settled} of {runs}, kept {kept}");
    }

    #[test]
    fn what_remains_of_a_transient_is_not_seen_in_the_mean() {
        let mut stream = Stream::new(55, 0, Component::Sizes);
        let (runs, n, count) = (400, 600, 20);
        let mut scores = Vec::new();
        let (mut unbiased, mut whole) = (0, 0);
        let mut cuts = [0.0; 2];
        for _ in 0..runs {
            let series = replications(&mut stream, count, n, |i| -3.0 * (-i / 40.0).exp());
            let found = judge_warm_up(&series, 0.01).expect("long enough");
            let score = |cut: usize| {
                let means: Vec<f64> =
                    series.iter().map(|run| run[cut..].iter().sum::<f64>() / (n - cut) as f64).collect();
                let interval = Interval::of_mean(&means, Confidence::default()).expect("values");
                interval.mean / interval.std_error.expect("twenty")
            };
            scores.push(score(found.cut));
            unbiased += u32::from(score(found.cut).abs() < 4.0);
            whole += u32::from(score(0).abs() < 4.0);
            cuts[0] += found.mser_cut as f64 / f64::from(runs);
            cuts[1] += found.cut as f64 / f64::from(runs);
        }
        let mean = scores.iter().sum::<f64>() / f64::from(runs);
        eprintln!("unbiased {unbiased}, uncut {whole} of {runs}; mean score {mean}; cuts {cuts:?}");
        // Student's t with 19 degrees of freedom exceeds 4 with probability 8e-4.
        assert!(unbiased >= runs - 6, "{unbiased} of {runs}");
        assert_eq!(whole, 0);
    }
}

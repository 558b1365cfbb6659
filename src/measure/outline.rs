//! How the delays of one replication are spread, coarsely.

use super::delay_histogram::DelayHistogram;
use serde::{Deserialize, Serialize};

/// The spread of delays in buckets that are narrow enough to tell, by interpolation, which part of them is below a value:
/// 16 for every doubling of the delay. It takes a few hundred numbers where the histogram takes some thousands, so that
/// one can be kept for each replication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    ticks_per_unit: f64,
    /// Delays of less than half a tick: a part of all that is not spread over anything.
    zeros: u64,
    /// The first bucket with any delay, and the delays in it and the ones that follow.
    first: usize,
    counts: Vec<u64>,
    all: u64,
}

/// Buckets of the histogram in one of the outline.
const WIDTH: usize = 64;

impl Outline {
    /// The outline of a histogram.
    pub fn of(delays: &DelayHistogram) -> Self {
        let mut outline =
            Self { ticks_per_unit: delays.tick().recip(), zeros: 0, first: 0, counts: Vec::new(), all: 0 };
        for recorded in delays.counts().iter_recorded() {
            let (ticks, count) = (recorded.value_iterated_to(), recorded.count_at_value());
            outline.all += count;
            if ticks == 0 {
                outline.zeros = count;
                continue;
            }
            let bucket = DelayHistogram::bucket(ticks) / WIDTH;
            if outline.counts.is_empty() {
                outline.first = bucket;
            }
            outline.counts.resize(bucket - outline.first + 1, 0);
            if let Some(last) = outline.counts.last_mut() {
                *last += count;
            }
        }
        outline
    }

    /// The part of the delays that are below this one, or equal to it: between 0 and 1; `None` if there are no delays.
    pub fn fraction_below(&self, delay: f64) -> Option<f64> {
        let ticks = delay * self.ticks_per_unit;
        let mut below = self.zeros as f64;
        for (bucket, &count) in (self.first..).zip(&self.counts) {
            // As the histogram does, delays are taken as spread from half a tick below a bucket to half a tick above.
            let before = (bucket * WIDTH).checked_sub(1).map_or(0, DelayHistogram::last_tick);
            let (low, high) = (before as f64 + 0.5, DelayHistogram::last_tick((bucket + 1) * WIDTH - 1) as f64 + 0.5);
            if ticks <= low {
                break;
            }
            below += count as f64 * ((ticks - low) / (high - low)).min(1.0);
        }
        (self.all > 0).then(|| below / self.all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    #[test]
    fn fractions_are_those_of_the_delays() {
        let mut stream = Stream::new(8, 0, Component::Sizes);
        let mut histogram = DelayHistogram::new(DelayHistogram::tick_for(1.0));
        let mut delays: Vec<f64> =
            (0..100_000).map(|i| if i % 4 == 0 { 0.0 } else { 3.0 * stream.exponential() }).collect();
        delays.iter().for_each(|&delay| histogram.add(delay));
        delays.sort_by(f64::total_cmp);
        let outline = Outline::of(&histogram);
        assert!(outline.counts.len() < 500, "{} buckets", outline.counts.len());
        for delay in [0.0, 1e-7, 1e-3, 0.1, 1.0, 2.0, 7.7, 20.0, 1e9] {
            let exact = delays.partition_point(|&other| other <= delay) as f64 / delays.len() as f64;
            let found = outline.fraction_below(delay).expect("there are delays");
            // Within a bucket, a sixteenth of an octave, the density is taken as constant.
            assert!((found - exact).abs() < 1e-3, "{found} of the delays for {exact} are below {delay}");
        }
        assert_eq!(outline.fraction_below(0.0), Some(0.25));
        assert_eq!(outline.fraction_below(1e9), Some(1.0));
    }

    #[test]
    fn no_delays_have_no_fraction() {
        assert_eq!(Outline::of(&DelayHistogram::new(1.0)).fraction_below(1.0), None);
    }
}

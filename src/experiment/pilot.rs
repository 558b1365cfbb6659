//! Pilot runs: how long the transient of a point lasts, and what window is long enough.

use crate::model::Window;
use crate::output::Settled;
use crate::scenario::{Choose, Plan};
use crate::stats::{WarmUp, judge_warm_up};

/// Pilot replications of each length.
pub(super) const REPLICATIONS: u64 = 8;

/// Pilot replications draw from streams that no replication of an experiment reaches.
const FIRST: u64 = 1 << 63;

/// Stretches of time into which a pilot run is divided.
const STRETCHES: u64 = 200;

/// A window is this many times as long as the pilot run that showed it to be long enough.
const WINDOW: f64 = 2.0;

/// A warm-up is at least this part of the pilot run that showed it to be long enough.
const LEAST_WARMUP: f64 = 0.25;

/// Means of pilot replications may spread by this much, relative to their mean.
const SPREAD: f64 = 0.2;

/// Most jobs that the pilot replications of one length may have together.
const MOST_JOBS: f64 = 4e8;

/// Level of the test for a remaining trend.
const TREND_LEVEL: f64 = 0.01;

/// The search for the window of a point: pilot replications of a length, then of twice that, until two lengths in a row
/// suffice, each with random numbers of its own. One alone is not enough: eight replications of a few hundredths of what the
/// transient lasts look settled in one search of thirty (measured on the M/M/1 queue at load 0.95).
#[derive(Debug)]
pub(super) struct Pilot {
    choose: Choose,
    /// The window that was asked for, or the shortest that is tried.
    window: Window,
    arrival_rate: f64,
    slotted: bool,
    /// Length of a stretch of time.
    step: f64,
    /// Lengths that were tried before this one, and whether the last of them sufficed.
    tried: u64,
    sufficed: bool,
    /// The next replication of this length.
    next: u64,
    series: Vec<Option<Vec<f64>>>,
}

/// What a worker is to run: a pilot replication.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    /// Number of its random streams.
    pub(super) index: u64,
    /// Time before the first stretch.
    pub(super) open: f64,
    /// Length of a stretch.
    pub(super) step: f64,
    /// How many.
    pub(super) stretches: u64,
}

impl Flight {
    /// When it ends.
    pub(super) fn close(&self) -> f64 {
        self.open + self.step * self.stretches as f64
    }
}

impl Pilot {
    /// The search, or the window at once where there is nothing to search.
    pub(super) fn new(plan: &Plan) -> Result<Self, Settled> {
        let Plan { choose, window, .. } = *plan;
        // What never settles, or is settled already, has no transient to judge.
        if !choose.any() || plan.is_overloaded() || plan.system.arrivals.rate == 0.0 {
            let least = window.open + window.length() / STRETCHES as f64;
            let close = choose.max_time.map_or(window.close, |most| window.close.min(most.max(least)));
            return Err(Settled { window: Window { close, ..window }, doubt: None });
        }
        let slotted = plan.slots.is_some();
        // With a length given, an eighth of it may be enough to see the transient.
        let shortest = if choose.time { window.length() } else { window.length() / 8.0 };
        // No pilot run is longer than the replications may be.
        let shortest = choose.max_time.map_or(shortest, |most| shortest.min((most - window.open).max(most / 2.0)));
        let step = shortest / STRETCHES as f64;
        let step = if slotted { step.ceil() } else { step };
        let rate = plan.system.arrivals.rate;
        let series = vec![None; REPLICATIONS as usize];
        Ok(Self { choose, window, arrival_rate: rate, slotted, step, tried: 0, sufficed: false, next: 0, series })
    }

    /// The next pilot replication, if one is left to start.
    pub(super) fn next(&mut self) -> Option<Flight> {
        let index = FIRST + self.tried * REPLICATIONS + self.next;
        (self.next < REPLICATIONS).then(|| {
            self.next += 1;
            let open = if self.choose.warmup { 0.0 } else { self.window.open };
            Flight { index, open, step: self.step, stretches: STRETCHES }
        })
    }

    /// Takes the means over the stretches of a pilot replication; the window, once it is known.
    pub(super) fn land(&mut self, flight: Flight, means: Vec<f64>) -> Option<Settled> {
        self.series[((flight.index - FIRST) % REPLICATIONS) as usize] = Some(means);
        let series: Vec<Vec<f64>> = self.series.iter().cloned().collect::<Option<_>>()?;
        let length = flight.close() - flight.open;
        let verdict = judge_warm_up(&series, TREND_LEVEL);
        let enough = verdict.as_ref().is_some_and(|verdict| self.suffices(verdict, &series));
        let next = 2.0 * length;
        if !(enough && self.sufficed)
            && self.may_last(flight.open + next)
            && self.arrival_rate * (flight.open + next) * REPLICATIONS as f64 <= MOST_JOBS
        {
            self.step *= 2.0;
            (self.tried, self.sufficed, self.next) = (self.tried + 1, enough, 0);
            self.series.fill(None);
            return None;
        }
        let cut = verdict.map_or(0.0, |verdict| verdict.cut as f64 * self.step);
        Some(self.settle(enough, cut, length))
    }

    /// Whether a pilot run that ends then is allowed.
    fn may_last(&self, end: f64) -> bool {
        // A pilot run is no longer than the replications will be.
        let given = self.choose.time || end <= self.window.close * (1.0 + 1e-9);
        given && self.choose.max_time.is_none_or(|most| end <= most)
    }

    fn suffices(&self, verdict: &WarmUp, series: &[Vec<f64>]) -> bool {
        let stretches = STRETCHES as usize;
        let settled = verdict.is_settled() && verdict.cut <= stretches / 3;
        // With a length given, how much means spread is not for the pilot to mend.
        settled && (!self.choose.time || spread(series, verdict.cut) <= SPREAD)
    }

    /// The least warm-up: eight pilot replications do not see a bias that shows when many replications narrow the interval,
    /// and a part of a pilot run costs little beside a window that is several times as long.
    fn least_warmup(&self, length: f64) -> f64 {
        let part = LEAST_WARMUP * length;
        if self.slotted { part.ceil() } else { part }
    }

    fn settle(&self, enough: bool, cut: f64, length: f64) -> Settled {
        let open = if self.choose.warmup { cut.max(self.least_warmup(length)) } else { self.window.open };
        let time = match (self.choose.time, enough) {
            (false, _) => self.window.length(),
            (true, true) => WINDOW * length,
            (true, false) => length,
        };
        let wanted = time;
        // The cut is at most half of a pilot run, which was no longer than this.
        let time = self.choose.max_time.map_or(time, |most| time.min((most - open).max(most / 4.0)));
        let time = if self.slotted { time.floor().max(1.0) } else { time };
        let limited = (time < wanted / 2.0).then(|| {
            format!(
                "run.max_time leaves a window of {time} after a warm-up of {open}, where {wanted} would be chosen; what is \
                 left of the transient may bias it"
            )
        });
        let doubt = (!enough).then(|| {
            format!(
                "pilot runs of length {length} did not settle: the transient is not over, or the system is not stable; \
                 the warm-up of {open} may be too short: set run.warmup and run.time, or raise run.max_time"
            )
        });
        Settled { window: Window { open, close: open + time }, doubt: doubt.or(limited) }
    }
}

/// Standard deviation over mean, over replications, of the mean after the first `cut` stretches.
fn spread(series: &[Vec<f64>], cut: usize) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means: Vec<f64> = series.iter().map(|series| mean(&series[cut.min(series.len() - 1)..])).collect();
    let centre = mean(&means);
    if centre == 0.0 {
        return 0.0;
    }
    let squares: f64 = means.iter().map(|x| (x - centre).powi(2)).sum();
    (squares / (means.len() - 1) as f64).sqrt() / centre
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// All pilot replications of one length, each with these means; the numbers of their streams are added to `streams`.
    fn fly(pilot: &mut Pilot, means: &[f64], streams: &mut BTreeSet<u64>) -> (f64, Option<Settled>) {
        let (mut length, mut settled) = (0.0, None);
        while let Some(flight) = pilot.next() {
            assert!(settled.is_none(), "settled before all have landed");
            assert!(streams.insert(flight.index), "a stream is drawn from twice");
            length = flight.close() - flight.open;
            settled = pilot.land(flight, means.to_vec());
            if (streams.len() as u64).is_multiple_of(REPLICATIONS) {
                break;
            }
        }
        (length, settled)
    }

    #[test]
    fn two_lengths_in_a_row_must_suffice() {
        let text = "servers: 1\nload: 0.5\npolicy: {dispatch: random}\n";
        let plan = Plan::read(text, "text", "test", &[]).expect("a scenario");
        let mut pilot = Pilot::new(&plan).expect("a transient to look for");
        let (flat, rising) = (vec![1.0; 200], (0..200).map(f64::from).collect::<Vec<_>>());
        let mut streams = BTreeSet::new();
        let (first, settled) = fly(&mut pilot, &flat, &mut streams);
        assert!(settled.is_none(), "one length alone");
        let (second, settled) = fly(&mut pilot, &rising, &mut streams);
        assert!(settled.is_none() && second == 2.0 * first);
        assert!(fly(&mut pilot, &flat, &mut streams).1.is_none(), "the last one did not suffice");
        let (last, settled) = fly(&mut pilot, &flat, &mut streams);
        let settled = settled.expect("two in a row");
        assert_eq!(last, 8.0 * first);
        assert_eq!((settled.window.open, settled.window.length()), (0.25 * last, 2.0 * last));
        assert_eq!((settled.doubt, streams.len() as u64), (None, 4 * REPLICATIONS));
    }
}

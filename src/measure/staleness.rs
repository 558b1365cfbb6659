//! How wrong the dispatchers' estimates are.

use super::course::{Integral, Ruler};
use super::metric::{Metric, Reading};
use crate::engine::{LengthChange, Snapshot};

/// Time integrals of the estimates' errors over all pairs of dispatcher and server.
///
/// It keeps its own copy of the estimates, server by server, since a change of a queue changes the error of every
/// dispatcher: O(M) per change of a queue, O(1) per change of an estimate.
#[derive(Clone, Debug)]
pub(super) struct Staleness {
    dispatchers: usize,
    /// Dispatchers that act on estimates, but have none worth keeping.
    unknown: bool,
    /// `estimates[n * M + m]`.
    estimates: Vec<u32>,
    lengths: Vec<u32>,
    ruler: Ruler,
    /// Sum over pairs of |estimate - length|, and of (estimate - length), now.
    absolute: i64,
    signed: i64,
    absolute_area: Integral,
    signed_area: Integral,
}

impl Staleness {
    pub(super) fn new(ruler: Ruler, snapshot: &Snapshot<'_>) -> Self {
        let dispatchers = snapshot.estimates.len();
        let (mut absolute, mut signed) = (0, 0);
        let mut estimates = Vec::with_capacity(dispatchers * snapshot.lengths.len());
        for (server, &length) in (0_u32..).zip(snapshot.lengths) {
            for view in snapshot.estimates {
                let estimate = view.length(server);
                estimates.push(estimate);
                absolute += i64::from(estimate.abs_diff(length));
                signed += i64::from(estimate) - i64::from(length);
            }
        }
        Self {
            dispatchers,
            unknown: snapshot.local && snapshot.estimates.is_empty(),
            estimates,
            lengths: if dispatchers > 0 { snapshot.lengths.to_vec() } else { Vec::new() },
            ruler,
            absolute,
            signed,
            absolute_area: Integral::default(),
            signed_area: Integral::default(),
        }
    }

    fn advance(&mut self, time: f64) {
        let tick = self.ruler.ticks(time);
        self.absolute_area.advance(self.absolute, tick);
        self.signed_area.advance(self.signed, tick);
    }

    pub(super) fn length_changed(&mut self, change: &LengthChange) {
        if self.estimates.is_empty() {
            return;
        }
        self.advance(change.time);
        let server = change.server as usize;
        self.lengths[server] = change.new;
        let believed = &self.estimates[server * self.dispatchers..][..self.dispatchers];
        // A queue that grows comes nearer to every estimate above it and leaves every other behind.
        let boundary = change.old.min(change.new);
        let above = believed.iter().filter(|&&estimate| estimate > boundary).count() as i64;
        let others = self.dispatchers as i64 - above;
        if change.new > change.old {
            self.absolute += others - above;
            self.signed -= self.dispatchers as i64;
        } else {
            self.absolute += above - others;
            self.signed += self.dispatchers as i64;
        }
    }

    /// In slotted time: a queue has another length.
    pub(super) fn length_moved(&mut self, time: f64, server: u32, old: u32, new: u32) {
        if self.estimates.is_empty() {
            return;
        }
        self.advance(time);
        self.lengths[server as usize] = new;
        let believed = &self.estimates[server as usize * self.dispatchers..][..self.dispatchers];
        let error = |length: u32| believed.iter().map(|estimate| i64::from(estimate.abs_diff(length))).sum::<i64>();
        self.absolute += error(new) - error(old);
        self.signed += (i64::from(old) - i64::from(new)) * self.dispatchers as i64;
    }

    pub(super) fn estimate_changed(&mut self, time: f64, dispatcher: u32, server: u32, old: u32, new: u32) {
        self.advance(time);
        let length = self.lengths[server as usize];
        self.estimates[server as usize * self.dispatchers + dispatcher as usize] = new;
        self.absolute += i64::from(new.abs_diff(length)) - i64::from(old.abs_diff(length));
        self.signed += i64::from(new) - i64::from(old);
    }

    pub(super) fn close(&mut self, time: f64) {
        self.advance(time);
    }

    /// The mean of |estimate - length| now; exact information is the truth itself.
    pub(super) fn mean_error(&self) -> Option<f64> {
        match self.estimates.len() {
            0 if self.unknown => None,
            0 => Some(0.0),
            pairs => Some(self.absolute as f64 / pairs as f64),
        }
    }

    pub(super) fn readings(&self, length: f64, readings: &mut Vec<Reading>) {
        let pairs = self.estimates.len() as f64;
        // Exact information is the truth itself.
        let exact = if self.unknown { None } else { Some(0.0) };
        let mean =
            |area: &Integral| if pairs > 0.0 { Some(self.ruler.time(area.area()) / length / pairs) } else { exact };
        readings.push(Reading::plain(Metric::EstimateError, mean(&self.absolute_area)));
        readings.push(Reading::plain(Metric::EstimateBias, mean(&self.signed_area)));
    }
}

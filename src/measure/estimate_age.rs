//! The age of the estimates that dispatchers act on.

use super::metric::{Metric, Reading};
use crate::engine::{Observer, Snapshot};
use crate::model::Sum;

/// When the message was sent that last refreshed each estimate; an estimate that was never refreshed is of time 0.
///
/// It must listen from time 0 on, in the warm-up as an observer of its own. 8 bytes per dispatcher and server, where
/// dispatchers act on estimates of their own; nothing elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Refreshes {
    servers: usize,
    /// `sent_at[m * N + n]`.
    sent_at: Vec<f64>,
}

impl Refreshes {
    /// For the state of `snapshot`, on the estimates that are there at time 0.
    pub fn new(snapshot: &Snapshot<'_>) -> Self {
        let servers = snapshot.lengths.len();
        let dispatchers = if snapshot.local { snapshot.estimates.len() } else { 0 };
        Self { servers, sent_at: vec![0.0; dispatchers * servers] }
    }

    /// The time to which the estimate of a server goes back; `None` without estimates.
    #[inline]
    fn sent_at(&self, dispatcher: u32, server: u32) -> Option<f64> {
        self.sent_at.get(dispatcher as usize * self.servers + server as usize).copied()
    }
}

impl Observer for Refreshes {
    #[inline]
    fn refreshed(&mut self, _: f64, dispatcher: u32, server: u32, sent_at: f64) {
        if let Some(known) = self.sent_at.get_mut(dispatcher as usize * self.servers + server as usize) {
            *known = sent_at;
        }
    }
}

/// Ages of the estimates of the servers chosen in the window: O(1) per choice and per message.
#[derive(Clone, Debug)]
pub(super) struct EstimateAge {
    refreshes: Refreshes,
    jobs: u64,
    ages: Sum,
}

impl EstimateAge {
    pub(super) fn new(refreshes: Refreshes) -> Self {
        Self { refreshes, jobs: 0, ages: Sum::default() }
    }

    #[inline]
    pub(super) fn refreshed(&mut self, time: f64, dispatcher: u32, server: u32, sent_at: f64) {
        self.refreshes.refreshed(time, dispatcher, server, sent_at);
    }

    /// Jobs that one dispatcher gives at once to a server.
    #[inline]
    pub(super) fn add_jobs(&mut self, time: f64, dispatcher: u32, server: u32, jobs: u64) {
        if let Some(sent_at) = self.refreshes.sent_at(dispatcher, server) {
            self.jobs += jobs;
            self.ages.add((time - sent_at) * jobs as f64);
        }
    }

    pub(super) fn readings(&self, readings: &mut Vec<Reading>) {
        let mean = (self.jobs > 0).then(|| self.ages.value() / self.jobs as f64);
        readings.push(Reading::plain(Metric::EstimateAgeMean, mean));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    #[test]
    fn agrees_with_a_search_through_all_messages() {
        let mut stream = Stream::new(10, 0, Component::Information);
        let refreshes = Refreshes { servers: 3, sent_at: vec![0.0; 6] };
        let mut probe = EstimateAge::new(refreshes);
        let (mut messages, mut ages, mut time) = (Vec::new(), Vec::new(), 0.0);
        for _ in 0..3_000 {
            time += stream.uniform();
            let (dispatcher, server) = (stream.below(2) as u32, stream.below(3) as u32);
            if stream.chance(0.3) {
                let sent_at = time - stream.uniform().min(time);
                probe.refreshed(time, dispatcher, server, sent_at);
                messages.push((dispatcher, server, sent_at));
            } else {
                probe.add_jobs(time, dispatcher, server, 2);
                let last = messages.iter().rev().find(|message| (message.0, message.1) == (dispatcher, server));
                ages.push(time - last.map_or(0.0, |message| message.2));
            }
        }
        let mean = ages.iter().sum::<f64>() / ages.len() as f64;
        assert_eq!(probe.jobs, 2 * ages.len() as u64);
        assert!((probe.ages.value() / probe.jobs as f64 - mean).abs() < 1e-9, "{mean}");
    }

    #[test]
    fn without_estimates_there_is_no_age() {
        let mut probe = EstimateAge::new(Refreshes::default());
        probe.refreshed(1.0, 0, 0, 1.0);
        probe.add_jobs(2.0, 0, 0, 1);
        let mut readings = Vec::new();
        probe.readings(&mut readings);
        assert_eq!(readings, [Reading::plain(Metric::EstimateAgeMean, None)]);
    }
}

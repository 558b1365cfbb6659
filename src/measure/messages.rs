//! Messages sent, by kind.

use super::metric::{Metric, Reading};
use crate::engine::MessageKind;

/// Counts of messages sent in the window; a lost message was sent too.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    sent: [u64; MessageKind::ALL.len()],
}

impl Messages {
    #[inline]
    pub(super) fn sent(&mut self, kind: MessageKind, count: u64) {
        self.sent[kind as usize] += count;
    }

    pub(super) fn readings(&self, jobs: u64, readings: &mut Vec<Reading>) {
        let per_job = |count: u64| (jobs > 0).then(|| count as f64 / jobs as f64);
        readings.push(Reading::plain(Metric::MessagesPerJob, per_job(self.sent.iter().sum())));
        for (kind, &count) in MessageKind::ALL.iter().zip(&self.sent) {
            if count > 0 {
                readings.push(Reading::keyed(Metric::MessagesPerJob, kind.name(), per_job(count)));
            }
        }
    }
}

//! The jobs at the servers, as batches that arrived in one slot.

use std::collections::VecDeque;

/// Slot of arrival of the jobs that are there from the start.
const BEFORE: u64 = u64::MAX;

/// FIFO queues of batches.
pub(super) struct Queues {
    batches: Vec<VecDeque<Jobs>>,
}

#[derive(Clone, Copy, Debug)]
struct Jobs {
    arrived: u64,
    count: u32,
}

impl Queues {
    pub(super) fn new(lengths: &[u32]) -> Self {
        let batches = lengths
            .iter()
            .map(|&count| if count > 0 { VecDeque::from([Jobs { arrived: BEFORE, count }]) } else { VecDeque::new() })
            .collect();
        Self { batches }
    }

    #[inline]
    pub(super) fn join(&mut self, server: u32, slot: u64, count: u32) {
        self.batches[server as usize].push_back(Jobs { arrived: slot, count });
    }

    pub(super) fn holds(&self, server: u32) -> bool {
        !self.batches[server as usize].is_empty()
    }

    /// Serves up to `jobs` jobs; tells the slot of arrival, unless it was before slot 0, and the number of those that
    /// arrived together.
    #[inline]
    pub(super) fn serve(&mut self, server: u32, jobs: u32, mut tell: impl FnMut(Option<u64>, u32)) {
        let queue = &mut self.batches[server as usize];
        let mut left = jobs;
        while left > 0
            && let Some(first) = queue.front_mut()
        {
            let served = left.min(first.count);
            tell((first.arrived != BEFORE).then_some(first.arrived), served);
            left -= served;
            first.count -= served;
            if first.count == 0 {
                queue.pop_front();
            }
        }
    }

    /// Tells of every batch.
    pub(super) fn each(&self, server: u32, mut tell: impl FnMut(Option<u64>, u32)) {
        for batch in &self.batches[server as usize] {
            tell((batch.arrived != BEFORE).then_some(batch.arrived), batch.count);
        }
    }
}

//! Slotted time: what the probes make of slots, in which many queues change by more than one.

use super::Probes;
use crate::engine::{Batch, Left, Slot};

impl Probes {
    /// These lengths hold for the slot.
    pub(super) fn hold(&mut self, slot: &Slot<'_>) {
        let (time, end) = (slot.slot as f64, slot.slot as f64 + 1.0);
        self.census.recount(slot.lengths);
        self.follow(time);
        if let Some(camera) = &mut self.camera {
            camera.hold(end, slot.lengths);
        }
        self.jobs.set(self.census.total(), self.ruler.ticks(time));
        if let Some(imbalance) = &mut self.imbalance {
            imbalance.advance(self.ruler.ticks(end), &self.census);
        }
        if let Some(queue_range) = &mut self.queue_range {
            queue_range.advance(self.ruler.ticks(end), &self.census);
        }
        if let Some(occupancy) = &mut self.occupancy {
            occupancy.hold(time, end, &self.census);
        }
        self.utilization.hold(self.ruler.ticks(time), slot.lengths, &self.servers);
        if let Some(classes) = &mut self.classes {
            classes.hold(end, slot.lengths, &self.servers);
        }
    }

    /// Jobs join: what they found is known, how long they stay is not.
    pub(super) fn admit(&mut self, batch: &Batch) {
        if let Some(delays) = &mut self.delays {
            delays.found(batch.found, batch.jobs);
        }
    }

    /// Jobs leave within the window.
    pub(super) fn complete(&mut self, left: &Left) {
        self.balance.completed += u64::from(left.jobs);
        self.count_time(left.arrived, left.departed, left.jobs);
        self.know_delay(left);
    }

    /// Jobs that arrived at `arrived` are inside at the starts of the slots after it, up to that of their departure:
    /// adds those within the window.
    pub(super) fn count_time(&mut self, arrived: Option<u64>, departed: u64, jobs: u32) {
        let first = arrived.map_or(0.0, |slot| slot as f64 + 1.0).max(self.window.open);
        let last = (departed as f64).min(self.window.close - 1.0);
        self.time_of_jobs.add(f64::from(jobs) * (last - first + 1.0).max(0.0));
    }

    /// Delays count of the jobs that arrived within the window.
    pub(super) fn know_delay(&mut self, left: &Left) {
        let Some(arrived) = left.arrived.filter(|&slot| slot as f64 >= self.window.open) else { return };
        if let Some(delays) = &mut self.delays {
            delays.left(arrived, left.departed, left.jobs);
        }
        if let Some(classes) = &mut self.classes {
            classes.left(left.class, (left.departed - arrived) as f64 + 1.0, left.jobs);
        }
    }

    /// Jobs are still inside when the window closes.
    pub(super) fn keep(&mut self, arrived: Option<u64>, jobs: u32) {
        self.count_time(arrived, u64::MAX, jobs);
    }
}

//! What all probes have measured, once the window is over.

use super::Probes;
use crate::measure::delays::{Delays, Measured};
use crate::measure::metric::{Metric, Reading};
use crate::measure::occupancy::Occupancy;
use crate::measure::record::Record;
use crate::measure::snapshots::Camera;
use crate::measure::trajectory::Recorder;

impl Probes {
    fn herding_readings(&self, length: f64, readings: &mut Vec<Reading>) {
        self.herding.readings(readings);
        if let Some(queue_range) = &self.queue_range {
            queue_range.readings(length, readings);
        }
        if let Some(chosen_rank) = &self.chosen_rank {
            chosen_rank.readings(readings);
        }
        if let Some(bursts) = &self.bursts {
            bursts.readings(readings);
        }
        if let Some(coincidences) = &self.coincidences {
            coincidences.readings(self.census.servers(), readings);
        }
        if let Some(estimate_age) = &self.estimate_age {
            estimate_age.readings(readings);
        }
    }

    /// The record, after the window has closed.
    pub fn into_record(mut self) -> Record {
        let length = self.window.length();
        let mut readings = Vec::new();
        let n = self.census.servers();
        let delays = self.delays.take().map(Delays::finish);
        if let Some(occupancy) = &self.occupancy {
            occupancy.readings(length, &mut readings);
        }
        self.jobs.readings(n, &mut readings);
        if let Some(delays) = &delays {
            delays.readings(&self.measure.quantiles, &mut readings);
        }
        let arrived = self.balance.arrived;
        self.messages.readings(arrived, &mut readings);
        let blocked = (arrived > 0).then(|| self.balance.blocked as f64 / arrived as f64);
        readings.push(Reading::plain(Metric::BlockedFraction, blocked));
        self.utilization.readings(length, &self.servers, &mut readings);
        readings.push(Reading::plain(Metric::Throughput, Some(self.balance.completed as f64 / length)));
        if self.slotted {
            let unused = self.unused_services as f64 / length;
            readings.push(Reading::plain(Metric::UnusedService, Some(unused)));
        }
        if let Some(classes) = &self.classes {
            classes.readings(length, &self.servers, &mut readings);
        }
        for (dispatcher, &jobs) in self.dispatchers.iter().flatten().enumerate() {
            readings.push(Reading::keyed(Metric::JobsPerDispatcher, format!("{dispatcher}"), Some(jobs as f64)));
        }
        if let Some(staleness) = &self.staleness {
            staleness.readings(length, &mut readings);
        }
        self.herding_readings(length, &mut readings);
        if let Some(imbalance) = &self.imbalance {
            imbalance.readings(length, n, &mut readings);
        }
        // Results list metrics in one order, whichever probe gave them; equal metrics keep the order of their keys.
        readings.sort_by_key(|reading| reading.metric);
        let (response, waiting) = delays.map(Measured::into_histograms).unzip();
        Record {
            readings,
            servers: n,
            occupancy: self.occupancy.map(Occupancy::into_histograms).unwrap_or_default(),
            response,
            waiting,
            balance: self.balance,
            halves: self.jobs.halves(),
            parts: Vec::new(),
            trajectory: self.trajectory.map(Recorder::into_series).unwrap_or_default(),
            snapshots: self.camera.map(Camera::into_lengths),
        }
    }
}

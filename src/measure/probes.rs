//! All probes of one replication behind one observer.

use super::balance::Balance;
use super::census::Census;
use super::classes::Classes;
use super::delay_histogram::DelayHistogram;
use super::delays::Delays;
use super::herding::Herding;
use super::imbalance::Imbalance;
use super::jobs::Jobs;
use super::messages::Messages;
use super::metric::{Metric, Reading};
use super::occupancy::Occupancy;
use super::record::Record;
use super::staleness::Staleness;
use super::utilization::Utilization;
use crate::engine::{Blocked, Dispatched, Joined, LengthChange, MessageKind, Observer, Snapshot};
use crate::model::{Servers, Sum, System, Window};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which probes are on. The books, the number of jobs, messages, utilization and regret are always kept; no probe
/// influences a run or another probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// Time averages and variances of s_k.
    pub tail_fraction: bool,
    /// Histograms over time of s_k for k up to this; 0 switches them off.
    pub tail_histogram_levels: u64,
    /// Waiting and response times.
    pub delays: bool,
    /// Quantiles of the delays, each between 0 and 1.
    #[schemars(inner(range(min = 0, max = 1)))]
    pub quantiles: Vec<f64>,
    /// Queue lengths and response times per server class.
    pub classes: bool,
    /// Jobs per dispatcher.
    pub dispatchers: bool,
    /// Errors of the dispatchers' estimates; memory for one more copy of all estimates.
    pub estimates: bool,
    /// Imbalance of the queues.
    pub imbalance: bool,
}

impl Default for Measure {
    fn default() -> Self {
        Self {
            tail_fraction: true,
            tail_histogram_levels: 64,
            delays: true,
            quantiles: vec![0.5, 0.9, 0.99, 0.999],
            classes: true,
            dispatchers: true,
            estimates: true,
            imbalance: true,
        }
    }
}

/// The probes of one replication.
#[derive(Clone, Debug)]
pub struct Probes {
    measure: Measure,
    servers: Servers,
    window: Window,
    census: Census,
    jobs: Jobs,
    utilization: Utilization,
    messages: Messages,
    herding: Herding,
    occupancy: Option<Occupancy>,
    delays: Option<Delays>,
    classes: Option<Classes>,
    dispatchers: Option<Vec<u64>>,
    staleness: Option<Staleness>,
    imbalance: Option<Imbalance>,
    balance: Balance,
    time_of_jobs: Sum,
}

impl Probes {
    /// Probes for a window that opens now, on the state of `snapshot`.
    pub fn new(measure: &Measure, system: &System, window: Window, snapshot: &Snapshot<'_>) -> Self {
        let servers = &system.servers;
        let census = Census::new(snapshot);
        let time = snapshot.time;
        let histograms = usize::try_from(measure.tail_histogram_levels).unwrap_or(usize::MAX);
        let tick = DelayHistogram::tick_for(servers.largest_rate());
        let mut time_of_jobs = Sum::default();
        time_of_jobs.add(snapshot.remaining_time);
        Self {
            measure: measure.clone(),
            window,
            jobs: Jobs::new(window, &census),
            utilization: Utilization::new(snapshot, servers),
            messages: Messages::default(),
            herding: Herding::default(),
            occupancy: measure.tail_fraction.then(|| Occupancy::new(time, &census, histograms)),
            delays: measure.delays.then(|| Delays::new(tick)),
            classes: (measure.classes && servers.classes().len() > 1).then(|| Classes::new(snapshot, servers)),
            dispatchers: measure.dispatchers.then(|| vec![0; system.dispatchers.len() as usize]),
            staleness: measure.estimates.then(|| Staleness::new(snapshot)),
            imbalance: measure.imbalance.then(|| Imbalance::new(time)),
            balance: Balance { inside_at_open: census.total(), ..Balance::default() },
            time_of_jobs,
            servers: servers.clone(),
            census,
        }
    }

    /// The record, after the window has closed.
    pub fn into_record(self) -> Record {
        let length = self.window.length();
        let mut readings = Vec::new();
        let n = self.census.servers();
        if let Some(occupancy) = &self.occupancy {
            occupancy.readings(length, &mut readings);
        }
        self.jobs.readings(n, &mut readings);
        if let Some(delays) = &self.delays {
            delays.readings(&self.measure.quantiles, &mut readings);
        }
        let arrived = self.balance.arrived;
        self.messages.readings(arrived, &mut readings);
        let blocked = (arrived > 0).then(|| self.balance.blocked as f64 / arrived as f64);
        readings.push(Reading::plain(Metric::BlockedFraction, blocked));
        self.utilization.readings(length, &self.servers, &mut readings);
        readings.push(Reading::plain(Metric::Throughput, Some(self.balance.completed as f64 / length)));
        if let Some(classes) = &self.classes {
            classes.readings(length, &self.servers, &mut readings);
        }
        for (dispatcher, &jobs) in self.dispatchers.iter().flatten().enumerate() {
            readings.push(Reading::keyed(Metric::JobsPerDispatcher, format!("{dispatcher}"), Some(jobs as f64)));
        }
        if let Some(staleness) = &self.staleness {
            staleness.readings(length, &mut readings);
        }
        self.herding.readings(&mut readings);
        if let Some(imbalance) = &self.imbalance {
            imbalance.readings(length, n, &mut readings);
        }
        // Results list metrics in one order, whichever probe gave them; equal metrics keep the order of their keys.
        readings.sort_by_key(|reading| reading.metric);
        let (response, waiting) = self.delays.map(|delays| (delays.response, delays.waiting)).unzip();
        Record {
            readings,
            servers: n,
            occupancy: self.occupancy.map(Occupancy::into_histograms).unwrap_or_default(),
            response,
            waiting,
            balance: self.balance,
            halves: self.jobs.halves(),
        }
    }
}

impl Observer for Probes {
    #[inline]
    fn dispatched(&mut self, dispatched: &Dispatched) {
        self.balance.arrived += 1;
        self.herding.dispatched(dispatched, self.census.min());
        if let Some(jobs) = &mut self.dispatchers {
            jobs[dispatched.dispatcher as usize] += 1;
        }
    }

    #[inline]
    fn joined(&mut self, joined: &Joined) {
        self.time_of_jobs.add(joined.response);
        if let Some(delays) = &mut self.delays {
            delays.joined(joined);
        }
        if let Some(classes) = &mut self.classes {
            classes.joined(joined);
        }
    }

    #[inline]
    fn blocked(&mut self, _: &Blocked) {
        self.balance.blocked += 1;
    }

    #[inline]
    fn length_changed(&mut self, change: &LengthChange) {
        self.balance.completed += u64::from(change.new < change.old);
        self.jobs.advance(change.time, &self.census);
        if let Some(imbalance) = &mut self.imbalance {
            imbalance.advance(change.time, &self.census);
        }
        if let Some(occupancy) = &mut self.occupancy {
            occupancy.change(change);
        }
        self.utilization.change(change);
        if let Some(classes) = &mut self.classes {
            classes.change(change);
        }
        if let Some(staleness) = &mut self.staleness {
            staleness.length_changed(change);
        }
        self.census.change(change);
    }

    #[inline]
    fn sent(&mut self, kind: MessageKind, count: u64) {
        self.messages.sent(kind, count);
    }

    #[inline]
    fn estimate_changed(&mut self, time: f64, dispatcher: u32, server: u32, old: u32, new: u32) {
        if let Some(staleness) = &mut self.staleness {
            staleness.estimate_changed(time, dispatcher, server, old, new);
        }
    }

    fn close(&mut self, snapshot: &Snapshot<'_>) {
        let time = snapshot.time;
        self.jobs.advance(time, &self.census);
        if let Some(imbalance) = &mut self.imbalance {
            imbalance.advance(time, &self.census);
        }
        if let Some(occupancy) = &mut self.occupancy {
            occupancy.close(time);
        }
        self.utilization.close(time);
        if let Some(classes) = &mut self.classes {
            classes.close(time);
        }
        if let Some(staleness) = &mut self.staleness {
            staleness.close(time);
        }
        self.time_of_jobs.add(-snapshot.remaining_time);
        self.balance.inside_at_close = self.census.total();
        self.balance.integral = self.jobs.integral();
        self.balance.time_of_jobs = self.time_of_jobs.value();
    }
}

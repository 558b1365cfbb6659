//! All probes of one replication behind one observer.

mod readings;
mod slotted;

use super::balance::Balance;
use super::bursts::Bursts;
use super::census::Census;
use super::chosen_rank::ChosenRank;
use super::classes::Classes;
use super::coincidences::Coincidences;
use super::course::Ruler;
use super::delay_histogram::DelayHistogram;
use super::delays::Delays;
use super::estimate_age::{EstimateAge, Refreshes};
use super::herding::Herding;
use super::imbalance::Imbalance;
use super::jobs::Jobs;
use super::messages::Messages;
use super::occupancy::Occupancy;
use super::queue_range::QueueRange;
use super::settings::Measure;
use super::snapshots::Camera;
use super::staleness::Staleness;
use super::trajectory::Recorder;
use super::utilization::Utilization;
use crate::engine::{
    Admitted, Batch, Blocked, Dispatched, Joined, Left, LengthChange, MessageKind, Observer, Slot, Snapshot, Tally,
    Wanted,
};
use crate::model::{Servers, Sum, System, Window};
use crate::policy::{Information, Policy};

/// The probes of one replication.
#[derive(Clone, Debug)]
pub struct Probes {
    measure: Measure,
    servers: Servers,
    window: Window,
    ruler: Ruler,
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
    queue_range: Option<QueueRange>,
    chosen_rank: Option<ChosenRank>,
    bursts: Option<Bursts>,
    coincidences: Option<Coincidences>,
    estimate_age: Option<EstimateAge>,
    trajectory: Option<Recorder>,
    camera: Option<Camera>,
    balance: Balance,
    time_of_jobs: Sum,
    /// Whether it is not known when jobs will leave, so that the time they spend is booked as they come and go.
    departures_unknown: bool,
    /// Where an engine may count by itself, and the messages that go with each job.
    tally: Option<Tally>,
    /// Services that no job took, in slotted time.
    unused_services: u64,
    slotted: bool,
    /// Whether more hangs on a change of length than what is always counted, or on a job given to a server.
    follows_changes: bool,
    follows_jobs: bool,
    /// Whether jobs wait for answers before they are dispatched, and how many do now.
    queries: bool,
    at_dispatchers: u64,
}

impl Probes {
    /// Probes for a window that opens now, on the state of `snapshot`.
    pub fn new(measure: &Measure, system: &System, policy: &Policy, window: Window, snapshot: &Snapshot<'_>) -> Self {
        let queries = matches!(&policy.information, Information::Exact(exact) if !exact.query_delay.is_zero())
            && policy.dispatch.lengths_asked(&system.servers) > 0;
        let servers = &system.servers;
        let census = Census::new(snapshot);
        let ruler = Ruler::new(window, snapshot.slotted);
        let histograms = usize::try_from(measure.tail_histogram_levels).unwrap_or(usize::MAX);
        let tick = DelayHistogram::tick_for(servers.largest_rate());
        let coincidence_window = measure.coincidence_window.get();
        let mut time_of_jobs = Sum::default();
        time_of_jobs.add(snapshot.remaining_time.unwrap_or_default());
        let mut probes = Self {
            measure: measure.clone(),
            window,
            ruler,
            jobs: Jobs::new(window, ruler, &census),
            utilization: Utilization::new(ruler, snapshot, servers),
            messages: Messages::default(),
            herding: Herding::default(),
            occupancy: measure.tail_fraction.then(|| Occupancy::new(window, ruler, &census, histograms)),
            delays: measure
                .delays
                .then(|| if snapshot.slotted { Delays::of_slots() } else { Delays::new(tick, servers) }),
            classes: (measure.classes && servers.classes().len() > 1).then(|| Classes::new(snapshot, servers)),
            dispatchers: measure.dispatchers.then(|| vec![0; system.dispatchers.len() as usize]),
            staleness: measure.estimates.then(|| Staleness::new(ruler, snapshot)),
            imbalance: measure.imbalance.then(|| Imbalance::new(ruler)),
            queue_range: measure.queue_range.then(|| QueueRange::new(ruler)),
            chosen_rank: measure.chosen_rank.then(ChosenRank::default),
            bursts: measure.burst_size.then(Bursts::new),
            coincidences: (coincidence_window > 0.0)
                .then(|| Coincidences::new(coincidence_window, system.dispatchers.len(), servers.len())),
            estimate_age: measure.estimate_age.then(|| EstimateAge::new(Refreshes::new(snapshot))),
            trajectory: measure.trajectory.as_ref().map(|grid| Recorder::new(grid, window)),
            camera: measure.snapshots.as_ref().and_then(|grid| Camera::new(grid, window, snapshot)),
            balance: Balance { inside_at_open: census.total() + snapshot.at_dispatchers, ..Balance::default() },
            time_of_jobs,
            departures_unknown: snapshot.remaining_time.is_none(),
            tally: None,
            unused_services: 0,
            slotted: snapshot.slotted,
            follows_changes: false,
            follows_jobs: false,
            queries,
            at_dispatchers: snapshot.at_dispatchers,
            servers: servers.clone(),
            census,
        };
        probes.follows_changes = probes.departures_unknown
            || probes.imbalance.is_some()
            || probes.queue_range.is_some()
            || probes.camera.is_some()
            || probes.classes.is_some()
            || probes.staleness.is_some()
            || probes.trajectory.is_some();
        probes.follows_jobs = probes.chosen_rank.is_some()
            || probes.bursts.is_some()
            || probes.coincidences.is_some()
            || probes.estimate_age.is_some()
            || probes.trajectory.is_some();
        probes
    }

    /// The probes, told when the estimates were refreshed before the window opened; else those count from time 0.
    #[must_use]
    pub fn knowing(mut self, refreshes: Refreshes) -> Self {
        if let Some(age) = &mut self.estimate_age {
            *age = EstimateAge::new(refreshes);
        }
        self
    }

    /// The probes, for which an engine may count by itself; [`Measure::can_be_counted`] tells whether that is all they want.
    /// So many messages go with each job, unless only the engine can tell.
    #[must_use]
    pub fn counting(mut self, messages_per_choice: Option<u64>) -> Self {
        if self.departures_unknown {
            let middle = self.window.open + self.window.length() / 2.0;
            let wanted = Wanted {
                histograms: self.occupancy.as_ref().map_or(0, Occupancy::histograms),
                ranks: self.chosen_rank.is_some(),
                burst: self.bursts.is_some().then(|| self.servers.largest_rate().recip()),
                messages_per_choice,
                dispatchers: self.dispatchers.as_ref().map_or(0, |jobs| if jobs.len() > 1 { jobs.len() } else { 0 }),
            };
            let counts = self.census.counts();
            self.tally = Some(Tally::new(self.census.servers(), counts, self.window.open, middle, wanted));
        }
        self
    }

    /// Takes over what an engine has counted by itself.
    fn take_tally(&mut self, snapshot: &Snapshot<'_>) {
        let Some(tally) = self.tally.take().filter(Tally::is_used) else { return };
        let time = snapshot.time;
        let [dispatched, blocked, left, regret] = tally.counts();
        self.balance.arrived = dispatched;
        self.balance.blocked = blocked;
        self.balance.completed = left;
        self.herding = Herding::of_counts(dispatched, regret);
        tally.messages().for_each(|(kind, count)| self.messages.sent(kind, count));
        match &mut self.dispatchers {
            Some(jobs) if tally.dispatchers().is_empty() => jobs[0] = dispatched,
            Some(jobs) => jobs.copy_from_slice(tally.dispatchers()),
            None => {}
        }
        if let Some(delays) = &mut self.delays {
            delays.take(tally.found().collect());
        }
        self.jobs.take(tally.jobs(time));
        if let Some((_, area, _)) = tally.levels(time).next() {
            self.utilization.take(area);
        }
        if let Some(occupancy) = &mut self.occupancy {
            occupancy.take(tally.levels(time).map(|(_, area, squares)| [area, squares]), tally.histograms(time));
        }
        if let Some(imbalance) = &mut self.imbalance {
            imbalance.take(self.ruler.ticks(time), tally.scaled_imbalance(time));
        }
        if let Some(queue_range) = &mut self.queue_range {
            queue_range.take(self.ruler.ticks(time), tally.range(time));
        }
        if let (Some(chosen_rank), Some(ranks)) = (&mut self.chosen_rank, tally.ranks()) {
            chosen_rank.take(dispatched, ranks);
        }
        if let (Some(bursts), Some(counted)) = (&mut self.bursts, tally.bursts()) {
            bursts.take(&counted);
        }
        // Less the time of those inside at the close, which is added there.
        self.census = Census::new(snapshot);
        self.time_of_jobs = Sum::default();
        self.time_of_jobs.add(tally.time_of_jobs(time) - self.census.total() as f64 * self.window.length());
    }

    /// Reads the time course up to a moment at which the state is about to change.
    #[inline]
    fn follow(&mut self, time: f64) {
        if let Some(trajectory) = &mut self.trajectory
            && trajectory.is_due(time)
        {
            trajectory.record(time, &self.census, self.staleness.as_ref().and_then(Staleness::mean_error));
        }
    }

    /// A dispatcher gives jobs at once to a server: what the probes make of it that a scenario may leave out.
    fn given(&mut self, dispatched: &Dispatched) {
        let &Dispatched { time, dispatcher, server, found, jobs } = dispatched;
        let jobs = u64::from(jobs);
        self.follow(time);
        if let Some(chosen_rank) = &mut self.chosen_rank {
            chosen_rank.add_jobs(found, jobs, &self.census);
        }
        if let Some(bursts) = &mut self.bursts {
            bursts.add_jobs(time, server, jobs, &self.servers);
        }
        if let Some(coincidences) = &mut self.coincidences {
            coincidences.add_jobs(time, dispatcher, server, jobs);
        }
        if let Some(estimate_age) = &mut self.estimate_age {
            estimate_age.add_jobs(time, dispatcher, server, jobs);
        }
        if let Some(trajectory) = &mut self.trajectory {
            trajectory.add_jobs(found - self.census.min(), jobs);
        }
    }

    /// A queue is about to change: what the probes make of it that a scenario may leave out.
    fn changes(&mut self, change: &LengthChange, tick: i64) {
        self.follow(change.time);
        if self.departures_unknown {
            let since_open = change.time - self.window.open;
            self.time_of_jobs.add(if change.new < change.old { since_open } else { -since_open });
        }
        if let Some(imbalance) = &mut self.imbalance {
            imbalance.advance(tick, &self.census);
        }
        if let Some(queue_range) = &mut self.queue_range {
            queue_range.advance(tick, &self.census);
        }
        if !self.slotted
            && let Some(camera) = &mut self.camera
        {
            camera.change(change);
        }
        if let Some(classes) = &mut self.classes {
            classes.change(change);
        }
        if let Some(staleness) = &mut self.staleness {
            staleness.length_changed(change);
        }
    }
}

impl Observer for Probes {
    fn tally(&mut self) -> Option<&mut Tally> {
        self.tally.as_mut()
    }

    fn queried(&mut self, _: f64) {
        self.balance.arrived += 1;
        self.at_dispatchers += 1;
    }

    #[inline(always)]
    fn dispatched(&mut self, dispatched: &Dispatched) {
        if self.queries {
            self.at_dispatchers -= 1;
        } else {
            self.balance.arrived += u64::from(dispatched.jobs);
        }
        self.herding.dispatched(dispatched, self.census.min());
        if self.follows_jobs {
            self.given(dispatched);
        }
        if let Some(jobs) = &mut self.dispatchers {
            jobs[dispatched.dispatcher as usize] += u64::from(dispatched.jobs);
        }
    }

    #[inline(always)]
    fn joined(&mut self, joined: &Joined) {
        if !self.departures_unknown {
            self.time_of_jobs.add(joined.wait + joined.service);
        }
        if let Some(delays) = &mut self.delays {
            delays.joined(joined);
        }
        if let Some(classes) = &mut self.classes {
            classes.joined(joined);
        }
    }

    #[inline]
    fn admitted(&mut self, admitted: &Admitted) {
        if let Some(delays) = &mut self.delays {
            delays.admitted(admitted);
        }
        if let Some(classes) = &mut self.classes {
            classes.admitted(admitted, &self.servers);
        }
    }

    #[inline]
    fn blocked(&mut self, blocked: &Blocked) {
        self.balance.blocked += u64::from(blocked.jobs);
    }

    #[inline]
    fn slot(&mut self, slot: &Slot<'_>) {
        self.hold(slot);
    }

    #[inline]
    fn batch(&mut self, batch: &Batch) {
        self.admit(batch);
    }

    #[inline]
    fn left(&mut self, left: &Left) {
        self.complete(left);
    }

    fn stayed(&mut self, arrived: Option<u64>, jobs: u32) {
        self.keep(arrived, jobs);
    }

    fn left_later(&mut self, left: &Left) {
        self.know_delay(left);
    }

    #[inline]
    fn length_moved(&mut self, time: f64, server: u32, old: u32, new: u32) {
        if let Some(staleness) = &mut self.staleness {
            staleness.length_moved(time, server, old, new);
        }
    }

    fn unused(&mut self, services: u64) {
        self.unused_services += services;
    }

    #[inline(always)]
    fn length_changed(&mut self, change: &LengthChange) {
        let tick = self.ruler.ticks(change.time);
        if self.follows_changes {
            self.changes(change, tick);
        }
        if change.new > change.old {
            self.jobs.join(tick);
        } else {
            self.balance.completed += 1;
            self.jobs.leave(tick);
        }
        if let Some(occupancy) = &mut self.occupancy {
            occupancy.change(change, tick);
        }
        self.utilization.change(change, tick);
        self.census.change(change);
    }

    #[inline]
    fn sent(&mut self, kind: MessageKind, count: u64) {
        self.messages.sent(kind, count);
    }

    #[inline]
    fn refreshed(&mut self, time: f64, dispatcher: u32, server: u32, sent_at: f64) {
        if let Some(estimate_age) = &mut self.estimate_age {
            estimate_age.refreshed(time, dispatcher, server, sent_at);
        }
    }

    #[inline]
    fn estimate_changed(&mut self, time: f64, dispatcher: u32, server: u32, old: u32, new: u32) {
        self.follow(time);
        if let Some(staleness) = &mut self.staleness {
            staleness.estimate_changed(time, dispatcher, server, old, new);
        }
    }

    fn close(&mut self, snapshot: &Snapshot<'_>) {
        self.take_tally(snapshot);
        let time = snapshot.time;
        self.jobs.close(time);
        if let Some(imbalance) = &mut self.imbalance {
            imbalance.advance(self.ruler.ticks(time), &self.census);
        }
        if let Some(queue_range) = &mut self.queue_range {
            queue_range.advance(self.ruler.ticks(time), &self.census);
        }
        if let Some(bursts) = &mut self.bursts {
            bursts.close();
        }
        if self.slotted {
            // The census is that of the start of the last slot; the window closes at its end.
            self.census.recount(snapshot.lengths);
        }
        if let Some(trajectory) = &mut self.trajectory {
            trajectory.close(&self.census, self.staleness.as_ref().and_then(Staleness::mean_error));
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
        match snapshot.remaining_time {
            Some(remaining) => self.time_of_jobs.add(-remaining),
            None => self.time_of_jobs.add(self.census.total() as f64 * self.window.length()),
        }
        self.balance.inside_at_close = self.census.total() + self.at_dispatchers;
        self.balance.integral = self.jobs.integral();
        self.balance.time_of_jobs = self.time_of_jobs.value();
    }
}

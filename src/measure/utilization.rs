//! Busy servers per class, and the capacity in use.

use super::course::Ruler;
use super::metric::{Metric, Reading};
use crate::engine::{LengthChange, Snapshot};
use crate::model::Servers;

/// Time integrals of the number of busy servers of each class; they change only when a server becomes busy or idle.
#[derive(Clone, Debug)]
pub(super) struct Utilization {
    ruler: Ruler,
    classes: Vec<Busy>,
}

/// The number of busy servers, and the sum of its changes, each times its tick.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    count: i64,
    changes: i128,
    /// The integral, once the window is over.
    area: Option<f64>,
}

impl Utilization {
    pub(super) fn new(ruler: Ruler, snapshot: &Snapshot<'_>, servers: &Servers) -> Self {
        let mut classes = vec![Busy::default(); servers.classes().len()];
        for (server, &length) in (0_u32..).zip(snapshot.lengths) {
            classes[servers.class_of(server) as usize].count += i64::from(length > 0);
        }
        for (class, counts) in classes.iter_mut().zip(snapshot.counts) {
            class.count = counts.get(1).map_or(0, |&count| count as i64);
        }
        Self { ruler, classes }
    }

    /// A queue has changed at a tick. Which queues are empty cannot be foretold, so there is no branch.
    #[inline(always)]
    pub(super) fn change(&mut self, change: &LengthChange, tick: i64) {
        let step = i64::from(change.old == 0) - i64::from(change.new == 0);
        self.classes[change.class as usize].step(step, tick);
    }

    /// In slotted time: these lengths hold from a tick on.
    pub(super) fn hold(&mut self, tick: i64, lengths: &[u32], servers: &Servers) {
        let mut lengths = lengths;
        for (busy, class) in self.classes.iter_mut().zip(servers.classes()) {
            let (members, others) = lengths.split_at(class.count as usize);
            let count = members.iter().filter(|&&length| length > 0).count() as i64;
            busy.step(count - busy.count, tick);
            lengths = others;
        }
    }

    /// Takes over, for one class, the integral of the number of busy servers.
    pub(super) fn take(&mut self, integral: f64) {
        self.classes[0].area = Some(integral);
    }

    pub(super) fn close(&mut self, time: f64) {
        let (ruler, end) = (self.ruler, self.ruler.ticks(time));
        for busy in &mut self.classes {
            let ticks = i128::from(busy.count) * i128::from(end) - busy.changes;
            busy.area.get_or_insert_with(|| ruler.time(ticks));
        }
    }

    pub(super) fn readings(&self, length: f64, servers: &Servers, readings: &mut Vec<Reading>) {
        let busy_servers = |class: usize| self.classes[class].area.unwrap_or_default() / length;
        let classes = servers.classes();
        let in_use: f64 = (0..classes.len()).map(|class| classes[class].rate * busy_servers(class)).sum();
        readings.push(Reading::plain(Metric::Utilization, Some(in_use / servers.total_rate())));
        if classes.len() > 1 {
            for (i, class) in classes.iter().enumerate() {
                let fraction = busy_servers(i) / class.count as f64;
                readings.push(Reading::keyed(Metric::Utilization, class.name.clone(), Some(fraction)));
            }
        }
    }
}

impl Busy {
    /// The count changes at a tick.
    #[inline(always)]
    fn step(&mut self, step: i64, tick: i64) {
        self.count += step;
        self.changes += i128::from(step) * i128::from(tick);
    }
}

//! Busy servers per class, and the capacity in use.

use super::metric::{Metric, Reading};
use crate::engine::{LengthChange, Snapshot};
use crate::model::{Servers, Sum};

/// Time integrals of the number of busy servers of each class; they change only when a server becomes busy or idle.
#[derive(Clone, Debug)]
pub(super) struct Utilization {
    classes: Vec<Busy>,
}

#[derive(Clone, Copy, Debug)]
struct Busy {
    count: u64,
    since: f64,
    area: Sum,
}

impl Utilization {
    pub(super) fn new(snapshot: &Snapshot<'_>, servers: &Servers) -> Self {
        let mut classes = vec![Busy { count: 0, since: snapshot.time, area: Sum::default() }; servers.classes().len()];
        for (server, &length) in (0_u32..).zip(snapshot.lengths) {
            classes[servers.class_of(server) as usize].count += u64::from(length > 0);
        }
        for (class, counts) in classes.iter_mut().zip(snapshot.counts) {
            class.count = counts.get(1).copied().unwrap_or(0);
        }
        Self { classes }
    }

    #[inline]
    pub(super) fn change(&mut self, change: &LengthChange) {
        if change.old != 0 && change.new != 0 {
            return;
        }
        let busy = &mut self.classes[change.class as usize];
        busy.advance(change.time);
        if change.new > 0 {
            busy.count += 1;
        } else {
            busy.count -= 1;
        }
    }

    /// In slotted time: these lengths hold until `end`.
    pub(super) fn hold(&mut self, end: f64, lengths: &[u32], servers: &Servers) {
        let mut lengths = lengths;
        for (busy, class) in self.classes.iter_mut().zip(servers.classes()) {
            let (members, others) = lengths.split_at(class.count as usize);
            busy.count = members.iter().filter(|&&length| length > 0).count() as u64;
            busy.advance(end);
            lengths = others;
        }
    }

    /// Takes over, for one class, the number of busy servers at a time and its integral.
    pub(super) fn take(&mut self, time: f64, count: u64, integral: f64) {
        let mut area = Sum::default();
        area.add(integral);
        self.classes[0] = Busy { count, since: time, area };
    }

    pub(super) fn close(&mut self, time: f64) {
        self.classes.iter_mut().for_each(|busy| busy.advance(time));
    }

    pub(super) fn readings(&self, length: f64, servers: &Servers, readings: &mut Vec<Reading>) {
        let busy_servers = |class: usize| self.classes[class].area.value() / length;
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
    fn advance(&mut self, time: f64) {
        self.area.add(self.count as f64 * (time - self.since));
        self.since = time;
    }
}

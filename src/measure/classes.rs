//! Queue lengths, shares of jobs and response times per server class.

use super::metric::{Metric, Reading};
use super::moments::Moments;
use super::occupancy::LISTED;
use crate::engine::{Admitted, Joined, LengthChange, Snapshot};
use crate::model::{Servers, Sum};

/// What happens in each class; for systems with more than one.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    classes: Vec<Class>,
    opened: f64,
}

#[derive(Clone, Debug, Default)]
struct Class {
    /// For k = 1, 2, ...: servers with at least k jobs.
    levels: Vec<Level>,
    response: Moments,
}

#[derive(Clone, Copy, Debug, Default)]
struct Level {
    count: u64,
    since: f64,
    area: Sum,
}

impl Classes {
    pub(super) fn new(snapshot: &Snapshot<'_>, servers: &Servers) -> Self {
        let mut classes = vec![Class::default(); servers.classes().len()];
        for (server, &length) in (0_u32..).zip(snapshot.lengths) {
            let class = &mut classes[servers.class_of(server) as usize];
            for k in 0..length as usize {
                class.level(k, snapshot.time).count += 1;
            }
        }
        for (class, counts) in classes.iter_mut().zip(snapshot.counts) {
            for (k, &count) in counts.iter().skip(1).enumerate() {
                class.level(k, snapshot.time).count = count;
            }
        }
        Self { classes, opened: snapshot.time }
    }

    #[inline]
    pub(super) fn change(&mut self, change: &LengthChange) {
        let k = change.old.max(change.new) as usize;
        let level = self.classes[change.class as usize].level(k - 1, self.opened);
        level.advance(change.time);
        if change.new > change.old {
            level.count += 1;
        } else {
            level.count -= 1;
        }
    }

    #[inline]
    pub(super) fn joined(&mut self, joined: &Joined) {
        self.classes[joined.class as usize].response.add(joined.response());
    }

    /// A job joined whose response time is known by law only: its conditional mean takes its place.
    #[inline]
    pub(super) fn admitted(&mut self, admitted: &Admitted, servers: &Servers) {
        let rate = servers.classes()[admitted.class as usize].rate;
        let response = (f64::from(admitted.found) + 1.0) / rate;
        self.classes[admitted.class as usize].response.add(response);
    }

    /// In slotted time: these lengths hold until `end`.
    pub(super) fn hold(&mut self, end: f64, lengths: &[u32], servers: &Servers) {
        let mut lengths = lengths;
        for (class, members) in self.classes.iter_mut().zip(servers.classes()) {
            let (own, others) = lengths.split_at(members.count as usize);
            class.levels.iter_mut().for_each(|level| level.count = 0);
            for &length in own {
                for k in 0..length as usize {
                    class.level(k, end - 1.0).count += 1;
                }
            }
            class.levels.iter_mut().for_each(|level| level.advance(end));
            lengths = others;
        }
    }

    /// In slotted time: jobs left after so many slots.
    pub(super) fn left(&mut self, class: u32, response: f64, jobs: u32) {
        self.classes[class as usize].response.add_many(response, u64::from(jobs));
    }

    pub(super) fn close(&mut self, time: f64) {
        self.classes.iter_mut().flat_map(|class| &mut class.levels).for_each(|level| level.advance(time));
    }

    pub(super) fn readings(&self, length: f64, servers: &Servers, readings: &mut Vec<Reading>) {
        let named = || servers.classes().iter().zip(&self.classes);
        for (class, measured) in named() {
            // A level that was reached for no time is not a state that was measured.
            let reached =
                measured.levels.iter().rposition(|level| level.area.value() != 0.0).map_or(0, |last| last + 1);
            for (k, level) in (1..).zip(&measured.levels[..reached]).take(LISTED) {
                let fraction = level.area.value() / length / class.count as f64;
                let key = format!("{}/{k}", class.name);
                readings.push(Reading::keyed(Metric::ClassTailFraction, key, Some(fraction)));
            }
        }
        for (class, measured) in named() {
            let jobs: f64 = measured.levels.iter().map(|level| level.area.value()).sum();
            let mean = jobs / length / class.count as f64;
            readings.push(Reading::keyed(Metric::ClassMeanJobs, class.name.clone(), Some(mean)));
        }
        let joined: u64 = self.classes.iter().map(|class| class.response.count()).sum();
        for (class, measured) in named() {
            let share = (joined > 0).then(|| measured.response.count() as f64 / joined as f64);
            readings.push(Reading::keyed(Metric::ClassShare, class.name.clone(), share));
        }
        for (class, measured) in named() {
            let mean = measured.response.mean();
            readings.push(Reading::keyed(Metric::ClassResponseTimeMean, class.name.clone(), mean));
        }
    }
}

impl Class {
    fn level(&mut self, index: usize, opened: f64) -> &mut Level {
        if index >= self.levels.len() {
            self.levels.resize(index + 1, Level { since: opened, ..Level::default() });
        }
        &mut self.levels[index]
    }
}

impl Level {
    fn advance(&mut self, time: f64) {
        self.area.add(self.count as f64 * (time - self.since));
        self.since = time;
    }
}

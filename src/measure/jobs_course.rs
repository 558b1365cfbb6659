//! The number of jobs in the course of a run, for judging how long the transient lasts.

use super::census::Census;
use crate::engine::{LengthChange, Observer, Slot, Snapshot};
use crate::model::Sum;

/// Time averages of the number of jobs over stretches of equal length.
#[derive(Clone, Debug)]
pub struct JobsCourse {
    start: f64,
    step: f64,
    slotted: bool,
    since: f64,
    /// The end of the stretch that time is in.
    end: f64,
    jobs: u64,
    integral: Sum,
    means: Vec<f64>,
}

impl JobsCourse {
    /// Starts at the moment of the snapshot, with stretches of this length.
    pub fn new(snapshot: &Snapshot<'_>, step: f64) -> Self {
        Self {
            start: snapshot.time,
            step,
            slotted: snapshot.slotted,
            since: snapshot.time,
            end: snapshot.time + step,
            jobs: Census::new(snapshot).total(),
            integral: Sum::default(),
            means: Vec::new(),
        }
    }

    /// The means over the stretches until `end`, in jobs.
    pub fn into_means(mut self, end: f64) -> Vec<f64> {
        self.hold(end);
        self.means
    }

    /// The number of jobs has not changed until `time`.
    #[inline]
    fn hold(&mut self, time: f64) {
        while time >= self.end {
            self.integral.add(self.jobs as f64 * (self.end - self.since));
            self.means.push(self.integral.value() / self.step);
            self.integral = Sum::default();
            self.since = self.end;
            // Not summed up step by step: the last stretch ends where the caller says that it does.
            self.end = self.start + self.step * (self.means.len() + 1) as f64;
        }
        self.integral.add(self.jobs as f64 * (time - self.since));
        self.since = time;
    }
}

fn total(lengths: &[u32]) -> u64 {
    lengths.iter().map(|&length| u64::from(length)).sum()
}

impl Observer for JobsCourse {
    #[inline]
    fn length_changed(&mut self, change: &LengthChange) {
        if !self.slotted {
            self.hold(change.time);
            self.jobs = self.jobs + u64::from(change.new) - u64::from(change.old);
        }
    }

    fn slot(&mut self, slot: &Slot<'_>) {
        self.hold(slot.slot as f64);
        self.jobs = total(slot.lengths);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_have_the_mean_of_what_they_saw() {
        let snapshot = Snapshot {
            time: 2.0,
            lengths: &[1, 0],
            local: false,
            estimates: &[],
            counts: &[],
            remaining_time: Some(0.0),
            at_dispatchers: 0,
            slotted: false,
        };
        let mut course = JobsCourse::new(&snapshot, 1.0);
        let change = |time, old, new| LengthChange { time, server: 0, class: 0, old, new };
        course.length_changed(&change(2.5, 1, 2));
        course.length_changed(&change(4.25, 2, 1));
        course.length_changed(&change(4.75, 1, 0));
        assert_eq!(course.into_means(6.0), [1.5, 2.0, 1.0, 0.0]);
    }
}

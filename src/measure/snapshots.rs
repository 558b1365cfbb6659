//! The lengths of the queues at a grid of moments of one replication, server by server: what a picture of a herd is made of.

use crate::engine::{LengthChange, Snapshot};
use crate::model::{Count, NonNegative, Positive, Window};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Moments, unless a step or a count is given.
const MOMENTS: u64 = 200;

/// Servers, unless a number is given.
const SERVERS: u64 = 200;

/// Moments from `from` to `to`, both in units of time since the measuring window opened; by default all of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Snapshots {
    /// The first moment, from the opening of the measuring window; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<NonNegative>,
    /// The end; by default that of the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Positive>,
    /// Time from one moment to the next; or give a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Positive>,
    /// How many moments, evenly spaced; 200 unless there is a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<Count>,
    /// The most servers, chosen evenly among all; 200 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<Count>,
}

impl Snapshots {
    /// The most lengths that are kept.
    pub const MOST_LENGTHS: u64 = 1_000_000;

    /// The replication that is looked at.
    pub const REPLICATION: u64 = 0;

    /// Start and end, from the opening of the window and not beyond its end.
    fn ends(&self, window: Window) -> (f64, f64) {
        let to = self.to.map_or(window.length(), |to| to.get().min(window.length()));
        (self.from.map_or(0.0, NonNegative::get).min(to), to)
    }

    /// Time from one moment to the next.
    pub fn step(&self, window: Window) -> f64 {
        let (from, to) = self.ends(window);
        let count = self.count.map_or(MOMENTS, Count::get);
        self.step.map_or((to - from) / count as f64, Positive::get)
    }

    /// The number of moments; the end is none of them.
    pub fn moments(&self, window: Window) -> u64 {
        let (from, to) = self.ends(window);
        match self.step {
            None => self.count.map_or(MOMENTS, Count::get),
            Some(step) => (((to - from) / step.get()) * (1.0 - 4.0 * f64::EPSILON)).ceil().max(1.0) as u64,
        }
    }

    /// How many servers are looked at.
    pub fn servers(&self, servers: u64) -> u64 {
        self.servers.map_or(SERVERS, Count::get).min(servers)
    }

    /// The lengths of the grid.
    pub fn lengths(&self, window: Window, servers: u64) -> u64 {
        self.moments(window).saturating_mul(self.servers(servers))
    }
}

/// Lengths of queues at moments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    /// The moments.
    pub times: Vec<f64>,
    /// The servers, by their numbers from 0.
    pub servers: Vec<u32>,
    /// For each moment, the length at each of these servers.
    pub jobs: Vec<Vec<u32>>,
}

/// Keeps the lengths of all queues, and reads them at each moment of the grid, just before what happens at that very moment.
#[derive(Clone, Debug)]
pub(super) struct Camera {
    start: f64,
    step: f64,
    next: f64,
    moments: usize,
    now: Vec<u32>,
    taken: Lengths,
}

impl Camera {
    /// Looks at what `snapshot` shows from now on; `None` if it does not know one server from another.
    pub(super) fn new(grid: &Snapshots, window: Window, snapshot: &Snapshot<'_>) -> Option<Self> {
        let all = snapshot.lengths.len() as u64;
        let shown = grid.servers(all);
        let servers = (0..shown).map(|i| (i * all / shown) as u32).collect();
        let start = window.open + grid.ends(window).0;
        let moments = usize::try_from(grid.moments(window)).ok()?;
        (all > 0).then(|| Self {
            start,
            step: grid.step(window),
            next: start,
            moments,
            now: snapshot.lengths.to_vec(),
            taken: Lengths { times: Vec::new(), servers, jobs: Vec::new() },
        })
    }

    /// A queue is about to have another length.
    #[inline]
    pub(super) fn change(&mut self, change: &LengthChange) {
        self.follow(change.time);
        if let Some(length) = self.now.get_mut(change.server as usize) {
            *length = change.new;
        }
    }

    /// In slotted time: these lengths hold for the slot that ends at `end`.
    pub(super) fn hold(&mut self, end: f64, lengths: &[u32]) {
        if end > self.next {
            self.now.clear();
            self.now.extend_from_slice(lengths);
            while end > self.next {
                self.take();
            }
        }
    }

    /// Reads all moments up to `time`.
    #[inline]
    fn follow(&mut self, time: f64) {
        while time >= self.next {
            self.take();
        }
    }

    #[cold]
    fn take(&mut self) {
        let lengths = self.taken.servers.iter().map(|&server| self.now[server as usize]).collect();
        self.taken.jobs.push(lengths);
        self.taken.times.push(self.next);
        let taken = self.taken.times.len();
        // Products of the step drift less than sums of it.
        self.next = if taken < self.moments { self.start + taken as f64 * self.step } else { f64::INFINITY };
    }

    /// What was read; nothing has changed since the last change.
    pub(super) fn into_lengths(mut self) -> Lengths {
        while self.taken.times.len() < self.moments {
            self.take();
        }
        self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(yaml: &str) -> Snapshots {
        serde_yaml::from_str(yaml).expect("a grid")
    }

    fn start(lengths: &[u32]) -> Snapshot<'_> {
        Snapshot {
            time: 10.0,
            lengths,
            local: false,
            estimates: &[],
            counts: &[],
            remaining_time: Some(0.0),
            at_dispatchers: 0,
            slotted: false,
        }
    }

    #[test]
    fn grids_have_their_first_moment_and_not_the_end() {
        let window = Window { open: 10.0, close: 20.0 };
        let of = |yaml| {
            let grid = grid(yaml);
            (grid.moments(window), grid.step(window))
        };
        assert_eq!(of("{}"), (200, 0.05));
        assert_eq!(of("{step: 1}"), (10, 1.0));
        assert_eq!(of("{step: 3}"), (4, 3.0));
        assert_eq!(of("{step: 0.1, to: 0.3}"), (3, 0.1));
        assert_eq!(of("{from: 2, to: 6, count: 8}"), (8, 0.5));
        assert_eq!(of("{from: 2, to: 600, count: 8}"), (8, 1.0));
        assert_eq!(of("{step: 70}"), (1, 70.0));
    }

    #[test]
    fn reads_what_was_there_before_the_change() {
        let window = Window { open: 10.0, close: 14.0 };
        let mut camera = Camera::new(&grid("{step: 1}"), window, &start(&[1, 0, 5])).expect("servers");
        let change = |time, server, old, new| LengthChange { time, server, class: 0, old, new };
        camera.change(&change(10.5, 1, 0, 1));
        camera.change(&change(11.0, 0, 1, 0));
        camera.change(&change(12.5, 2, 5, 6));
        let lengths = camera.into_lengths();
        assert_eq!(lengths.times, [10.0, 11.0, 12.0, 13.0]);
        assert_eq!(lengths.servers, [0, 1, 2]);
        assert_eq!(lengths.jobs, [[1, 0, 5], [1, 1, 5], [0, 1, 5], [0, 1, 6]]);
    }

    /// Lengths hold for whole slots, and a moment sees those of the slot that it begins.
    #[test]
    fn reads_the_slot_that_begins() {
        let window = Window { open: 10.0, close: 14.0 };
        let mut camera = Camera::new(&grid("{step: 2}"), window, &start(&[0, 0])).expect("servers");
        for (end, lengths) in [(11.0, [1, 0]), (12.0, [2, 0]), (13.0, [3, 0]), (14.0, [4, 1])] {
            camera.hold(end, &lengths);
        }
        let lengths = camera.into_lengths();
        assert_eq!(lengths.times, [10.0, 12.0]);
        assert_eq!(lengths.jobs, [[1, 0], [3, 0]]);
    }

    #[test]
    fn fewer_servers_are_spread_over_all() {
        let window = Window { open: 0.0, close: 1.0 };
        let camera = Camera::new(&grid("{servers: 3, count: 1}"), window, &start(&[0, 1, 2, 3, 4, 5, 6]));
        let lengths = camera.expect("servers").into_lengths();
        assert_eq!(lengths.servers, [0, 2, 4]);
        assert_eq!(lengths.jobs, [[0, 2, 4]]);
        assert!(Camera::new(&grid("{}"), window, &start(&[])).is_none());
    }
}

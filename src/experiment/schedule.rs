//! Which cell is next: points in grid order, replications in theirs, more of them where a precision asks for it.

use super::pilot::{Flight, Pilot};
use super::replication::company;
use crate::measure::{Metric, Record, Weight};
use crate::model::Window;
use crate::output::{Cell, Cells, Settled};
use crate::scenario::{Goal, Plan, Study};
use crate::stats::{Decision, Precision, Sample};
use std::collections::BTreeMap;
use std::{fmt, io};

/// A share of the cells of an experiment: number `index` (from 0) of `of` shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which share, from 0.
    pub index: u64,
    /// Of how many.
    pub of: u64,
}

impl Shard {
    /// All cells.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// How many of the cells with numbers below this one are its own.
    fn below(self, number: u64) -> u64 {
        number / self.of + u64::from(number % self.of > self.index)
    }

    fn owns(self, number: u64) -> bool {
        number % self.of == self.index
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.of)
    }
}

/// What a worker does next.
#[derive(Debug)]
pub(super) enum Task {
    /// A pilot replication of a point.
    Pilot(usize, Flight),
    /// Replications of a point, in this window.
    Cells(Vec<Cell>, Window),
    /// Nothing until another worker has finished something.
    Wait,
    /// Nothing any more.
    Done,
}

#[derive(Debug)]
enum Phase {
    /// Its window is not known.
    Fresh,
    /// Pilot runs look for its window.
    Pilot(Pilot),
    /// Its own window is known, that of the policies compared with it not yet.
    Settled,
    /// Replications run.
    Running(Window),
    /// All its replications are there.
    Closed,
}

/// By replication, the value and weight of each metric that must be precise.
type ValuesByReplication = BTreeMap<u64, Vec<Option<(f64, f64)>>>;

#[derive(Debug)]
struct PointState {
    phase: Phase,
    /// Replications wanted so far.
    target: u64,
    /// The first replication that is neither there nor given to a worker.
    next: u64,
    in_flight: u64,
    values: ValuesByReplication,
    /// Number of the first cell among all cells.
    offset: u64,
}

/// The cells of a study that are there, and what is still to do.
#[derive(Debug)]
pub(super) struct Schedule<'a> {
    study: &'a Study,
    shard: Shard,
    cells: Cells,
    points: Vec<PointState>,
    /// All points before this one are closed.
    first: usize,
    in_flight: u64,
    wanted: u64,
    done: u64,
}

impl<'a> Schedule<'a> {
    /// The schedule of what is missing in `cells`.
    ///
    /// # Errors
    /// If a cell cannot be read.
    pub(super) fn new(study: &'a Study, cells: Cells, shard: Shard) -> io::Result<Self> {
        let mut offset = 0;
        let points = study.points.iter().map(|point| {
            let target = first_target(&point.plan);
            let state =
                PointState { phase: Phase::Fresh, target, next: 0, in_flight: 0, values: BTreeMap::new(), offset };
            offset = u64::saturating_add(offset, point.plan.replications);
            state
        });
        let points = points.collect();
        let mut schedule = Self { study, shard, cells, points, first: 0, in_flight: 0, wanted: 0, done: 0 };
        for p in 0..study.points.len() {
            schedule.want(p, 0..schedule.points[p].target);
            if let Some(goal) = &study.points[p].plan.goal {
                for cell in schedule.cells.replications(p as u64).collect::<Vec<_>>() {
                    let record = schedule.cells.read(cell)?;
                    schedule.points[p].values.insert(cell.replication, goal_values(goal, &record));
                }
            }
        }
        Ok(schedule)
    }

    pub(super) fn cells(&self) -> &Cells {
        &self.cells
    }

    pub(super) fn cells_mut(&mut self) -> &mut Cells {
        &mut self.cells
    }

    /// The next task for one of so many workers.
    ///
    /// # Errors
    /// If what a point needs to start cannot be written.
    pub(super) fn next(&mut self, workers: usize) -> io::Result<Task> {
        for p in self.first..self.points.len() {
            if let Some(task) = self.next_of(p, workers)? {
                self.in_flight += if let Task::Cells(cells, _) = &task { cells.len() as u64 } else { 1 };
                return Ok(task);
            }
            if p == self.first && matches!(self.points[p].phase, Phase::Closed) {
                self.first += 1;
            }
        }
        Ok(if self.in_flight > 0 { Task::Wait } else { Task::Done })
    }

    fn next_of(&mut self, p: usize, workers: usize) -> io::Result<Option<Task>> {
        loop {
            match &mut self.points[p].phase {
                Phase::Closed => return Ok(None),
                Phase::Fresh => self.start(p)?,
                Phase::Pilot(pilot) => return Ok(pilot.next().map(|flight| Task::Pilot(p, flight))),
                Phase::Settled => match self.window(p) {
                    Some(window) => self.points[p].phase = Phase::Running(window),
                    None => {
                        // The policies compared with this one need their windows first.
                        for q in self.group(p) {
                            if matches!(self.points[q].phase, Phase::Fresh) {
                                self.start(q)?;
                            }
                            if let Phase::Pilot(pilot) = &mut self.points[q].phase
                                && let Some(flight) = pilot.next()
                            {
                                return Ok(Some(Task::Pilot(q, flight)));
                            }
                        }
                        if self.window(p).is_none() {
                            return Ok(None);
                        }
                    }
                },
                Phase::Running(window) => {
                    let window = *window;
                    let cells = self.next_cells(p, workers);
                    if !cells.is_empty() {
                        self.points[p].in_flight += cells.len() as u64;
                        return Ok(Some(Task::Cells(cells, window)));
                    }
                    if self.points[p].in_flight > 0 || !self.raise_target(p) {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Looks for the window of a point, unless it is known or no cell of the point is in this share.
    fn start(&mut self, p: usize) -> io::Result<()> {
        let plan = &self.study.points[p].plan;
        let group = self.group(p);
        let wanted = group.into_iter().any(|q| (0..self.points[q].target).any(|replication| self.owns(q, replication)));
        self.points[p].phase = if !wanted {
            Phase::Closed
        } else if self.cells.settled(p as u64).is_some() {
            Phase::Settled
        } else {
            match Pilot::new(plan) {
                Ok(pilot) => Phase::Pilot(pilot),
                Err(settled) => {
                    self.cells.settle(p as u64, settled)?;
                    Phase::Settled
                }
            }
        };
        Ok(())
    }

    /// The points that differ from this one in the policy only.
    fn group(&self, p: usize) -> std::ops::Range<usize> {
        let first = p - p % self.study.policies;
        first..first + self.study.policies
    }

    /// The window of a point: the longest of the policies that are compared, so that all meet the same arrivals.
    pub(super) fn window(&self, p: usize) -> Option<Window> {
        let settled = |q: usize| self.cells.settled(q as u64).map(|settled| settled.window);
        if !self.study.points[p].plan.choose.any() {
            return settled(p);
        }
        let windows: Vec<Window> = self.group(p).map(settled).collect::<Option<_>>()?;
        let longest = |of: fn(&Window) -> f64| windows.iter().map(of).fold(0.0, f64::max);
        let open = longest(|window| window.open);
        Some(Window { open, close: open + longest(Window::length) })
    }

    /// Replications of a point that go together, if enough are wanted to keep all workers busy with such companies; else
    /// one, or none.
    fn next_cells(&mut self, p: usize, workers: usize) -> Vec<Cell> {
        let company = company(&self.study.points[p].plan);
        let waiting = self.wanted.saturating_sub(self.done + self.in_flight);
        let most = if waiting >= (company * workers) as u64 { company } else { 1 };
        let cell = |replication| Cell { point: p as u64, replication };
        let mut cells: Vec<Cell> = (0..most).map_while(|_| self.next_replication(p)).map(cell).collect();
        if cells.len() < most && cells.len() > 1 {
            self.points[p].next = cells[1].replication;
            cells.truncate(1);
        }
        cells
    }

    fn next_replication(&mut self, p: usize) -> Option<u64> {
        loop {
            let state = &mut self.points[p];
            if state.next >= state.target {
                return None;
            }
            let replication = state.next;
            state.next += 1;
            if self.owns(p, replication) && !self.cells.has(Cell { point: p as u64, replication }) {
                return Some(replication);
            }
        }
    }

    /// Whether a precision asks for more replications; else the point is closed.
    fn raise_target(&mut self, p: usize) -> bool {
        let target = self.points[p].target;
        let raised = match &self.study.points[p].plan.goal {
            Some(goal) => next_target(&self.study.points[p].plan, goal, target, &self.points[p].values),
            None => target,
        };
        if raised == target {
            self.points[p].phase = Phase::Closed;
            return false;
        }
        self.points[p].target = raised;
        self.want(p, target..raised);
        true
    }

    /// A pilot replication has ended.
    ///
    /// # Errors
    /// If the window it leads to cannot be written.
    pub(super) fn land(&mut self, p: usize, flight: Flight, means: Vec<f64>) -> io::Result<()> {
        self.in_flight -= 1;
        if let Phase::Pilot(pilot) = &mut self.points[p].phase
            && let Some(settled) = pilot.land(flight, means)
        {
            self.keep(p, settled)?;
        }
        Ok(())
    }

    fn keep(&mut self, p: usize, settled: Settled) -> io::Result<()> {
        tracing::debug!(point = p, open = settled.window.open, close = settled.window.close, "window found");
        self.cells.settle(p as u64, settled)?;
        self.points[p].phase = Phase::Settled;
        Ok(())
    }

    /// A replication has ended.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn finish(&mut self, cell: Cell, record: Record) -> io::Result<()> {
        self.in_flight -= 1;
        self.done += 1;
        let p = cell.point as usize;
        self.points[p].in_flight -= 1;
        if let Some(goal) = &self.study.points[p].plan.goal {
            self.points[p].values.insert(cell.replication, goal_values(goal, &record));
        }
        self.cells.append(cell, record)
    }

    /// How many cells of this share are wanted so far, and how many of them are there.
    pub(super) fn count(&self) -> (u64, u64) {
        (self.wanted, self.done)
    }

    fn owns(&self, p: usize, replication: u64) -> bool {
        match self.study.points[p].plan.goal {
            // The replications of a point decide together how many are needed.
            Some(_) => self.shard.owns((p / self.study.policies) as u64),
            None => self.shard.owns(self.points[p].offset.saturating_add(replication)),
        }
    }

    /// Adds cells of a point to those wanted.
    fn want(&mut self, p: usize, replications: std::ops::Range<u64>) {
        let there = self.cells.replications(p as u64).filter(|cell| replications.contains(&cell.replication));
        self.done += there.filter(|cell| self.owns(p, cell.replication)).count() as u64;
        let offset = self.points[p].offset;
        self.wanted += match self.study.points[p].plan.goal {
            Some(_) if self.owns(p, 0) => replications.end - replications.start,
            Some(_) => 0,
            None => {
                let below = |replication: u64| self.shard.below(offset.saturating_add(replication));
                below(replications.end) - below(replications.start)
            }
        };
    }

    /// Whether a point has the most replications that it may have, and is still not as precise as wanted.
    pub(super) fn is_exhausted(&self, p: usize) -> bool {
        let state = &self.points[p];
        let plan = &self.study.points[p].plan;
        plan.goal.as_ref().is_some_and(|goal| {
            let complete = (0..state.target).all(|r| state.values.contains_key(&r));
            complete && matches!(decide(plan, goal, state.target, &state.values), Some(Decision::Exhausted { .. }))
        })
    }

    /// The replications that a point needs, as far as what is there tells.
    pub(super) fn target(&mut self, p: usize) -> u64 {
        let plan = &self.study.points[p].plan;
        if let Some(goal) = &plan.goal {
            let state = &mut self.points[p];
            loop {
                let complete = (0..state.target).all(|r| state.values.contains_key(&r));
                let raised = if complete { next_target(plan, goal, state.target, &state.values) } else { state.target };
                if raised == state.target {
                    break;
                }
                state.target = raised;
            }
        }
        self.points[p].target
    }
}

/// The replications to start with.
fn first_target(plan: &Plan) -> u64 {
    match &plan.goal {
        None => plan.replications,
        Some(goal) => procedure(plan, goal).next_look(0) as u64,
    }
}

fn procedure(plan: &Plan, goal: &Goal) -> Precision {
    let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let procedure = Precision::new(goal.relative).expect("the scenario reader lets only positive precisions pass");
    procedure.with_minimum(size(plan.replications).max(Precision::MINIMUM)).with_maximum(size(goal.max_replications))
}

/// The replications to go on to, from the values of the first `target`; the same number to stop.
fn next_target(plan: &Plan, goal: &Goal, target: u64, values: &ValuesByReplication) -> u64 {
    match decide(plan, goal, target, values) {
        Some(Decision::Continue { next, .. }) => next as u64,
        // A metric that is not measured would never be precise.
        Some(Decision::Stop { .. } | Decision::Exhausted { .. }) | None => target,
    }
}

fn decide(plan: &Plan, goal: &Goal, target: u64, values: &ValuesByReplication) -> Option<Decision> {
    let columns: Vec<(Vec<f64>, Vec<f64>)> = (0..goal.metrics.len())
        .map(|i| values.range(..target).map(|(_, of_metric)| of_metric[i].unwrap_or((f64::NAN, 0.0))).unzip())
        .collect();
    let samples: Option<Vec<Sample<'_>>> =
        columns.iter().map(|(values, weights)| Sample::weighted(values, weights)).collect();
    Some(procedure(plan, goal).decide(target as usize, &samples?, plan.confidence))
}

fn goal_values(goal: &Goal, record: &Record) -> Vec<Option<(f64, f64)>> {
    let of = |(metric, key): &(Metric, String)| {
        let reading = record.readings.iter().find(|reading| reading.metric == *metric && reading.key == *key);
        let value = match reading {
            Some(reading) => reading.value,
            None => metric.absent_is_zero().then_some(0.0),
        };
        let balance = &record.balance;
        let weight = match metric.weight() {
            Weight::Equal => 1.0,
            Weight::Arrived => balance.arrived as f64,
            Weight::Joined => (balance.arrived - balance.blocked) as f64,
        };
        value.map(|value| (value, weight))
    };
    goal.metrics.iter().map(of).collect()
}

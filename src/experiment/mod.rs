//! The composition root: points times replications on all cores, each finished cell kept, gathered in order.

mod columns;
mod comparison;
mod distance;
mod estimates;
mod gather;
mod pilot;
mod pooled;
mod replication;
mod schedule;
mod time_course;

pub use schedule::Shard;

use crate::engine::EngineError;
use crate::measure::Record;
use crate::output::{Cells, Comparison, Origin, Results};
use crate::scenario::{Plan, Study};
use crate::stats::Warning;
use gather::Gather;
use schedule::{Schedule, Task};
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};
use std::{fmt, io};

/// How far an experiment is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Cells that are there.
    pub done: u64,
    /// Cells that are wanted so far; a precision may ask for more.
    pub wanted: u64,
    /// Half-width over estimate of the interval that is widest at present, of the mean number of jobs.
    pub widest: Option<f64>,
}

/// Watches an experiment, and may stop it. It has no influence on the numbers.
pub trait Monitor: Sync {
    /// Part of a cell, as a fraction of it, has been done.
    fn advanced(&self, _fraction: f64) {}
    /// A cell is finished and kept.
    fn finished(&self, _progress: Progress) {}
    /// Whether to stop as soon as possible; finished cells count.
    fn stopped(&self) -> bool {
        false
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Monitor for Unwatched {}

/// Why an experiment cannot go on; the cells finished before are kept.
#[derive(Debug)]
pub enum RunError {
    /// An engine cannot go on.
    Engine(EngineError),
    /// A file cannot be read or written.
    Io(io::Error),
}

impl From<EngineError> for RunError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

/// What the cells of an experiment belong to.
pub fn origin(study: &Study) -> Origin {
    Origin { version: env!("CARGO_PKG_VERSION").to_owned(), scenario: study.to_yaml() }
}

/// An experiment whose cells are there as far as they have been run.
#[derive(Debug)]
pub struct Experiment<'a> {
    study: &'a Study,
    schedule: Schedule<'a>,
    started: SystemTime,
    clock: Instant,
}

impl<'a> Experiment<'a> {
    /// The share `shard` of the experiment, of which `cells` are there already.
    ///
    /// # Errors
    /// If a cell cannot be read.
    pub fn new(study: &'a Study, cells: Cells, shard: Shard) -> io::Result<Self> {
        let schedule = Schedule::new(study, cells, shard)?;
        Ok(Self { study, schedule, started: SystemTime::now(), clock: Instant::now() })
    }

    /// Cells that are there and cells that are wanted so far.
    pub fn progress(&self) -> Progress {
        let (wanted, done) = self.schedule.count();
        Progress { done, wanted, widest: None }
    }

    /// How many cells of the whole experiment are missing, as far as those that are there tell.
    pub fn missing(&mut self) -> u64 {
        let missing = |p: usize| {
            let target = self.schedule.target(p);
            let there = self.schedule.cells().replications(p as u64).take_while(|cell| cell.replication < target);
            target - there.count() as u64
        };
        (0..self.study.points.len()).map(missing).sum()
    }

    /// The cells.
    pub fn cells(&mut self) -> &mut Cells {
        self.schedule.cells_mut()
    }

    /// Runs the cells that are missing on `threads` threads, until all are there or the monitor stops it.
    ///
    /// The numbers do not depend on the number of threads: each replication has its own random streams, and how many
    /// there are depends on those before only.
    ///
    /// # Errors
    /// If an engine cannot go on or a cell cannot be written; cells finished before are kept.
    pub fn run(&mut self, threads: NonZeroUsize, monitor: &dyn Monitor) -> Result<(), RunError> {
        let study = self.study;
        let shared =
            Mutex::new(Shared { schedule: &mut self.schedule, widths: gather::Widths::new(study), ended: false });
        let changed = Condvar::new();
        let threads = threads.get().min(MOST_THREADS);
        let work = || {
            let result = work(study, &shared, &changed, monitor, threads);
            if result.is_err() {
                lock(&shared).ended = true;
            }
            changed.notify_all();
            result
        };
        let results: Vec<_> = std::thread::scope(|scope| {
            let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, work);
            let handles: Vec<_> = (0..threads).map_while(|i| spawn(i).ok()).collect();
            if handles.is_empty() {
                return vec![Err(RunError::Io(io::Error::other("no thread can be started")))];
            }
            let join = |handle: std::thread::ScopedJoinHandle<'_, _>| match handle.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            handles.into_iter().map(join).collect()
        });
        let synced = self.schedule.cells_mut().sync();
        results.into_iter().collect::<Result<(), RunError>>()?;
        Ok(synced?)
    }

    /// Gives the results of each point that has a finished cell to `take`, in grid order, and the comparisons of
    /// policies to `compare`.
    ///
    /// # Errors
    /// If a cell cannot be read, or a taker fails.
    pub fn results(
        &mut self,
        mut take: impl FnMut(Results) -> io::Result<()>,
        mut compare: impl FnMut(Vec<Comparison>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut baseline: Option<Results> = None;
        for p in 0..self.study.points.len() {
            let results = self.point(p)?;
            if self.study.policies > 1 {
                if p % self.study.policies == 0 {
                    baseline = results.as_ref().map(Results::without_histograms);
                } else if let (Some(baseline), Some(results)) = (&baseline, &results) {
                    let plan = &self.study.points[p].plan;
                    let group = (p / self.study.policies) as u64;
                    compare(comparison::compare(plan, group, baseline, results))?;
                }
            }
            if let Some(results) = results {
                take(results)?;
            }
        }
        Ok(())
    }

    /// The results of a point; none if no cell of it is there.
    fn point(&mut self, p: usize) -> io::Result<Option<Results>> {
        let study = self.study;
        let target = self.schedule.target(p);
        let point = &study.points[p];
        let Some(window) = self.schedule.window(p) else { return Ok(None) };
        let mut gather = Gather::new(&point.plan, window, target);
        let mut any = false;
        let cells = self.schedule.cells();
        for cell in cells.replications(p as u64).take_while(|cell| cell.replication < target) {
            gather.add(cell.replication, cells.read(cell)?);
            any = true;
        }
        if let Some(doubt) = cells.settled(p as u64).and_then(|settled| settled.doubt.as_ref()) {
            gather.doubt(Warning::new("not_settled", doubt));
        }
        if self.schedule.is_exhausted(p) {
            let message = "run.max_replications were not enough for run.precision; raise it, or ask for less precision";
            gather.doubt(Warning::new("precision_not_reached", message));
        }
        let results = gather.finish(self.started, self.clock.elapsed());
        Ok(any.then(|| Results {
            point: p as u64,
            labels: point.labels.clone(),
            scenario_yaml: study.to_yaml(),
            ..results
        }))
    }
}

/// More threads than this are not started, however many are asked for.
const MOST_THREADS: usize = 1024;

/// What workers share.
struct Shared<'s, 'a> {
    schedule: &'s mut Schedule<'a>,
    widths: gather::Widths,
    /// Whether a worker has failed.
    ended: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs tasks until there are none.
fn work(
    study: &Study,
    shared: &Mutex<Shared<'_, '_>>,
    changed: &Condvar,
    monitor: &dyn Monitor,
    workers: usize,
) -> Result<(), RunError> {
    loop {
        let mut now = lock(shared);
        let task = loop {
            if now.ended || monitor.stopped() {
                return Ok(());
            }
            match now.schedule.next(workers)? {
                Task::Wait => now = changed.wait(now).unwrap_or_else(PoisonError::into_inner),
                task => break task,
            }
        };
        drop(now);
        match task {
            Task::Done | Task::Wait => return Ok(()),
            Task::Pilot(p, flight) => {
                let Some(means) = replication::pilot(&study.points[p].plan, flight, monitor)? else { return Ok(()) };
                lock(shared).schedule.land(p, flight, means)?;
            }
            Task::Cells(cells, window) => {
                let plan = &study.points[cells[0].point as usize].plan;
                let indices: Vec<u64> = cells.iter().map(|cell| cell.replication).collect();
                let Some(records) = replication::run_all(plan, window, &indices, monitor)? else { return Ok(()) };
                let mut now = lock(shared);
                for (cell, record) in cells.into_iter().zip(records) {
                    let widest = now.widths.add(cell, &record);
                    now.schedule.finish(cell, record)?;
                    let (wanted, done) = now.schedule.count();
                    monitor.finished(Progress { done, wanted, widest });
                }
            }
        }
        changed.notify_all();
    }
}

/// Runs all replications of a plan on `threads` threads, and keeps nothing on disk.
///
/// # Errors
/// If an engine cannot go on.
pub fn run(plan: &Plan, threads: NonZeroUsize, monitor: &dyn Monitor) -> Result<Results, RunError> {
    let study = Study::single(plan.clone());
    let mut experiment = Experiment::new(&study, Cells::in_memory(origin(&study)), Shard::WHOLE)?;
    experiment.run(threads, monitor)?;
    let results = experiment.point(0)?;
    Ok(match results {
        Some(results) => results,
        None => {
            Gather::new(plan, plan.window, plan.replications).finish(experiment.started, experiment.clock.elapsed())
        }
    })
}

/// The record of a single replication, equal to the one it has within a run of many; its window is that of the plan.
///
/// # Errors
/// If the engine cannot go on.
pub fn run_replication(plan: &Plan, index: u64) -> Result<Record, EngineError> {
    replication::run(plan, plan.window, index, &Unwatched).map(|record| record.expect("nobody stops an unwatched run"))
}

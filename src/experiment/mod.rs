//! The composition root: replications on all cores, gathered in order into one result.

mod distance;
mod estimates;
mod gather;
mod replication;
mod time_course;

use crate::engine::EngineError;
use crate::measure::Record;
use crate::output::Results;
use crate::scenario::Plan;
use gather::Gather;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

/// Watches an experiment, and may stop it. It has no influence on the numbers.
pub trait Monitor: Sync {
    /// Part of a replication, as a fraction of it, has been done.
    fn advanced(&self, _fraction: f64) {}
    /// Whether to stop as soon as possible; finished replications count.
    fn stopped(&self) -> bool {
        false
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Monitor for Unwatched {}

/// Runs all replications of a plan on `threads` threads.
///
/// The numbers do not depend on the number of threads: each replication has its own random streams, and replications
/// are gathered in order.
///
/// # Errors
/// If an engine cannot go on.
pub fn run(plan: &Plan, threads: NonZeroUsize, monitor: &dyn Monitor) -> Result<Results, EngineError> {
    let started = SystemTime::now();
    let clock = Instant::now();
    let next = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let gather = Mutex::new(Gather::new(plan));
    let work = || -> Result<(), EngineError> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= plan.replications || failed.load(Ordering::Relaxed) || monitor.stopped() {
                return Ok(());
            }
            match replication::run(plan, index, monitor) {
                Ok(Some(record)) => gather_one(&gather, index, record),
                Ok(None) => return Ok(()),
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    let workers = threads.get().min(usize::try_from(plan.replications).unwrap_or(usize::MAX));
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        handles.into_iter().try_for_each(|handle| match handle.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let gather = gather.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(gather.finish(started, clock.elapsed()))
}

fn gather_one(gather: &Mutex<Gather<'_>>, index: u64, record: Record) {
    gather.lock().unwrap_or_else(std::sync::PoisonError::into_inner).add(index, record);
}

/// The record of a single replication, equal to the one it has within a run of many.
///
/// # Errors
/// If the engine cannot go on.
pub fn run_replication(plan: &Plan, index: u64) -> Result<Record, EngineError> {
    replication::run(plan, index, &Unwatched).map(|record| record.expect("nobody stops an unwatched run"))
}

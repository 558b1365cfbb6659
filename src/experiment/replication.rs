//! One replication: warm-up, in which only the ages of estimates are followed, then the measuring window.

use super::Monitor;
use super::pilot::Flight;
use crate::engine::{
    Both, ClockEngine, Engine, EngineError, EventEngine, Observer, OccupancyEngine, Progress, SlottedEngine, Unobserved,
};
use crate::measure::{JobsCourse, Measure, Part, Probes, Record, Refreshes, Snapshots};
use crate::model::Window;
use crate::scenario::{EngineKind, Plan};

/// Events between two looks at the monitor.
const STRIDE: u64 = 1 << 16;

/// What is done with an engine; `None` if it was stopped.
trait Job {
    type Outcome;

    fn run<E: Engine>(self, engine: E) -> Result<Option<Self::Outcome>, EngineError>;
}

/// Does a job with the engine of the plan, on the random streams of a replication.
fn with_engine<J: Job>(plan: &Plan, window: Window, index: u64, job: J) -> Result<Option<J::Outcome>, EngineError> {
    let Plan { system, policy, seed, .. } = plan;
    let holding = plan.holding(window);
    match (&plan.slots, plan.engine.kind) {
        (Some(slots), _) => job.run(SlottedEngine::new(system, slots, policy, *seed, index)?),
        (None, EngineKind::Clock) => job.run(ClockEngine::new(system, policy, holding, *seed, index)?),
        (None, EngineKind::Occupancy) => job.run(OccupancyEngine::new(system, policy, holding, *seed, index)?),
        (None, EngineKind::Event | EngineKind::Slotted) => job.run(EventEngine::new(system, policy, *seed, index)?),
    }
}

/// Runs replication `index` with this window; `None` if it was stopped.
pub(super) fn run(
    plan: &Plan,
    window: Window,
    index: u64,
    monitor: &dyn Monitor,
) -> Result<Option<Record>, EngineError> {
    tracing::debug!(replication = index, "replication starts");
    let record = with_engine(plan, window, index, Measured { plan, window, index, monitor })?;
    if let Some(record) = &record {
        tracing::debug!(replication = index, arrived = record.balance.arrived, "replication ends");
    }
    Ok(record)
}

/// A warm-up and a window.
struct Measured<'a> {
    plan: &'a Plan,
    window: Window,
    index: u64,
    monitor: &'a dyn Monitor,
}

impl Job for Measured<'_> {
    type Outcome = Record;

    fn run<E: Engine>(self, mut engine: E) -> Result<Option<Record>, EngineError> {
        let Self { plan, window, index, monitor } = self;
        let snapshots = plan.measure.snapshots.clone().filter(|_| index == Snapshots::REPLICATION);
        let measure = &Measure { snapshots, ..plan.measure.clone() };
        let mut refreshes =
            if measure.estimate_age { Refreshes::new(&engine.snapshot()) } else { Refreshes::default() };
        let told = |passed: f64| monitor.advanced(passed / window.close);
        let warm = if plan.is_counted() {
            // An engine that counts by itself is quicker than one that tells those who look away.
            let warmup = Window { open: engine.now(), close: window.open };
            // Where dispatchers matter they are drawn from the start.
            let nothing = Measure { dispatchers: measure.dispatchers, ..Measure::nothing() };
            let nothing = Probes::new(&nothing, &plan.system, &plan.policy, warmup, &engine.snapshot());
            advance(&mut engine, window.open, &mut nothing.counting(Some(0)), monitor, told)?
        } else {
            advance(&mut engine, window.open, &mut refreshes, monitor, told)?
        };
        if !warm {
            return Ok(None);
        }
        let mut probes =
            Probes::new(measure, &plan.system, &plan.policy, window, &engine.snapshot()).knowing(refreshes);
        if plan.is_counted() {
            probes = probes.counting(plan.policy.messages_per_choice(&plan.system.servers));
        }
        let mut parts = Vec::new();
        if plan.batching.is_none() {
            if !advance(&mut engine, window.close, &mut probes, monitor, told)? {
                return Ok(None);
            }
        } else {
            for part in 1..=PARTS {
                let open = engine.now();
                let close = if part == PARTS {
                    window.close
                } else {
                    window.open + window.length() * part as f64 / PARTS as f64
                };
                let part_window = Window { open, close };
                let part_measure =
                    Measure { tail_histogram_levels: 0, estimate_age: false, snapshots: None, ..measure.clone() };
                let mut of_part =
                    Probes::new(&part_measure, &plan.system, &plan.policy, part_window, &engine.snapshot());
                if !advance(&mut engine, close, &mut Both(&mut probes, &mut of_part), monitor, told)? {
                    return Ok(None);
                }
                engine.close(&mut of_part);
                let record = of_part.into_record();
                let outlines = record.outlines();
                parts.push(Part { readings: record.readings, balance: record.balance, outlines });
            }
        }
        engine.close(&mut probes);
        Ok(Some(Record { parts, ..probes.into_record() }))
    }
}

/// Parts of a window from which the intervals of a single run are made: batches of one to twelve of them are tried.
const PARTS: u64 = 120;

/// The mean number of jobs over the stretches of a pilot replication; `None` if it was stopped.
pub(super) fn pilot(plan: &Plan, flight: Flight, monitor: &dyn Monitor) -> Result<Option<Vec<f64>>, EngineError> {
    let window = Window { open: flight.open, close: flight.close() };
    with_engine(plan, window, flight.index, Piloted { flight, monitor })
}

/// A pilot replication.
struct Piloted<'a> {
    flight: Flight,
    monitor: &'a dyn Monitor,
}

impl Job for Piloted<'_> {
    type Outcome = Vec<f64>;

    fn run<E: Engine>(self, mut engine: E) -> Result<Option<Vec<f64>>, EngineError> {
        let Self { flight, monitor } = self;
        if !advance(&mut engine, flight.open, &mut Unobserved, monitor, |_| {})? {
            return Ok(None);
        }
        let mut course = JobsCourse::new(&engine.snapshot(), flight.step);
        if !advance(&mut engine, flight.close(), &mut course, monitor, |_| {})? {
            return Ok(None);
        }
        Ok(Some(course.into_means(flight.close())))
    }
}

/// Runs to a time, and tells of the time that passes; false if it was stopped on the way.
fn advance<E: Engine, O: Observer>(
    engine: &mut E,
    end: f64,
    observer: &mut O,
    monitor: &dyn Monitor,
    told: impl Fn(f64),
) -> Result<bool, EngineError> {
    loop {
        let before = engine.now();
        let progress = engine.run_until(end, STRIDE, observer)?;
        told(engine.now() - before);
        match progress {
            Progress::Reached => return Ok(true),
            Progress::Paused if monitor.stopped() => return Ok(false),
            Progress::Paused => {}
        }
    }
}

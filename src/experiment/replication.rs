//! One replication: warm-up, in which only the ages of estimates are followed, then the measuring window.

use super::Monitor;
use super::pilot::Flight;
use crate::engine::{
    Both, ClockEngine, Engine, EngineError, EventEngine, LANES, Observer, OccupancyEngine, Progress, SlottedEngine,
    Unobserved,
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

/// How many replications of a plan go together, if so many are to be run: 1 where that is no quicker.
pub(super) fn company(plan: &Plan) -> usize {
    let is_counted = plan.engine.kind == EngineKind::Occupancy && plan.is_counted();
    if is_counted && OccupancyEngine::can_go_together(&plan.system, &plan.policy) { LANES } else { 1 }
}

/// Runs some replications with this window, side by side where so many go together; `None` if they were stopped.
pub(super) fn run_all(
    plan: &Plan,
    window: Window,
    indices: &[u64],
    monitor: &dyn Monitor,
) -> Result<Option<Vec<Record>>, EngineError> {
    match <[u64; LANES]>::try_from(indices) {
        Ok(indices) if company(plan) == LANES => run_together(plan, window, indices, monitor),
        _ => indices.iter().map(|&index| run(plan, window, index, monitor)).collect(),
    }
}

/// The same for replications that can be counted, whose snapshots nobody wants.
fn run_together(
    plan: &Plan,
    window: Window,
    indices: [u64; LANES],
    monitor: &dyn Monitor,
) -> Result<Option<Vec<Record>>, EngineError> {
    tracing::debug!(replications = ?indices, "replications start together");
    let Plan { system, policy, seed, .. } = plan;
    let engine = |index: u64| OccupancyEngine::new(system, policy, plan.holding(window), *seed, index);
    let [a, b, c, d] = indices.map(engine);
    let mut engines = [a?, b?, c?, d?];
    let advance = |engines: &mut [OccupancyEngine<'_>; LANES], end: f64, probes: &mut [Probes; LANES]| {
        drive(
            monitor,
            |passed| monitor.advanced(LANES as f64 * passed / window.close),
            || {
                let before = engines[0].now();
                let progress = OccupancyEngine::run_together(engines, end, STRIDE, probes)?;
                Ok((progress, engines[0].now() - before))
            },
        )
    };
    let mut nothing = engines.each_ref().map(|engine| warm_up_probes(plan, window, engine));
    if !advance(&mut engines, window.open, &mut nothing)? {
        return Ok(None);
    }
    let probes = |engine: &OccupancyEngine<'_>| {
        let probes = Probes::new(&plan.measure, system, policy, window, &engine.snapshot());
        probes.counting(policy.messages_per_choice(&system.servers))
    };
    let mut probes = engines.each_ref().map(probes);
    if !advance(&mut engines, window.close, &mut probes)? {
        return Ok(None);
    }
    let records = engines.iter_mut().zip(probes).map(|(engine, mut probes)| {
        engine.close(&mut probes);
        probes.into_record()
    });
    Ok(Some(records.collect()))
}

/// What an engine that counts by itself counts before the window opens.
fn warm_up_probes(plan: &Plan, window: Window, engine: &impl Engine) -> Probes {
    let warm_up = Window { open: engine.now(), close: window.open };
    // Where dispatchers matter they are drawn from the start.
    let nothing = Measure { dispatchers: plan.measure.dispatchers, ..Measure::nothing() };
    Probes::new(&nothing, &plan.system, &plan.policy, warm_up, &engine.snapshot()).counting(Some(0))
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
            let mut nothing = warm_up_probes(plan, window, &engine);
            advance(&mut engine, window.open, &mut nothing, monitor, told)?
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
    drive(monitor, told, || {
        let before = engine.now();
        let progress = engine.run_until(end, STRIDE, observer)?;
        Ok((progress, engine.now() - before))
    })
}

/// Goes on by strides, which tell how much time has passed, until one reaches the end; false if it was stopped on the way.
fn drive(
    monitor: &dyn Monitor,
    told: impl Fn(f64),
    mut stride: impl FnMut() -> Result<(Progress, f64), EngineError>,
) -> Result<bool, EngineError> {
    loop {
        let (progress, passed) = stride()?;
        told(passed);
        match progress {
            Progress::Reached => return Ok(true),
            Progress::Paused if monitor.stopped() => return Ok(false),
            Progress::Paused => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Unwatched;

    fn text(record: &Record) -> String {
        serde_json::to_string(record).expect("a record is a tree")
    }

    /// Replications side by side are to the last bit what each is alone: from few servers, whose levels run empty and full, to
    /// many; with queues beyond the levels that are kept near, with buffers, lost jobs and all strategies that join by rank.
    #[test]
    fn replications_are_the_same_side_by_side() {
        let averages = "{tail_histogram_levels: 0, chosen_rank: false, burst_size: false}";
        let mut compared = 0;
        for (servers, time) in [(2, 2_000), (3, 2_000), (10, 1_000), (100, 200), (5_000, 5)] {
            for (load, more) in [
                (0.3, ""),
                (0.9, "initial: fixed_point"),
                (0.95, "initial: {length: 3}"),
                (1.3, ""),
                (1.3, "buffer: 8"),
                (1.2, "buffer: 9, initial: {length: 9}"),
                (0.9, "initial: {length: 20}"),
            ] {
                for dispatch in [
                    "random",
                    "{power_of_d: {d: 2, replacement: true}}",
                    "{power_of_d: {d: 2}}",
                    "{power_of_d: {d: 3, replacement: true}}",
                ] {
                    for measure in [averages, "{burst_size: false}"] {
                        let comma = if more.is_empty() { "" } else { "," };
                        let text_of = format!(
                            "{{engine: occupancy, servers: {servers}, load: {load}, policy: {{dispatch: {dispatch}}},
                             measure: {measure}, run: {{warmup: 1, time: {time}}}{comma} {more}}}"
                        );
                        let plan = Plan::read(&text_of, "text", "test", &[]).unwrap_or_else(|error| panic!("{error}"));
                        let together = run_all(&plan, plan.window, &[3, 1, 7, 6], &Unwatched);
                        let together = together.expect("it runs").expect("nobody stops it");
                        assert_eq!(company(&plan), LANES, "{text_of}");
                        for (record, index) in together.iter().zip([3, 1, 7, 6]) {
                            let alone = run(&plan, plan.window, index, &Unwatched);
                            let alone = alone.expect("it runs").expect("nobody stops it");
                            assert_eq!(text(record), text(&alone), "replication {index} of {text_of}");
                            compared += 1;
                        }
                    }
                }
            }
        }
        assert_eq!(compared, 5 * 7 * 4 * 2 * 4);
    }
}

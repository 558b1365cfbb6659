//! One replication: warm-up, in which only the ages of estimates are followed, then the measuring window.

use super::Monitor;
use crate::engine::{
    ClockEngine, Engine, EngineError, EventEngine, Observer, OccupancyEngine, Progress, SlottedEngine,
};
use crate::measure::{Probes, Record, Refreshes};
use crate::scenario::{EngineKind, Plan};

/// Events between two looks at the monitor.
const STRIDE: u64 = 1 << 16;

/// Runs replication `index`; `None` if it was stopped.
pub(super) fn run(plan: &Plan, index: u64, monitor: &dyn Monitor) -> Result<Option<Record>, EngineError> {
    tracing::debug!(replication = index, "replication starts");
    let Plan { system, policy, seed, .. } = plan;
    let record = match (&plan.slots, plan.engine.kind) {
        (Some(slots), _) => measured(SlottedEngine::new(system, slots, policy, *seed, index)?, plan, monitor),
        (None, EngineKind::Clock) => {
            measured(ClockEngine::new(system, policy, plan.holding(), *seed, index)?, plan, monitor)
        }
        (None, EngineKind::Occupancy) => {
            measured(OccupancyEngine::new(system, policy, plan.holding(), *seed, index)?, plan, monitor)
        }
        (None, EngineKind::Event | EngineKind::Slotted) => {
            measured(EventEngine::new(system, policy, *seed, index)?, plan, monitor)
        }
    }?;
    if let Some(record) = &record {
        tracing::debug!(replication = index, arrived = record.balance.arrived, "replication ends");
    }
    Ok(record)
}

/// Runs an engine through the warm-up and the window.
fn measured<E: Engine>(mut engine: E, plan: &Plan, monitor: &dyn Monitor) -> Result<Option<Record>, EngineError> {
    let mut refreshes =
        if plan.measure.estimate_age { Refreshes::new(&engine.snapshot()) } else { Refreshes::default() };
    if !advance(&mut engine, plan.window.open, &mut refreshes, plan, monitor)? {
        return Ok(None);
    }
    let mut probes = Probes::new(&plan.measure, &plan.system, &plan.policy, plan.window, &engine.snapshot())
        .knowing(refreshes)
        .counting(plan.policy.messages_per_choice(&plan.system.servers), &engine.snapshot());
    if !advance(&mut engine, plan.window.close, &mut probes, plan, monitor)? {
        return Ok(None);
    }
    engine.close(&mut probes);
    Ok(Some(probes.into_record()))
}

/// Runs to a time; false if it was stopped on the way.
fn advance<E: Engine, O: Observer>(
    engine: &mut E,
    end: f64,
    observer: &mut O,
    plan: &Plan,
    monitor: &dyn Monitor,
) -> Result<bool, EngineError> {
    loop {
        let before = engine.now();
        let progress = engine.run_until(end, STRIDE, observer)?;
        monitor.advanced((engine.now() - before) / plan.window.close);
        match progress {
            Progress::Reached => return Ok(true),
            Progress::Paused if monitor.stopped() => return Ok(false),
            Progress::Paused => {}
        }
    }
}

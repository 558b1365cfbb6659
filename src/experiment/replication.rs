//! One replication: warm-up unobserved, then the measuring window.

use super::Monitor;
use crate::engine::{EngineError, EventEngine, Observer, Progress, Unobserved};
use crate::measure::{Probes, Record};
use crate::scenario::Plan;

/// Events between two looks at the monitor.
const STRIDE: u64 = 1 << 16;

/// Runs replication `index`; `None` if it was stopped.
pub(super) fn run(plan: &Plan, index: u64, monitor: &dyn Monitor) -> Result<Option<Record>, EngineError> {
    tracing::debug!(replication = index, "replication starts");
    let mut engine = EventEngine::new(&plan.system, &plan.policy, plan.seed, index)?;
    if !advance(&mut engine, plan.window.open, &mut Unobserved, plan, monitor)? {
        return Ok(None);
    }
    let mut probes = Probes::new(&plan.measure, &plan.system, plan.window, &engine.snapshot());
    if !advance(&mut engine, plan.window.close, &mut probes, plan, monitor)? {
        return Ok(None);
    }
    probes.close(&engine.snapshot());
    let record = probes.into_record();
    tracing::debug!(replication = index, arrived = record.balance.arrived, "replication ends");
    Ok(Some(record))
}

/// Runs to a time; false if it was stopped on the way.
fn advance<O: Observer>(
    engine: &mut EventEngine<'_>,
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

//! How much memory a replication takes, before it is run.

use super::engine::EngineKind;
use crate::measure::Measure;
use crate::model::{Fault, Initial, System};
use crate::policy::information::InFlight;
use crate::policy::{Information, Need, Policy};

/// More than this is refused: no machine that this is for has it, and the system would end the run without a word.
const MOST: f64 = 64.0 * 1024.0 * 1024.0 * 1024.0;

/// Counts of servers and the probes on them, most of it histograms.
const OF_COUNTS: f64 = 8.0 * 1024.0 * 1024.0;

/// About how many bytes one replication takes: servers, jobs, estimates, and the probes that keep copies of them.
pub(super) fn estimate(system: &System, policy: &Policy, measure: &Measure, engine: EngineKind) -> f64 {
    if engine == EngineKind::Occupancy {
        // Levels that are held at the start, once in the engine and a few times in the probes.
        return OF_COUNTS + 64.0 * initial_length(system) * system.servers.classes().len() as f64;
    }
    let servers = f64::from(system.servers.len());
    let dispatchers = f64::from(system.dispatchers.len());
    // A length takes 4 bytes, its place in an order 8 more; estimates in order keep no lengths beside it.
    let (truth, view) = match policy.dispatch.need(&system.servers) {
        Need::Nothing | Need::Lengths => (4.0, 4.0),
        Need::Sorted | Need::SortedByClass => (12.0, 8.0),
    };
    let copies = match &policy.information {
        Information::Exact(_) => 0.0,
        Information::Delayed(_) => 1.0,
        Information::None if policy.dispatch.need(&system.servers) == Need::Nothing => 0.0,
        Information::None | Information::Rules(_) => dispatchers,
    };
    let replay = matches!(&policy.information, Information::Rules(rules) if rules.in_flight == InFlight::Replay);
    let probes = 4.0 * f64::from(u8::from(measure.estimates)) + 8.0 * f64::from(u8::from(measure.estimate_age));
    let pairs = copies * servers * (view + probes + 4.0 * f64::from(u8::from(replay)));
    // Jobs in the system, by an M/M/1 queue per server; overload is not foreseen.
    let load = system.load().min(0.95);
    let jobs = servers * (load / (1.0 - load)).max(initial_length(system));
    let by_engine = match engine {
        EngineKind::Clock => 0.0,
        _ => servers * 16.0 + jobs * 40.0,
    };
    servers * truth + by_engine + dispatchers * 40.0 + pairs
}

fn initial_length(system: &System) -> f64 {
    match &system.initial {
        Initial::Length(length) => f64::from(*length),
        Initial::Empty | Initial::Tail(_) => 0.0,
    }
}

/// Refuses what cannot fit.
pub(super) fn check(system: &System, policy: &Policy, measure: &Measure, engine: EngineKind) -> Result<(), Fault> {
    let bytes = estimate(system, policy, measure, engine);
    if bytes <= MOST {
        return Ok(());
    }
    let path = if system.dispatchers.len() > system.servers.len() { "dispatchers" } else { "servers" };
    Err(Fault::at(
        path,
        format!("one replication would take about {:.0} GiB; more than 64 GiB is not tried", bytes / 2_f64.powi(30)),
        "use fewer servers, fewer dispatchers with estimates of their own, or shorter initial queues",
    ))
}

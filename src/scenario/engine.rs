//! Which engine runs a scenario, and why: the cheapest that is exact for it, or the one that is named.

use super::file::EngineSpec;
use super::plan::Plan;
use crate::engine::{ClockEngine, Holding, OccupancyEngine};
use crate::measure::Measure;
use crate::model::{Fault, System, Window};
use crate::policy::Policy;

/// An engine of continuous or slotted time; of two of continuous time the first can do what the other can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EngineKind {
    /// One calendar: any law.
    Event,
    /// One clock: Poisson arrivals and exponential sizes.
    Clock,
    /// Counts of servers: for exchangeable servers and exact information.
    Occupancy,
    /// Slots.
    Slotted,
}

impl EngineKind {
    /// The name in results and scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Clock => "clock",
            Self::Occupancy => "occupancy",
            Self::Slotted => "slotted",
        }
    }
}

/// The engine that runs a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineChoice {
    /// The engine.
    pub kind: EngineKind,
    /// Why it is this one.
    pub why: String,
}

/// Below this load so many services are offered to idle servers that a calendar of those in progress is cheaper.
const LEAST_LOAD_OF_CLOCK: f64 = 0.1;

/// Up to so many servers a length for each is cheaper than a law over all levels at each arrival.
const MOST_SERVERS_OF_CLOCK: u64 = 1_000_000;

/// The engine for a system in continuous time.
///
/// # Errors
/// What stands in the way of the engine that is named, with its path from the root of the scenario.
pub(super) fn choose(
    spec: EngineSpec,
    system: &System,
    policy: &Policy,
    measure: &Measure,
) -> Result<EngineChoice, Fault> {
    let named = |kind: EngineKind| EngineChoice { kind, why: "the scenario names it".to_owned() };
    match spec {
        EngineSpec::Event => Ok(named(EngineKind::Event)),
        EngineSpec::Clock => ClockEngine::validate(system).map(|()| named(EngineKind::Clock)),
        EngineSpec::Occupancy => occupancy_can(system, policy, measure).map(|()| named(EngineKind::Occupancy)),
        EngineSpec::Auto => Ok(cheapest(system, policy, measure)),
    }
}

/// Whether counts of servers are enough for a scenario.
fn occupancy_can(system: &System, policy: &Policy, measure: &Measure) -> Result<(), Fault> {
    OccupancyEngine::validate(system, policy)?;
    if policy.asks_at_random() {
        let rule = "counts messages by what it draws, which the occupancy engine does not draw";
        return Err(Fault::at("policy.dispatch", rule, "write engine: clock"));
    }
    let rule = "asks which server a job went to, and the occupancy engine keeps counts of servers only";
    if measure.burst_size {
        return Err(Fault::at("measure.burst_size", rule, "write burst_size: false, or engine: clock"));
    }
    if measure.coincidence_window.get() > 0.0 && system.dispatchers.len() > 1 {
        return Err(Fault::at("measure.coincidence_window", rule, "write coincidence_window: 0, or engine: clock"));
    }
    if measure.snapshots.is_some() {
        return Err(Fault::at("measure.snapshots", rule, "take it out, or write engine: clock"));
    }
    Ok(())
}

/// The cheapest engine that is exact.
fn cheapest(system: &System, policy: &Policy, measure: &Measure) -> EngineChoice {
    // What stands before a comma is why; the rest is for those who named the engine.
    let because = |fault: Fault| format!("{} {}", fault.path, fault.rule.split(',').next().unwrap_or_default());
    let why_not_occupancy = match occupancy_can(system, policy, measure) {
        Ok(()) if OccupancyEngine::is_quick(system, policy) || system.servers.len() > MOST_SERVERS_OF_CLOCK => {
            let why = "Poisson arrivals, exponential sizes, exchangeable servers, exact information".to_owned();
            return EngineChoice { kind: EngineKind::Occupancy, why };
        }
        Ok(()) => {
            format!("it would go through all levels at each arrival, which pays above {MOST_SERVERS_OF_CLOCK} servers")
        }
        Err(fault) => because(fault),
    };
    match ClockEngine::validate(system) {
        Err(fault) => EngineChoice { kind: EngineKind::Event, why: format!("not clock: {}", because(fault)) },
        Ok(()) if system.load() < LEAST_LOAD_OF_CLOCK => {
            let why = format!("cheaper than clock at a load below {LEAST_LOAD_OF_CLOCK}");
            EngineChoice { kind: EngineKind::Event, why }
        }
        Ok(()) => EngineChoice {
            kind: EngineKind::Clock,
            why: format!("Poisson arrivals, exponential sizes; not occupancy: {why_not_occupancy}"),
        },
    }
}

impl Plan {
    /// Runs on a more general engine, if there is room for it.
    pub(super) fn take_engine(&mut self, kind: EngineKind, why: &str) {
        if self.fits(kind) {
            self.engine = EngineChoice { kind, why: why.to_owned() };
        }
    }

    /// How long a memoryless engine stays in a state: expected times, which add no noise, where stationary averages are
    /// all that is asked for of a window; real ones where anything depends on the law of a stretch of time.
    pub fn holding(&self, window: Window) -> Holding {
        let steady = (window.open > 0.0 || self.choose.warmup) && !self.is_overloaded();
        if steady && !self.takes_real_time(window) { Holding::Expected } else { Holding::Sampled }
    }

    /// Whether a memoryless engine may count by itself instead of telling what happens: all but parts of the window.
    pub fn is_counted(&self) -> bool {
        self.batching.is_none() && self.measure.can_be_counted(&self.system, &self.policy)
    }

    /// Whether a probe or a message looks at the clock on the wall.
    fn takes_real_time(&self, window: Window) -> bool {
        let Self { system, policy, measure, .. } = self;
        // An engine that counts by itself draws what happens within a burst.
        let probes = measure.trajectory.is_some()
            || measure.snapshots.is_some()
            || (measure.burst_size && !self.is_counted())
            || (measure.coincidence_window.get() > 0.0 && system.dispatchers.len() > 1);
        // A window that the clock strikes in only a few times would tell the steps apart from real time.
        let strikes = (system.arrivals.rate + system.servers.total_rate()) * window.length();
        probes || !policy.information.is_prompt() || strikes < 1e3
    }
}

//! The parts of a scenario, resolved and checked one by one.

use super::engine::{self, EngineChoice, EngineKind};
use super::file::{Clock, DispatchersSpec, EngineSpec, InitialSpec, Scenario, ServersSpec};
use crate::engine::SlottedEngine;
use crate::measure::{Measure, Snapshots, Trajectory};
use crate::model::slots::Slots;
use crate::model::{Dispatchers, Fault, Initial, Law, NonNegative, Positive, ServerClass, Servers, System, Window};
use crate::policy::Policy;
use crate::theory::MeanField;

pub(super) fn resolve_servers(spec: &ServersSpec) -> Result<Servers, Fault> {
    match spec {
        ServersSpec::Number(count) => Servers::homogeneous(count.get()),
        ServersSpec::Classes(classes) => {
            if classes.is_empty() {
                return Err(Fault::new("there must be at least one server", "write for example servers: 10"));
            }
            let resolved: Result<Vec<_>, Fault> = (1..)
                .zip(classes)
                .map(|(i, class)| {
                    check_bounds(&format!("[{}].rate", i - 1), "the rate", class.rate.get())?;
                    Ok(ServerClass {
                        name: class.name.clone().unwrap_or_else(|| format!("class_{i}")),
                        count: class.count.get(),
                        rate: class.rate.get(),
                    })
                })
                .collect();
            Servers::new(resolved?)
        }
    }
}

/// The laws of a slot, with which the defaults of the scenario are filled in; none in continuous time.
pub(super) fn resolve_slots(scenario: &mut Scenario, system: &System, policy: &Policy) -> Result<Option<Slots>, Fault> {
    if scenario.clock == Clock::Continuous {
        if policy.dispatch.splits_batches() {
            let rule = "spreads the jobs of a slot and has no meaning in continuous time";
            return Err(Fault::at("policy.dispatch", rule, "write clock: slotted, or another strategy"));
        }
        return match scenario.slots {
            None => Ok(None),
            Some(_) => {
                Err(Fault::at("slots", "has no meaning in continuous time", "write clock: slotted, or drop slots"))
            }
        };
    }
    if !system.is_memoryless() {
        let key = if scenario.service == Law::standard_exponential() { "arrivals" } else { "service" };
        let remedy = "describe the slot under slots: {arrivals: poisson, service: geometric}";
        return Err(Fault::at(key, "belongs to continuous time", remedy));
    }
    let step = scenario.measure.trajectory.as_ref().map_or(1.0, |trajectory| trajectory.step.get());
    let (warmup, time) = (
        scenario.run.warmup.given().map_or(0.0, NonNegative::get),
        scenario.run.time.given().map_or(1.0, Positive::get),
    );
    for (key, time) in [("run.warmup", warmup), ("run.time", time), ("measure.trajectory.step", step)] {
        if time.fract() != 0.0 {
            return Err(Fault::at(key, "must be a whole number of slots", format!("write {}", time.ceil())));
        }
    }
    let slots = scenario.slots.get_or_insert_with(Slots::default).clone();
    SlottedEngine::validate(system, &slots, policy)?;
    Ok(Some(slots))
}

/// The engine; slots have one of their own.
pub(super) fn resolve_engine(scenario: &mut Scenario, system: &System, policy: &Policy) -> Result<EngineChoice, Fault> {
    if scenario.clock == Clock::Continuous {
        let spec = *scenario.engine.get_or_insert_default();
        return engine::choose(spec, system, policy, &scenario.measure);
    }
    match scenario.engine {
        None | Some(EngineSpec::Auto) => {
            Ok(EngineChoice { kind: EngineKind::Slotted, why: "time passes in slots".to_owned() })
        }
        Some(_) => Err(Fault::at(
            "engine",
            "names an engine of continuous time, and the clock is slotted",
            "drop the key, or write clock: continuous",
        )),
    }
}

/// More dispatchers than this are a mistake rather than a system.
const MOST_DISPATCHERS: u32 = 1 << 24;

pub(super) fn resolve_dispatchers(spec: &DispatchersSpec) -> Result<Dispatchers, Fault> {
    match spec {
        DispatchersSpec::Number(count) => {
            let count = u32::try_from(count.get())
                .ok()
                .filter(|&count| count <= MOST_DISPATCHERS)
                .ok_or_else(|| Fault::new(format!("must be at most {MOST_DISPATCHERS}"), "use fewer dispatchers"))?;
            Dispatchers::equal(count)
        }
        DispatchersSpec::Shares(shares) => {
            Dispatchers::with_shares(shares.shares.iter().map(|share| share.get()).collect())
        }
    }
}

pub(super) fn mean_one(law: &Law, why: &str) -> Result<(), Fault> {
    let mean = law.mean();
    if (mean - 1.0).abs() <= 1e-12 {
        return Ok(());
    }
    Err(Fault::new(format!("must have mean 1, since {why}; its mean is {mean}"), "scale the law to mean 1"))
}

pub(super) fn initial(spec: &InitialSpec, system: &System, policy: &Policy) -> Result<Initial, Fault> {
    match spec {
        InitialSpec::Empty => Ok(Initial::Empty),
        InitialSpec::Length(length) => match system.buffer {
            Some(buffer) if *length > buffer => Err(Fault::at(
                "length",
                format!("must not exceed the buffer of {buffer}"),
                "start with shorter queues or enlarge the buffer",
            )),
            _ => Ok(Initial::Length(*length)),
        },
        InitialSpec::FixedPoint => match MeanField::new(system, policy) {
            // The average of a board's phases is no state that repeats.
            Ok(limit) if system.servers.are_homogeneous() && (limit.is_exact() || policy.information.is_exact()) => {
                Ok(Initial::Tail(limit.tail()))
            }
            _ => Err(Fault::new(
                "no mean-field fixed point is known for this scenario",
                "write initial: empty and a longer warm-up",
            )),
        },
    }
}

/// Times and rates beyond these bounds have squares that a floating-point number cannot hold.
pub(super) const BOUNDS: std::ops::RangeInclusive<f64> = 1e-150..=1e150;

pub(super) fn check_bounds(path: &str, what: &str, rate: f64) -> Result<(), Fault> {
    if BOUNDS.contains(&rate) {
        return Ok(());
    }
    let rule = format!("{what} is {rate:e} and must lie between {:e} and {:e}", BOUNDS.start(), BOUNDS.end());
    Err(Fault::at(path, rule, "use another unit of time"))
}

/// The clock must tell events apart at the end of the run: its last digit may not exceed a thousandth of the
/// shortest of the mean times that matter, nor of the window.
pub(super) fn check_clock(system: &System, window: Window, time: f64) -> Result<(), Fault> {
    if (window.length() - time).abs() > 1e-3 * time {
        return Err(Fault::at(
            "time",
            format!("the window of {time:?} is too short to be told from the warm-up of {:?}", window.open),
            "write a longer time or a shorter warm-up",
        ));
    }
    let fastest = system.arrivals.fastest_rate().max(system.servers.largest_rate());
    let longest = (1e-3 / f64::EPSILON / fastest).min(*BOUNDS.end());
    if window.close <= longest {
        return Ok(());
    }
    Err(Fault::at(
        if window.open > time { "warmup" } else { "time" },
        format!(
            "the run would end at {:e}, where the clock no longer tells events apart that come {fastest:?} per unit of \
             time; the limit is {longest:e}",
            window.close
        ),
        "write a shorter time, and more replications if precision is wanted",
    ))
}

/// A time course must fit into memory.
pub(super) fn check_grid(measure: &Measure, window: Window) -> Result<(), Fault> {
    let Some(grid) = &measure.trajectory else { return Ok(()) };
    let points = grid.points(window);
    if points <= Trajectory::MOST_POINTS {
        return Ok(());
    }
    let least = window.length() / (Trajectory::MOST_POINTS - 1) as f64;
    Err(Fault::at(
        "step",
        format!(
            "gives {points} moments in the window of {}, at most {} are kept",
            window.length(),
            Trajectory::MOST_POINTS
        ),
        format!("write a step of at least {least}, or a shorter run.time"),
    ))
}

/// Pictures must lie in the window and fit into memory.
pub(super) fn check_snapshots(
    measure: &Measure,
    window: Window,
    window_is_known: bool,
    servers: u64,
) -> Result<(), Fault> {
    let Some(grid) = &measure.snapshots else { return Ok(()) };
    if grid.step.is_some() && grid.count.is_some() {
        return Err(Fault::at("count", "says how many moments there are, and so does step", "keep one of them"));
    }
    let from = grid.from.map_or(0.0, NonNegative::get);
    let longest = if window_is_known { window.length() } else { f64::INFINITY };
    for (key, time) in [("from", from), ("to", grid.to.map_or(0.0, Positive::get))] {
        if time > longest {
            let rule = format!("is beyond the end of the measuring window, which opens at 0 and is {longest} long");
            return Err(Fault::at(key, rule, format!("write at most {longest}, or a longer run.time")));
        }
    }
    if from >= grid.to.map_or(longest, Positive::get) {
        return Err(Fault::at("from", "must come before the end of the grid", "write a smaller from, or a larger to"));
    }
    let lengths = grid.lengths(window, servers);
    if lengths > Snapshots::MOST_LENGTHS {
        let path = if grid.step.is_some() { "step" } else { "count" };
        let rule = format!(
            "gives {} moments of {} servers; at most {} lengths are kept",
            grid.moments(window),
            grid.servers(servers),
            Snapshots::MOST_LENGTHS
        );
        return Err(Fault::at(
            path,
            rule,
            "ask for fewer moments, or fewer servers, or a shorter time with from and to",
        ));
    }
    Ok(())
}

/// `{word: {}}` reads better as `word`.
pub(super) fn shorten(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            if let [(key, serde_json::Value::Object(inner))] = &map.iter().collect::<Vec<_>>()[..]
                && inner.is_empty()
            {
                *value = serde_json::Value::String((*key).clone());
                return;
            }
            map.values_mut().for_each(shorten);
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(shorten),
        _ => {}
    }
}

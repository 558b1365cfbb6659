//! How long each replication is and how many there are, or what finds it.

use super::arrivals::ArrivalsSpec;
use super::auto::Auto;
use super::file::{Clock, IntervalSpec, RunSpec, Scenario};
use crate::measure::Metric;
use crate::model::{Count, Fault, NonNegative, Positive, Servers, Window};
use crate::stats::Batching;

/// What pilot runs choose of the measuring window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Choose {
    /// When it opens.
    pub warmup: bool,
    /// How long it is.
    pub time: bool,
    /// The latest that it may close.
    pub max_time: Option<f64>,
}

impl Choose {
    /// Whether there is anything to choose.
    pub fn any(self) -> bool {
        self.warmup || self.time
    }
}

/// A relative precision to be reached by more replications.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// The largest half-width of an interval, relative to the estimate.
    pub relative: f64,
    /// The metrics that must be so precise, with their keys.
    pub metrics: Vec<(Metric, String)>,
    /// The most replications.
    pub max_replications: u64,
}

/// Replications that a precision may take when the scenario does not say.
const MAX_REPLICATIONS: u64 = 10_000;

/// The window from which pilot runs start, in mean service times.
const SHORTEST: f64 = 200.0;

/// The measuring window, or what pilot runs start from.
pub(super) fn resolve_window(scenario: &Scenario, servers: &Servers) -> Result<(Window, Choose), Fault> {
    let run = &scenario.run;
    let choose = Choose {
        warmup: run.warmup == Auto::Auto,
        time: run.time == Auto::Auto,
        max_time: run.max_time.map(Positive::get),
    };
    if !choose.any() && run.max_time.is_some() {
        let remedy = "drop the key, or write warmup: auto or time: auto";
        return Err(Fault::at("max_time", "limits what auto chooses, and nothing is left to auto", remedy));
    }
    let mean = servers.len() as f64 / servers.total_rate();
    // Slots are whole.
    let unit = if scenario.clock == Clock::Slotted { mean.ceil() } else { mean };
    let open = run.warmup.given().map_or(0.0, NonNegative::get);
    let time = run.time.given().map_or(SHORTEST * unit, Positive::get);
    Ok((Window { open, close: open + time }, choose))
}

/// Refuses to choose a window that something else in the scenario refers to.
pub(super) fn check_choice(scenario: &Scenario, choose: Choose) -> Result<(), Fault> {
    let why = if matches!(scenario.arrivals, ArrivalsSpec::Trace(_)) {
        "a trace tells when it starts and ends"
    } else if scenario.measure.trajectory.is_some() {
        "a trajectory shows the time from there on"
    } else {
        return Ok(());
    };
    let key = if choose.warmup { "warmup" } else { "time" };
    if choose.any() {
        return Err(Fault::at(key, format!("must be a number, since {why}"), format!("write {key}: 100")));
    }
    Ok(())
}

/// How intervals are made from a single run, if they are.
pub(super) fn resolve_batching(scenario: &Scenario) -> Result<Option<Batching>, Fault> {
    let batching = match scenario.run.interval {
        IntervalSpec::Replications => return Ok(None),
        IntervalSpec::BatchMeans => Batching::Separate,
        IntervalSpec::OverlappingBatchMeans => Batching::Overlapping,
    };
    let of_replications = "write interval: replications";
    if scenario.run.replications.get() > 1 || scenario.run.precision.is_some() {
        let remedy = format!("write replications: 1 without a precision, or {of_replications}");
        return Err(Fault::at("interval", "batch means are for a single run", remedy));
    }
    if scenario.clock == Clock::Slotted || scenario.measure.trajectory.is_some() {
        let rule = "batch means are for continuous time and without a trajectory";
        return Err(Fault::at("interval", rule, format!("{of_replications}, and 10 replications")));
    }
    Ok(Some(batching))
}

/// The precision to be reached, if there is one.
pub(super) fn resolve_goal(run: &RunSpec) -> Result<Option<Goal>, Fault> {
    let Some(precision) = run.precision else {
        let keys = [("precision_of", run.precision_of.is_some()), ("max_replications", run.max_replications.is_some())];
        return match keys.iter().find(|(_, given)| *given) {
            None => Ok(None),
            Some((key, _)) => Err(Fault::at(*key, "says nothing without a precision", "add precision: 1%, or drop it")),
        };
    };
    let names = run.precision_of.clone().unwrap_or_else(|| vec![Metric::ResponseTimeMean.name().to_owned()]);
    if names.is_empty() {
        return Err(Fault::at("precision_of", "must name a metric", "write for example [response_time_mean]"));
    }
    let metric = |(i, name): (usize, &String)| {
        let (metric, key) = name.split_once(':').unwrap_or((name, ""));
        let found = Metric::ALL.iter().find(|known| known.name() == metric.trim());
        found.map(|&metric| (metric, key.trim().to_owned())).ok_or_else(|| {
            let rule = format!("`{metric}` is no metric");
            Fault::at(format!("precision_of[{i}]"), rule, "see herdsim list; write metric or metric:key")
        })
    };
    let metrics = names.iter().enumerate().map(metric).collect::<Result<_, _>>()?;
    let max_replications = run.max_replications.map_or(MAX_REPLICATIONS, Count::get);
    if max_replications < run.replications.get() {
        let rule = format!("must be at least the {} replications that are made anyway", run.replications.get());
        return Err(Fault::at("max_replications", rule, "raise it, or lower replications"));
    }
    Ok(Some(Goal { relative: precision.get(), metrics, max_replications }))
}

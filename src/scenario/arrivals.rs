//! Arrivals as a person writes them, and what they come to.

use super::file::Scenario;
use super::resolve::{BOUNDS, check_bounds, mean_one};
use crate::model::arrivals::{BatchPoisson, BatchSize, Bounds, MarkovModulated, Process, Trace, TraceError};
use crate::model::{Arrivals, Count, Fault, Law, NonNegative, Positive, Servers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The arrival process over all dispatchers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalsSpec {
    /// Poisson.
    #[default]
    Poisson,
    /// Independent times between arrivals with this law, of mean 1 in units of the mean time between arrivals.
    Renewal(Law),
    /// Poisson batches; each reaches one dispatcher.
    BatchPoisson(BatchPoissonSpec),
    /// Poisson with a rate that follows a Markov chain.
    MarkovModulated(MarkovModulatedSpec),
    /// Read from a file; then give none of load, arrival_rate and many_server.
    Trace(TraceSpec),
}

/// Poisson batches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchPoissonSpec {
    /// Law of the number of jobs in a batch.
    pub size: BatchSizeSpec,
}

/// Law of the number of jobs in a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatchSizeSpec {
    /// Always so many.
    Constant(Count),
    /// Geometric on {1, 2, ...}.
    Geometric(GeometricSpec),
}

/// Geometric on {1, 2, ...}.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeometricSpec {
    /// The mean, at least 1.
    pub mean: Positive,
}

/// Poisson with a rate that follows a Markov chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkovModulatedSpec {
    /// The arrival rate in each phase, relative to each other; the load says what they come to on average.
    pub rates: Vec<NonNegative>,
    /// Changes of phase per unit of time, from row to column; 0 on the diagonal.
    pub switching: Vec<Vec<NonNegative>>,
}

/// Arrivals from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// A CSV file with columns time and, if wanted, size and dispatcher; its path from the folder of the scenario.
    pub file: String,
}

/// The arrivals of a scenario whose runs last until `end`; `folder` is where it lies.
///
/// The file of a trace is named by its absolute path from here on, since the scenario is saved beside its results.
pub(super) fn resolve(
    scenario: &mut Scenario,
    servers: &Servers,
    dispatchers: u32,
    end: f64,
    folder: &Path,
) -> Result<Arrivals, Fault> {
    if let ArrivalsSpec::Trace(spec) = &scenario.arrivals {
        refuse_rates(scenario)?;
        let trace = resolve_trace(spec, servers, dispatchers, end, folder)
            .map_err(|fault| below("arrivals.trace.file", fault))?;
        if let Some(path) = trace.path().to_str() {
            scenario.arrivals = ArrivalsSpec::Trace(TraceSpec { file: path.to_owned() });
        }
        return Ok(Arrivals { rate: trace.jobs() as f64 / end, process: Process::Trace(trace) });
    }
    let arrivals = Arrivals { rate: total_rate(scenario, servers)?, process: resolve_process(&scenario.arrivals)? };
    if !BOUNDS.contains(&arrivals.fastest_rate()) && arrivals.rate != 0.0 {
        let rule = format!("the fastest rate of a phase comes to {:e}, which is too large", arrivals.fastest_rate());
        return Err(Fault::at("arrivals", rule, "use another unit of time"));
    }
    Ok(arrivals)
}

fn below(path: &str, fault: Fault) -> Fault {
    let dot = if fault.path.is_empty() { "" } else { "." };
    Fault { path: format!("{path}{dot}{}", fault.path), ..fault }
}

fn resolve_process(spec: &ArrivalsSpec) -> Result<Process, Fault> {
    match spec {
        ArrivalsSpec::Poisson | ArrivalsSpec::Trace(_) => Ok(Process::Poisson),
        ArrivalsSpec::Renewal(law) => mean_one(law, "arrivals keep the rate that load or arrival_rate gives")
            .map(|()| Process::Renewal(law.clone()))
            .map_err(|fault| below("arrivals.renewal", fault)),
        ArrivalsSpec::BatchPoisson(BatchPoissonSpec { size }) => {
            let size = match size {
                BatchSizeSpec::Constant(jobs) => BatchSize::Constant(jobs.get()),
                BatchSizeSpec::Geometric(GeometricSpec { mean }) => BatchSize::Geometric { mean: mean.get() },
            };
            let process = BatchPoisson::new(size).map_err(|fault| below("arrivals.batch_poisson", fault))?;
            Ok(Process::BatchPoisson(process))
        }
        ArrivalsSpec::MarkovModulated(MarkovModulatedSpec { rates, switching }) => {
            let plain = |row: &Vec<NonNegative>| row.iter().map(|rate| rate.get()).collect::<Vec<f64>>();
            let switching: Vec<Vec<f64>> = switching.iter().map(plain).collect();
            let process = MarkovModulated::new(&plain(rates), &switching)
                .map_err(|fault| below("arrivals.markov_modulated", fault))?;
            Ok(Process::MarkovModulated(process))
        }
    }
}

fn resolve_trace(
    spec: &TraceSpec,
    servers: &Servers,
    dispatchers: u32,
    end: f64,
    folder: &Path,
) -> Result<Trace, Fault> {
    if spec.file.is_empty() {
        return Err(Fault::new("must name a file", "write for example arrivals.csv"));
    }
    let path = std::path::absolute(folder.join(&spec.file))
        .map_err(|error| Fault::new(format!("is no path: {error}"), "write for example arrivals.csv"))?;
    let slowest = servers.classes().iter().map(|class| class.rate).fold(f64::INFINITY, f64::min);
    // Neither a size nor its time at the slowest server may be beyond what can be squared.
    let bounds = Bounds { dispatchers, largest_size: BOUNDS.end() * slowest.min(1.0) };
    Trace::scan(&path, bounds, end).map_err(|error| {
        let rule = error.what();
        let TraceError { remedy, .. } = *error;
        Fault::new(rule, remedy)
    })
}

/// A trace brings its own rate.
fn refuse_rates(scenario: &Scenario) -> Result<(), Fault> {
    let given = [
        ("load", scenario.load.is_some()),
        ("arrival_rate", scenario.arrival_rate.is_some()),
        ("many_server", scenario.many_server.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((key, _)) => {
            let rule = "cannot be given beside a trace, which says itself how much work arrives";
            Err(Fault::at(*key, rule, format!("drop {key}, or the trace")))
        }
    }
}

fn total_rate(scenario: &Scenario, servers: &Servers) -> Result<f64, Fault> {
    let capacity = servers.total_rate();
    let rate = match (scenario.load, scenario.arrival_rate, &scenario.many_server) {
        (Some(load), None, None) => load.get() * capacity,
        (None, Some(rate), None) => rate.get(),
        (None, None, Some(regime)) => {
            let load = 1.0 - regime.beta.get() * (servers.len() as f64).powf(-regime.gamma.get());
            if load <= 0.0 {
                return Err(Fault::at(
                    "many_server",
                    format!("gives the load 1 - beta N^(-gamma) = {load}, which must be above 0"),
                    "use a smaller beta, a larger gamma or more servers",
                ));
            }
            load * capacity
        }
        (None, None, None) => {
            return Err(Fault::new(
                "says nothing about how much work arrives",
                "add one of load, arrival_rate and many_server, for example load: 0.9",
            ));
        }
        (load, rate, _) => {
            let second = if load.is_some() && rate.is_some() { "arrival_rate" } else { "many_server" };
            return Err(Fault::at(
                second,
                "load, arrival_rate and many_server exclude each other",
                "keep exactly one of them",
            ));
        }
    };
    let key = match (scenario.load, scenario.arrival_rate) {
        (Some(_), _) => "load",
        (_, Some(_)) => "arrival_rate",
        _ => "many_server",
    };
    // No arrivals at all are a system too.
    if rate != 0.0 {
        check_bounds(key, "the total arrival rate", rate)?;
    }
    Ok(rate)
}

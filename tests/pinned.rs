//! Results of an older version can be had again only while each engine draws the same numbers.

use herdsim::engine::ClockEngine;
use herdsim::experiment::{Unwatched, run, run_replication};
use herdsim::measure::{Measure, Record};
use herdsim::model::Window;
use herdsim::model::arrivals::Process;
use herdsim::scenario::{Changes, Choose, EngineKind, Plan, Study};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::Path;

const SYSTEM: &str = "servers: [{count: 4, rate: 1}]\ndispatchers: 2\nload: 0.8\nbuffer: 9\n\
                      measure: {burst_size: false, coincidence_window: 0}\n\
                      run: {warmup: 20, time: 200, replications: 1, seed: 12345}\n";

/// Engine and policy, then jobs that arrived, were blocked and completed, and the mean number of jobs at a server.
type Pinned = (&'static str, &'static str, [u64; 3], f64);

const PINNED: &[Pinned] = &[
    ("engine: event", "{dispatch: {power_of_d: {d: 2}}}", [648, 0, 638], 1.9300946261614407),
    (
        "engine: event",
        "{dispatch: shortest, information: {pull: {probability: 0.5, delay: {exponential: {mean: 1}}, loss: 0.1}}}",
        [648, 1, 636],
        2.289907043053251,
    ),
    (
        "engine: event",
        "{dispatch: below_average, information: {push: {d: 1, delay: 0.5}, periodic: {period: 3}}}",
        [648, 0, 638],
        2.0794316801630806,
    ),
    ("engine: clock", "{dispatch: {power_of_d: {d: 2}}}", [660, 0, 655], 1.928645833333333),
    (
        "engine: clock",
        "{dispatch: shortest, information: {pull: {probability: 0.5, delay: {exponential: {mean: 1}}, loss: 0.1}}}",
        [648, 0, 640],
        2.1575890483810682,
    ),
    (
        "engine: clock",
        "{dispatch: below_average, information: {push: {d: 1, delay: 0.5}, periodic: {period: 3}}}",
        [648, 0, 641],
        2.0343792009807853,
    ),
    (
        "engine: event",
        "{dispatch: shortest, information: {periodic: {period: 3, phase: own}}}",
        [648, 0, 635],
        2.1577505873046254,
    ),
    ("engine: occupancy", "{dispatch: {power_of_d: {d: 2}}}", [660, 0, 651], 1.890972222222222),
    ("engine: occupancy", "{dispatch: idle_first}", [660, 0, 649], 1.6673611111111108),
    ("clock: slotted", "{dispatch: shortest, information: {pull: {probability: 0.5}}}", [651, 12, 646], 2.46875),
    ("clock: slotted", "{dispatch: tidal}", [651, 0, 654], 2.23125),
    (
        "engine: event\nservice: {erlang: {shape: 2, mean: 1}}",
        "{dispatch: {best_of_memory: {d: 1}}}",
        [648, 0, 648],
        1.6672297550916682,
    ),
];

#[test]
fn every_engine_draws_what_it_drew() {
    let mut wrong = Vec::new();
    for &(engine, policy, counts, jobs) in PINNED {
        let text = format!("{engine}\n{SYSTEM}policy: {policy}\n");
        let plan = Plan::read(&text, "test", "test", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let balance = run_replication(&plan, 0).expect("short queues").balance;
        let found = [balance.arrived, balance.blocked, balance.completed];
        let mean = balance.integral / 200.0 / 4.0;
        // The last digits of logarithms differ between platforms.
        if found != counts || (mean - jobs).abs() > 1e-9 * jobs {
            wrong.push(format!("    (\"{engine}\", \"{policy}\", {found:?}, {mean:?}),"));
        }
    }
    assert!(wrong.is_empty(), "value-breaking: say so in the README's changes, and pin\n{}", wrong.join("\n"));
}

/// What is pinned of every scenario that comes with the program: for each group of what a short run measures, a sum of its
/// numbers.
const RECORDS: &str = include_str!("pinned/records.txt");

/// All numbers in a value, in order.
fn numbers(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Number(number) => found.extend(number.as_f64()),
        Value::Array(values) => values.iter().for_each(|value| numbers(value, found)),
        Value::Object(members) => members.values().for_each(|value| numbers(value, found)),
        _ => {}
    }
}

/// The numbers of a record by metric, or else by what they are part of.
fn groups(record: &Record) -> BTreeMap<String, Vec<f64>> {
    let mut groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let Value::Object(members) = serde_json::to_value(record).expect("a record can be written") else { return groups };
    for (name, value) in &members {
        match value {
            Value::Array(items) if ["readings", "trajectory"].contains(&name.as_str()) => {
                for item in items {
                    let metric = item["metric"].as_str().expect("a metric has a name");
                    numbers(item, groups.entry(format!("{name} {metric}")).or_default());
                }
            }
            _ => numbers(value, groups.entry(name.clone()).or_default()),
        }
    }
    for (name, delays) in [("response bins", &record.response), ("waiting bins", &record.waiting)] {
        let bins = delays.iter().flat_map(|delays| delays.counts().iter_recorded());
        let bins = bins.flat_map(|bin| [bin.value_iterated_to() as f64, bin.count_at_value() as f64]);
        groups.insert(name.to_owned(), bins.collect());
    }
    groups
}

/// The estimates from three replications, or from one run in parts, by metric, without what theory says.
fn estimates(plan: &Plan) -> BTreeMap<String, Vec<f64>> {
    let replications = if plan.batching.is_some() { 1 } else { 3 };
    let plan = Plan { replications, goal: None, choose: Choose::default(), ..plan.clone() };
    let results = run(&plan, NonZeroUsize::MIN, &Unwatched).unwrap_or_else(|error| panic!("{error}"));
    let mut groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for estimate in results.estimates {
        let metric = serde_json::to_value(estimate.metric).expect("a metric has a name");
        let numbers = [estimate.estimate, estimate.low, estimate.high, estimate.std_error];
        let group = groups.entry(format!("estimates {}", metric.as_str().unwrap_or_default())).or_default();
        group.extend(numbers.map(|number| number.unwrap_or(-1.0)));
    }
    groups
}

/// A sum in which every number counts, the small ones and the large, each with a weight of its own.
fn sum(numbers: &[f64]) -> f64 {
    numbers.iter().zip(1..).map(|(number, place)| number.asinh() * (1.0 + f64::from(place % 7919) / 7919.0)).sum()
}

/// Short runs of the first and the last point of each scenario: as they are, and with all probes with the engines that look
/// at each server.
fn runs() -> Vec<(String, Plan)> {
    let mut runs = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut paths: Vec<_> = ["", "papers"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("the scenarios can be read"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a scenario is text");
        let study = Study::read(&text, &path.to_string_lossy(), "test", Changes::default());
        let study = study.unwrap_or_else(|errors| panic!("{}", errors[0]));
        let last = study.points.len() - 1;
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        for place in std::collections::BTreeSet::from([0, last]) {
            let mut plan = study.points[place].plan.clone();
            if !matches!(plan.system.arrivals.process, Process::Trace(_)) {
                let time = |jobs: f64| jobs / plan.system.arrivals.rate;
                let whole_slots = |time: f64| if plan.slots.is_some() { time.ceil() } else { time };
                plan.window = Window { open: whole_slots(time(500.0)), close: whole_slots(time(2500.0)) };
            }
            runs.push((format!("{name} {place}"), plan.clone()));
            if plan.slots.is_none() && plan.system.servers.len() <= 10_000 {
                plan.engine.kind = EngineKind::Event;
                plan.measure = Measure { trajectory: plan.measure.trajectory, ..Measure::default() };
                runs.push((format!("{name} {place} event"), plan.clone()));
                if ClockEngine::validate(&plan.system).is_ok() {
                    plan.engine.kind = EngineKind::Clock;
                    plan.measure.coincidence_window = Measure::nothing().coincidence_window;
                    runs.push((format!("{name} {place} clock"), plan));
                }
            }
        }
    }
    runs
}

/// Everything that is measured stays what it was. Where results are meant to change, the README says so, and the variable
/// HERDSIM_PIN makes this test write the file anew, and fail.
#[test]
fn short_runs_of_all_scenarios_measure_what_they_measured() {
    let mut found = String::new();
    for (name, plan) in runs() {
        let record = run_replication(&plan, 0).unwrap_or_else(|error| panic!("{name}: {error}"));
        let estimates = if name.ends_with(" 0") { estimates(&plan) } else { BTreeMap::new() };
        for (group, numbers) in groups(&record).into_iter().chain(estimates) {
            if !numbers.is_empty() {
                writeln!(found, "{name} | {group} | {:.10e}", sum(&numbers)).expect("a text takes all");
            }
        }
    }
    if std::env::var_os("HERDSIM_PIN").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pinned/records.txt");
        std::fs::write(path, &found).expect("the tests can be written");
        panic!("pinned anew, not compared");
    }
    let split = |line: &str| {
        let (rest, sum) = line.rsplit_once(" | ").expect("three parts");
        (rest.to_owned(), sum.parse::<f64>().expect("a number"))
    };
    let [pinned, found] = [RECORDS, &found].map(|text| text.lines().map(split).collect::<BTreeMap<_, _>>());
    // The last digits of logarithms differ between platforms.
    let agrees = |old: f64, new: f64| (old - new).abs() <= 1e-9 * (1.0 + old.abs());
    let differs = |(key, &sum): (&String, &f64)| found.get(key).is_none_or(|&new| !agrees(sum, new));
    let wrong: Vec<_> = pinned.iter().filter(|&(key, sum)| differs((key, sum))).map(|(key, _)| key.as_str()).collect();
    assert!(wrong.is_empty(), "value-breaking: say so in the README's changes, and pin\n{}", wrong.join("\n"));
    assert_eq!(pinned.len(), found.len(), "something is measured that was not: pin it");
}

//! Every scenario that comes with the program, in a shortened form.

use herdsim::experiment::{self, Unwatched};
use herdsim::measure::Metric;
use herdsim::model::Law;
use herdsim::model::arrivals::Process;
use herdsim::policy::{Dispatch, Information};
use herdsim::scenario::{DEFAULT, Plan};
use std::num::NonZeroUsize;
use std::path::Path;

fn scenarios() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .expect("the scenarios can be read")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).expect("a scenario is text"))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn every_scenario_runs_and_its_books_agree() {
    let scenarios = scenarios();
    assert!(scenarios.len() >= 6);
    for (name, text) in scenarios {
        // A trace is sought beside its scenario.
        let origin = format!("{}/scenarios/{name}", env!("CARGO_MANIFEST_DIR"));
        let whole = Plan::read(&text, &origin, "test", &[]).unwrap_or_else(|error| panic!("{error}"));
        // About twenty thousand jobs are enough to see that it works.
        let time = 2e4 / whole.system.arrivals.rate;
        let mut short = vec!["run.replications=2".to_owned()];
        // A trace has the length it has.
        if !matches!(whole.system.arrivals.process, Process::Trace(_)) {
            let whole_slots = |time: f64| if whole.slots.is_some() { time.ceil() } else { time };
            let (time, warmup) = (whole_slots(time), whole_slots(time / 4.0));
            short.extend([format!("run.time={time}"), format!("run.warmup={warmup}")]);
        }
        let plan = Plan::read(&text, &origin, "test", &short).unwrap_or_else(|error| panic!("{error}"));
        let results = experiment::run(&plan, NonZeroUsize::MIN, &Unwatched).expect("the run ends well");
        let jobs = &results.manifest.jobs;
        assert_eq!(jobs.inside_at_open + jobs.arrived, jobs.completed + jobs.blocked + jobs.inside_at_close, "{name}");
        assert!(jobs.largest_relative_gap < 1e-9, "{name}: {}", jobs.largest_relative_gap);
        let response = results.estimate(Metric::ResponseTimeMean, "").and_then(|estimate| estimate.estimate);
        assert!(response.is_some_and(f64::is_finite), "{name}");
        // What is written beside the results is a scenario that resolves to itself.
        let again = Plan::read(&results.scenario_yaml, &name, "test", &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again, Plan { name: again.name.clone(), ..plan }, "{name}");
        assert_eq!(again.to_yaml(), results.scenario_yaml, "{name}");
    }
}

#[test]
fn the_built_in_scenario_is_the_one_in_the_folder() {
    assert!(scenarios().iter().any(|(name, text)| name == "supermarket.yaml" && text == DEFAULT));
}

#[test]
fn every_information_rule_and_law_stands_in_a_scenario() {
    let all: String = scenarios().into_iter().map(|(_, text)| text).collect();
    // `exact`, `none` and `exponential` are defaults or their absence.
    for (tag, _) in Information::CATALOGUE.iter().chain(Law::CATALOGUE) {
        assert!(all.contains(tag) || *tag == "none" || *tag == "exact", "{tag} has no scenario");
    }
    assert!(Dispatch::CATALOGUE.len() >= 9);
}

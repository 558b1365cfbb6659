//! Every scenario that comes with the program, in a shortened form.

use herdsim::experiment::{self, Unwatched};
use herdsim::measure::Metric;
use herdsim::model::arrivals::Process;
use herdsim::model::{Arrivals, CountLaw, Law, Window};
use herdsim::policy::{Dispatch, Information};
use herdsim::scenario::{Changes, Choose, DEFAULT, Goal, Plan, Study};
use std::num::NonZeroUsize;
use std::path::Path;

/// Names, as paths below `scenarios`, and texts of all scenarios.
fn scenarios() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut found = Vec::new();
    for folder in ["", "papers"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("the scenarios can be read") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "yaml") {
                let name = Path::new(folder).join(path.file_name().expect("a name"));
                let text = std::fs::read_to_string(&path).expect("a scenario is text");
                found.push((name.to_string_lossy().into_owned(), text));
            }
        }
    }
    found.sort();
    found
}

/// Jobs that a study lets arrive, warm-up included.
fn jobs(study: &Study) -> f64 {
    let of_plan = |plan: &Plan| plan.system.arrivals.rate * plan.window.close * plan.replications as f64;
    study.points.iter().map(|point| of_plan(&point.plan)).sum()
}

#[test]
fn every_scenario_has_a_quick_version() {
    for (name, text) in scenarios() {
        let origin = format!("{}/scenarios/{name}", env!("CARGO_MANIFEST_DIR"));
        let read = |quick| {
            let study = Study::read(&text, &origin, "test", Changes { quick, ..Changes::default() });
            study.unwrap_or_else(|errors| panic!("{}", errors[0]))
        };
        let (whole, quick) = (read(false), read(true));
        assert_eq!(quick.name, format!("{}-quick", whole.name), "{name}");
        let chosen = whole.points.iter().any(|point| point.plan.choose.any());
        assert!(jobs(&quick) <= jobs(&whole) || chosen, "{name}: {} of {}", jobs(&quick), jobs(&whole));
        if name.starts_with("papers") {
            assert!(jobs(&quick) < 0.6 * jobs(&whole) && text.contains("\nplot:"), "{name}");
        }
        let again = Study::read(&quick.to_yaml(), &name, "test", Changes::default());
        assert_eq!(again.unwrap_or_else(|errors| panic!("{}", errors[0])), quick, "{name}");
    }
}

#[test]
fn every_scenario_runs_and_its_books_agree() {
    let scenarios = scenarios();
    assert!(scenarios.len() >= 6);
    for (name, text) in scenarios {
        // A trace is sought beside its scenario.
        let origin = format!("{}/scenarios/{name}", env!("CARGO_MANIFEST_DIR"));
        let study = Study::read(&text, &origin, "test", Changes::default());
        let study = study.unwrap_or_else(|errors| panic!("{}", errors[0]));
        for point in &study.points {
            // About twenty thousand jobs are enough to see that it works.
            let mut plan = point.plan.clone();
            let time = 2e4 / plan.system.arrivals.rate;
            // A trace has the length it has.
            if !matches!(plan.system.arrivals.process, Process::Trace(_)) {
                let whole_slots = |time: f64| if plan.slots.is_some() { time.ceil() } else { time };
                let open = whole_slots(time / 4.0);
                plan.window = Window { open, close: open + whole_slots(time) };
                plan.choose = Choose::default();
            }
            plan.replications = if plan.batching.is_none() { 2 } else { 1 };
            plan.goal = plan.goal.map(|goal| Goal { relative: 0.5, max_replications: 15, ..goal });
            let results = experiment::run(&plan, NonZeroUsize::MIN, &Unwatched).expect("the run ends well");
            let jobs = &results.manifest.jobs;
            let inside = jobs.inside_at_open + jobs.arrived;
            assert_eq!(inside, jobs.completed + jobs.blocked + jobs.inside_at_close, "{name}");
            assert!(jobs.largest_relative_gap < 1e-9, "{name}: {}", jobs.largest_relative_gap);
            // Delays may be switched off; the number of jobs is always measured.
            let jobs = results.estimate(Metric::MeanJobs, "").and_then(|estimate| estimate.estimate);
            assert!(jobs.is_some_and(f64::is_finite), "{name}");
        }
        // What is written beside the results is a scenario that resolves to itself.
        let again = Study::read(&study.to_yaml(), &name, "test", Changes::default());
        assert_eq!(again.unwrap_or_else(|errors| panic!("{}", errors[0])), study, "{name}");
    }
}

#[test]
fn the_built_in_scenario_is_the_one_in_the_folder() {
    assert!(scenarios().iter().any(|(name, text)| name == "supermarket.yaml" && text == DEFAULT));
}

/// What `herdsim list` shows is used by some scenario, as it is read and written out in full.
#[test]
fn everything_listed_stands_in_a_scenario() {
    let resolved: Vec<String> = scenarios()
        .into_iter()
        .map(|(name, text)| {
            let origin = format!("{}/scenarios/{name}", env!("CARGO_MANIFEST_DIR"));
            let study = Study::read(&text, &origin, "test", Changes::default());
            study.unwrap_or_else(|errors| panic!("{}", errors[0])).to_yaml()
        })
        .collect();
    // The lines of a block are those indented below its key, and the key's own.
    let block = |text: &str, key: &str| -> String {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let is_key = |line: &str| line.trim_start().starts_with(&format!("{key}:"));
        let mut lines = text.lines().skip_while(|&line| !is_key(line));
        let first = lines.next().unwrap_or_default();
        let rest = lines.take_while(|&line| indent(line) > indent(first));
        std::iter::once(first).chain(rest).map(|line| format!("{line}\n")).collect()
    };
    let words_below = |keys: &[&str]| -> Vec<String> {
        let blocks = resolved.iter().flat_map(|text| keys.iter().map(|key| block(text, key)));
        blocks
            .flat_map(|b| b.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect::<Vec<_>>())
            .collect()
    };
    let mut missing = Vec::new();
    for (keys, catalogue) in [
        (&["dispatch"][..], Dispatch::CATALOGUE),
        (&["information"][..], Information::CATALOGUE),
        (&["arrivals"][..], Arrivals::CATALOGUE),
        (&["service", "arrivals", "information"][..], Law::CATALOGUE),
        (&["slots"][..], CountLaw::CATALOGUE),
    ] {
        let words = words_below(keys);
        let tags = catalogue.iter().map(|(tag, _)| tag).filter(|&tag| !words.iter().any(|word| word == tag));
        missing.extend(tags.map(|tag| format!("{tag} below {keys:?}")));
    }
    assert!(missing.is_empty(), "in no scenario: {}", missing.join("; "));
}

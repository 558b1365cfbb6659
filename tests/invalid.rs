//! Scenarios that must be refused, and how: each file in `tests/invalid` says in its first lines what is wrong and
//! where.

#[path = "../tools/fuzz/targets/check.rs"]
mod any_text;

use herdsim::scenario::{Node, Plan, ScenarioError};
use std::fs;
use std::path::{Path, PathBuf};

/// The scenario that the tables below change; every key that can hold a number is there.
const COMPLETE: &str = "\
servers:
  - {name: slow, count: 4, rate: 1}
  - {name: fast, count: 2, rate: 3}
dispatchers: {shares: [0.5, 0.5]}
load: 0.5
arrivals: {renewal: {uniform: {low: 0, high: 2}}}
service: {exponential: {mean: 1}}
buffer: 9
policy:
  dispatch: {power_of_d: {d: 2, replacement: false}}
  information:
    push: {d: 2, probability: 0.5, delay: 1, loss: 0.1}
    pull: {probability: 0.5, delay: {constant: 1}, loss: 0.1}
  count_own_jobs: true
initial: {length: 1}
run: {warmup: 1, time: 10, replications: 2, seed: 1, confidence: 0.9}
measure: {quantiles: [0.5, 0.9], tail_histogram_levels: 8, delays: true}
";

/// Every key that holds a whole number.
const COUNTS: &[&str] = &[
    "servers[1].count",
    "buffer",
    "policy.dispatch.power_of_d.d",
    "policy.information.push.d",
    "initial.length",
    "run.replications",
    "run.seed",
    "measure.tail_histogram_levels",
];

/// Every key that holds a number, a whole one or not.
const NUMBERS: &[&str] = &[
    "servers[1].count",
    "buffer",
    "policy.dispatch.power_of_d.d",
    "policy.information.push.d",
    "initial.length",
    "run.replications",
    "run.seed",
    "measure.tail_histogram_levels",
    "servers[0].rate",
    "servers[1].rate",
    "dispatchers.shares[0]",
    "load",
    "arrivals.renewal.uniform.low",
    "service.exponential.mean",
    "policy.information.push.probability",
    "policy.information.push.delay",
    "policy.information.push.loss",
    "policy.information.pull.delay.constant",
    "run.warmup",
    "run.time",
    "run.confidence",
    "measure.quantiles[1]",
];

/// What the writer of a scenario cannot know: names of types and functions, and the place a second time.
const JARGON: &[&str] = &["u32", "u64", "i64", "f64", "Options", "from_str", "at line", "Nodes {"];

/// Whether a message is short, free of jargon and complete.
fn is_plain(error: &ScenarioError) -> bool {
    let message = error.to_string();
    message.len() <= 1000
        && !JARGON.iter().any(|word| error.rule.contains(word) || error.remedy.contains(word))
        && message.lines().all(|line| line.trim_end() == line && !line.ends_with(':'))
}

fn invalid_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/invalid");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder is part of the sources")
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    files
}

/// What a file says about its own refusal, in lines such as `# at: 4:7`.
fn told<'a>(text: &'a str, key: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.strip_prefix("# ")?.strip_prefix(key)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("no line `# {key}:`")).trim()
}

/// What is wrong with the refusal of a file, if anything.
fn misfit(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).expect("the file can be read");
    let origin = path.file_name()?.to_str()?;
    let error = match Plan::read(&text, origin, "case", &[]) {
        Ok(_) => return Some(format!("{origin}: was accepted")),
        Err(error) => error,
    };
    let message = error.to_string();
    let at = format!("{}:{}", error.mark.line, error.mark.column);
    let found = [
        ("message", told(&text, "error").to_owned(), message.contains(told(&text, "error"))),
        ("place", told(&text, "at").to_owned(), at == told(&text, "at")),
        ("path", told(&text, "path").to_owned(), error.path == told(&text, "path")),
        ("file name", origin.to_owned(), message.starts_with(origin)),
        ("rule", "a rule".to_owned(), !error.rule.is_empty()),
        ("wording", "plain words, told once".to_owned(), is_plain(&error)),
    ];
    let wrong: Vec<String> =
        found.into_iter().filter(|(.., right)| !right).map(|(what, want, _)| format!("{what}: {want}")).collect();
    (!wrong.is_empty())
        .then(|| format!("{origin}: expected {}; found at {at}, path `{}`: {message}", wrong.join(" and "), error.path))
}

#[test]
fn each_file_is_refused_with_its_message_place_and_path() {
    let files = invalid_files();
    assert!(files.len() >= 40, "only {} files", files.len());
    let misfits: Vec<String> = files.iter().filter_map(|path| misfit(path)).collect();
    assert!(misfits.is_empty(), "{} of {} files:\n{}", misfits.len(), files.len(), misfits.join("\n"));
}

/// Pitfall Y08: a number that is not finite passes no check, wherever a number can stand.
#[test]
fn numbers_that_are_not_finite_are_refused_at_every_key() {
    refused_everywhere(NUMBERS, &[".nan", ".inf", "-.inf", "1e400", "-1e400"]);
}

#[test]
fn negative_numbers_are_refused_at_every_key() {
    refused_everywhere(NUMBERS, &["-1", "-0.5", "-1e-300"]);
}

/// Pitfall Y01: what one reader takes for 8 and another for 10 is refused, never guessed.
#[test]
fn ambiguous_numbers_are_refused_at_every_key() {
    refused_everywhere(NUMBERS, &["010", "0x10", "0o10", "0b1", "\"1\"", "'1'", "1,5", "1__0", "one", "true", "[1]"]);
}

#[test]
fn fractions_are_refused_where_things_are_counted() {
    refused_everywhere(COUNTS, &["10.5", "1e-1", "0.1"]);
}

#[test]
fn values_of_another_kind_are_refused_at_every_key() {
    let kinds = [
        (&["policy.count_own_jobs", "measure.delays", "policy.dispatch.power_of_d.replacement"][..], "yes"),
        (&["policy.count_own_jobs", "measure.delays", "policy.dispatch.power_of_d.replacement"], "1"),
        (&["run", "measure", "policy", "many_server"], "1"),
        (&["run", "measure", "policy", "many_server", "dispatchers"], "[1]"),
        (&["measure.quantiles", "dispatchers.shares"], "1"),
        (&["policy.dispatch", "policy.information", "arrivals", "service", "initial"], "[random]"),
        (&["policy.dispatch", "policy.information", "arrivals", "service", "initial"], "true"),
        (&["servers[0]", "name", "servers[0].name"], "[]"),
        (&["name", "servers[0].name"], "{}"),
    ];
    for (keys, value) in kinds {
        refused_everywhere(keys, &[value]);
    }
}

#[test]
fn the_scenario_that_the_tables_change_is_right_itself() {
    for key in NUMBERS {
        assert!(Node::parse(COMPLETE, "case.yaml").expect("it is YAML").get(key).is_some(), "{key} is missing");
    }
    Plan::read(COMPLETE, "case.yaml", "case", &[]).expect("it can be run");
}

#[test]
fn texts_without_content_are_empty() {
    for text in ["", " ", "\n\n", "\u{feff}", "# a comment\n", "---\n", "~\n"] {
        let error = Plan::read(text, "case.yaml", "case", &[]).expect_err("nothing is no scenario");
        assert!(error.rule.contains("is empty"), "{text:?}: {error}");
    }
}

/// Sets each key to each value and wants a refusal that names the key and the override.
fn refused_everywhere(keys: &[&str], values: &[&str]) {
    let mut wrong = Vec::new();
    for (key, value) in keys.iter().flat_map(|key| values.iter().map(move |value| (key, value))) {
        let assignment = format!("{key}={value}");
        match Plan::read(COMPLETE, "case.yaml", "case", std::slice::from_ref(&assignment)) {
            Ok(_) => wrong.push(format!("{assignment} was accepted")),
            // A list or a map can be refused at an item of its own.
            Err(error) if !error.path.starts_with(key) || !error.mark.origin.starts_with("--set") => {
                wrong.push(format!("{assignment}: at `{}`: {error}", error.path));
            }
            Err(error) if !is_plain(&error) => wrong.push(format!("{assignment}: not in plain words: {error}")),
            Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

/// What tools/fuzz holds against any text, held against the texts it starts from.
#[test]
fn what_must_hold_for_any_text_holds_for_the_seeds_of_fuzzing() {
    let mut tried = 0;
    for folder in ["scenarios", "tests/invalid"] {
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "yaml") {
                let bytes = fs::read(&path).expect("the file can be read");
                tried += u32::from(any_text::check(&String::from_utf8_lossy(&bytes)));
            }
        }
    }
    assert!(tried >= 60, "{tried}");
}

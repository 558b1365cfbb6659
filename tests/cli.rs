//! The command line as its users meet it: exit codes, messages, files, streams and signals of the real binary.

use assert_cmd::Command;
use herdsim::measure::Metric;
use herdsim::model::{Arrivals, Law};
use herdsim::policy::{Dispatch, Information};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{self, Output, Stdio};
use tempfile::TempDir;

/// A run of a few milliseconds in which every probe has something to see.
const TINY: &str = "\
servers:
  - {name: slow, count: 3, rate: 1}
  - {name: fast, count: 2, rate: 3}
dispatchers: 2
load: 0.6
buffer: 6
policy:
  dispatch: shortest
  information: {pull: {probability: 0.5, delay: {exponential: {mean: 0.3}}, loss: 0.1}}
run: {warmup: 5, time: 40, replications: 4, seed: 7}
";

/// A place of its own for a test, with the scenario `tiny.yaml`.
struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        let desk = Self { folder: TempDir::new().expect("temporary folders can be made") };
        desk.put("tiny.yaml", TINY);
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).expect("the temporary folder can be written to");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        Command::from_std(self.raw_command(arguments))
    }

    /// For what must be started and then watched.
    fn raw_command(&self, arguments: &[&str]) -> process::Command {
        let mut command = process::Command::new(env!("CARGO_BIN_EXE_herdsim"));
        command.args(arguments).current_dir(self.folder.path()).env_remove("RUST_LOG").env_remove("NO_COLOR");
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary can be started")
    }

    /// Standard output of a command that must succeed.
    fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", error_text(&output));
        text(&output.stdout)
    }

    /// Standard error of a command that must refuse its input without a word on standard output.
    fn refuse(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let message = error_text(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "{arguments:?} wrote to standard output");
        assert!(!message.contains("panicked"), "{arguments:?}: {message}");
        message
    }

    fn names(&self) -> BTreeSet<String> {
        names(self.folder.path())
    }
}

fn names(folder: &Path) -> BTreeSet<String> {
    files(folder).into_keys().collect()
}

/// The names and contents of a folder; folders in it count as empty.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(folder)
        .expect("the folder exists")
        .map(|entry| {
            let path = entry.expect("the folder can be listed").path();
            let name = path.file_name().expect("entries have names").to_string_lossy().into_owned();
            (name, if path.is_dir() { Vec::new() } else { fs::read(&path).expect("the file can be read") })
        })
        .collect()
}

/// All files of a run but the manifest, which tells the time.
fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = files(folder);
    files.remove("manifest.json").expect("there is a manifest");
    assert!(files.len() >= 7, "{:?}", files.keys());
    files
}

fn manifest(folder: &Path) -> serde_json::Value {
    let bytes = fs::read(folder.join("manifest.json")).expect("there is a manifest");
    serde_json::from_slice(&bytes).expect("the manifest is JSON")
}

fn warning_codes(folder: &Path) -> Vec<String> {
    let manifest = manifest(folder);
    let warnings = manifest["warnings"].as_array().expect("warnings are a list");
    warnings.iter().map(|warning| warning["code"].as_str().expect("a warning has a code").to_owned()).collect()
}

type Row = BTreeMap<String, String>;

fn rows(file: &Path) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(file).expect("the table can be read");
    reader.deserialize().collect::<Result<_, _>>().expect("every row is complete")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

fn error_text(output: &Output) -> String {
    text(&output.stderr)
}

fn assert_no_control_codes(text: &str, what: &str) {
    assert!(!text.contains(['\r', '\u{1b}', '\u{8}']), "{what}: {text:?}");
}

#[test]
fn bad_input_ends_with_code_2_and_writes_nothing() {
    let desk = Desk::new();
    desk.put("bad.yaml", "servers: 10\nload: 0.5\npolicy:\n  dispatch: {power_of_d: {d: 11}}\n");
    desk.put("latin.yaml", b"servers: 10\nname: caf\xe9\n");
    fs::create_dir(desk.path("folder")).expect("a folder can be made");
    let before = desk.names();
    let cases: &[(&[&str], &str)] = &[
        (&["bad.yaml"], "bad.yaml:4:30: policy.dispatch.power_of_d.d: `11`: "),
        (&["latin.yaml"], "latin.yaml: line 2: is not UTF-8"),
        (&["folder"], "folder: is a directory"),
        (&["missing.yaml"], "missing.yaml: "),
        (&["tiny.yaml", "--set", "load=.nan"], "load: `.nan`: "),
        (&["tiny.yaml", "--set", "run.seed=-1"], "run.seed: `-1`: must be a whole number of at least 0"),
        (&["tiny.yaml", "--set", "load=-0.5"], "load: `-0.5`: must be a finite number of at least 0"),
        (&["tiny.yaml", "--set=run.time=0"], "run.time: `0`: "),
    ];
    for (arguments, expected) in cases {
        for command in ["check", "run"] {
            let message = desk.refuse(&[&[command], *arguments].concat());
            assert!(message.starts_with("error: "), "{message}");
            assert!(message.contains(expected), "{arguments:?}: expected {expected:?}, found {message}");
        }
    }
    let message = desk.refuse(&["run", "tiny.yaml", "--threads", "0"]);
    assert!(message.contains("--threads"), "{message}");
    assert_eq!(desk.names(), before, "nothing may be written for bad input");
}

#[test]
fn overrides_replace_and_add_on_check_and_run() {
    let desk = Desk::new();
    let cases = [
        ("load=0.25", "load: 0.25\n"),
        ("load=2.5e-1", "load: 0.25\n"),
        ("run.seed=99", "seed: 99\n"),
        ("run.confidence=0.9", "confidence: 0.9\n"),
        ("servers[1].rate=7", "rate: 7.0\n"),
        ("name=set here", "name: set here\n"),
        ("policy.dispatch=random", "dispatch: random\n"),
        ("policy.information.pull.delay.exponential.mean=4", "mean: 4.0\n"),
        ("policy={dispatch: {power_of_d: {d: 3}}}", "d: 3\n"),
        ("run.time=1E3", "time: 1000.0\n"),
    ];
    for (assignment, line) in cases {
        let checked = desk.succeed(&["check", "tiny.yaml", "--set", assignment]);
        assert!(checked.contains(line), "{assignment}: {checked}");
        desk.succeed(&["run", "tiny.yaml", "--set", assignment, "--set=run.time=9", "-o", "out", "-f"]);
        let resolved = fs::read_to_string(desk.path("out/scenario.yaml")).expect("there is a resolved scenario");
        assert!(assignment.starts_with("run.time") || resolved.contains(line), "{assignment}: {resolved}");
    }
    let last = desk.succeed(&["check", "tiny.yaml", "--set", "load=0.1", "--set", "load=0.2"]);
    assert!(last.contains("load: 0.2\n"), "the last override counts: {last}");
}

#[test]
fn bad_overrides_name_themselves() {
    let desk = Desk::new();
    let cases = [
        ("load", "must have the form path=value"),
        ("=1", "names no key"),
        ("laod=0.5", "did you mean `load`?"),
        ("run.tme=5", "did you mean `time`?"),
        ("load.x=1", "no keys"),
        ("servers[2].rate=1", "the list has no item 2"),
        ("load[0]=1", "is no list"),
        ("load=[1", "is not a valid YAML document"),
        ("load=fast", "must be a number"),
        ("policy.dispatch=shortes", "did you mean `shortest`?"),
        ("run.confidence=1", "run.confidence: `1`: "),
    ];
    for (assignment, expected) in cases {
        for command in ["check", "run"] {
            let message = desk.refuse(&[command, "tiny.yaml", "--set", assignment]);
            assert!(message.contains(expected), "{assignment}: expected {expected:?}, found {message}");
            assert!(message.contains(&format!("--set '{assignment}'")), "{assignment}: {message}");
            assert!(!message.contains("':1:"), "an override has no lines: {message}");
        }
    }
}

#[test]
fn checked_scenarios_read_back_as_themselves() {
    let desk = Desk::new();
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let yaml = |name: &&String| name.ends_with(".yaml");
    let mut sources: Vec<PathBuf> = names(&scenarios).iter().filter(yaml).map(|name| scenarios.join(name)).collect();
    sources.push(desk.path("tiny.yaml"));
    for source in sources {
        let source = source.to_str().expect("paths here are UTF-8");
        let first = desk.succeed(&["check", source]);
        desk.put("resolved.yaml", &first);
        assert_eq!(desk.succeed(&["check", "resolved.yaml"]), first, "{source}");
    }
    let built_in = desk.succeed(&["check"]);
    assert!(built_in.contains("name: supermarket\n"), "{built_in}");
    assert_eq!(desk.names(), BTreeSet::from(["resolved.yaml".into(), "tiny.yaml".into()]), "check writes no files");
}

/// A result must be reproducible from its own folder, name included.
#[test]
fn resolved_scenarios_keep_the_name_that_the_file_gave() {
    let desk = Desk::new();
    let checked = desk.succeed(&["check", "tiny.yaml"]);
    assert!(checked.contains("name: tiny\n"), "{checked}");
    desk.succeed(&["run", "tiny.yaml"]);
    desk.succeed(&["run", "results/tiny/scenario.yaml", "-o", "again"]);
    assert_eq!(manifest(&desk.path("again"))["name"], "tiny");
    assert!(results(&desk.path("again")) == results(&desk.path("results/tiny")), "the results differ");
}

#[test]
fn the_schema_is_json_and_names_every_strategy() {
    let schema = Desk::new().succeed(&["schema"]);
    let parsed: serde_json::Value = serde_json::from_str(&schema).expect("the schema is JSON");
    assert!(parsed["properties"]["policy"].is_object(), "{schema}");
    for (name, _) in [Dispatch::CATALOGUE, Information::CATALOGUE, Law::CATALOGUE, Arrivals::CATALOGUE].concat() {
        assert!(schema.contains(&format!("\"{name}\"")), "{name} is missing");
    }
}

#[test]
fn the_list_names_everything_with_a_line_each() {
    let list = Desk::new().succeed(&["list"]);
    let mut known: Vec<(&str, &str)> =
        [Dispatch::CATALOGUE, Information::CATALOGUE, Law::CATALOGUE, Arrivals::CATALOGUE].concat();
    known.extend(Metric::ALL.iter().map(|metric| (metric.name(), metric.meaning())));
    for (name, summary) in known {
        let found = list.lines().any(|line| line.split_whitespace().next() == Some(name) && line.ends_with(summary));
        assert!(found, "no line for {name}");
    }
}

#[test]
fn words_are_explained() {
    let desk = Desk::new();
    let all = desk.succeed(&["explain"]);
    for metric in Metric::ALL {
        let found = all
            .lines()
            .any(|line| line.split_whitespace().next() == Some(metric.name()) && line.ends_with(metric.meaning()));
        assert!(found, "no line for {}", metric.name());
        let one = desk.succeed(&["explain", metric.name()]);
        for text in [metric.meaning(), metric.unit(), metric.equation(), metric.key()] {
            assert!(one.contains(text), "{one}");
        }
    }
    for word in ["theory_kind", "mean_field", "batch_means", "wide_interval", "saving"] {
        assert!(all.contains(word) && desk.succeed(&["explain", word]).starts_with(word), "{word}");
    }
    let message = desk.refuse(&["explain", "mean_job"]);
    assert!(message.contains("`mean_job` is no metric") && message.contains("did you mean mean_jobs"), "{message}");
    desk.refuse(&["explain", ""]);
}

/// Columns of the tables that are written are those explained.
#[test]
fn columns_are_explained() {
    let desk = Desk::new();
    for table in &herdsim::output::TABLES {
        for field in table.schema(&[]) {
            desk.succeed(&["explain", &field.name]);
        }
    }
    for field in herdsim::output::COMPARISON.schema(&[]) {
        desk.succeed(&["explain", &field.name]);
    }
}

#[test]
fn shells_and_manuals_know_every_command() {
    let desk = Desk::new();
    let commands = ["run", "compare", "merge", "check", "theory", "schema", "list", "explain", "report"];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = desk.succeed(&["completions", shell]);
        for command in commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    desk.refuse(&["completions", "tcsh"]);
    assert!(desk.succeed(&["man"]).contains("herdsim\\-report(1)"));
    desk.succeed(&["man", "-o", "pages"]);
    for command in commands {
        let page = fs::read_to_string(desk.path("pages").join(format!("herdsim-{command}.1"))).expect("a page");
        assert!(page.contains(&format!("herdsim {command}")) && page.contains(".SH OPTIONS"), "{command}");
    }
    let output = desk.output(&["man", "-o", "tiny.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error_text(&output).contains("tiny.yaml: "));
}

/// Pitfall Y01, the accepted half.
#[test]
fn plainly_right_spellings_of_counts_are_accepted() {
    let desk = Desk::new();
    for (spelling, count) in [("1e3", 1000), ("1_000", 1000), ("10.0", 10), ("1E1", 10), ("+7", 7), ("1.5e1", 15)] {
        let assignment = format!("servers={spelling}");
        let checked = desk.succeed(&["check", "tiny.yaml", "--set", &assignment]);
        assert!(checked.lines().any(|line| line == format!("servers: {count}")), "{spelling}: {checked}");
    }
}

/// Pitfall Y06.
#[test]
fn byte_order_marks_line_ends_and_final_newlines_change_nothing() {
    let desk = Desk::new();
    let expected = desk.succeed(&["check", "tiny.yaml"]);
    let variants = [
        format!("\u{feff}{TINY}"),
        TINY.replace('\n', "\r\n"),
        TINY.trim_end().to_owned(),
        TINY.replace('\n', "\t\n"),
        format!("---\n{TINY}"),
        format!("\u{feff}{}", TINY.trim_end().replace('\n', "\r\n")),
    ];
    for variant in variants {
        desk.put("tiny.yaml", &variant);
        assert_eq!(desk.succeed(&["check", "tiny.yaml"]), expected, "{variant:?}");
    }
}

/// Pitfall Y03.
#[test]
fn anchors_and_merge_keys_are_merged_and_overrides_win() {
    let desk = Desk::new();
    desk.put(
        "merged.yaml",
        "servers:\n  - &base {name: a, count: 3, rate: 2}\n  - {<<: *base, name: b}\n  - {<<: *base, name: c, rate: 5}\n\
         load: &load 0.5\nrun: {confidence: *load}\npolicy: {dispatch: random}\n",
    );
    let checked = desk.succeed(&["check", "merged.yaml"]);
    for expected in [
        "- name: b\n  count: 3\n  rate: 2.0\n",
        "- name: c\n  count: 3\n  rate: 5.0\n",
        "confidence: 0.5\n",
        "# total service rate: 27\n",
    ] {
        assert!(checked.contains(expected), "{expected:?} is missing: {checked}");
    }
}

/// Pitfall Y05.
#[test]
fn names_are_kept_as_text() {
    let desk = Desk::new();
    for name in ["no", "on", "y", "true", "1.10", "007", "0x10", "1e3", "1_000", ".nan", "~?", "1:30", "2020-01-01"] {
        desk.put("named.yaml", format!("name: {name}\n{TINY}"));
        desk.put("resolved.yaml", desk.succeed(&["check", "named.yaml"]));
        desk.succeed(&["run", "resolved.yaml", "-o", "out", "-f", "--set=run.time=5"]);
        assert_eq!(manifest(&desk.path("out"))["name"], name);
    }
}

/// Pitfall O04.
#[test]
fn odd_names_give_one_portable_directory_each_inside_results() {
    let long = "x".repeat(300);
    let odd = [
        "a/b",
        "a:b",
        "../x",
        "/etc/x",
        "..",
        ".",
        "",
        "a\\nb",
        "caf\\u00e9",
        "\\u4e2d\\u6587",
        "<b>|?*",
        "-rf",
        "CON",
        "nul",
        "a ",
        "x.",
        &long,
        "A/b",
        "nul:",
    ];
    let desk = Desk::new();
    for (i, name) in odd.iter().enumerate() {
        desk.put("odd.yaml", format!("name: \"{name}\"\n{TINY}"));
        desk.succeed(&["run", "odd.yaml", "--set=run.time=5", "--set=run.replications=1"]);
        assert_eq!(names(&desk.path("results")).len(), i + 1, "{name:?} met another name or left results/");
    }
    assert_eq!(desk.names().len(), 3, "only results/ is new");
    for name in names(&desk.path("results")) {
        let portable = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        assert!(name.chars().all(portable) && name.len() <= 100 && !name.ends_with('.'), "{name}");
        assert!(!name.starts_with(['-', '.']), "{name} looks like an option or is hidden");
        let device = name.split('.').next().unwrap_or_default().to_lowercase();
        assert!(!["con", "prn", "aux", "nul"].contains(&device.as_str()), "{name} is a device on Windows");
        assert!(desk.path("results").join(&name).join("manifest.json").is_file(), "{name} is not complete");
    }
}

/// Pitfall O05.
/// A quick run is another run: its name, directory and resolved scenario say so.
#[test]
fn a_quick_run_has_results_of_its_own() {
    let desk = Desk::new();
    desk.put("own.yaml", format!("name: own\n{TINY}quick: {{run.time: 7, run.replications: 2}}\n"));
    desk.succeed(&["run", "own.yaml", "-q"]);
    desk.succeed(&["run", "own.yaml", "-q", "--quick"]);
    desk.succeed(&["run", "tiny.yaml", "-q", "--quick", "--set", "run.replications=4"]);
    let read = |name: &str| fs::read_to_string(desk.path(name)).expect("the resolved scenario is written");
    let whole = read("results/own/scenario.yaml");
    assert!(whole.contains("quick:") && whole.contains("time: 40"), "{whole}");
    let quick = read("results/own-quick/scenario.yaml");
    assert!(!quick.contains("quick:") && quick.contains("name: own-quick"), "{quick}");
    assert!(quick.contains("time: 7") && quick.contains("replications: 2"), "{quick}");
    let tiny = read("results/tiny-quick/scenario.yaml");
    assert!(tiny.contains("time: 4\n") || tiny.contains("time: 4.0\n"), "{tiny}");
    assert!(tiny.contains("replications: 4"), "{tiny}");
}

/// What `quick` says is refused before it is needed, and told where it stands.
#[test]
fn quick_is_checked_with_the_scenario() {
    let desk = Desk::new();
    for (quick, words) in [
        ("{run.tme: 7}", "did you mean `time`?"),
        ("{run.replications: 0}", "run.replications"),
        ("{name: x}", "no key that a quick run can change"),
        ("5", "must be a map"),
        ("{sweep: {load: [0.5]}, load: 0.4}", "would have no effect"),
    ] {
        desk.put("wrong.yaml", format!("{TINY}quick: {quick}\n"));
        let told = desk.output(&["check", "wrong.yaml"]);
        let text = String::from_utf8_lossy(&told.stderr).into_owned();
        assert_eq!(told.status.code(), Some(2), "{quick}: {text}");
        assert!(text.contains(words) && text.contains("wrong.yaml:11:"), "{quick}: {text}");
    }
}

/// Results have a `scenario.yaml` of their own, which must not take the place of the one they are made from.
#[test]
fn a_scenario_is_not_replaced_by_its_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = folder.path().join("scenario.yaml");
    let text = "servers: 2 # mine\nload: 0.5\npolicy: {dispatch: random}\nrun: {time: 10}\n";
    fs::write(&scenario, text).expect("a file");
    let mut command = Command::cargo_bin("herdsim").expect("the program is built");
    let output = command.current_dir(folder.path()).args(["run", "scenario.yaml", "-o", ".", "--force"]).output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("name another directory"));
    assert_eq!(fs::read_to_string(&scenario).expect("it is there"), text);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is written");
}

#[test]
fn results_are_replaced_only_when_forced() {
    let desk = Desk::new();
    desk.succeed(&["run", "tiny.yaml", "-o", "out"]);
    desk.put("out/notes.txt", "mine");
    let before = files(&desk.path("out"));
    let message = desk.refuse(&["run", "tiny.yaml", "-o", "out", "--set=run.seed=8"]);
    assert!(message.contains("out") && message.contains("--force"), "{message}");
    assert!(files(&desk.path("out")) == before, "a refused run changed files");
    desk.succeed(&["run", "tiny.yaml", "-o", "out", "--set=run.seed=8", "--force"]);
    let after = files(&desk.path("out"));
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert_eq!(after["notes.txt"], before["notes.txt"], "what is not ours stays");
    assert_ne!(after["estimates.csv"], before["estimates.csv"]);
}

/// Nor must they take the place of the trace that they are made from.
#[test]
fn a_trace_is_not_replaced_by_results() {
    let desk = Desk::new();
    desk.succeed(&["run", "tiny.yaml", "-o", "out"]);
    desk.put("out/trajectory.csv", "time\n6\n");
    desk.put(
        "out/mine.yaml",
        "servers: 2\narrivals: {trace: {file: trajectory.csv}}\npolicy: {dispatch: random}\n\
         run: {warmup: 5, time: 10, replications: 2}\n",
    );
    for flag in ["--force", "--resume"] {
        let message = desk.refuse(&["run", "out/mine.yaml", "-o", "out", flag]);
        assert!(message.contains("trajectory.csv") && message.contains("name another directory"), "{message}");
    }
    assert_eq!(files(&desk.path("out"))["trajectory.csv"], b"time\n6\n");
    desk.succeed(&["run", "out/mine.yaml", "-o", "other"]);
}

/// A key that is taken away has its default again.
#[test]
fn nothing_behind_the_sign_takes_a_key_away() {
    let desk = Desk::new();
    let with = desk.succeed(&["check", "tiny.yaml", "--set", "run.seed=77", "--set", "measure.burst_size=false"]);
    let taken =
        ["--set", "run.seed=77", "--set", "run.seed=", "--set", "measure.burst_size=false", "--set", "measure="];
    let without = desk.succeed(&[&["check", "tiny.yaml"][..], &taken].concat());
    assert!(with.contains("seed: 77") && with.contains("burst_size: false"), "{with}");
    assert!(!without.contains("seed: 77") && !without.contains("burst_size: false"), "{without}");
}

/// A slip of the hand must not put results among somebody's other files.
#[test]
fn force_replaces_results_only() {
    let desk = Desk::new();
    fs::create_dir(desk.path("home")).expect("a folder can be made");
    desk.put("home/notes.txt", "mine");
    for force in [&[][..], &["--force"]] {
        let message = desk.refuse(&[&["run", "tiny.yaml", "-o", "home"], force].concat());
        assert!(message.contains("home") && message.contains("choose another"), "{message}");
    }
    assert_eq!(files(&desk.path("home")).len(), 1);
    // What is left of results still is theirs.
    desk.succeed(&["run", "tiny.yaml", "-o", "out"]);
    fs::remove_dir_all(desk.path("out/cells")).expect("the cells go");
    desk.succeed(&["run", "tiny.yaml", "-o", "out", "--force"]);
}

#[test]
fn an_output_path_that_is_or_leads_through_a_file_is_refused() {
    let desk = Desk::new();
    desk.put("file", "content");
    for output in ["file", "file/inside"] {
        for force in [&[][..], &["--force"]] {
            let message = desk.refuse(&[&["run", "tiny.yaml", "-o", output], force].concat());
            assert!(message.contains(output), "{message}");
        }
    }
    assert_eq!(files(&desk.path(""))["file"], b"content");
}

#[test]
fn an_empty_directory_is_used() {
    let desk = Desk::new();
    fs::create_dir(desk.path("out")).expect("a folder can be made");
    desk.succeed(&["run", "tiny.yaml", "-o", "out"]);
    assert_eq!(results(&desk.path("out")).len(), 8);
}

/// Pitfall O06: of runs that are started into one directory at once, one wins and the others say so.
#[test]
fn runs_at_once_do_not_share_a_directory() {
    let desk = Desk::new();
    let children: Vec<_> = (0..4)
        .map(|seed| {
            let assignment = format!("run.seed={seed}");
            // Long enough for all of them to be there before the first one ends.
            let arguments = ["run", "tiny.yaml", "-o", "out", "-t", "1", "--set=run.time=2e4", "--set", &assignment];
            let mut command = desk.raw_command(&arguments);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            (seed, command.spawn().expect("the binary can be started"))
        })
        .collect();
    let codes: Vec<_> = children
        .into_iter()
        .map(|(seed, mut child)| (child.wait().expect("the child can be waited for").code(), seed))
        .collect();
    let winners: Vec<i32> = codes.iter().filter(|(code, _)| *code == Some(0)).map(|(_, seed)| *seed).collect();
    assert_eq!(winners.len(), 1, "{codes:?}");
    assert!(codes.iter().all(|(code, _)| matches!(code, Some(0 | 2))), "{codes:?}");
    assert_eq!(manifest(&desk.path("out"))["seed"], winners[0]);
}

#[test]
fn json_is_all_that_standard_output_holds() {
    let desk = Desk::new();
    let out = desk.succeed(&["run", "tiny.yaml", "--json", "-vv", "-o", "out"]);
    let parsed: serde_json::Value = serde_json::from_str(&out).expect("standard output is JSON and nothing else");
    let estimates = parsed.as_array().expect("it is an array");
    let table = rows(&desk.path("out/estimates.csv"));
    assert_eq!(estimates.len(), table.len());
    for (estimate, row) in estimates.iter().zip(&table) {
        let object = estimate.as_object().expect("of objects");
        let fields: BTreeSet<&String> = object.keys().collect();
        assert_eq!(fields, row.keys().collect());
        for (field, cell) in row {
            match &object[field] {
                serde_json::Value::Null => assert!(cell.is_empty(), "{field}: {cell}"),
                serde_json::Value::String(text) => assert_eq!(text, cell),
                number => {
                    let cell: f64 = cell.parse().expect("a number");
                    let number = number.as_f64().expect("a number");
                    // The JSON reader rounds in the last digit.
                    assert!((number - cell).abs() <= 1e-15 * cell.abs(), "{field}: {number} is not {cell}");
                }
            }
        }
    }
}

/// Pitfall U02.
#[test]
fn files_get_no_carriage_returns_or_escapes() {
    let desk = Desk::new();
    for verbosity in [&[][..], &["-q"], &["-v"], &["-vv"]] {
        let output = desk.output(&[&["run", "tiny.yaml", "-o", "out", "-f"], verbosity].concat());
        assert_eq!(output.status.code(), Some(0), "{}", error_text(&output));
        assert_no_control_codes(&error_text(&output), "standard error");
        assert_no_control_codes(&text(&output.stdout), "standard output");
    }
    let refused = desk.refuse(&["run", "tiny.yaml", "--unknown-option"]);
    assert_no_control_codes(&refused, "a refusal");
}

/// Pitfall U01: a reader that has enough, as in `| head -1`, is no error.
#[test]
fn a_closed_pipe_is_met_in_silence() {
    let desk = Desk::new();
    let run = ["run", "tiny.yaml", "--set=run.time=2000", "-o", "out", "-f"];
    let json = [&run[..], &["--json"]].concat();
    for arguments in [&["list"][..], &["schema"], &["check", "tiny.yaml"], &run, &json, &["--help"]] {
        let (reader, writer) = std::io::pipe().expect("pipes can be made");
        drop(reader);
        let output = desk.raw_command(arguments).stdout(writer).stderr(Stdio::piped()).output();
        let output = output.expect("the binary can be started");
        let message = error_text(&output);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {message}");
        let quiet = message.lines().all(|line| line.starts_with("warning: "));
        assert!(quiet, "{arguments:?}: {message}");
    }
    assert_eq!(results(&desk.path("out")).len(), 8, "the results are written all the same");
}

/// Whoever closes standard error still gets what was asked for on standard output.
#[test]
fn a_closed_standard_error_costs_no_output() {
    let desk = Desk::new();
    let (reader, writer) = std::io::pipe().expect("pipes can be made");
    drop(reader);
    // One replication gives a warning, so that there is something to write.
    let arguments = ["run", "tiny.yaml", "--json", "--set=run.replications=1", "-o", "out"];
    let output = desk.raw_command(&arguments).stdout(Stdio::piped()).stderr(writer).output();
    let output = output.expect("the binary can be started");
    let parsed: Result<serde_json::Value, _> = serde_json::from_slice(&output.stdout);
    assert!(parsed.is_ok_and(|value| value.is_array()), "{:?}: {:?}", output.status, text(&output.stdout));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_a_plain_error() {
    let desk = Desk::new();
    for arguments in [&["list"][..], &["schema"], &["check", "tiny.yaml"], &["run", "tiny.yaml", "-o", "out"]] {
        let full = File::options().write(true).open("/dev/full").expect("this system has /dev/full");
        let output = desk.raw_command(arguments).stdout(full).stderr(Stdio::piped()).output();
        let output = output.expect("the binary can be started");
        let message = error_text(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(message.contains("error: ") && message.to_lowercase().contains("space"), "{arguments:?}: {message}");
        assert!(message.contains("standard output"), "{arguments:?}: what is full? {message}");
        assert!(!message.contains("panicked") && !message.contains("backtrace"), "{arguments:?}: {message}");
    }
}

type Arguments<'a> = &'a [&'a str];
type Variables<'a> = &'a [(&'a str, &'a str)];

/// Pitfalls R01 and R07.
#[test]
fn results_do_not_depend_on_threads_logs_or_locale() {
    let desk = Desk::new();
    let run = |output: &str, arguments: Arguments, variables: Variables| {
        let mut command = desk.command(&[&["run", "tiny.yaml", "-o", output], arguments].concat());
        command.envs(variables.iter().copied()).assert().success();
        results(&desk.path(output))
    };
    let expected = run("plain", &["--threads", "1"], &[]);
    let variants: &[(Arguments, Variables)] = &[
        (&["--threads", "2"], &[]),
        (&["--threads", "3"], &[]),
        (&["--threads", "64"], &[]),
        (&["-v"], &[]),
        (&["-vv", "--json"], &[]),
        (&["--quiet"], &[]),
        (&[], &[("RUST_LOG", "trace")]),
        (&[], &[("LC_ALL", "de_DE.UTF-8"), ("LANG", "de_DE.UTF-8")]),
        (&[], &[("TERM", "dumb"), ("TZ", "Asia/Tokyo")]),
    ];
    for (i, (arguments, variables)) in variants.iter().enumerate() {
        let found = run(&format!("variant-{i}"), arguments, variables);
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, content) in &expected {
            assert!(found[name] == *content, "{name} differs with {arguments:?} {variables:?}");
        }
    }
}

/// Pitfall R07: a probe that is off takes its own rows away and changes no other.
#[test]
fn probes_that_are_off_leave_the_other_rows_unchanged() {
    let desk = Desk::new();
    let lines = |output: &str, file: &str| -> Vec<String> {
        let text = fs::read_to_string(desk.path(output).join(file)).expect("the table can be read");
        text.lines().map(str::to_owned).collect()
    };
    desk.succeed(&["run", "tiny.yaml", "-o", "all"]);
    let switches = ["tail_fraction", "delays", "classes", "dispatchers", "estimates", "imbalance"];
    let mut cases: Vec<Vec<String>> = switches.iter().map(|key| vec![format!("measure.{key}=false")]).collect();
    cases.push(cases.concat());
    for assignments in cases {
        let mut arguments = vec!["run", "tiny.yaml", "-o", "some", "-f"];
        arguments.extend(assignments.iter().flat_map(|assignment| ["--set", assignment]));
        desk.succeed(&arguments);
        for file in ["estimates.csv", "replications.csv"] {
            let all = lines("all", file);
            let some = lines("some", file);
            assert!(some.len() > 1 && some.len() < all.len(), "{assignments:?}: {} of {}", some.len(), all.len());
            let mut left = all.iter();
            // Each row is found, in the same order.
            let missing = some.iter().find(|row| !left.any(|other| other == *row));
            assert_eq!(missing, None, "{file} with {assignments:?}");
        }
    }
}

#[test]
fn the_largest_seed_is_kept_to_the_digit() {
    let desk = Desk::new();
    let assignment = format!("run.seed={}", u64::MAX);
    desk.succeed(&["run", "tiny.yaml", "--set", &assignment, "-o", "out"]);
    assert_eq!(manifest(&desk.path("out"))["seed"], u64::MAX);
    let resolved = fs::read_to_string(desk.path("out/scenario.yaml")).expect("there is a resolved scenario");
    assert!(resolved.contains(&format!("seed: {}\n", u64::MAX)), "{resolved}");
}

#[test]
fn overload_is_run_with_a_warning_and_without_intervals() {
    let desk = Desk::new();
    desk.put("busy.yaml", TINY.replace("load: 0.6\nbuffer: 6\n", "load: 1.2\n"));
    assert!(desk.succeed(&["check", "busy.yaml"]).contains("# warning: the load is 1.2: the system is not stable"));
    let output = desk.output(&["run", "busy.yaml", "-o", "out"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(error_text(&output).contains("not stable"), "{}", error_text(&output));
    assert!(warning_codes(&desk.path("out")).contains(&"not_stable".to_owned()));
    let table = rows(&desk.path("out/estimates.csv"));
    assert!(table.iter().all(|row| row["low"].is_empty() && row["high"].is_empty()), "{table:?}");
}

#[test]
fn one_replication_is_run_with_a_warning_and_without_intervals() {
    let desk = Desk::new();
    let output = desk.output(&["run", "tiny.yaml", "--set=run.replications=1", "-o", "out"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(error_text(&output).contains("one replication"), "{}", error_text(&output));
    assert!(warning_codes(&desk.path("out")).contains(&"one_replication".to_owned()));
    let table = rows(&desk.path("out/estimates.csv"));
    assert!(table.iter().all(|row| row["low"].is_empty() && row["std_error"].is_empty()), "{table:?}");
}

/// Pitfall R03.
#[test]
fn replications_differ_from_each_other() {
    let desk = Desk::new();
    desk.succeed(&["run", "tiny.yaml", "--set=run.replications=16", "--threads", "2", "-o", "out"]);
    let table = rows(&desk.path("out/replications.csv"));
    let means = table.iter().filter(|row| row["metric"] == "response_time_mean").map(|row| row["value"].clone());
    assert_eq!(means.collect::<BTreeSet<_>>().len(), 16);
}

/// Starts a run, presses Ctrl-C as soon as the log says `sign`, and returns the exit code and standard error.
#[cfg(unix)]
fn interrupt(desk: &Desk, arguments: &[&str], sign: &str) -> (Option<i32>, String) {
    let arguments = [&["run", "tiny.yaml", "-vv", "--threads", "2"], arguments].concat();
    let mut command = desk.raw_command(&arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary can be started");
    let mut lines = BufReader::new(child.stderr.take().expect("standard error is a pipe"));
    let mut log = String::new();
    while !log.contains(sign) {
        let read = lines.read_line(&mut log).expect("the log can be read");
        assert!(read > 0, "the run ended before it said {sign:?}: {log}");
    }
    let id = child.id().to_string();
    let killed = process::Command::new("kill").args(["-INT", &id]).status().expect("this system has kill");
    assert!(killed.success(), "the signal could not be sent");
    lines.read_to_string(&mut log).expect("the log can be read");
    (child.wait().expect("the child can be waited for").code(), log)
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_saves_the_replications_that_are_finished() {
    let desk = Desk::new();
    let arguments = ["-o", "out", "--set=run.replications=1000000", "--set=run.time=2000"];
    let (code, log) = interrupt(&desk, &arguments, "replication ends");
    assert_eq!(code, Some(130), "{log}");
    let out = desk.path("out");
    assert!(warning_codes(&out).contains(&"interrupted".to_owned()));
    let manifest = manifest(&out);
    let done = manifest["replications"].as_u64().expect("a count");
    assert!(done >= 1 && manifest["replications_requested"] == 1_000_000, "{manifest}");
    assert_eq!(results(&out).len(), 8);
    let table = rows(&out.join("replications.csv"));
    let counted: BTreeSet<&String> = table.iter().map(|row| &row["replication"]).collect();
    assert_eq!(counted.len() as u64, done);
}

#[cfg(unix)]
#[test]
fn a_run_interrupted_before_anything_is_finished_leaves_nothing() {
    let desk = Desk::new();
    let before = desk.names();
    let (code, log) = interrupt(&desk, &["--set=run.time=1e10"], "replication starts");
    assert_eq!(code, Some(130), "{log}");
    assert!(log.contains("error: interrupted"), "{log}");
    assert_eq!(desk.names(), before, "folders that the run made must go");
}

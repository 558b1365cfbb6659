//! `herdsim report` and `--report`: the file as it is written.

use super::figures::{HOSTILE, drawn, page};
use herdsim::output::figure::{Axis, Content, Figure, Kind, Lines, Point, Scale, Series};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// The page must be smaller than this.
const MOST: usize = 2_000_000;

const TINY: &str = "
servers: 5
load: 0.6
policy: {dispatch: {power_of_d: {d: 2}}}
run: {warmup: 5, time: 20, replications: 3, seed: 7}
";

fn herdsim(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_herdsim"));
    command.args(arguments).current_dir(folder).env_remove("RUST_LOG").output().expect("the binary can be started")
}

#[track_caller]
fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = herdsim(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[track_caller]
fn refuse(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = herdsim(folder, arguments);
    let message = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
    assert!(!message.contains("panicked") && output.stdout.is_empty(), "{message}");
    message
}

fn desk(scenario: &str) -> TempDir {
    let folder = TempDir::new().expect("temporary folders can be made");
    fs::write(folder.path().join("tiny.yaml"), scenario).expect("it can be written to");
    folder
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).expect("the report is there")
}

/// Nothing of the page is loaded from anywhere, and all of it is there.
fn check(page: &str) {
    assert!(page.len() < MOST, "{} bytes", page.len());
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    // Those in names are text.
    let own = page.replace("&lt;img src=x", "").replace("\\u003cimg src=x", "");
    for outside in ["src=", "@import", "<link", "url(http", "fetch(", "innerHTML", "http://", "https://"] {
        let here = own.replace("http://www.w3.org/2000/svg", "");
        assert!(!here.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
}

#[test]
fn a_run_and_the_command_give_the_same_bytes() {
    let desk = desk(TINY);
    let told = succeed(desk.path(), &["run", "tiny.yaml", "-o", "out", "-q", "--report"]);
    assert!(told.ends_with("The report is out/report.html\n"), "{told}");
    let first = read(&desk, "out/report.html");
    check(&first);
    for text in ["response_time_mean", "seed 7", "herdsim 0.", "power_of_d", "started (UTC)", "s_k ="] {
        assert!(first.contains(text), "{text}");
    }
    assert_eq!(succeed(desk.path(), &["report", "out"]), "The report is out/report.html\n");
    assert_eq!(read(&desk, "out/report.html"), first);
    succeed(desk.path(), &["report", "out", "-o", "there.html"]);
    assert_eq!(read(&desk, "there.html"), first);
    let names = fs::read_dir(desk.path().join("out")).expect("results");
    assert!(names.flatten().all(|entry| !entry.file_name().to_string_lossy().ends_with(".partial")));
    // Results that take the place of others do not keep the report of those.
    succeed(desk.path(), &["run", "tiny.yaml", "-o", "out", "-q", "-f"]);
    assert!(!desk.path().join("out/report.html").exists());
}

#[test]
fn hostile_names_stay_text() {
    let mut yaml = format!("name: \"{}\"{TINY}", HOSTILE.replace('"', "\\\""));
    yaml.push_str(
        "compare:\n  - {name: '</table><script>alert(2)</script>', dispatch: random}\n  - {dispatch: shortest}\n",
    );
    let yaml = yaml.replace("policy: {dispatch: {power_of_d: {d: 2}}}", "policy: {dispatch: random}");
    let desk = desk(&yaml);
    succeed(desk.path(), &["run", "tiny.yaml", "-o", "out", "-q", "--report"]);
    let text = read(&desk, "out/report.html");
    check(&text);
    assert!(!text.contains("<img") && !text.contains("alert(2)</script>") && !text.contains("<!-- &"));
    assert!(text.contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; {{charts}} &lt;!-- &amp;"));
    assert!(text.contains("Policies against the"));
    check(&page(&drawn()));
}

#[test]
fn sweeps_have_a_row_for_each_point() {
    let desk = desk(TINY);
    succeed(desk.path(), &["run", "tiny.yaml", "-o", "out", "-q", "--sweep", "load=0.3,0.6,0.9", "--report"]);
    let text = read(&desk, "out/report.html");
    let points =
        text.split_once("<section id=points").and_then(|(_, rest)| rest.split_once("</section>")).expect("points").0;
    assert_eq!(points.matches("<tr><th scope=row>").count(), 3, "{points}");
    assert_eq!(text.matches("<details>").count(), 3);
    assert!(text.contains("3 points, "));
}

/// Pitfall O01: what was not measured is a dash.
#[test]
fn runs_without_jobs_have_a_report() {
    let desk = desk(&TINY.replace("load: 0.6", "load: 0.00001").replace("replications: 3", "replications: 1"));
    succeed(desk.path(), &["run", "tiny.yaml", "-o", "out", "-q", "--report"]);
    let text = read(&desk, "out/report.html");
    check(&text);
    assert!(text.contains("<td class=n>-<td class=n>-") && !text.contains("NaN"));
}

#[test]
fn big_sweeps_stay_small() {
    // Not so few servers that each point has an exact solution, which takes time.
    let desk = desk(&TINY.replace("replications: 3", "replications: 2").replace("servers: 5", "servers: 40"));
    let swept = ["--sweep", "load=0.1..0.9:linear:800", "--set", "run.time=5", "--report"];
    succeed(desk.path(), &[&["run", "tiny.yaml", "-o", "out", "-q"], &swept[..]].concat());
    let text = read(&desk, "out/report.html");
    check(&text);
    for part in [" of 800 full tables are shown", " of 800 points are shown"] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn big_figures_stay_small() {
    let axis = || Axis { label: "x".to_owned(), scale: Scale::Linear };
    let point =
        |i: u32| Point { x: f64::from(i) / 7.0, y: f64::from(i).sin(), interval: Some((-1.0 / 3.0, 1.0 / 3.0)) };
    let series = Series { label: "l".repeat(1000), kind: Kind::Curve, points: (0..20_000).map(point).collect() };
    let content = Content::Lines(Lines { x: axis(), y: axis(), series: vec![series; 100] });
    let long = "<".repeat(100_000);
    let figure = Figure { name: "n".to_owned(), title: long.clone(), caption: long, content };
    check(&page(&vec![figure; 6]));
}

#[test]
fn faults_are_told() {
    let desk = desk(TINY);
    let here = desk.path();
    assert!(refuse(here, &["report", "nowhere"], 2).contains("nowhere: "));
    fs::create_dir(here.join("empty")).expect("a folder");
    assert!(refuse(here, &["report", "empty"], 2).contains("holds no finished cells"));
    assert!(refuse(here, &["report", "tiny.yaml"], 2).contains("tiny.yaml: "));
    succeed(here, &["run", "tiny.yaml", "-o", "out", "-q"]);
    assert!(refuse(here, &["report", "out", "-o", "empty"], 2).contains("is a directory"));
    let told = refuse(here, &["report", "out", "-o", "no/such/place.html"], 1);
    assert!(told.contains("no/such/place.html: "), "{told}");
    // A manifest that cannot be read takes only the times away.
    fs::write(here.join("out/manifest.json"), "{").expect("it can be written");
    succeed(here, &["report", "out"]);
    assert!(read(&desk, "out/report.html").contains("there is no manifest.json"));
    if cfg!(target_os = "linux") {
        succeed(here, &["report", "out", "-o", "/dev/null"]);
        assert!(!fs::metadata("/dev/null").expect("it is still there").is_file());
    }
}

#[test]
fn shares_that_are_missing_are_told() {
    let desk = desk(TINY);
    succeed(desk.path(), &["run", "tiny.yaml", "-o", "out", "-q", "--shard", "1/3"]);
    succeed(desk.path(), &["report", "out"]);
    assert!(read(&desk, "out/report.html").contains("2 cells of the experiment have not been run yet"));
}

//! `herdsim theory`, and the theory that stands beside estimates.

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// `herdsim theory` on a scenario of the folder, which answers within a second; twenty leave room for a busy machine.
fn theory(scenario: &str, arguments: &[&str]) -> Command {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(scenario);
    let mut command = Command::new(env!("CARGO_BIN_EXE_herdsim"));
    command.arg("theory").arg(path).args(arguments).timeout(Duration::from_secs(20));
    command
}

fn printed(scenario: &str, arguments: &[&str]) -> String {
    let output = theory(scenario, arguments).assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("text")
}

fn json(scenario: &str, arguments: &[&str]) -> Value {
    let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&printed(scenario, &all)).expect("JSON")
}

/// Every scenario that comes with the program: something is said, and what is not known has a reason.
#[test]
fn every_scenario_has_a_theory_or_reasons() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    for entry in std::fs::read_dir(folder).expect("the scenarios can be read") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        if !name.ends_with(".yaml") {
            continue;
        }
        // The points of a sweep have a report each.
        let reports = json(&name, &[]);
        let report = if reports.is_array() { reports[0]["theory"].clone() } else { reports };
        let list = |key: &str| report[key].as_array().expect("a list").clone();
        assert!(!list("theorems").is_empty(), "{name}");
        assert_eq!(
            list("levels").is_empty(),
            list("unknown").iter().any(|u| u["what"] == "mean-field limit"),
            "{name}"
        );
        for unknown in list("unknown") {
            assert!(unknown["why"].as_str().is_some_and(|why| why.len() > 10), "{name}: {unknown}");
        }
        for known in list("predictions") {
            assert!(known["value"].as_f64().is_some_and(f64::is_finite), "{name}: {known}");
            let kinds = ["exact", "refined_mean_field", "mean_field", "bound"];
            assert!(kinds.iter().any(|kind| known["kind"] == *kind), "{name}: {known}");
        }
    }
}

/// Any number of servers and choices: more than could ever be simulated here.
#[test]
fn a_billion_servers_and_any_choices() {
    for d in [1_u32, 2, 50, 1000, 1_000_000] {
        let dispatch = format!("policy.dispatch={{power_of_d: {{d: {d}}}}}");
        let report = json("supermarket.yaml", &["--set", "servers=1000000000", "--set", &dispatch]);
        assert_eq!(report["servers"], 1_000_000_000_u32);
        assert!(report["levels"].as_array().is_some_and(|levels| !levels.is_empty()), "{d}");
    }
    let classes = "servers=[{count: 500000000, rate: 1}, {count: 500000000, rate: 2}]";
    assert!(printed("supermarket.yaml", &["--set", classes]).contains("Newton"));
}

#[test]
fn the_report_of_the_supermarket() {
    let text = printed("supermarket.yaml", &[]);
    for line in [
        "  trace(W), limit of N E sum_k |s_k - s*_k|^2 = 2.86192 (expansion: A W + W A^T + B = 0)",
        "  mean jobs per server, to order 1/N = 2.35664 (expansion: Gast and Van Houdt 2017)",
    ] {
        assert!(text.lines().any(|printed| printed == line), "{line} is not in\n{text}");
    }
    let exact = printed("supermarket.yaml", &["--set", "servers=2", "--set", "load=0.5"]);
    assert!(exact.contains("exact: stationary law of the Markov chain"), "{exact}");
}

#[test]
fn the_trajectory_is_a_table() {
    let text = printed("supermarket.yaml", &["--trajectory", "--step", "0.5", "--until", "2"]);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..3], ["time", "mean_jobs", "s_1"]);
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    assert_eq!(rows[1][..3], ["0", "0", "0"]);
    // From cases/theory.json it is known to more digits; here that the columns are the right ones.
    let last: Vec<f64> = rows[5].iter().map(|x| x.parse().expect("a number")).collect();
    assert!((last[0] - 2.0).abs() < 1e-12 && (last[1] - last[2..].iter().sum::<f64>()).abs() < 1e-9);
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    for arguments in [
        &["--trajectory", "--step", "0"][..],
        &["--trajectory", "--step", "-1"],
        &["--trajectory", "--until", "inf"],
        &["--trajectory", "--step", "1e-9"],
        &["--trajectory", "--tolerance", "1"],
        &["--trajectory", "--tolerance", "nan"],
        &["--trajectory", "--set", "policy.dispatch=round_robin"],
        &["--trajectory", "--set", "policy.information=push"],
        &["--trajectory", "--set", "service={erlang: {shape: 2, mean: 1}}"],
        &["--trajectory", "--json"],
        &["--step", "1"],
        &["--set", "load=-1"],
    ] {
        let output = theory("supermarket.yaml", arguments).assert().code(2).get_output().clone();
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_file_holds_what_would_be_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("theory.json");
    let name = file.to_str().expect("a name");
    let output = theory("supermarket.yaml", &["--json", "-o", name]).assert().success().get_output().clone();
    assert!(output.stdout.is_empty());
    assert_eq!(std::fs::read_to_string(file).expect("written"), printed("supermarket.yaml", &["--json"]));
    theory("supermarket.yaml", &["-o", folder.path().join("no/such/folder").to_str().expect("a name")])
        .assert()
        .code(1);
}

/// A run of two servers has exact values beside its estimates, which lie within a few standard errors.
#[test]
fn estimates_stand_beside_exact_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let scenario = folder.path().join("two.yaml");
    let text =
        "{servers: 2, load: 0.5, policy: {dispatch: shortest}, run: {warmup: 100, time: 2000, replications: 20}}";
    std::fs::write(&scenario, text).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_herdsim"));
    let output = command.arg("run").arg(&scenario).args(["--quiet", "-o"]).arg(&out).assert().success();
    let printed = String::from_utf8(output.get_output().stdout.clone()).expect("text");
    assert!(
        printed.lines().any(|line| line.contains("mean_jobs") && line.contains("exact, ") && line.contains("s.e."))
    );
    let mut judged = 0;
    for row in csv::Reader::from_path(out.join("estimates.csv")).expect("a table").records() {
        let row = row.expect("a row");
        let (metric, kind) = (&row[1], &row[9]);
        // The variance over a window lacks that of its own mean.
        if kind != "exact" || metric.contains("variance") || metric.contains("quantile") {
            continue;
        }
        let number = |i: usize| row[i].parse::<f64>().expect("a number");
        let (estimate, error, theory) = (number(3), number(6), number(8));
        // Rare levels are far from normal.
        if error > 0.0 && error < 0.05 * theory {
            judged += 1;
            assert!(((estimate - theory) / error).abs() < 4.0, "{row:?}");
        }
    }
    assert!(judged >= 8, "only {judged} rows");
}

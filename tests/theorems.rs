//! Which theorem covers a scenario, as `herdsim check` prints it.

use assert_cmd::Command;
use std::path::Path;

/// The comment lines that `check` adds to a scenario of the folder.
fn comments(scenario: &str, overrides: &[&str]) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(scenario);
    let mut command = Command::new(env!("CARGO_BIN_EXE_herdsim"));
    command.arg("check").arg(path);
    for assignment in overrides {
        command.args(["--set", assignment]);
    }
    let output = command.assert().success().get_output().stdout.clone();
    let text = String::from_utf8(output).expect("the output is text");
    text.lines().filter(|line| line.starts_with("# ")).map(str::to_owned).collect()
}

#[track_caller]
fn assert_has(comments: &[String], line: &str) {
    assert!(comments.iter().any(|comment| comment == line), "{line} is not in {comments:#?}");
}

#[test]
fn shortest_with_pull_is_covered() {
    let found = comments("led-slotted.yaml", &[]);
    assert_has(&found, "# dispatching preference: delta-tilted with delta = 0.001818");
    // A server of rate 1 is offered a service in half of the slots; a report in ten, to one of ten dispatchers.
    assert_has(&found, "# refresh of an estimate: at least p = 0.005 while the server is busy");
    assert_has(
        &found,
        "# theorem 2 (heavy-traffic delay optimal): applies with delta = 0.001818, p = 0.005 while busy (Definition 8)",
    );
}

#[test]
fn shortest_with_push_has_a_p() {
    // 49.5 of 495 jobs per slot: some arrive nearly always.
    let found = comments("led-slotted.yaml", &["policy.information={push: {d: 2, probability: 0.5}}"]);
    assert_has(&found, "# theorem 1 (throughput optimal): applies with p = 0.01");
    assert_has(&found, "# theorem 2 (heavy-traffic delay optimal): applies with delta = 0.001818, p = 0.01");
}

#[test]
fn late_messages_and_no_refresh_are_not() {
    for (information, why) in [
        ("{push: {delay: 3}}", "late messages tell lengths of the past"),
        ("none", "nothing refreshes the estimates"),
        ("on_idle", "a server that stays busy does not report"),
    ] {
        let found = comments("led-slotted.yaml", &[&format!("policy.information={information}")]);
        assert_has(&found, &format!("# theorem 1 (throughput optimal): not shown, since {why}"));
        assert_has(&found, &format!("# theorem 2 (heavy-traffic delay optimal): not shown, since {why}"));
    }
}

#[test]
fn join_idle_queue_on_unequal_rates_is_warned_of() {
    let found = comments("led-slotted.yaml", &["policy={dispatch: idle_first, information: on_idle}"]);
    assert_has(
        &found,
        "# known: an idle server first, else any alike, is in general not stable at high load when rates differ",
    );
    assert_has(&found, "# theorem 1 (throughput optimal): not shown, since the strategy is not tilted");
}

#[test]
fn choices_of_unequal_rates_are_not_covered_and_may_be_unstable() {
    let found = comments("led-slotted.yaml", &["policy={dispatch: {power_of_d: {d: 2}}, information: exact}"]);
    assert_has(&found, "# theorem 1 (throughput optimal): not shown, since the strategy is not tilted");
    // Of the pairs, 49/198 are slow servers only, which do 50 of 550.
    assert_has(&found, "# known: not stable from load 0.3673 on, since slow servers get more than they can do");
    assert!(
        found.iter().any(|line| line.starts_with("# warning: whatever the view, 24.75 % of the jobs")),
        "{found:?}"
    );
}

#[test]
fn continuous_time_is_told() {
    let found = comments("supermarket.yaml", &["servers=100", "policy.dispatch={power_of_d: {d: 2}}"]);
    assert_has(&found, "# theorem 2 (heavy-traffic delay optimal): its conditions hold with delta = 0.01, p = 1");
    assert_has(&found, "# the theorems are stated for slotted time, and proved for nothing else");
}

#[test]
fn lines_are_short_in_every_scenario() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    for entry in std::fs::read_dir(folder).expect("the scenarios can be read") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        if !name.ends_with(".yaml") {
            continue;
        }
        let found = comments(&name, &[]);
        for line in found.iter().filter(|line| !line.starts_with("# warning")) {
            assert!(line.len() <= 120, "{name}: {line}");
        }
        assert!(found.iter().any(|line| line.starts_with("# theorem 2")), "{name}");
    }
}

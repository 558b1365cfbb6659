//! The README is true: its numbers come out of its commands, and its scenario is one.

use assert_cmd::Command;
use std::path::Path;

const README: &str = include_str!("../README.md");

/// The lines between the first line that starts with `from` and the next that is `until`.
fn block(from: &str, until: &str) -> Vec<&'static str> {
    README.lines().skip_while(|line| !line.starts_with(from)).skip(1).take_while(|line| *line != until).collect()
}

#[test]
fn the_first_command_prints_what_the_readme_shows() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::cargo_bin("herdsim").expect("the program is built");
    let output = command.current_dir(folder.path()).arg("run").output().expect("it runs");
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).expect("text");
    // The first line ends with the time it took.
    let without_time = |line: &str| line.rsplit_once(", ").map_or(line.to_owned(), |(rest, _)| rest.to_owned());
    let shown = block("```text", "```");
    let printed: Vec<&str> = printed.lines().collect();
    assert_eq!(without_time(printed[0]), without_time(shown[0]));
    assert_eq!(printed[1..], shown[1..]);
}

/// The README shows, line by line, the table that a tool prints.
#[track_caller]
fn assert_shows_the_table_of(tool: &str) {
    let program = assert_cmd::cargo::cargo_bin!("herdsim");
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools").join(tool);
    let output = std::process::Command::new(tool).env("HERDSIM", program).output().expect("the tool runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).expect("text");
    let printed: Vec<&str> = printed.lines().collect();
    let shown: Vec<&str> = README.lines().skip_while(|line| *line != printed[0]).take(printed.len()).collect();
    assert_eq!(printed, shown);
}

#[test]
fn the_table_of_delays_is_what_its_tool_prints() {
    assert_shows_the_table_of("delay-study");
}

#[test]
fn the_table_of_herds_is_what_its_tool_prints() {
    assert_shows_the_table_of("herd-study");
}

#[test]
fn the_scenario_of_the_readme_is_valid() {
    let text = block("```yaml", "```").join("\n");
    let plan = herdsim::scenario::Plan::read(&text, "README.md", "readme", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(plan.system.servers.len(), 100);
    assert_eq!(plan.system.load(), 0.9);
}

#[test]
fn the_strategies_of_the_readme_are_those_of_the_program() {
    for (tag, _) in herdsim::policy::Dispatch::CATALOGUE {
        assert!(README.contains(&format!("`{tag}`")), "{tag}");
    }
    for (tag, _) in herdsim::policy::Information::CATALOGUE {
        // Some stand with their value, as in `overtaking: keep`.
        assert!(README.contains(&format!("`{tag}")), "{tag}");
    }
}

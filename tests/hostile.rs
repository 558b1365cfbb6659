//! What a hostile world does to the command: every stream closed or full, files that are none, no environment, little
//! memory. It ends with a word and a code, and never with a panic.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const TINY: &str = "servers: 4\ndispatchers: 2\nload: 0.6\npolicy: {dispatch: shortest}\n\
                    run: {warmup: 5, time: 40, replications: 4, seed: 7}\n";

/// Every command that prints, with the run `done` to print of.
const PRINTING: &[&[&str]] = &[
    &["list"],
    &["schema"],
    &["explain"],
    &["explain", "regret_mean"],
    &["completions", "bash"],
    &["man"],
    &["check", "tiny.yaml"],
    &["theory", "tiny.yaml"],
    &["run", "tiny.yaml", "-o", "out", "-f"],
    &["run", "tiny.yaml", "-o", "out", "-f", "--json"],
    &["compare", "tiny.yaml", "--policy", "{dispatch: random}", "--policy", "{dispatch: shortest}", "-o", "out", "-f"],
    &["merge", "done"],
    &["plot", "done"],
    &["report", "done"],
    &["--help"],
    &["run", "--help"],
    &["--version"],
];

struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(TempDir::new().expect("temporary folders can be made"));
        desk.put("tiny.yaml", TINY);
        desk
    }

    fn with_results() -> Self {
        let desk = Self::new();
        let output = desk.command(&["run", "tiny.yaml", "-o", "done", "-q"]).output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        desk
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.0.path().join(name), text).expect("the temporary folder can be written to");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_herdsim"));
        command.args(arguments).current_dir(self.0.path()).env_remove("RUST_LOG");
        command
    }

    /// The message of a command that must refuse what it is given.
    fn refuse(&self, arguments: &[&str]) -> String {
        refused(self.command(arguments).output().expect("it starts"), arguments)
    }
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn refused(output: Output, arguments: &[&str]) -> String {
    let message = message(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty() && !message.contains("panicked"), "{arguments:?}: {message}");
    assert!(message.len() < 3000, "{arguments:?}: {} bytes of message", message.len());
    message
}

/// Pitfall U01, for every command.
#[test]
fn closed_pipes_are_met_in_silence_by_every_command() {
    let desk = Desk::with_results();
    for arguments in PRINTING {
        let (reader, writer) = std::io::pipe().expect("pipes can be made");
        drop(reader);
        let output = desk.command(arguments).stdout(writer).stderr(Stdio::piped()).output().expect("it starts");
        let message = message(&output);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {message}");
        assert!(message.lines().all(|line| line.starts_with("warning: ")), "{arguments:?}: {message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_plain_error_of_every_command() {
    let desk = Desk::with_results();
    for arguments in PRINTING {
        let full = File::options().write(true).open("/dev/full").expect("this system has /dev/full");
        let output = desk.command(arguments).stdout(full).stderr(Stdio::piped()).output().expect("it starts");
        let message = message(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(message.contains("error: standard output: "), "{arguments:?}: {message}");
    }
}

/// No home, no path, no language, no terminal.
#[test]
fn nothing_of_the_environment_is_needed() {
    let desk = Desk::with_results();
    for arguments in PRINTING {
        let output = desk.command(arguments).env_clear().stdin(Stdio::null()).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", message(&output));
        assert!(!output.stdout.is_empty());
    }
}

#[test]
fn files_that_are_no_scenarios_are_refused_at_once() {
    let desk = Desk::new();
    desk.put("latin.yaml", b"servers: 4\nname: caf\xe9\n");
    let wide = format!("\u{feff}{TINY}");
    desk.put("wide.yaml", wide.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    desk.put("nul.yaml", [0; 1000]);
    desk.put("spaces.yaml", vec![b' '; 100_000_000]);
    desk.put("lines.yaml", vec![b'\n'; 10_000_000]);
    desk.put("value.yaml", format!("servers: \"{}\"\n", "x".repeat(10_000_000)));
    desk.put("key.yaml", format!("? {}\n: 1\n", "y".repeat(1_000_000)));
    desk.put("keys.yaml", (0..60_000).map(|i| format!("key_{i}: 1\n")).collect::<String>());
    desk.put("deep.yaml", format!("servers: {}", "[".repeat(1_000_000)));
    desk.put("codes.yaml", "\"\\e[2J\": 1\n");
    fs::create_dir(desk.0.path().join("folder.yaml")).expect("a folder can be made");
    for (file, word) in [
        ("latin.yaml", "line 2: is not UTF-8"),
        ("wide.yaml", "is not UTF-8"),
        ("nul.yaml", "is not a valid YAML document"),
        ("spaces.yaml", "larger than 16 MiB"),
        ("lines.yaml", "is empty"),
        ("value.yaml", "must be a whole number"),
        ("key.yaml", "not a known key"),
        ("keys.yaml", "not a known key"),
        ("deep.yaml", "is not a valid YAML document"),
        ("codes.yaml", "not a known key"),
        ("folder.yaml", "is a directory"),
        ("nowhere.yaml", "No such file"),
        #[cfg(target_os = "linux")]
        ("/dev/zero", "larger than 16 MiB"),
        #[cfg(target_os = "linux")]
        ("/dev/null", "is empty"),
    ] {
        let message = desk.refuse(&["check", file]);
        assert!(message.contains(file) && message.contains(word), "{file}: {message}");
        assert!(!message.contains('\u{1b}'), "{file}: {message:?}");
    }
}

/// Pitfall Y07.
#[test]
fn numbers_on_the_command_line_are_refused_by_their_option() {
    let desk = Desk::new();
    for value in ["0", "-1", "-0.5", "1e3", "abc", "", "99999999999999999999"] {
        let message = desk.refuse(&["run", "tiny.yaml", "--threads", value]);
        assert!(message.contains("--threads") && message.contains("whole number of at least 1"), "{message}");
    }
    for value in ["-1", "18446744073709551616", "0x10", "007", "1.5", "abc"] {
        let message = desk.refuse(&["run", "tiny.yaml", "--seed", value]);
        assert!(message.contains("run.seed") && message.contains(value), "{message}");
    }
    for (value, seed) in [("0", "0"), ("18446744073709551615", "18446744073709551615"), ("1E6", "1000000")] {
        let output = desk.command(&["check", "tiny.yaml", "--seed", value]).output().expect("it starts");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(told.contains(&format!("seed: {seed}\n")), "{value}: {told}{}", message(&output));
    }
}

/// A hundred thousand points are looked through before the first one runs: not their square.
#[test]
fn long_sweeps_are_checked_in_one_pass() {
    let desk = Desk::new();
    let output =
        desk.command(&["check", "tiny.yaml", "--sweep", "load=0.1..0.9:linear:20000"]).output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("# points: 20000"), "{}", message(&output));
    // As many refusals, of which some are told.
    let message = desk.refuse(&["check", "tiny.yaml", "--sweep", "load=-0.9..-0.1:linear:20000"]);
    assert!(message.contains("more"), "{message}");
}

/// What the system would end without a word is refused before it starts, with the figure and the way out.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_the_memory_cannot_hold_is_refused() {
    let desk = Desk::new();
    let limited = |arguments: &[&str]| {
        // In KiB: room for the program and little more.
        let script = format!("ulimit -v 2000000; exec \"$0\" {}", arguments.join(" "));
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_herdsim")]).current_dir(desk.0.path());
        command.output().expect("there is a shell")
    };
    let large = ["run", "tiny.yaml", "-o", "out", "--set", "servers=1e9", "--set", "engine=clock"];
    let message = refused(limited(&large), &large);
    assert!(message.contains("GiB") && message.contains("engine: occupancy"), "{message}");
    let jobs = ["run", "tiny.yaml", "-o", "out", "--set", "load=1.2", "--set", "run.time=1e9", "--set", "engine=event"];
    let message = refused(limited(&jobs), &jobs);
    assert!(message.contains("GiB") && message.contains("run.time"), "{message}");
    let small = limited(&["run", "tiny.yaml", "-o", "out", "--set", "load=1.2", "-q"]);
    assert!(small.status.success(), "{small:?}");
    assert!(!desk.0.path().join("results").exists());
}

/// A directory from an older version is refused as such by whoever reads it, and may be replaced.
#[test]
fn results_of_another_version_are_named_as_such() {
    let desk = Desk::with_results();
    let file = desk.0.path().join("done/cells/1-of-1.cells");
    let mut bytes = fs::read(&file).expect("there are cells");
    bytes[..8].copy_from_slice(b"HERDSIM1");
    fs::write(&file, &bytes).expect("the file can be written");
    for arguments in [
        &["run", "tiny.yaml", "-o", "done", "--resume"][..],
        &["merge", "done"],
        &["report", "done"],
        &["plot", "done"],
    ] {
        let message = desk.refuse(arguments);
        assert!(message.contains("this version of herdsim") && message.contains("--force"), "{arguments:?}: {message}");
        assert_eq!(fs::read(&file).expect("it is there"), bytes, "{arguments:?} changed what it refused");
    }
    let forced = desk.command(&["run", "tiny.yaml", "-o", "done", "--force", "-q"]).output().expect("it starts");
    assert!(forced.status.success(), "{}", message(&forced));
}

/// A byte that has changed costs the cells from there on, which are run again: nothing wrong is kept.
#[test]
fn damaged_cells_are_run_again() {
    let desk = Desk::with_results();
    let folder = desk.0.path().join("done");
    let expected = fs::read(folder.join("estimates.csv")).expect("there are estimates");
    let whole = fs::read(folder.join("cells/1-of-1.cells")).expect("there are cells");
    for at in [9, 100, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        fs::write(folder.join("cells/1-of-1.cells"), &bytes).expect("the file can be written");
        let output = desk.command(&["run", "tiny.yaml", "-o", "done", "--resume", "-q"]).output().expect("it starts");
        assert!(output.status.success() && message(&output).contains("damaged"), "byte {at}: {}", message(&output));
        assert_eq!(fs::read(folder.join("estimates.csv")).expect("there are estimates"), expected, "byte {at}");
        assert_eq!(fs::read(folder.join("cells/1-of-1.cells")).expect("there are cells"), whole, "byte {at}");
    }
}

/// SIGTERM, Ctrl-C, and Ctrl-C twice, which does not wait for the tables: what is finished counts when the run goes on.
#[cfg(unix)]
#[test]
fn signals_lose_nothing() {
    let desk = Desk::new();
    let run = |output: &'static str| {
        let size = ["--set=run.replications=24", "--set=run.time=20000", "--set=dispatchers=1", "-t", "1", "-vv"];
        [&["run", "tiny.yaml", "-o", output], &size[..]].concat()
    };
    let whole = desk.command(&run("whole")).output().expect("it starts");
    assert!(whole.status.success(), "{}", message(&whole));
    let table = |folder: &str| fs::read(desk.0.path().join(folder).join("estimates.csv")).expect("there are estimates");
    for (folder, signals) in [("term", &["-TERM"][..]), ("int", &["-INT"]), ("twice", &["-INT", "-INT"])] {
        let mut child =
            desk.command(&run(folder)).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("standard error is a pipe"));
        let mut log = String::new();
        // On one thread the first cell is kept when the second is finished.
        while log.matches("replication ends").count() < 2 {
            assert!(lines.read_line(&mut log).expect("the log can be read") > 0, "it ended too soon: {log}");
        }
        for signal in signals {
            let killed = Command::new("kill").args([*signal, &child.id().to_string()]).status();
            assert!(killed.is_ok_and(|status| status.success()), "{folder}: {signal} came too late");
            // Two signals at once are one.
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        lines.read_to_string(&mut log).expect("the log can be read");
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{folder}: {log}");
        let resumed = desk.command(&[&run(folder)[..], &["--resume"]].concat()).output().expect("it starts");
        assert!(resumed.status.success(), "{folder}: {}", message(&resumed));
        assert!(!message(&resumed).contains("replication=0"), "{folder}: the first replication was run again");
        assert_eq!(table(folder), table("whole"), "{folder}");
    }
}

//! Experiments of many cells: the same bytes whatever ran where, nothing lost, sweeps, comparisons and precision.

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

/// Two servers and short runs: a cell takes some milliseconds.
const SMALL: &str = "servers: 2\ndispatchers: 2\nload: 0.7\npolicy: {dispatch: shortest}\n\
                     run: {warmup: 20, time: 500, replications: 4, seed: 3}\n";

struct Desk(tempfile::TempDir);

impl Desk {
    fn new(scenario: &str) -> Self {
        let desk = Self(tempfile::tempdir().expect("a place for temporary files"));
        fs::write(desk.path("scenario.yaml"), scenario).expect("it can be written to");
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn herdsim(&self, arguments: &[&str]) -> Command {
        let mut command = Command::cargo_bin("herdsim").expect("it is built");
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    /// Runs and returns what standard error says.
    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.herdsim(arguments).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {stderr}");
        stderr
    }

    /// Runs, expects this exit code, and returns what standard error says.
    fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.herdsim(arguments).output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        stderr
    }

    fn run(&self, output: &str, more: &[&str]) -> BTreeMap<String, Vec<u8>> {
        self.ok(&[&["run", "scenario.yaml", "-q", "-o", output], more].concat());
        files(&self.path(output))
    }
}

/// All files by their path, the manifest without the times that differ from run to run.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
            continue;
        }
        let mut bytes = fs::read(&path).expect("a file");
        if name == "manifest.json" {
            let text = String::from_utf8(bytes).expect("text");
            let timeless =
                text.lines().filter(|line| !line.contains("\"started\"") && !line.contains("duration_seconds"));
            bytes = timeless.collect::<Vec<_>>().join("\n").into_bytes();
        }
        found.insert(name, bytes);
    }
    found
}

/// The same without the cells.
fn tables(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    files(folder).into_iter().filter(|(name, _)| !name.starts_with("cells/")).collect()
}

fn assert_same(found: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, Vec<u8>>, what: &str) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(expected), "{what}");
    for (name, bytes) in found {
        assert!(*bytes == expected[name], "{what}: {name} differs");
    }
}

/// Rows of a table, each from column names to fields.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).expect("a table");
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

fn only<'a>(rows: &'a [BTreeMap<String, String>], metric: &str, key: &str) -> Vec<&'a BTreeMap<String, String>> {
    rows.iter().filter(|row| row["metric"] == metric && row["key"] == key).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

/// R01, R11: threads and shares, merged in any order, make no difference to a byte.
#[test]
fn threads_and_shares_give_the_same_bytes() {
    let desk = Desk::new(SMALL);
    let sweep = ["--sweep", "load=0.3..0.8:linear:3", "--sweep", "policy.dispatch=random,shortest"];
    let whole = desk.run("whole", &[&sweep[..], &["--threads", "1"]].concat());
    for threads in ["2", "3", "8"] {
        let found = desk.run(threads, &[&sweep[..], &["--threads", threads]].concat());
        assert_same(&found, &whole, &format!("{threads} threads"));
    }
    for share in ["4/5", "1/5", "5/5", "2/5", "3/5"] {
        // Each in a directory of its own, and all in one.
        let own = format!("share-{}", &share[..1]);
        desk.ok(&[&["run", "scenario.yaml", "-q", "-o", &own, "--shard", share], &sweep[..]].concat());
        desk.ok(&[&["run", "scenario.yaml", "-q", "-o", "shared", "--shard", share], &sweep[..]].concat());
    }
    desk.ok(&["merge", "share-3", "share-5", "share-1", "share-2", "share-4", "-o", "merged"]);
    assert_same(&files(&desk.path("merged")), &whole, "merged shares");
    desk.ok(&["merge", "shared"]);
    let without_cells: BTreeMap<_, _> = whole.iter().filter(|(name, _)| !name.starts_with("cells/")).collect();
    let found = tables(&desk.path("shared"));
    assert_same(&found, &without_cells.into_iter().map(|(n, b)| (n.clone(), b.clone())).collect(), "shared directory");
}

/// A share that never arrives is missed, in words.
#[test]
fn a_missing_share_is_named() {
    let desk = Desk::new(SMALL);
    desk.ok(&["run", "scenario.yaml", "-q", "-o", "half", "--shard", "1/2"]);
    let told = desk.fails(2, &["merge", "half", "-o", "out"]);
    assert!(told.contains("2 cells are missing"), "{told}");
    assert!(!desk.path("out").exists());
    let told = desk.ok(&["merge", "half", "-o", "out", "--incomplete"]);
    assert!(told.contains("2 of 4 replications"), "{told}");
    let told = desk.fails(2, &["merge", "nowhere", "-o", "out2"]);
    assert!(told.contains("nowhere"), "{told}");
}

fn start(desk: &Desk, arguments: &[&str]) -> Child {
    std::process::Command::new(cargo_bin("herdsim"))
        .current_dir(desk.0.path())
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

/// A run that is killed over and over, and resumed each time, ends with the bytes of one that was left alone.
#[test]
fn kills_lose_nothing() {
    let desk = Desk::new(SMALL);
    let sweep = ["--sweep", "load=0.2..0.9:linear:8", "--set", "run.replications=5"];
    let whole = desk.run("whole", &sweep);
    let again = [&["run", "scenario.yaml", "-q", "-o", "killed", "--resume", "--threads", "2"], &sweep[..]].concat();
    for kill in 0..12_u64 {
        let mut child = start(&desk, &again);
        std::thread::sleep(Duration::from_millis(3 + kill * 7 % 50));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
    }
    desk.ok(&again);
    assert_same(&files(&desk.path("killed")), &whole, "killed and resumed");
    // Once more changes nothing.
    desk.ok(&again);
    assert_same(&files(&desk.path("killed")), &whole, "resumed when all was there");
}

/// A file of cells that was cut off anywhere is used as far as it goes.
#[test]
fn a_cut_off_file_of_cells_is_mended() {
    let desk = Desk::new(SMALL);
    let whole = desk.run("whole", &[]);
    let cells = desk.path("whole/cells/1-of-1.cells");
    let bytes = fs::read(&cells).expect("cells");
    for cut in [0, 3, 8, 20, bytes.len() / 3, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&cells, &bytes[..cut]).expect("it can be written to");
        let found = desk.run("whole", &["--resume"]);
        assert_same(&found, &whole, &format!("cut at {cut}"));
    }
    // A file system may leave zeros behind what was written when the power goes.
    for zeros in [1, 8, 40] {
        fs::write(&cells, [&bytes[..], &vec![0; zeros]].concat()).expect("it can be written to");
        assert_same(&desk.run("whole", &["--resume"]), &whole, &format!("{zeros} zeros"));
    }
    // A bit that is wrong in the middle costs what stands behind it, nothing else.
    let mut wrong = bytes.clone();
    wrong[bytes.len() / 2] ^= 4;
    fs::write(&cells, wrong).expect("it can be written to");
    assert_same(&desk.run("whole", &["--resume"]), &whole, "a wrong bit");
}

/// `--resume` goes on with the same experiment only.
#[test]
fn another_experiment_is_not_resumed() {
    let desk = Desk::new(SMALL);
    let before = desk.run("out", &[]);
    let run = |more: &[&str]| desk.fails(2, &[&["run", "scenario.yaml", "-q", "-o", "out"], more].concat());
    let told = run(&["--resume", "--set", "run.seed=4"]);
    assert!(
        told.contains("another scenario or seed") && told.contains("seed: 3") && told.contains("seed: 4"),
        "{told}"
    );
    let told = run(&["--resume", "--set", "load=0.6"]);
    assert!(told.contains("load: 0.7"), "{told}");
    // A share of another experiment is refused before it does anything, and leaves the directory as it was.
    let told = run(&["--shard", "2/2", "--resume", "--set", "run.seed=9"]);
    assert!(told.contains("another scenario or seed"), "{told}");
    assert!(run(&[]).contains("--resume"), "what can be done is said");
    assert_same(&files(&desk.path("out")), &before, "nothing was touched");
    fs::write(desk.path("out/cells/1-of-1.cells"), "HERDSIM0 and more").expect("it can be written to");
    let told = run(&["--resume"]);
    assert!(told.contains("holds no cells of this version"), "{told}");
    fs::create_dir(desk.path("other")).expect("it can be made");
    fs::write(desk.path("other/file"), "").expect("it can be written to");
    let told = desk.fails(2, &["run", "scenario.yaml", "-q", "-o", "other", "--resume"]);
    assert!(told.contains("no finished cells"), "{told}");
}

/// O05: of two runs that start in one directory at once one is refused, whatever they were told.
#[test]
fn one_directory_has_one_run() {
    for flag in ["--force", "--resume"] {
        let desk = Desk::new(SMALL);
        let long = ["run", "scenario.yaml", "-q", "-o", "out", flag, "--set", "run.time=1e12"];
        let mut first = start(&desk, &long);
        while !desk.path("out/cells/1-of-1.cells").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(50));
        let told = desk.fails(2, &long);
        assert!(told.contains("another run writes there"), "{told}");
        first.kill().expect("it can be killed");
        first.wait().expect("it ends");
    }
}

/// O07: a row for each point and replication, endpoints included, in grid order.
#[test]
fn sweeps_have_all_their_points() {
    let desk = Desk::new(SMALL);
    for (points, sweep) in [(1, "load=0.5"), (2, "load=0.5,0.9"), (7, "load=0.3..0.9:linear:7")] {
        for threads in ["1", "8"] {
            let out = format!("{points}-{threads}");
            let more = ["--sweep", sweep, "--set", "run.replications=3", "--threads", threads];
            desk.run(&out, &more);
            let replications = rows(&desk.path(&out).join("replications.csv"));
            let found = only(&replications, "mean_jobs", "");
            assert_eq!(found.len(), 3 * points);
            let places: Vec<(usize, usize)> =
                found.iter().map(|row| (number(row, "point") as usize, number(row, "replication") as usize)).collect();
            assert!(places.is_sorted() && places.last() == Some(&(points - 1, 2)), "{places:?}");
            let estimates = rows(&desk.path(&out).join("estimates.csv"));
            let loads: Vec<f64> = only(&estimates, "mean_jobs", "").iter().map(|row| number(row, "load")).collect();
            assert_eq!(loads.len(), points);
            if points == 7 {
                assert_eq!(loads, [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]);
            }
        }
    }
}

/// Keys side by side, whole policies with names, and a sweep in the file that reads back as itself.
#[test]
fn sweeps_stand_in_the_file_too() {
    let text = format!(
        "{SMALL}sweep:\n  zip: {{servers: [2, 4], dispatchers: [1, 3]}}\n  policy:\n    - {{name: two choices, dispatch: \
         {{power_of_d: {{d: 2}}}}}}\n    - {{dispatch: random}}\n"
    );
    let desk = Desk::new(&text);
    let whole = desk.run("out", &[]);
    let estimates = rows(&desk.path("out/estimates.csv"));
    let places: Vec<String> = only(&estimates, "mean_jobs", "")
        .iter()
        .map(|row| format!("{} {} {}", row["servers"], row["dispatchers"], row["policy"]))
        .collect();
    let expected = ["2 1 two choices", "2 1 {dispatch: random}", "4 3 two choices", "4 3 {dispatch: random}"];
    assert_eq!(places, expected);
    fs::copy(desk.path("out/scenario.yaml"), desk.path("again.yaml")).expect("it can be copied");
    desk.ok(&["run", "again.yaml", "-q", "-o", "again"]);
    assert_same(&files(&desk.path("again")), &whole, "the resolved scenario");
}

/// All points are checked before the first is run, and all that is wrong is said at once.
#[test]
fn every_point_is_checked_first() {
    let desk = Desk::new(SMALL);
    let arguments =
        ["run", "scenario.yaml", "-q", "-o", "out", "--sweep", "load=0.5,-1,.nan", "--sweep", "servers=2,0"];
    let told = desk.fails(2, &arguments);
    assert!(told.contains("-1") && told.contains("nan") && told.contains("servers"), "{told}");
    assert!(!desk.path("out").exists(), "nothing is written");
    for (sweep, rule) in [
        ("load", "path=values"),
        ("load=", "path=values"),
        ("load=1..2:cubic:3", "linear, log or integer"),
        ("lode=1,2", "lode"),
        ("=1,2", "no key"),
        ("load=[]", "not empty"),
    ] {
        let told = desk.fails(2, &["run", "scenario.yaml", "-q", "-o", "out", "--sweep", sweep]);
        assert!(told.contains(rule), "{sweep}: {told}");
    }
    let told = desk.fails(2, &["run", "scenario.yaml", "--zip", "load=0.1,0.2", "--zip", "servers=1,2,3"]);
    assert!(told.contains("as many values"), "{told}");
}

#[test]
fn what_the_command_line_gets_wrong_is_said_once_and_in_its_own_terms() {
    let desk = Desk::new(SMALL);
    let said = desk.fails(2, &["run", "scenario.yaml", "--sweep", "laod=0.5,0.6"]);
    assert_eq!(said.matches("did you mean `load`?").count(), 1, "{said}");
    let said =
        desk.fails(2, &["compare", "scenario.yaml", "--policy", "two=shortest", "--policy", "{dispatch: random}"]);
    assert!(said.contains("'two=shortest'") && said.contains("a map with a dispatch"), "{said}");
    desk.run("results", &["--sweep", "load=0.3,0.5"]);
    let said = desk.fails(2, &["plot", "results", "--figure", "regret_mean against servers"]);
    assert!(said.contains("`servers` is the same at every point"), "{said}");
}

/// Pairing saves: with 100 servers the interval of the difference of two and three choices is at most half as wide as
/// independent runs would have it.
#[test]
fn comparisons_are_paired() {
    let desk =
        Desk::new("servers: 100\nload: 0.9\npolicy: {dispatch: random}\nrun: {warmup: 100, time: 300, seed: 5}\n");
    let two = "JSQ(2)={dispatch: {power_of_d: {d: 2}}}";
    let three = "JSQ(3)={dispatch: {power_of_d: {d: 3}}}";
    desk.ok(&["compare", "scenario.yaml", "-q", "-o", "out", "--policy", two, "--policy", three]);
    let comparison = rows(&desk.path("out/comparison.csv"));
    let row = only(&comparison, "response_time_mean", "")[0];
    assert_eq!((row["policy"].as_str(), row["baseline"].as_str()), ("JSQ(3)", "JSQ(2)"));
    assert!(number(row, "saving") >= 2.0, "{row:?}");
    // The estimates differ by the difference, and the published values (3 digits) lie within reach.
    let estimates = rows(&desk.path("out/estimates.csv"));
    let means: Vec<f64> =
        only(&estimates, "response_time_mean", "").iter().map(|row| number(row, "estimate")).collect();
    assert!((means[1] - means[0] - number(row, "difference")).abs() < 1e-12);
    let z = (number(row, "difference") - (2.0614 - 2.6454)) / number(row, "difference_std_error").hypot(0.003);
    assert!(z.abs() < 4.0, "{z}");
    assert!(desk.fails(2, &["compare", "scenario.yaml"]).contains("no policies to compare"));
    let told = desk.fails(2, &["compare", "scenario.yaml", "--policy", two, "--policy", two]);
    assert!(told.contains("stands twice"), "{told}");
}

/// Policies of which one could run on a cheaper engine meet the same random numbers on that of the others: where they are
/// the same system there is no difference.
#[test]
fn comparisons_run_on_one_engine() {
    let desk = Desk::new(
        "servers: 10\nload: 0.8\npolicy: {dispatch: random}\nmeasure: {burst_size: false}\n\
         run: {warmup: 50, time: 200, replications: 4}\n",
    );
    let exact = "exact={dispatch: {power_of_d: {d: 2}}}";
    let told = "told={dispatch: {power_of_d: {d: 2}}, information: {pull: {probability: 1}}}";
    desk.ok(&["compare", "scenario.yaml", "-q", "-o", "out", "--policy", exact, "--policy", told]);
    for row in only(&rows(&desk.path("out/comparison.csv")), "mean_jobs", "") {
        assert!(number(row, "difference").abs() < 1e-9, "{row:?}");
    }
    let manifest = fs::read_to_string(desk.path("out/manifest.json")).expect("a manifest");
    assert!(manifest.contains("policies are compared on one engine"), "{manifest}");
    // With one replication there is nothing to compare, which is said.
    let told = desk.ok(&[
        "compare",
        "scenario.yaml",
        "-q",
        "-o",
        "one",
        "--policy",
        exact,
        "--policy",
        told,
        "--set",
        "run.replications=1",
    ]);
    assert!(told.contains("policies cannot be compared"), "{told}");
}

/// Windows without a job give no confident zeros, and levels that no server of a class can reach are not listed.
#[test]
fn what_was_not_seen_is_not_measured() {
    let desk = Desk::new(
        "servers: [{name: s, count: 5, rate: 1}, {name: f, count: 5, rate: 2}]\nload: 0.8\nbuffer: 2\n\
         policy: {dispatch: shortest}\nrun: {warmup: 50, time: 200, replications: 4}\nmeasure: {burst_size: false}\n",
    );
    for engine in ["event", "clock", "occupancy"] {
        desk.ok(&["run", "scenario.yaml", "-q", "-o", engine, "--set", &format!("engine={engine}")]);
        let keys = |rows: &[BTreeMap<String, String>]| -> BTreeSet<String> {
            rows.iter().filter(|row| row["metric"] == "class_tail_fraction").map(|row| row["key"].clone()).collect()
        };
        for table in ["estimates", "replications"] {
            let keys = keys(&rows(&desk.path(&format!("{engine}/{table}.csv"))));
            assert_eq!(keys, ["f/1", "f/2", "s/1", "s/2"].map(ToOwned::to_owned).into(), "{engine} {table}");
        }
    }
    let rare = "arrivals={batch_poisson: {size: {constant: 1e6}}}";
    let told = desk.ok(&["run", "scenario.yaml", "-q", "-o", "rare", "--set", rare, "--set", "buffer="]);
    assert!(told.contains("no job arrived"), "{told}");
    let estimates = rows(&desk.path("rare/estimates.csv"));
    assert!(estimates.iter().all(|row| row["low"].is_empty()), "{estimates:?}");
}

/// A precision is reached with as many replications as it takes, the same ones on any number of threads and in any
/// shares.
#[test]
fn precision_adds_replications() {
    let desk = Desk::new(SMALL);
    let more = ["--set", "run.precision=2%", "--sweep", "load=0.5,0.8"];
    let one = desk.run("one", &[&more[..], &["--threads", "1"]].concat());
    assert_same(&desk.run("eight", &[&more[..], &["--threads", "8"]].concat()), &one, "8 threads");
    for share in ["2/2", "1/2"] {
        desk.ok(&[&["run", "scenario.yaml", "-q", "-o", "shared", "--shard", share], &more[..]].concat());
    }
    desk.ok(&["merge", "shared", "-o", "merged"]);
    assert_same(&files(&desk.path("merged")), &one, "shares");
    let estimates = rows(&desk.path("one/estimates.csv"));
    for row in only(&estimates, "response_time_mean", "") {
        let half = (number(row, "high") - number(row, "low")) / 2.0;
        assert!(half <= 0.02 * number(row, "estimate"), "{row:?}");
        assert!(number(row, "replications") >= 15.0, "{row:?}");
    }
    let told = desk.ok(&[
        "run",
        "scenario.yaml",
        "-q",
        "-o",
        "short",
        "--set",
        "run.precision=0.1%",
        "--set",
        "run.max_replications=20",
    ]);
    assert!(told.contains("max_replications"), "{told}");
}

/// The transient is found and left out: the mean of many replications that start empty is that of the steady state.
/// Replications of the M/M/1 queue so short that their own variances and quantiles are far off on average: those of all of
/// them together are not. By chance a score exceeds 4 once in 16,000.
#[test]
fn variances_and_quantiles_are_those_of_all_replications() {
    let desk = Desk::new(
        "servers: 1\nload: 0.8\npolicy: {dispatch: random}\nmeasure: {quantiles: [0.5, 0.9, 0.99]}\n\
         run: {warmup: 200, time: 100, replications: 3000, seed: 5}\n",
    );
    for engine in ["event", "clock"] {
        desk.run(engine, &["--set", &format!("engine={engine}")]);
        let rows = rows(&desk.path(engine).join("estimates.csv"));
        let within = csv_column_mean(&desk.path(engine).join("replications.csv"), "jobs_variance");
        assert!(
            within < 0.7 * 20.0,
            "the variance within replications is {within} on average, and too near to be a test"
        );
        for (metric, key, exact) in [
            ("jobs_variance", "", 20.0),
            ("response_time_variance", "", 25.0),
            ("tail_fraction_variance", "3", 0.512 * 0.488),
            ("response_time_quantile", "0.5", 5.0 * 2_f64.ln()),
            ("response_time_quantile", "0.9", 5.0 * 10_f64.ln()),
            ("response_time_quantile", "0.99", 5.0 * 100_f64.ln()),
        ] {
            let row = only(&rows, metric, key)[0];
            let z = (number(row, "estimate") - exact) / number(row, "std_error");
            assert!(z.abs() < 4.0, "{engine}: {metric} {key} is {z} standard errors from {exact}");
            assert!(number(row, "low") < number(row, "estimate") && number(row, "estimate") < number(row, "high"));
        }
    }
}

/// The mean of a metric over the rows of a table of replications.
fn csv_column_mean(path: &Path, metric: &str) -> f64 {
    let rows = rows(path);
    let values: Vec<f64> = only(&rows, metric, "").into_iter().map(|row| number(row, "value")).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Intervals of 95 % hold the quantile in about 95 of 100 experiments where enough independent jobs lie above it, and
/// where they may not a warning says so. By chance fewer than 88 of 100 hold it once in 400.
#[test]
fn intervals_of_quantiles_hold_them() {
    let desk = Desk::new(
        "servers: 1\nload: 0.6\npolicy: {dispatch: random}\nmeasure: {quantiles: [0.9, 0.99]}\n\
         run: {warmup: 50, time: 5000, replications: 10}\nsweep: {run.seed: 1..100:integer}\n",
    );
    desk.run("results", &[]);
    let rows = rows(&desk.path("results").join("estimates.csv"));
    for (key, exact) in [("0.9", 2.5 * 10_f64.ln()), ("0.99", 2.5 * 100_f64.ln())] {
        let quantiles = only(&rows, "response_time_quantile", key);
        assert_eq!(quantiles.len(), 100);
        let held = quantiles.iter().filter(|row| number(row, "low") <= exact && exact <= number(row, "high")).count();
        assert!(held >= 88, "{held} of 100 intervals hold the {key}-quantile");
    }
    let short = ["--set", "run.time=100", "--set", "measure.quantiles=[0.999]", "--set", "sweep="];
    let said = desk.ok(&[&["run", "scenario.yaml", "-q", "-o", "short"], &short[..]].concat());
    assert!(said.contains("too few independent jobs"), "{said}");
}

/// The quantiles of replications agree long before the quantile of all their jobs is as well known.
#[test]
fn a_precision_that_pooling_misses_is_said() {
    let desk = Desk::new(
        "servers: 1\nload: 0.8\npolicy: {dispatch: random}\nmeasure: {quantiles: [0.99]}\n\
         run: {warmup: 500, time: 100, precision: 5%, precision_of: ['response_time_quantile:0.99'], max_replications: 5000}\n",
    );
    let said = desk.ok(&["run", "scenario.yaml", "-q", "-o", "results"]);
    assert!(said.contains("run.precision is not reached for response_time_quantile 0.99"), "{said}");
    assert!(!said.contains("max_replications"), "{said}");
}

#[test]
fn automatic_warm_up_leaves_no_bias() {
    let text = "servers: 1\nload: 0.95\npolicy: {dispatch: random}\nrun: {replications: 60, seed: 11}\n";
    let desk = Desk::new(text);
    desk.run("out", &[]);
    let estimates = rows(&desk.path("out/estimates.csv"));
    for (metric, exact) in [("mean_jobs", 19.0), ("response_time_mean", 20.0)] {
        let row = only(&estimates, metric, "")[0];
        let z = (number(row, "estimate") - exact) / number(row, "std_error");
        assert!(z.abs() < 4.0, "{metric}: {z}");
    }
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(desk.path("out/manifest.json")).expect("a file")).expect("JSON");
    assert!(manifest["window_open"].as_f64().is_some_and(|open| open > 0.0), "{manifest}");
    // A run that is shorter than its transient says so.
    let told = desk.ok(&["run", "scenario.yaml", "-q", "-o", "short", "--set", "run.time=50"]);
    assert!(told.contains("did not settle") || told.contains("is too short"), "{told}");
    let told = desk.ok(&["run", "scenario.yaml", "-q", "-o", "limited", "--set", "run.max_time=400"]);
    assert!(told.contains("did not settle"), "{told}");
}

/// No interval stands where there is no steady state.
#[test]
fn unstable_policies_have_no_intervals() {
    // Fast and slow servers: random routing when no server is known to be idle overloads the slow ones.
    let text = "servers: [{count: 5, rate: 1}, {count: 5, rate: 10}]\ndispatchers: 2\nload: 0.95\n\
                policy: {dispatch: idle_first, information: {on_idle: {}}}\nrun: {time: 2000, replications: 4}\n";
    let desk = Desk::new(text);
    let told = desk.ok(&["run", "scenario.yaml", "-q", "-o", "out"]);
    assert!(told.contains("steady state") || told.contains("not stable"), "{told}");
    let estimates = rows(&desk.path("out/estimates.csv"));
    assert!(estimates.iter().all(|row| row["low"].is_empty() && row["std_error"].is_empty()));
}

/// A file that cannot grow ends the run with one clear error, and what was finished stays.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing() {
    let desk = Desk::new(SMALL);
    let whole = desk.run("whole", &["--set", "run.replications=40"]);
    // Files may have 64 blocks of 512 bytes; the signal that comes beyond that is ignored, so that writing fails.
    let herdsim = cargo_bin("herdsim");
    let line = format!(
        "trap '' XFSZ; ulimit -f 64; '{}' run scenario.yaml -q -o out --set run.replications=40",
        herdsim.display()
    );
    let output =
        std::process::Command::new("bash").current_dir(desk.0.path()).args(["-c", &line]).output().expect("it runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert_eq!(told.lines().filter(|line| line.starts_with("error")).count(), 1, "{told}");
    assert!(told.contains("1-of-1.cells"), "{told}");
    let found = desk.run("out", &["--resume", "--set", "run.replications=40"]);
    assert_same(&found, &whole, "resumed on a larger disk");
}

/// A job array tells which share it is.
#[test]
fn job_arrays_name_the_share() {
    let desk = Desk::new(SMALL);
    let slurm = [("SLURM_ARRAY_TASK_ID", "7"), ("SLURM_ARRAY_TASK_MIN", "6"), ("SLURM_ARRAY_TASK_COUNT", "2")];
    let run = |output: &str, shard: &str, variables: &[(&str, &str)]| {
        let mut command = desk.herdsim(&["run", "scenario.yaml", "-q", "-o", output, "--shard", shard]);
        for name in ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX", "PARALLEL_SEQ"] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied()).output().expect("it runs")
    };
    assert!(run("a", "auto", &slurm).status.success());
    assert!(run("b", "auto/2", &[("JOB_COMPLETION_INDEX", "1")]).status.success());
    assert!(run("c", "auto/2", &[("PARALLEL_SEQ", "2")]).status.success());
    for folder in ["a", "b", "c"] {
        assert!(desk.path(folder).join("cells/2-of-2.cells").exists(), "{folder}");
    }
    for (shard, variables) in [
        ("auto", &[][..]),
        ("auto/2", &[][..]),
        ("auto/2", &[("PARALLEL_SEQ", "3")][..]),
        ("0/2", &[][..]),
        ("3/2", &[][..]),
        ("2", &[][..]),
    ] {
        let output = run("never", shard, variables);
        assert_eq!(output.status.code(), Some(2), "{shard}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("--shard"), "{shard}");
        assert!(!desk.path("never").exists());
    }
}

/// Batch means of one long run: the interval is about as wide as that of as many replications, and is named.
#[test]
fn one_long_run_has_intervals_from_its_batches() {
    let text = "servers: 2\nload: 0.7\npolicy: {dispatch: shortest}\nrun: {warmup: 100, time: 60000, replications: 1, seed: 3}\n";
    let desk = Desk::new(text);
    desk.run("many", &["--set", "run.replications=30", "--set", "run.time=2000"]);
    let width = |folder: &str| {
        let estimates = rows(&desk.path(folder).join("estimates.csv"));
        let row = only(&estimates, "response_time_mean", "")[0];
        // Two servers, JSQ, load 0.7: mean waiting time 1.108197 (exact).
        let z = (number(row, "estimate") - 2.108_197) / number(row, "std_error");
        assert!(z.abs() < 4.0, "{folder}: {z}");
        number(row, "high") - number(row, "low")
    };
    let wanted = width("many");
    for (method, name) in [("batch_means", "batch means, "), ("overlapping_batch_means", "overlapping batch means")] {
        let told = desk.ok(&["run", "scenario.yaml", "-q", "-o", method, "--set", &format!("run.interval={method}")]);
        assert!(!told.contains("depend on each other"), "{told}");
        // Both widths have relative errors of some 15 %.
        let ratio = width(method) / wanted;
        assert!((0.5..2.0).contains(&ratio), "{method}: {ratio}");
        let manifest = fs::read_to_string(desk.path(method).join("manifest.json")).expect("a file");
        assert!(manifest.contains(&format!("\"interval_method\": \"{name}")), "{manifest}");
    }
    let short = ["--set", "run.interval=batch_means", "--set", "run.time=30"];
    let told = desk.ok(&[&["run", "scenario.yaml", "-q", "-o", "short"], &short[..]].concat());
    assert!(told.contains("depend on each other"), "{told}");
    let told =
        desk.fails(2, &["run", "scenario.yaml", "--set", "run.interval=batch_means", "--set", "run.replications=2"]);
    assert!(told.contains("single run"), "{told}");
}

/// Keys that would have no effect, and points that could not be told apart, are refused.
#[test]
fn sweeps_without_effect_are_refused() {
    let desk = Desk::new(SMALL);
    let two = ["--policy", "A={dispatch: shortest}", "--policy", "B={dispatch: random}"];
    let whole = "policy={dispatch: random},{dispatch: shortest}";
    for (arguments, rule) in [
        (&["--sweep", "load=0.5,0.50"][..], "twice"),
        (&["--sweep", "load=0.5", "--sweep", "load=0.6"][..], "twice"),
        (&["--sweep", "policy.dispatch=random", "--sweep", whole][..], "same value"),
        (&["--sweep", "sweep.load=1,2"][..], "makes the points"),
        (&["--sweep", "compare[0]=1,2"][..], "makes the points"),
        (&["--sweep", "load=0.5,0.6", "--set", "load=0.7"][..], "no effect"),
        (&["--sweep", whole, "--set", "policy.per_probe=1"][..], "no effect"),
    ] {
        let told = desk.fails(2, &[&["run", "scenario.yaml", "-o", "out"], arguments].concat());
        assert!(told.contains(rule), "{arguments:?}: {told}");
    }
    let compare = ["compare", "scenario.yaml", "-o", "out"];
    let told = desk.fails(2, &[&compare[..], &["--sweep", "policy.dispatch=random"], &two[..]].concat());
    assert!(told.contains("compares whole policies"), "{told}");
    let told = desk.fails(2, &[&compare[..], &["--policy", "={dispatch: random}"], &two[..]].concat());
    assert!(told.contains("empty name"), "{told}");
    assert!(!desk.path("out").exists());
}

/// `max_time` bounds warm-up and window together, and what it cost is said.
#[test]
fn the_longest_time_is_heeded() {
    let text = "servers: 100\nload: 0.9\npolicy: {dispatch: {power_of_d: {d: 2}}}\nrun: {replications: 4}\n";
    let desk = Desk::new(text);
    for most in [5.0, 60.0, 400.0] {
        let out = format!("out-{most}");
        let told = desk.ok(&["run", "scenario.yaml", "-q", "-o", &out, "--set", &format!("run.max_time={most}")]);
        let bytes = fs::read(desk.path(&out).join("manifest.json")).expect("a file");
        let manifest: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
        let number = |key: &str| manifest[key].as_f64().expect("a number");
        assert!(number("window_close") <= most * (1.0 + 1e-12), "{manifest}");
        assert!(number("window_close") - number("window_open") >= most / 4.0, "{manifest}");
        assert!(most > 100.0 || told.contains("max_time"), "{told}");
    }
}

/// Any number of threads may be asked for.
#[test]
fn too_many_threads_are_no_trouble() {
    let desk = Desk::new(SMALL);
    let one = desk.run("one", &["--threads", "1"]);
    assert_same(&desk.run("many", &["--threads", "100000"]), &one, "threads");
}

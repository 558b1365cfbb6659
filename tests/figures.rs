//! Figures as their users meet them: files of real runs, from the command line.

use herdsim::experiment::{self, Unwatched};
use herdsim::output::PictureFormat;
use herdsim::output::figure::{Content, Figure, Figures, Kind, Lines, Scale};
use herdsim::output::svg::svg;
use herdsim::scenario::{Changes, FigureName, Plan, Study};
use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A sweep with theory, late messages, and everything that figures are made of.
const SWEEP: &str = "\
name: sweep
servers: 10
dispatchers: 2
load: 0.7
policy: {dispatch: random, information: {pull: {probability: 0.5, delay: {constant: 1}}}}
run: {warmup: 10, time: 40, replications: 3, seed: 7}
measure: {snapshots: {count: 20}, trajectory: {step: 2}}
sweep:
  load: [0.5, 0.7, 0.9]
  policy.information.pull.delay.constant: [0.1, 1, 10]
  policy.dispatch: [random, shortest]
";

const SINGLE: &str = "\
name: single
servers: 50
load: 0.9
policy: {dispatch: {power_of_d: {d: 2}}}
run: {warmup: 0, time: 60, replications: 4, seed: 7}
measure: {snapshots: {count: 20, servers: 7}, trajectory: {step: 2}}
";

struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new(scenario: &str) -> Self {
        let folder = TempDir::new().expect("temporary folders can be made");
        fs::write(folder.path().join("scenario.yaml"), scenario).expect("the folder can be written to");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn output(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_herdsim"));
        command.args(arguments).current_dir(self.folder.path()).env_remove("RUST_LOG");
        command.output().expect("the binary can be started")
    }

    #[track_caller]
    fn runs(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    #[track_caller]
    fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).expect("text")
    }

    /// The files in a folder and their bytes; none is hidden or half.
    fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let read = |path: &Path| fs::read(path).expect("a figure can be read");
        let entries = fs::read_dir(self.path(folder)).expect("the folder is there");
        let files: BTreeMap<String, Vec<u8>> = entries
            .map(|entry| entry.expect("an entry").path())
            .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), read(&path)))
            .collect();
        let whole = |name: &String| !name.starts_with('.') && !name.ends_with("partial");
        assert!(files.keys().all(whole), "{:?}", files.keys());
        files
    }
}

/// All figures of a scenario, from results in memory.
fn figures(text: &str) -> Vec<Figure> {
    let study = Study::read(text, "text", "test", Changes::default()).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let mut figures = Figures::all(&study);
    for (i, point) in study.points.iter().enumerate() {
        let results = experiment::run(&point.plan, NonZeroUsize::MIN, &Unwatched).expect("it runs");
        let results = herdsim::output::Results { point: i as u64, labels: point.labels.clone(), ..results };
        figures.add(&results);
    }
    figures.finish()
}

fn lines(figure: &Figure) -> &Lines {
    match &figure.content {
        Content::Lines(lines) => lines,
        Content::Maps(_) => panic!("{} has no lines", figure.name),
    }
}

fn find<'a>(figures: &'a [Figure], name: &str) -> &'a Figure {
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    figures.iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("{name} is not among {names:?}"))
}

#[test]
fn a_run_makes_the_figures_that_suit_and_plot_makes_them_again() {
    let desk = Desk::new(SINGLE);
    desk.runs(&["run", "scenario.yaml", "-q", "-o", "out", "--plot"]);
    let made = desk.files("out/figures");
    let names: Vec<&str> = made.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["response_time.svg", "snapshots.svg", "tail_fraction.svg", "tail_histogram.svg", "trajectory.svg"]
    );
    let told = desk.runs(&["plot", "out", "-o", "again"]);
    assert_eq!(told.lines().count(), 5);
    assert_eq!(desk.files("again"), made);
    // In any order, on any number of threads.
    desk.runs(&["run", "scenario.yaml", "-q", "-o", "other", "--plot", "--threads", "3"]);
    assert_eq!(desk.files("other/figures"), made);
    // New results take the figures of the old away.
    desk.runs(&["run", "scenario.yaml", "-q", "-o", "out", "--force"]);
    assert!(!desk.path("out/figures").exists());
}

#[test]
fn every_figure_of_a_sweep_is_made() {
    let desk = Desk::new(SWEEP);
    desk.runs(&["run", "scenario.yaml", "-q", "-o", "out"]);
    desk.runs(&["plot", "out"]);
    let made = desk.files("out/figures");
    for name in ["response_time_mean", "estimate_error", "regret_mean", "imbalance", "messages_per_job", "snapshots"] {
        assert!(made.contains_key(&format!("{name}.svg")), "{name}: {:?}", made.keys());
    }
    let mut arguments = vec!["plot", "out", "-o", "named"];
    for name in FigureName::ALL {
        arguments.extend(["--figure", name.name()]);
    }
    arguments.extend(["--figure", "response_time_quantile:0.9 against load", "--figure", "tail_fraction:2"]);
    desk.runs(&arguments);
    let named = desk.files("named");
    for name in ["tail_fraction", "tail_histogram_0", "tail_histogram_17", "trajectory_0", "response_time", "snapshots"]
    {
        assert!(named.contains_key(&format!("{name}.svg")), "{name}: {:?}", named.keys());
    }
    assert!(named.contains_key("response_time_quantile-0.9-against-load.svg"), "{:?}", named.keys());
    assert!(named.contains_key("tail_fraction-2.svg"));
    for (name, bytes) in made.iter().chain(&named) {
        let text = std::str::from_utf8(bytes).expect("UTF-8");
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{name}");
        assert!(!text.contains("NaN") && !text.contains("no data"), "{name}");
    }
}

#[test]
fn the_scenario_names_its_figures() {
    let text = format!("{SWEEP}plot: [tail_fraction, regret_mean against load]\n");
    let desk = Desk::new(&text);
    desk.runs(&["run", "scenario.yaml", "-q", "-o", "out", "--plot"]);
    let names: Vec<String> = desk.files("out/figures").into_keys().collect();
    assert_eq!(names, ["regret_mean-against-load.svg", "tail_fraction.svg"]);
    let resolved = fs::read_to_string(desk.path("out/scenario.yaml")).expect("it is there");
    assert!(resolved.contains("plot:") && resolved.contains("regret_mean against load"), "{resolved}");
    assert!(desk.runs(&["schema"]).contains("METRIC against PATH"));
    assert!(desk.runs(&["list"]).contains("Figures"));
    assert!(desk.runs(&["plot", "--list"]).contains("tail_histogram"));
}

#[test]
fn names_that_are_wrong_are_told_with_what_may_have_been_meant() {
    let desk = Desk::new(SINGLE);
    desk.runs(&["run", "scenario.yaml", "-q", "-o", "out"]);
    let told = desk.fails(2, &["plot", "out", "--figure", "tail_fractoin"]);
    assert!(told.contains("tail_fractoin") && told.contains("did you mean `tail_fraction`?"), "{told}");
    let told = desk.fails(2, &["plot", "out", "--figure", "regret_mean"]);
    assert!(told.contains("swept") && told.contains("sweep: {load"), "{told}");
    let told = desk.fails(2, &["plot", "out", "--format", "gif"]);
    assert!(told.contains("svg, png, pdf"), "{told}");
    let told = desk.fails(2, &["plot", "nowhere"]);
    assert!(told.contains("nowhere"), "{told}");
    desk.fails(2, &["plot"]);
    assert!(!desk.path("out/figures").exists());

    let sweep = Desk::new(&format!("{SWEEP}plot:\n  - regret_mean against laod\n"));
    let told = sweep.fails(2, &["run", "scenario.yaml", "-q"]);
    assert!(told.contains("scenario.yaml:13:") && told.contains("plot[0]"), "{told}");
    assert!(told.contains("did you mean `load`?"), "{told}");
    let told = sweep.fails(2, &["check", "scenario.yaml", "--set", "plot=[snapshot]"]);
    assert!(told.contains("did you mean `snapshots`?"), "{told}");
    let told = sweep.fails(2, &["check", "scenario.yaml", "--set", "plot=[snapshots]", "--set", "measure.snapshots="]);
    assert!(told.contains("needs snapshots"), "{told}");
}

#[test]
fn formats_that_are_not_built_in_say_how_to_have_them() {
    let desk = Desk::new(SINGLE);
    desk.runs(&["run", "scenario.yaml", "-q", "-o", "out"]);
    for (name, here, start) in
        [("png", cfg!(feature = "png"), &b"\x89PNG"[..]), ("pdf", cfg!(feature = "pdf"), &b"%PDF"[..])]
    {
        if here {
            desk.runs(&["plot", "out", "--figure", "tail_fraction", "--format", name]);
            assert!(desk.files("out/figures")[&format!("tail_fraction.{name}")].starts_with(start));
        } else {
            let told = desk.fails(2, &["plot", "out", "--format", name]);
            assert!(told.contains(&format!("--features {name}")), "{told}");
        }
    }
}

#[test]
fn no_half_figure_has_a_name() {
    let desk = Desk::new(SINGLE);
    desk.runs(&["run", "scenario.yaml", "-q", "-o", "out"]);
    // A folder where the file should be.
    fs::create_dir_all(desk.path("out/figures/response_time.svg/in the way")).expect("it can be made");
    let told = desk.fails(1, &["plot", "out", "--figure", "tail_fraction", "--figure", "response_time"]);
    assert!(told.contains("response_time.svg"), "{told}");
    let left: Vec<String> = fs::read_dir(desk.path("out/figures"))
        .expect("it is there")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert!(left.iter().all(|name| !name.ends_with("partial")), "{left:?}");
    fs::write(desk.path("file"), "").expect("it can be written");
    desk.fails(1, &["plot", "out", "-o", "file"]);
}

/// Pitfall O08.
#[test]
fn what_never_happened_makes_figures_too() {
    let nothing = "name: a/b <c> & \"d\"\nservers: 2\nload: 0\npolicy: {dispatch: random}\n\
                   run: {warmup: 1, time: 5, replications: 2}\n\
                   measure: {trajectory: {step: 1}, snapshots: {}}\n\
                   plot: [tail_fraction, tail_histogram, response_time, trajectory, snapshots]\n";
    let desk = Desk::new(nothing);
    let told = desk.runs(&["run", "scenario.yaml", "-q", "-o", "out", "--plot"]);
    assert!(told.contains("nothing to draw"), "{told}");
    let made = desk.files("out/figures");
    assert_eq!(made.len(), 5);
    assert!(String::from_utf8_lossy(&made["response_time.svg"]).contains("no data"));
    // One point of a sweep, where every value is the same.
    let constant = format!("{nothing}sweep: {{load: [0]}}\n").replace("plot: [", "plot: [mean_jobs, regret_mean, ");
    let desk = Desk::new(&constant);
    desk.runs(&["run", "scenario.yaml", "-q", "-o", "out", "--plot"]);
    assert_eq!(desk.files("out/figures").len(), 7);
}

#[test]
fn figures_hold_what_was_estimated() {
    let all = figures(SWEEP);
    let mean = lines(find(&all, "response_time_mean"));
    assert_eq!((mean.x.label.as_str(), mean.x.scale), ("load", Scale::Linear));
    assert_eq!(mean.y.label, "mean response time (mean service times)");
    let named = |kind: Kind| mean.series.iter().filter(move |series| series.kind == kind).map(|one| one.label.as_str());
    let estimates: Vec<&str> = named(Kind::Estimates).collect();
    assert_eq!(estimates.len(), 6);
    assert_eq!(estimates[..2], ["delay 0.1, random", "delay 0.1, shortest"]);
    // Random routing is known, L-JSQ is only bounded.
    assert_eq!(named(Kind::Theory).next(), Some("delay 0.1, random: exact"));
    assert_eq!(named(Kind::Theory).count(), 3);
    assert!(mean.series.iter().all(|series| series.points.iter().map(|point| point.x).eq([0.5, 0.7, 0.9])));
    let point = mean.series[0].points[0];
    assert!(point.interval.is_some_and(|(low, high)| low < point.y && point.y < high));
    let error = lines(find(&all, "estimate_error"));
    assert!(error.series.iter().flat_map(|series| &series.points).all(|point| point.y > 0.0));
    let Content::Maps(maps) = &find(&all, "snapshots").content else { panic!("no maps") };
    assert_eq!(maps.panels.len(), 4);
    for panel in &maps.panels {
        assert_eq!((panel.edges.len(), panel.rows.len(), panel.rows[0].len()), (21, 10, 20));
    }
}

#[test]
fn keys_that_change_together_are_one_axis() {
    let swept = "sweep: {zip: {servers: [5, 50, 500], load: [0.5, 0.6, 0.9]}, policy.dispatch: [random, shortest]}\n";
    let all = figures(&format!("{}{swept}", &SINGLE[..SINGLE.find("measure").expect("a key")]));
    let figure = find(&all, "response_time_mean");
    assert!(figure.caption.contains("load changes along"), "{}", figure.caption);
    let lines = lines(figure);
    assert_eq!((lines.x.label.as_str(), lines.x.scale), ("number of servers N", Scale::Logarithmic));
    let labels: Vec<&str> = lines.series.iter().map(|series| series.label.as_str()).collect();
    assert!(labels.contains(&"random") && labels.contains(&"shortest"), "{labels:?}");
    assert!(lines.series.iter().all(|series| series.points.len() == 3));
}

#[test]
fn laws_are_laws_and_lie_beside_theory() {
    let all = figures(SINGLE);
    let law = lines(find(&all, "response_time"));
    assert_eq!((law.x.scale, law.y.scale), (Scale::Linear, Scale::Logarithmic));
    for series in &law.series {
        let points = &series.points;
        assert!(points.windows(2).all(|pair| pair[0].x <= pair[1].x && pair[0].y >= pair[1].y), "{}", series.label);
        assert!(points.iter().all(|point| point.y > 0.0 && point.y <= 1.0));
    }
    let tail = lines(find(&all, "tail_fraction"));
    assert_eq!(tail.y.scale, Scale::Logarithmic);
    let histogram = lines(find(&all, "tail_histogram"));
    for series in &histogram.series {
        let total: f64 = series.points.iter().map(|point| point.y).sum();
        assert!((total - 1.0).abs() < 1e-9, "{}: {total}", series.label);
    }
    // The start is empty in the simulation and in the equation, and they part slowly.
    let course = lines(find(&all, "trajectory"));
    let (simulated, limit) = (&course.series[0], &course.series[1]);
    assert_eq!((simulated.kind, limit.kind), (Kind::Curve, Kind::Theory));
    assert_eq!((simulated.points[0].y, limit.points[0].y), (0.0, 0.0));
    let farthest = simulated.points.iter().zip(&limit.points).map(|(s, l)| (s.y - l.y).abs()).fold(0.0, f64::max);
    assert!(farthest < 0.15, "{farthest}");
    let heavy = figures(&SINGLE.replace("measure:", "service: {pareto: {alpha: 2.5, mean: 1}}\nmeasure:"));
    assert_eq!(lines(find(&heavy, "response_time")).x.scale, Scale::Logarithmic);
}

#[test]
fn pictures_of_queues_influence_nothing_and_are_kept() {
    let with = Desk::new(SWEEP);
    let without = Desk::new(&SWEEP.replace("snapshots: {count: 20}, ", ""));
    for desk in [&with, &without] {
        desk.runs(&["run", "scenario.yaml", "-q", "-o", "out"]);
    }
    for file in ["estimates.csv", "replications.csv", "tail_histogram.csv", "response_time.csv", "trajectory.csv"] {
        let read = |desk: &Desk| fs::read(desk.path("out").join(file)).expect("a table");
        assert!(read(&with) == read(&without), "{file}");
    }
    assert!(!without.path("out/snapshots.csv").exists());
    let table = fs::read_to_string(with.path("out/snapshots.csv")).expect("the table");
    let mut rows = table.lines();
    assert_eq!(rows.next(), Some("point,load,policy.information.pull.delay.constant,policy.dispatch,time,server,jobs"));
    assert_eq!(rows.count(), 18 * 20 * 10);
    // What merge writes from the cells is the same.
    with.runs(&["merge", "out", "-o", "merged"]);
    assert_eq!(fs::read_to_string(with.path("merged/snapshots.csv")).expect("the table"), table);
}

#[test]
fn every_engine_with_servers_can_be_looked_at() {
    let text = "servers: 6\nload: 0.8\ndispatchers: 2\npolicy: {dispatch: shortest}\n\
                run: {warmup: 5, time: 20, replications: 1}\nmeasure: {snapshots: {step: 1}}\n";
    for change in ["engine=event", "engine=clock", "engine=auto", "clock=slotted"] {
        let plan = Plan::read(text, "text", "test", &[change.to_owned()]).unwrap_or_else(|error| panic!("{error}"));
        assert_ne!(plan.engine.kind.name(), "occupancy");
        let record = experiment::run_replication(&plan, 0).expect("it runs");
        let lengths = record.snapshots.expect("the first replication is looked at");
        assert_eq!(lengths.times, (5..25).map(f64::from).collect::<Vec<_>>());
        assert!(lengths.jobs.iter().all(|jobs| jobs.len() == 6));
        assert!(lengths.jobs.iter().flatten().any(|&jobs| jobs > 0));
        assert!(experiment::run_replication(&plan, 1).expect("it runs").snapshots.is_none());
    }
    let told = |changes: &[&str]| {
        let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
        Plan::read(text, "text", "test", &changes).expect_err("it is refused").to_string()
    };
    let counts = ["engine=occupancy", "dispatchers=1", "measure.burst_size=false"];
    assert!(told(&counts).contains("measure.snapshots"), "{}", told(&counts));
    for (change, rule) in [
        ("measure.snapshots.count=5", "keep one of them"),
        ("measure.snapshots.from=30", "beyond the end"),
        ("measure.snapshots={from: 5, to: 4}", "before the end"),
        ("measure.snapshots={step: 0.00001}", "at most 1000000"),
        ("measure.snapshots={steps: 1}", "did you mean `step`?"),
    ] {
        assert!(told(&[change]).contains(rule), "{change}: {}", told(&[change]));
    }
}

/// The picture at the top of the README is what its scenario gives.
#[test]
fn the_picture_of_the_herd_is_true() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let desk = Desk::new(&fs::read_to_string(folder.join("herd-picture.yaml")).expect("the scenario"));
    desk.runs(&["run", "scenario.yaml", "-q", "-o", "out", "--plot"]);
    let picture = fs::read(folder.join("figures/herd.svg")).expect("the picture");
    assert!(picture.len() < 200_000);
    assert!(desk.files("out/figures")["snapshots.svg"] == picture, "write it anew: scenarios/figures/herd.svg");
    assert!(include_str!("../README.md").contains("scenarios/figures/herd.svg"));
}

#[test]
fn svg_needs_no_feature_and_repeats() {
    for figure in figures(SINGLE) {
        let bytes = PictureFormat::Svg.bytes(&figure).expect("SVG");
        assert_eq!(bytes, svg(&figure).into_bytes());
        assert_eq!(bytes, PictureFormat::Svg.bytes(&figure).expect("SVG"));
    }
}

/// epsilon E[sum Q] against epsilon beside zeta / 2: the factors, the axis and the line of the paper are those of each point.
#[test]
fn metrics_are_scaled_and_stand_beside_the_line_of_a_paper() {
    let text = "\
name: scaled
clock: slotted
slots: {arrivals: poisson, service: geometric}
servers: [{count: 2, rate: 1}]
sweep: {zip: {arrival_rate: [1, 1.5], run.time: [50, 60]}}
policy: {dispatch: shortest}
run: {warmup: 10, replications: 3, seed: 7}
plot:
  - mean_jobs against arrival_rate
  - mean_jobs times servers times epsilon beside heavy_traffic against epsilon
";
    let figures = figures(text);
    let plain = find(&figures, "mean_jobs-against-arrival_rate");
    let scaled = find(&figures, "mean_jobs-times-servers-times-epsilon-beside-heavy_traffic-against-epsilon");
    assert_eq!(scaled.title, "N ε × mean jobs per server against ε");
    let (plain, scaled) = (lines(plain), lines(scaled));
    // Time is no name of a line: both lengths of a run are of one line.
    let kinds: Vec<Kind> = scaled.series.iter().map(|series| series.kind).collect();
    assert_eq!(kinds, [Kind::Estimates, Kind::Theory, Kind::Reference]);
    for point in &plain.series[0].points {
        let epsilon = 2.0 - point.x;
        let expected = 2.0 * epsilon * point.y;
        let found = |other: &&herdsim::output::figure::Point| other.x == epsilon && (other.y - expected).abs() < 1e-12;
        assert!(scaled.series[0].points.iter().any(|other| found(&other)), "{point:?}");
        // The variance of a slot: Poisson arrivals, and geometric services of mean 1.
        let zeta = point.x + 2.0 * 2.0;
        assert!(scaled.series[2].points.iter().any(|other| other.x == epsilon && other.y == zeta / 2.0));
    }
    for (wrong, told) in [
        ("mean_jobs times epsilno", "did you mean `epsilon`?"),
        ("mean_jobs beside heavy", "heavy_traffic"),
        ("mean_jobs against epsilno", "is not swept"),
    ] {
        let changed = text.replace("mean_jobs against arrival_rate", wrong);
        let errors = Study::read(&changed, "text", "test", Changes::default()).expect_err(wrong);
        assert!(errors[0].to_string().contains(told), "{wrong}: {}", errors[0]);
    }
}

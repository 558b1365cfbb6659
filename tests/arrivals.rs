//! Arrival processes against exact values, by hand and against each other; traces good and bad.

use herdsim::engine::{Dispatched, Engine, EngineError, EventEngine, Joined, Observer};
use herdsim::experiment::{self, RunError, Unwatched, run_replication};
use herdsim::measure::{Metric, Record};
use herdsim::model::Arrivals;
use herdsim::output::Results;
use herdsim::random::{Component, Stream};
use herdsim::scenario::{Plan, ScenarioError};
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Statistical tests fail beyond this many standard errors: by chance once in 15,000 comparisons.
const Z_LIMIT: f64 = 4.0;

fn plan(text: &str) -> Plan {
    Plan::read(text, "test", "test", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refusal(text: &str) -> ScenarioError {
    match Plan::read(text, "test.yaml", "test", &[]) {
        Err(error) => error,
        Ok(_) => panic!("accepted, though it should be refused:\n{text}"),
    }
}

fn results(text: &str) -> Results {
    experiment::run(&plan(text), NonZeroUsize::new(2).expect("2 is not 0"), &Unwatched).expect("the run ends well")
}

/// Holds an estimate against an exact value; the standard error must be small enough that this says something.
#[track_caller]
fn assert_z(results: &Results, metric: Metric, exact: f64, precision: f64) {
    let estimate = results.estimate(metric, "").expect("the metric is measured");
    let error = estimate.std_error.expect("there are several replications");
    let off = (estimate.estimate.expect("something was measured") - exact).abs();
    assert!(error <= precision * exact, "{metric:?}: the test is too weak, {estimate:?}");
    assert!(off <= Z_LIMIT * error, "{metric:?}: exact {exact}, {estimate:?}");
}

/// A folder with a trace and scenarios that read it.
struct Desk(TempDir);

impl Desk {
    fn new(trace: impl AsRef<[u8]>) -> Self {
        let desk = Self(tempfile::tempdir().expect("temporary folders can be made"));
        desk.put("jobs.csv", trace);
        desk
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.0.path().join(name), content).expect("the folder can be written to");
    }

    fn read(&self, rest: &str) -> Result<Plan, ScenarioError> {
        let text = format!("arrivals: {{trace: {{file: jobs.csv}}}}\n{rest}\n");
        let origin = self.0.path().join("scenario.yaml");
        Plan::read(&text, origin.to_str().expect("the path is text"), "test", &[])
    }

    fn plan(&self, rest: &str) -> Plan {
        self.read(rest).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// What happened to each job.
#[derive(Default)]
struct Log {
    dispatched: Vec<Dispatched>,
    joined: Vec<Joined>,
}

impl Observer for Log {
    fn dispatched(&mut self, job: &Dispatched) {
        self.dispatched.push(*job);
    }
    fn joined(&mut self, job: &Joined) {
        self.joined.push(*job);
    }
}

fn log(plan: &Plan) -> Log {
    let mut log = Log::default();
    let mut engine = EventEngine::new(&plan.system, &plan.policy, plan.seed, 0).expect("it starts");
    engine.run_until(plan.window.close, u64::MAX, &mut log).expect("lengths stay within their range");
    log
}

fn value(record: &Record, metric: Metric) -> Option<f64> {
    record.readings.iter().find(|reading| reading.metric == metric && reading.key.is_empty())?.value
}

/// Batches into one exponential server (M^X/M/1): `E[N] = rho (1 + E[X^2] / E[X]) / (2 (1 - rho))`.
///
/// A job meets the mean work that is there, `E[N]` by PASTA for batches and exponential sizes of mean 1, and on average
/// `(E[X^2] / E[X] - 1) / 2` jobs of its own batch before it; so `E[T] = E[N] + 1 + (E[X^2] / E[X] - 1) / 2`, and
/// Little's law `E[N] = rho E[T]` gives the formula. A geometric size has `E[X^2] / E[X] = 2 mean - 1`.
#[test]
fn batches_into_one_server_are_exact() {
    let load = 0.6;
    for (size, ratio) in [("{constant: 1}", 1.0), ("{constant: 3}", 3.0), ("{geometric: {mean: 3}}", 5.0)] {
        let results = results(&format!(
            "servers: 1\ndispatchers: 3\nload: {load}\narrivals: {{batch_poisson: {{size: {size}}}}}\n\
             policy: {{dispatch: random}}\nrun: {{warmup: 500, time: 50000, replications: 40, seed: 5}}"
        ));
        let jobs = load * (1.0 + ratio) / (2.0 * (1.0 - load));
        assert_z(&results, Metric::MeanJobs, jobs, 0.01);
        assert_z(&results, Metric::ResponseTimeMean, jobs / load, 0.01);
        assert_z(&results, Metric::Utilization, load, 0.005);
    }
}

type Matrix = [[f64; 2]; 2];

fn product(a: Matrix, b: Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j]))
}

fn sum(a: Matrix, b: Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] + b[i][j]))
}

fn inverse([[a, b], [c, d]]: Matrix) -> Matrix {
    let determinant = a * d - b * c;
    [[d / determinant, -b / determinant], [-c / determinant, a / determinant]]
}

/// Mean number in an MMPP/M/1 queue with service rate 1, arrival rates `rates` and switching rates `out` from either
/// phase, by the matrix-geometric method (Neuts 1981): level n has the law `p0 R^n`, where R is the least solution of
/// `A0 + R A1 + R^2 = 0`.
fn mean_jobs_of_mmpp(rates: [f64; 2], out: [f64; 2]) -> f64 {
    let [a, b] = rates;
    let up = [[a, 0.0], [0.0, b]];
    let empty = [[-out[0] - a, out[0]], [out[1], -out[1] - b]];
    let local = sum(empty, [[-1.0, 0.0], [0.0, -1.0]]);
    let minus_inverse = inverse(local.map(|row| row.map(|x| -x)));
    let mut r = [[0.0; 2]; 2];
    for _ in 0..100_000 {
        r = product(sum(up, product(r, r)), minus_inverse);
    }
    // p0 (empty + R) = 0 and p0 (I - R)^-1 1 = 1.
    let boundary = sum(empty, r);
    let p0 = [boundary[1][0], -boundary[0][0]];
    let identity = [[1.0, 0.0], [0.0, 1.0]];
    let tails = inverse(sum(identity, r.map(|row| row.map(|x| -x))));
    let times_ones = |m: Matrix| p0[0] * (m[0][0] + m[0][1]) + p0[1] * (m[1][0] + m[1][1]);
    times_ones(product(product(r, tails), tails)) / times_ones(tails)
}

#[test]
fn markov_modulated_arrivals_at_one_server_are_exact() {
    // Equal rates are Poisson.
    assert!((mean_jobs_of_mmpp([0.7, 0.7], [0.2, 0.3]) - 7.0 / 3.0).abs() < 1e-9);
    // Phase 0 has 0.6 of the time. Relative rates 3 and 1 have the mean 2.2.
    let (load, out) = (0.6, [0.2, 0.3]);
    for relative in [[3.0, 1.0], [1.0, 0.0]] {
        let mean = 0.6 * relative[0] + 0.4 * relative[1];
        let exact = mean_jobs_of_mmpp(relative.map(|rate| rate * load / mean), out);
        assert!(exact > 1.1 * load / (1.0 - load), "burstier than Poisson: {exact}");
        let results = results(&format!(
            "servers: 1\nload: {load}\narrivals: {{markov_modulated: {{rates: {relative:?}, \
             switching: [[0, {}], [{}, 0]]}}}}\npolicy: {{dispatch: random}}\n\
             run: {{warmup: 500, time: 50000, replications: 40, seed: 6}}",
            out[0], out[1]
        ));
        assert_z(&results, Metric::MeanJobs, exact, 0.01);
        assert_z(&results, Metric::ResponseTimeMean, exact / load, 0.01);
        assert_z(&results, Metric::Utilization, load, 0.005);
    }
}

/// Phases that change a great many times between two arrivals neither hang nor delay the end.
#[test]
fn phases_change_without_arrivals() {
    let text = |rate: &str| {
        format!(
            "servers: 1\narrival_rate: {rate}\npolicy: {{dispatch: random}}\nrun: {{warmup: 0, time: 1000}}\n\
             arrivals: {{markov_modulated: {{rates: [1, 0], switching: [[0, 1], [1, 0]]}}}}"
        )
    };
    for rate in ["1e-100", "0"] {
        let record = run_replication(&plan(&text(rate)), 0).expect("the run ends well");
        assert_eq!(record.balance.arrived, 0);
    }
}

/// A batch reaches one dispatcher at one moment; its jobs are sent one after the other.
#[test]
fn a_batch_has_one_dispatcher_and_jobs_of_its_own() {
    let plan = plan(
        "servers: 4\ndispatchers: 5\nload: 0.5\narrivals: {batch_poisson: {size: {constant: 4}}}\n\
         policy: {dispatch: shortest}\nrun: {warmup: 0, time: 2000}",
    );
    let log = log(&plan);
    assert!(log.dispatched.len() > 3000 && log.dispatched.len().is_multiple_of(4));
    let mut reached = [0; 5];
    let mut spread = 0;
    for batch in log.dispatched.chunks(4) {
        assert!(batch.iter().all(|job| job.time == batch[0].time && job.dispatcher == batch[0].dispatcher));
        reached[batch[0].dispatcher as usize] += 1;
        // Each job sees those before it.
        spread += u32::from(batch.iter().any(|job| job.server != batch[0].server));
    }
    assert!(reached.iter().all(|&count| count > 100), "{reached:?}");
    assert!(spread as usize > log.dispatched.len() / 5);
    assert!(log.joined.chunks(4).all(|jobs| jobs[0].service != jobs[1].service));
}

/// The mean-field limit is known for Poisson arrivals only.
#[test]
fn other_processes_have_no_mean_field_limit() {
    let desk = Desk::new("time\n0\n1\n");
    let rest = "servers: 10\npolicy: {dispatch: {power_of_d: {d: 2}}}\nrun: {warmup: 0, time: 10}";
    assert!(desk.plan(rest).mean_field().is_none());
    for (arrivals, known) in [
        ("poisson", true),
        ("{renewal: exponential}", true),
        ("{renewal: {constant: 1}}", false),
        ("{batch_poisson: {size: {constant: 1}}}", false),
        ("{markov_modulated: {rates: [1, 1], switching: [[0, 1], [1, 0]]}}", false),
    ] {
        assert_eq!(
            plan(&format!("arrivals: {arrivals}\nload: 0.5\n{rest}")).mean_field().is_some(),
            known,
            "{arrivals}"
        );
    }
}

/// Jobs of a trace leave when they must: one server, times and sizes chosen so that queues form and dissolve.
/// T02: the jobs at time 0 count when there is no warm-up.
#[test]
fn t02_departures_of_a_trace_are_those_worked_out_by_hand() {
    let desk = Desk::new("time,size\n0,2\n0,1\n1,0\n3,1\n4,1\n5,1\n9,0.5\n9,0.25\n12,1\n");
    let plan = desk.plan("servers: 1\npolicy: {dispatch: random}\nrun: {warmup: 0, time: 12, replications: 1}");
    let seen = log(&plan);
    let arrivals: Vec<f64> = seen.dispatched.iter().map(|job| job.time).collect();
    assert_eq!(arrivals, [0.0, 0.0, 1.0, 3.0, 4.0, 5.0, 9.0, 9.0], "the job at 12 is outside");
    let departures: Vec<f64> = seen.joined.iter().zip(&arrivals).map(|(job, time)| time + job.response()).collect();
    assert_eq!(departures, [2.0, 3.0, 3.0, 4.0, 5.0, 6.0, 9.5, 9.75]);
    // Who leaves at the moment of an arrival has left before it.
    let found: Vec<u32> = seen.joined.iter().map(|job| job.found).collect();
    assert_eq!(found, [0, 1, 2, 0, 0, 0, 0, 1]);
    let record = run_replication(&plan, 0).expect("the run ends well");
    assert_eq!((record.balance.arrived, record.balance.completed), (8, 8));
    assert_eq!(value(&record, Metric::MeanJobs), Some((2.0 + 3.0 + 2.0 + 1.0 + 1.0 + 1.0 + 0.5 + 0.75) / 12.0));
    // Work of 6.75 in 12; the load counts sizes and not jobs.
    assert_eq!((plan.system.arrivals.rate, plan.system.load()), (8.0 / 12.0, 6.75 / 12.0));
    assert!(!plan.warnings().iter().any(|warning| warning.code == "trace_ends"));
}

/// T08: simultaneous arrivals at the end of the window all happen or none does.
#[test]
fn t08_simultaneous_arrivals_at_the_end_share_their_fate() {
    let desk = Desk::new("time\n1\n1\n1\n1\n10\n10\n10\n10\n");
    for (time, arrived) in [("10", 4), ("10.000001", 8), ("9.999999", 4), ("1", 0)] {
        let rest = format!("servers: 2\npolicy: {{dispatch: shortest}}\nrun: {{warmup: 0, time: {time}}}");
        let record = run_replication(&desk.plan(&rest), 0).expect("the run ends well");
        assert_eq!(record.balance.arrived, arrived, "window of {time}");
    }
    // What the warm-up ends with belongs to the window.
    let rest = "servers: 2\npolicy: {dispatch: shortest}\nrun: {warmup: 1, time: 5}";
    assert_eq!(run_replication(&desk.plan(rest), 0).expect("the run ends well").balance.arrived, 4);
    let batches =
        "servers: 2\nload: 0.5\npolicy: {dispatch: random}\narrivals: {batch_poisson: {size: {constant: 4}}}\n";
    for replication in 0..20 {
        let plan = plan(&format!("{batches}run: {{warmup: 3, time: 7}}"));
        let record = run_replication(&plan, replication).expect("the run ends well");
        assert!(record.balance.arrived.is_multiple_of(4));
    }
}

#[test]
fn dispatchers_of_a_trace_are_those_it_names() {
    let desk = Desk::new("dispatcher,time\n2,0\n,1\n0,1\n1,2\n2,2\n");
    let rest = "servers: 2\ndispatchers: {shares: [0, 1, 0]}\npolicy: {dispatch: random}\nrun: {warmup: 0, time: 9}";
    let plan = desk.plan(rest);
    let reached: Vec<u32> = log(&plan).dispatched.iter().map(|job| job.dispatcher).collect();
    assert_eq!(reached, [2, 1, 0, 1, 2], "what is left empty is drawn by the shares");
    let ends = |warning: &herdsim::stats::Warning| warning.code == "trace_ends" && warning.message.contains("at 2,");
    assert!(plan.warnings().iter().any(ends));
}

/// A trace of the arrival times of a Poisson run gives that run, number for number: 100,000 jobs.
#[test]
fn a_trace_of_poisson_times_is_the_poisson_run() {
    let rate = 7.2;
    let mut stream = Stream::new(8, 0, Component::Arrivals);
    let (mut text, mut now) = (String::from("time\n"), 0.0);
    for _ in 0..100_000 {
        now += stream.exponential() / rate;
        let _ = writeln!(text, "{now}");
    }
    let desk = Desk::new(text);
    let rest = format!(
        "engine: event\nservers: 9\ndispatchers: 3\n\
         policy: {{dispatch: shortest, information: {{pull: {{delay: 1}}}}}}\n\
         run: {{warmup: 100, time: {}, replications: 1, seed: 8}}",
        (now - 101.0).floor()
    );
    let poisson = run_replication(&plan(&format!("arrival_rate: {rate}\n{rest}")), 0).expect("the run ends well");
    let plan = desk.plan(&rest);
    let traced = run_replication(&plan, 0).expect("the run ends well");
    assert!(poisson.balance.arrived > 95_000);
    assert_eq!(poisson.balance.arrived, traced.balance.arrived);
    for (one, other) in poisson.readings.iter().zip(&traced.readings) {
        assert_eq!((one.metric, &one.key, one.value), (other.metric, &other.key, other.value));
    }
    // Jobs before the end, of a Poisson process: |z| < 4.
    let error = (plan.system.arrivals.rate / plan.window.close).sqrt();
    assert!((plan.system.arrivals.rate - rate).abs() < Z_LIMIT * error, "{}", plan.system.arrivals.rate);
    // All replications read one trace, but draw their own sizes.
    let second = run_replication(&plan, 1).expect("the run ends well");
    assert_eq!(second.balance.arrived, traced.balance.arrived);
    assert_ne!(value(&second, Metric::MeanJobs), value(&traced, Metric::MeanJobs));
}

#[test]
fn bad_lines_are_named_when_the_scenario_is_read() {
    let deep: String = std::iter::once("time,size\n".into()).chain((0..50_000).map(|i| format!("{i},1\n"))).collect();
    let cases = [
        ("time,size,dispatcher\n0,1,0\n2,1,1\n1,1,0\n".to_owned(), "line 4, column time: `1`: must not be before"),
        ("time,size\n0,1\n1,x\n".into(), "line 3, column size: `x`: must be a finite number of at least 0"),
        ("time,size\n0,1\n1,-1\n".into(), "line 3, column size: `-1`: must be a finite number of at least 0"),
        ("time\nsoon\n".into(), "line 2, column time: `soon`: must be a finite number of at least 0"),
        ("time,dispatcher\n0,2\n".into(), "line 2, column dispatcher: `2`: must be the index of a dispatcher"),
        ("time,size\n0,1\n\n1\n".into(), "line 4: must have 2 fields like the first line, but has 1"),
        ("size\n1\n".into(), "line 1: there is no column `time`"),
        ("time,sizes\n1,1\n".into(), "line 1: `sizes`: is not a known column"),
        (String::new(), "is empty"),
        (deep + "50000,many\n", "line 50002, column size: `many`: must be a finite number"),
    ];
    let rest = "servers: 2\ndispatchers: 2\npolicy: {dispatch: random}\nrun: {warmup: 0, time: 5}";
    for (trace, message) in cases {
        let error = Desk::new(&trace).read(rest).expect_err("the trace is bad");
        assert_eq!((error.path.as_str(), error.value.as_deref()), ("arrivals.trace.file", Some("jobs.csv")));
        assert_eq!(error.mark.line, 1);
        assert!(error.rule.contains(message), "{message}: {error}");
        assert!(!error.remedy.is_empty(), "{error}");
    }
    let missing = refusal("servers: 2\narrivals: {trace: {file: none.csv}}\npolicy: {dispatch: random}");
    assert_eq!(missing.path, "arrivals.trace.file");
    assert!(missing.rule.contains("cannot be read"), "{missing}");
}

#[test]
fn a_trace_and_a_rate_exclude_each_other() {
    let desk = Desk::new("time\n1\n");
    for (line, key) in [
        ("load: 0.5", "load"),
        ("arrival_rate: 1", "arrival_rate"),
        ("many_server: {beta: 1, gamma: 0.5}", "many_server"),
    ] {
        let error = desk.read(&format!("servers: 9\n{line}\npolicy: {{dispatch: random}}")).expect_err("two rates");
        assert_eq!((error.path.as_str(), error.mark.line), (key, 3));
    }
}

/// The scenario saved beside the results lies in another folder, and still finds its trace.
#[test]
fn a_resolved_trace_is_found_from_anywhere() {
    let desk = Desk::new("time\n1\n");
    let plan = desk.plan("servers: 2\npolicy: {dispatch: random}\nrun: {warmup: 0, time: 5}");
    let again = Plan::read(&plan.to_yaml(), "elsewhere/scenario.yaml", "test", &[]).expect("it reads back");
    assert_eq!(again, plan);
    assert_eq!(again.to_yaml(), plan.to_yaml());
}

/// A file that goes bad between its check and its use ends the run.
#[test]
fn a_trace_that_changes_ends_the_run() {
    let rest = "servers: 2\npolicy: {dispatch: random}\nrun: {warmup: 0, time: 5, replications: 3}";
    for (changed, message) in
        [("time\n1\nx\n", "line 3, column time: `x`"), ("time\n", "changed"), ("tame\n1\n2\n", "tame")]
    {
        let desk = Desk::new("time\n1\n2\n");
        let plan = desk.plan(rest);
        desk.put("jobs.csv", changed);
        let Err(error) = experiment::run(&plan, NonZeroUsize::MIN, &Unwatched) else { panic!("{changed:?} was used") };
        assert!(matches!(error, RunError::Engine(EngineError::Trace(_))), "{error}");
        assert!(error.to_string().contains("jobs.csv") && error.to_string().contains(message), "{error}");
    }
}

/// The command line: exit code 2 and nothing written for a bad line, however deep; a good trace runs.
#[test]
fn the_command_line_refuses_a_bad_trace() {
    let text = "servers: 2\narrivals: {trace: {file: jobs.csv}}\npolicy: {dispatch: random}\n\
                run: {warmup: 0, time: 5, replications: 2}\n";
    let run = |desk: &Desk| {
        desk.put("scenario.yaml", text);
        let folder = desk.0.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_herdsim"));
        // From another folder: the path counts from that of the scenario.
        command.arg("run").arg(folder.join("scenario.yaml")).arg("-o").arg(folder.join("out")).current_dir("/");
        (command.output().expect("the binary can be started"), folder.join("out"))
    };
    let lines = |last: &str| format!("time\n{}{last}\n", (0..20_000).map(|i| format!("{i}\n")).collect::<String>());
    let bad = Desk::new(lines("19998"));
    let (output, out) = run(&bad);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("line 20002, column time: `19998`") && message.contains("scenario.yaml:2:"), "{message}");
    assert!(message.contains("help: sort the lines by time"), "{message}");
    assert!(!out.exists() && output.stdout.is_empty());
    let good = Desk::new(lines("20001"));
    let (output, out) = run(&good);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(out.join("estimates.csv").exists());
    // What was saved runs too.
    let again = Command::new(env!("CARGO_BIN_EXE_herdsim"))
        .args(["check", "scenario.yaml"])
        .current_dir(&out)
        .output()
        .expect("the binary can be started");
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
}

#[test]
fn wrong_forms_name_path_and_rule() {
    let base = "servers: 2\nload: 0.5\npolicy: {dispatch: random}\narrivals: ";
    for (form, path, rule) in [
        ("batch_poisson", "arrivals.batch_poisson", "`size` is missing"),
        ("{batch_poisson: 3}", "arrivals.batch_poisson", "must be a map"),
        ("{batch_poisson: {size: 3}}", "arrivals.batch_poisson.size", "`3` is unknown here"),
        ("{batch_poisson: {size: {constant: 0}}}", "arrivals.batch_poisson.size.constant", "at least 1"),
        ("{batch_poisson: {size: {constant: 1e10}}}", "arrivals.batch_poisson.size.constant", "at most 4294967295"),
        ("{batch_poisson: {size: {constant: 2.5}}}", "arrivals.batch_poisson.size.constant", "whole number"),
        (
            "{batch_poisson: {size: {geometric: {mean: 0.5}}}}",
            "arrivals.batch_poisson.size.geometric.mean",
            "at least 1",
        ),
        (
            "{batch_poisson: {size: {geometric: {mean: 1e306}}}}",
            "arrivals.batch_poisson.size.geometric.mean",
            "at most",
        ),
        ("{batch_poisson: {size: {geometric: {mean: .inf}}}}", "arrivals.batch_poisson.size.geometric.mean", "finite"),
        ("{batch_poisson: {size: {poisson: 3}}}", "arrivals.batch_poisson.size.poisson", "unknown"),
        ("{markov_modulated: {rates: [1, 2]}}", "arrivals.markov_modulated", "`switching` is missing"),
        ("{markov_modulated: {rates: [0], switching: [[0]]}}", "arrivals.markov_modulated.rates", "above 0"),
        ("{markov_modulated: {rates: [1, -2], switching: []}}", "arrivals.markov_modulated.rates[1]", "at least 0"),
        ("{markov_modulated: {rates: [1], switching: []}}", "arrivals.markov_modulated.switching", "has 0 rows"),
        (
            "{markov_modulated: {rates: [1, 2], switching: [[0, 1], [1]]}}",
            "arrivals.markov_modulated.switching[1]",
            "2 rows of 2",
        ),
        (
            "{markov_modulated: {rates: [1, 2], switching: [[0, 1], [1, 1]]}}",
            "arrivals.markov_modulated.switching[1][1]",
            "diagonal",
        ),
        (
            "{markov_modulated: {rates: [1, 2], switching: [[0, 1], [0, 0]]}}",
            "arrivals.markov_modulated.switching",
            "reachable",
        ),
        (
            "{markov_modulated: {rates: [1, 2], switching: [[0, .nan], [1, 0]]}}",
            "arrivals.markov_modulated.switching[0][1]",
            "finite",
        ),
        ("{trace: jobs.csv}", "arrivals.trace", "must be a map"),
        ("{trace: {file: jobs.csv, speed: 2}}", "arrivals.trace.speed", "not a known key"),
        ("{bursts: 3}", "arrivals.bursts", "unknown"),
    ] {
        let error = refusal(&format!("{base}{form}\n"));
        assert_eq!((error.path.as_str(), error.mark.line), (path, 4), "{form}: {error}");
        assert!(error.rule.contains(rule) && !error.remedy.is_empty(), "{form}: {error}");
    }
    for file in ["''", "."] {
        let text = format!("servers: 2\npolicy: {{dispatch: random}}\narrivals: {{trace: {{file: {file}}}}}\n");
        assert_eq!(refusal(&text).path, "arrivals.trace.file");
    }
}

/// Rates of phases count for the resolution of the clock.
#[test]
fn fast_phases_need_a_short_run() {
    let text = |switching: &str| {
        format!(
            "servers: 1\nload: 0.5\npolicy: {{dispatch: random}}\nrun: {{warmup: 0, time: 1000}}\n\
             arrivals: {{markov_modulated: {{rates: [1, 2], switching: [[0, {switching}], [1, 0]]}}}}"
        )
    };
    plan(&text("1e6"));
    assert_eq!(refusal(&text("1e12")).path, "run.time");
}

/// Every process that the catalogue lists is known to the reader, and has a scenario.
#[test]
fn the_catalogue_is_complete() {
    let known = refusal("servers: 1\npolicy: {dispatch: random}\narrivals: something_else_altogether\n").remedy;
    let listed: Vec<&str> = Arrivals::CATALOGUE.iter().map(|&(tag, _)| tag).collect();
    assert_eq!(known, format!("known are: {}", listed.join(", ")));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let all: String = std::fs::read_dir(folder)
        .expect("the scenarios can be read")
        .filter_map(|entry| std::fs::read_to_string(entry.expect("an entry").path()).ok())
        .collect();
    for tag in listed.iter().filter(|&&tag| tag != "poisson") {
        assert!(all.contains(&format!("{tag}:")), "{tag} has no scenario");
    }
}

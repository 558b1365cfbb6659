//! The probes of herding: exact laws where routing is random or exact, plain recomputation elsewhere, and time courses
//! that change nothing.

use herdsim::engine::{Dispatched, Engine, EventEngine, LengthChange, Observer, Unobserved};
use herdsim::experiment::{self, Unwatched, run_replication};
use herdsim::measure::{Metric, Record, Series};
use herdsim::output::{Results, write_results};
use herdsim::scenario::Plan;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

fn plan(text: &str, overrides: &[&str]) -> Plan {
    let overrides: Vec<String> = overrides.iter().map(|&assignment| assignment.to_owned()).collect();
    Plan::read(text, "test", "test", &overrides).unwrap_or_else(|error| panic!("{error}"))
}

fn run(plan: &Plan) -> Results {
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    experiment::run(plan, threads, &Unwatched).expect("the run ends well")
}

fn value(record: &Record, metric: Metric, key: &str) -> Option<f64> {
    record.readings.iter().find(|reading| reading.metric == metric && reading.key == key)?.value
}

/// Whether an estimate agrees with what is known, within four standard errors.
#[track_caller]
fn assert_agrees(results: &Results, metric: Metric, key: &str, expected: f64) {
    let estimate = results.estimate(metric, key).expect("measured");
    let mean = estimate.estimate.expect("measured");
    let z = (mean - expected) / estimate.std_error.expect("several replications");
    assert!(z.abs() < 4.0, "{} {key}: {mean}, expected {expected}, z = {z}", metric.name());
}

const RANDOM: &str = "
servers: 5
dispatchers: 4
load: 0.6
policy: {dispatch: random}
run: {warmup: 0, time: 20000, replications: 20, seed: 4}
";

#[test]
fn random_routing_coincides_by_chance() {
    let results = run(&plan(RANDOM, &["measure.coincidence_window=0.7"]));
    assert_agrees(&results, Metric::CoincidenceRatio, "", 1.0);
    let unequal = run(&plan(RANDOM, &["dispatchers={shares: [0.7, 0.2, 0.1]}"]));
    assert_agrees(&unequal, Metric::CoincidenceRatio, "", 1.0);
    // In proportion to the rates, two jobs meet with probability sum of squared shares.
    let weighted = ["servers=[{count: 1, rate: 3}, {count: 3, rate: 1}]", "policy.dispatch=weighted_random"];
    assert_agrees(&run(&plan(RANDOM, &weighted)), Metric::CoincidenceRatio, "", 4.0 * (0.25 + 3.0 / 36.0));
}

#[test]
fn one_dispatcher_has_no_coincidences() {
    let results = run(&plan(RANDOM, &["dispatchers=1", "run.time=100"]));
    assert_eq!(results.estimate(Metric::CoincidenceRatio, "").and_then(|estimate| estimate.estimate), None);
}

/// The probability that a Poisson number of this mean is at least `k`.
fn poisson_at_least(k: u32, mean: f64) -> f64 {
    let mut term = (-mean).exp();
    let mut below = 0.0;
    for i in 0..k {
        below += term;
        term *= mean / f64::from(i + 1);
    }
    1.0 - below
}

/// Under random routing a burst has at least k jobs if the k - 1 jobs after its first all go to the same of N servers,
/// and arrive within its mean service time: P(size >= k) = N^-(k-1) P(Poisson(lambda / mu) >= k - 1). With many
/// arrivals in a service time this is the geometric law of ratio 1/N. The clock counts how often it strikes instead of
/// how long it takes.
#[test]
fn bursts_of_random_routing_are_geometric_while_time_allows() {
    for (engine, load, service_times) in [("event", "0.6", 3.0), ("event", "6", 30.0), ("clock", "0.6", 3.0)] {
        let (engine, load) = (format!("engine={engine}"), format!("load={load}"));
        let counted = ["measure={coincidence_window: 0, estimates: false, estimate_age: false}", &engine, &load];
        // The buffer keeps the overloaded system small, and lets the intervals stand.
        let finite = ["buffer=3", "run.warmup=100", "run.time=2000", "run.replications=40"];
        let plan = plan(RANDOM, &[&counted[..], &finite].concat());
        assert!(plan.is_counted());
        let results = run(&plan);
        let at_least = |k: u32| 5_f64.powi(1 - k as i32) * poisson_at_least(k - 1, service_times);
        for k in 1..=4 {
            assert_agrees(&results, Metric::BurstSize, &k.to_string(), at_least(k) - at_least(k + 1));
        }
        assert_agrees(&results, Metric::BurstSizeMean, "", (1..40).map(at_least).sum());
        if service_times > 20.0 {
            assert!((at_least(3) - 0.04).abs() < 1e-9, "time allows all that count");
        }
    }
}

#[test]
fn exact_shortest_queue_has_rank_one() {
    for information in ["exact", "{delayed: {age: 0}}", "{push: {d: 4, probability: 1}, pull: {probability: 1}}"] {
        let text = format!(
            "servers: 4\nload: 0.9\npolicy: {{dispatch: shortest, information: {information}}}\n\
             run: {{warmup: 10, time: 500, replications: 1}}\nmeasure: {{trajectory: {{step: 50}}}}"
        );
        let record = run_replication(&plan(&text, &[]), 0).expect("the run ends well");
        let regret = record.trajectory.iter().find(|series| series.metric == Metric::RegretMean).expect("recorded");
        // Nobody has chosen before the first moment. Later the shortest queue is often not empty: regret is what is above it.
        assert!(regret.values.iter().skip(1).all(|&value| value == Some(0.0)), "{information}: {regret:?}");
        assert_eq!(value(&record, Metric::ChosenRankMean, ""), Some(1.0), "{information}");
        assert_eq!(value(&record, Metric::ChosenShortestProbability, ""), Some(1.0), "{information}");
        assert_eq!(value(&record, Metric::ChosenRank, "1"), Some(1.0), "{information}");
        assert_eq!(value(&record, Metric::ChosenRank, "more"), Some(0.0), "{information}");
    }
}

/// With dispatchers that share one estimate each, refreshed all together every T by messages of no delay, the age at a
/// Poisson arrival is uniform on [0, T); a delay D of the messages adds D.
#[test]
fn estimates_are_half_a_period_old() {
    let periodic = |delay: &str, dispatchers: &str| {
        let information = format!("policy.information={{periodic: {{period: 3, delay: {delay}}}}}");
        let dispatchers = format!("dispatchers={dispatchers}");
        // Before the first message arrives, estimates are of time 0.
        let overrides = [&information, &dispatchers, "policy.dispatch=shortest", "run={warmup: 30, time: 30000}"];
        run(&plan(RANDOM, &overrides.map(|text: &str| text)))
    };
    assert_agrees(&periodic("0", "1"), Metric::EstimateAgeMean, "", 1.5);
    assert_agrees(&periodic("0", "4"), Metric::EstimateAgeMean, "", 1.5);
    assert_agrees(&periodic("1", "1"), Metric::EstimateAgeMean, "", 2.5);
}

#[test]
fn estimates_that_nothing_refreshes_are_as_old_as_the_run() {
    let overrides =
        ["policy={dispatch: shortest, information: none}", "run={warmup: 50, time: 100, replications: 200}"];
    assert_agrees(&run(&plan(RANDOM, &overrides)), Metric::EstimateAgeMean, "", 100.0);
    let exact = run(&plan(RANDOM, &["policy.dispatch=shortest", "run.time=100"]));
    assert_eq!(exact.estimate(Metric::EstimateAgeMean, "").and_then(|estimate| estimate.estimate), None);
}

/// What the warm-up refreshed is known when the window opens: a window that starts late sees the same ages.
#[test]
fn the_warm_up_refreshes_estimates_too() {
    let text = "
servers: 3
dispatchers: 2
load: 0.5
policy: {dispatch: shortest, information: {periodic: {period: 1000}}}
run: {warmup: 1200, time: 100, replications: 100, seed: 3}
";
    assert_agrees(&run(&plan(text, &[])), Metric::EstimateAgeMean, "", 250.0);
}

/// The herding probes by plain recomputation at each event.
struct Ledger {
    now: f64,
    lengths: Vec<u32>,
    rates: Vec<f64>,
    window: f64,
    range: f64,
    ranks: Vec<usize>,
    /// Time, dispatcher, server of every choice.
    choices: Vec<(f64, u32, u32)>,
    /// When the message was sent that each estimate is from.
    sent_at: BTreeMap<(u32, u32), f64>,
    ages: Vec<f64>,
    /// Whether the measuring window is open.
    open: bool,
}

impl Observer for Ledger {
    fn dispatched(&mut self, dispatched: &Dispatched) {
        let Dispatched { time, dispatcher, server, found, .. } = *dispatched;
        if self.open {
            self.ranks.push(1 + self.lengths.iter().filter(|&&length| length < found).count());
            self.choices.push((time, dispatcher, server));
            self.ages.push(time - self.sent_at.get(&(dispatcher, server)).unwrap_or(&0.0));
        }
    }

    fn length_changed(&mut self, change: &LengthChange) {
        self.advance(change.time);
        self.lengths[change.server as usize] = change.new;
    }

    fn refreshed(&mut self, _: f64, dispatcher: u32, server: u32, sent_at: f64) {
        self.sent_at.insert((dispatcher, server), sent_at);
    }
}

impl Ledger {
    fn run(plan: &Plan) -> Self {
        let mut engine = EventEngine::new(&plan.system, &plan.policy, plan.seed, 0).expect("it starts");
        let mut ledger = Self {
            now: 0.0,
            lengths: engine.snapshot().lengths.to_vec(),
            rates: (0..plan.system.servers.numbered()).map(|server| plan.system.servers.rate(server)).collect(),
            window: plan.measure.coincidence_window.get(),
            range: 0.0,
            ranks: Vec::new(),
            choices: Vec::new(),
            sent_at: BTreeMap::new(),
            ages: Vec::new(),
            open: false,
        };
        engine.run_until(plan.window.open, u64::MAX, &mut ledger).expect("it runs");
        ledger.advance(plan.window.open);
        (ledger.open, ledger.range) = (true, 0.0);
        engine.run_until(plan.window.close, u64::MAX, &mut ledger).expect("it runs");
        ledger.advance(plan.window.close);
        ledger
    }

    fn advance(&mut self, time: f64) {
        let range = self.lengths.iter().max().expect("servers") - self.lengths.iter().min().expect("servers");
        self.range += f64::from(range) * (time - self.now);
        self.now = time;
    }

    fn coincidence_ratio(&self) -> f64 {
        let (mut pairs, mut coincident) = (0.0, 0.0);
        for (i, a) in self.choices.iter().enumerate() {
            for b in self.choices[..i].iter().rev().take_while(|b| a.0 - b.0 < self.window) {
                pairs += f64::from(a.1 != b.1);
                coincident += f64::from(a.1 != b.1 && a.2 == b.2);
            }
        }
        coincident / pairs * self.lengths.len() as f64
    }

    fn burst_sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = Vec::new();
        let mut first = (f64::NEG_INFINITY, u32::MAX);
        for &(time, _, server) in &self.choices {
            if server == first.1 && time < first.0 + 1.0 / self.rates[server as usize] {
                *sizes.last_mut().expect("a burst is in progress") += 1;
            } else {
                sizes.push(1);
                first = (time, server);
            }
        }
        sizes
    }
}

#[test]
fn probes_agree_with_plain_recomputation() {
    let rules = [
        "exact",
        "none",
        "{delayed: {age: 2}}",
        "{push: {d: 2, probability: 0.5, delay: {exponential: {mean: 1}}, loss: 0.1}}",
        "{pull: {probability: 0.2, delay: {uniform: {low: 0, high: 3}}}, overtaking: keep}",
        "{periodic: {period: 4, phase: own, delay: 0.5}}",
    ];
    for dispatch in ["shortest", "random", "idle_first"] {
        for information in rules {
            let text = format!(
                "engine: event\nservers: [{{count: 4, rate: 1}}, {{count: 9, rate: 0.5}}]\ndispatchers: 3\nload: 0.9\nbuffer: 6\n\
                 policy: {{dispatch: {dispatch}, information: {information}}}\n\
                 run: {{warmup: 20, time: 200, replications: 1, seed: 9}}\nmeasure: {{coincidence_window: 0.4}}"
            );
            let plan = plan(&text, &[]);
            let record = run_replication(&plan, 0).expect("it runs");
            let ledger = Ledger::run(&plan);
            let jobs = ledger.choices.len() as f64;
            assert!(jobs > 500.0, "{jobs}");
            let close = |metric, key: &str, expected: f64| {
                let measured = value(&record, metric, key);
                let near = |x: f64| (x - expected).abs() <= 1e-9 * expected.abs().max(1.0);
                assert!(measured.is_some_and(near), "{} {key}: {measured:?}, {expected}\n{text}", metric.name());
            };
            close(Metric::QueueRangeMean, "", ledger.range / 200.0);
            close(Metric::ChosenRankMean, "", ledger.ranks.iter().sum::<usize>() as f64 / jobs);
            close(Metric::ChosenRank, "more", ledger.ranks.iter().filter(|&&rank| rank > 10).count() as f64 / jobs);
            close(Metric::CoincidenceRatio, "", ledger.coincidence_ratio());
            let sizes = ledger.burst_sizes();
            close(Metric::BurstSizeMean, "", jobs / sizes.len() as f64);
            let twos = sizes.iter().filter(|&&size| size == 2).count() as f64;
            close(Metric::BurstSize, "2", twos / sizes.len() as f64);
            let age = value(&record, Metric::EstimateAgeMean, "");
            if plan.policy.information.is_local() && !(information == "none" && dispatch == "random") {
                close(Metric::EstimateAgeMean, "", ledger.ages.iter().sum::<f64>() / jobs);
            } else {
                assert_eq!(age, None, "{text}");
            }
        }
    }
}

const LATE: &str = "
engine: event
servers: 20
dispatchers: 4
load: 0.9
policy: {dispatch: shortest, information: {pull: {probability: 0.3, delay: {exponential: {mean: 1}}}}}
initial: {length: 2}
run: {warmup: 0, time: 30, replications: 6, seed: 2}
";

fn series<'a>(record: &'a Record, metric: Metric, key: &str) -> &'a Series {
    let found = record.trajectory.iter().find(|series| series.metric == metric && series.key == key);
    found.unwrap_or_else(|| panic!("{} {key} is not recorded", metric.name()))
}

#[test]
fn time_courses_start_in_the_initial_state() {
    let results = run(&plan(LATE, &["measure.trajectory.step=0.5"]));
    let course = results.time_course.expect("asked for");
    assert_eq!(course.times.len(), 61);
    assert_eq!((course.times[0], course.times[60]), (0.0, 30.0));
    let start = |metric, key: &str| {
        let curve = course.curves.iter().find(|curve| curve.metric == metric && curve.key == key);
        let mean = curve.expect("recorded").means[0];
        assert!(mean.std_error.is_none_or(|error| error == 0.0), "the start is given");
        mean.estimate
    };
    assert_eq!(start(Metric::TailFraction, "2"), Some(1.0));
    assert_eq!(start(Metric::TailFraction, "3"), Some(0.0));
    assert_eq!(start(Metric::MeanJobs, ""), Some(2.0));
    assert_eq!(start(Metric::Imbalance, ""), Some(0.0));
    assert_eq!(start(Metric::QueueRangeMean, ""), Some(0.0));
    assert_eq!(start(Metric::EstimateError, ""), Some(0.0));
    assert_eq!(start(Metric::RegretMean, ""), None);
    for curve in &course.curves {
        assert_eq!(curve.means.len(), 61);
        let whole = curve.means.iter().skip(1).all(|mean| mean.replications == 6 && mean.std_error.is_some());
        assert!(whole, "{} {}", curve.metric.name(), curve.key);
    }
}

/// On each path the moments are those of the engine itself, stopped there, whatever the step.
#[test]
fn moments_are_the_states_of_the_path() {
    let whole = plan(LATE, &["run.warmup=3", "measure.trajectory.step=0.3"]);
    let record = run_replication(&whole, 1).expect("it runs");
    let grid = whole.measure.trajectory.as_ref().expect("asked for");
    let mut engine = EventEngine::new(&whole.system, &whole.policy, whole.seed, 1).expect("it starts");
    for (i, time) in grid.times(whole.window).into_iter().enumerate() {
        engine.run_until(time, u64::MAX, &mut Unobserved).expect("it runs");
        let snapshot = engine.snapshot();
        let lengths = snapshot.lengths;
        let mean = f64::from(lengths.iter().sum::<u32>()) / 20.0;
        assert_eq!(series(&record, Metric::MeanJobs, "").values[i], Some(mean), "at {time}");
        for k in 1..=3 {
            let count = lengths.iter().filter(|&&length| length >= k).count() as f64;
            assert_eq!(series(&record, Metric::TailFraction, &k.to_string()).values[i], Some(count / 20.0));
        }
        let errors = snapshot
            .estimates
            .iter()
            .flat_map(|view| (0..).zip(lengths).map(|(server, length)| view.length(server).abs_diff(*length)));
        let error: u32 = errors.sum();
        assert_eq!(series(&record, Metric::EstimateError, "").values[i], Some(f64::from(error) / 80.0));
    }
    let coarse = run_replication(&plan(LATE, &["run.warmup=3", "measure.trajectory.step=0.6"]), 1).expect("it runs");
    let every_second: Vec<_> = series(&record, Metric::Imbalance, "").values.iter().copied().step_by(2).collect();
    assert_eq!(series(&coarse, Metric::Imbalance, "").values, every_second);
}

fn files(results: &Results, folder: &Path) -> BTreeMap<String, Vec<u8>> {
    write_results(folder, results).expect("it can be written to");
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).expect("a file")))
        // One tells when it ran, the other what was asked for.
        .filter(|(name, _)| name != "manifest.json" && name != "scenario.yaml")
        .collect()
}

/// Pitfall T01: numbers do not move with the output grid.
#[test]
fn time_courses_change_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let without = run(&plan(LATE, &[]));
    for step in ["0.01", "1", "7", "1000"] {
        let with = run(&plan(LATE, &[&format!("measure.trajectory.step={step}")]));
        assert_eq!(with.manifest.jobs.largest_relative_gap, without.manifest.jobs.largest_relative_gap);
        let mut found = files(&with, folder.path());
        let course = found.remove("trajectory.csv").expect("it was asked for");
        assert!(
            course.starts_with(
                b"point,time,metric,key,estimate,std_error,replications\n0,0.0,tail_fraction,1,1.0,0.0,6\n"
            )
        );
        // Results that replace others leave no old time course behind.
        assert_eq!(found, files(&without, folder.path()), "step {step}");
    }
}

#[test]
fn probes_of_herding_can_be_switched_off_one_by_one() {
    let all = run_replication(&plan(LATE, &[]), 0).expect("it runs");
    let switches = [
        ("queue_range=false", &[Metric::QueueRangeMean][..]),
        ("chosen_rank=false", &[Metric::ChosenRankMean, Metric::ChosenRank, Metric::ChosenShortestProbability]),
        ("burst_size=false", &[Metric::BurstSizeMean, Metric::BurstSize]),
        ("coincidence_window=0", &[Metric::CoincidenceRatio]),
        ("estimate_age=false", &[Metric::EstimateAgeMean]),
    ];
    for (switch, metrics) in switches {
        let some = run_replication(&plan(LATE, &[&format!("measure.{switch}")]), 0).expect("it runs");
        let left = all.readings.iter().filter(|reading| !metrics.contains(&reading.metric));
        assert!(left.eq(&some.readings), "{switch}");
        assert!(some.readings.len() < all.readings.len(), "{switch}");
    }
}

/// What the scenario's comment promises.
#[test]
fn the_herd_shows_in_time() {
    let text = include_str!("../scenarios/herd-in-time.yaml");
    let herd = run(&plan(text, &[]));
    let calm = run(&plan(text, &["policy.dispatch=random"]));
    let largest = |results: &Results, metric| {
        let course = results.time_course.as_ref().expect("asked for");
        let curve = course.curves.iter().find(|curve| curve.metric == metric).expect("recorded");
        curve.means.iter().filter_map(|mean| mean.estimate).fold(0.0, f64::max)
    };
    for metric in [Metric::Imbalance, Metric::RegretMean, Metric::MeanJobs] {
        let (wild, tame) = (largest(&herd, metric), largest(&calm, metric));
        assert!(wild > 1.5 * tame, "{}: {wild} against {tame}", metric.name());
    }
    let ratio = |results: &Results| results.estimate(Metric::CoincidenceRatio, "").and_then(|found| found.estimate);
    assert!(ratio(&herd) > Some(3.5) && ratio(&calm) < Some(1.1), "{:?} {:?}", ratio(&herd), ratio(&calm));
}

//! Engines against each other: whatever two of them can do, they must agree on.
//!
//! Every metric that two engines measure is a z-score: difference of the estimates over their standard error, from 60
//! replications each. Some 15,000 scores are judged by |z| < 4, strongly dependent within a scenario; were they
//! independent and normal, one would be beyond by chance. Those that are get a second look, with other seeds and ten times
//! the replications, and fail if they are beyond again, on the same side or the other: by chance once in 15,000 runs. Seeds
//! are fixed.

use herdsim::experiment::{self, Unwatched};
use herdsim::measure::Metric;
use herdsim::output::Results;
use herdsim::scenario::{EngineKind, Plan};
use std::num::NonZeroUsize;

const REPLICATIONS: u64 = 60;

const Z_LIMIT: f64 = 4.0;

/// Engines as a scenario names them, with what must be added to the probes: without the probe of bursts, memoryless
/// engines move in expected times.
const ENGINES: [(&str, &str); 6] = [
    ("event", ""),
    ("clock", ""),
    ("clock", ", burst_size: false, coincidence_window: 0"),
    ("occupancy", ", burst_size: false, coincidence_window: 0"),
    ("clock", LEAN),
    ("occupancy", LEAN),
];

/// Probes that leave the counting to the engine, where it can.
const LEAN: &str =
    ", burst_size: false, coincidence_window: 0, imbalance: false, queue_range: false, chosen_rank: false";

const ONE: &str = "servers: 6\nload: 0.8\n";
const TWO: &str = "servers: [{name: slow, count: 4, rate: 1}, {name: fast, count: 2, rate: 3}]\nload: 0.75\n";
const SMALL: &str =
    "servers: [{name: slow, count: 3, rate: 0.5}, {name: fast, count: 1, rate: 4}]\nload: 0.9\nbuffer: 4\n";
const MANY: &str = "servers: 6\nload: 0.8\ndispatchers: {shares: [0.5, 0.3, 0.2]}\n";
const MANY_TWO: &str =
    "servers: [{name: slow, count: 4, rate: 1}, {name: fast, count: 2, rate: 3}]\nload: 0.75\ndispatchers: 3\n";

/// Systems and policies, and whether counts of servers are enough for them.
const SCENARIOS: &[(&str, &str, bool)] = &[
    (ONE, "{dispatch: random}", true),
    (TWO, "{dispatch: weighted_random}", true),
    (TWO, "{dispatch: round_robin}", false),
    (ONE, "{dispatch: shortest}", true),
    (SMALL, "{dispatch: shortest}", true),
    (TWO, "{dispatch: shortest_delay}", true),
    (TWO, "{dispatch: shortest_normalized}", true),
    (SMALL, "{dispatch: below_average}", true),
    (TWO, "{dispatch: {below_threshold: {r: 1}}}", true),
    (ONE, "{dispatch: {power_of_d: {d: 2}}}", true),
    (ONE, "{dispatch: {power_of_d: {d: 3, replacement: true}}}", true),
    (ONE, "{dispatch: {power_of_d: {d: 5}}}", true),
    (TWO, "{dispatch: {power_of_d: {d: 2}}}", true),
    (SMALL, "{dispatch: {power_of_d: {d: 2, weighting: rate}}}", true),
    (ONE, "{dispatch: {best_of_memory: {d: 1, memory: 1}}}", false),
    (ONE, "{dispatch: {one_plus_beta: {beta: 0.6}}}", false),
    (TWO, "{dispatch: {idle_first: {fallback: weighted_random}}}", true),
    (ONE, "{dispatch: {ranked: {weights: [0.4, 0.3, 0.2, 0.1, 0, 0]}}}", true),
    (ONE, "{dispatch: random, information: none}", true),
    (MANY, "{dispatch: shortest, information: {exact: {query_delay: {exponential: {mean: 0.3}}}}}", false),
    (MANY, "{dispatch: shortest, information: {delayed: {age: 1.5}}}", false),
    (MANY, "{dispatch: shortest, information: {pull: {probability: 0.2}}}", false),
    (MANY, "{dispatch: shortest, information: {pull: {probability: 0.2, delay: 0.7, loss: 0.1}}}", false),
    (MANY_TWO, "{dispatch: shortest_delay, information: {push: {d: 2, delay: {exponential: {mean: 1}}}}}", false),
    (
        MANY,
        "{dispatch: {power_of_d: {d: 2}}, information: {push: {d: 2, delay: {uniform: {low: 0, high: 2}}}, \
         pull: {probability: 0.1}, overtaking: keep}}",
        false,
    ),
    (
        MANY,
        "{dispatch: shortest, information: {push: {d: 1, delay: 1}, pull: {probability: 0.5, delay: 0.3}, \
         in_flight: replay}}",
        false,
    ),
    (MANY_TWO, "{dispatch: idle_first, information: on_idle}", false),
    (MANY, "{dispatch: shortest, information: {periodic: {period: 2}}}", false),
    (
        MANY,
        "{dispatch: shortest, information: {periodic: {period: {exponential: {mean: 2}}, phase: own, delay: 0.1}}}",
        false,
    ),
];

/// More replications in a second look.
const AGAIN: u64 = 10;

fn plan(scenario: &(&str, &str, bool), (engine, probes): (&str, &str), again: bool) -> Option<Plan> {
    let (system, policy, counts) = scenario;
    // Engines must not share random numbers.
    let place = ENGINES.iter().position(|&known| known == (engine, probes)).unwrap_or(0);
    let seed = if again { 131 } else { 31 } + place;
    let replications = if again { AGAIN * REPLICATIONS } else { REPLICATIONS };
    let histograms = u8::from(probes != LEAN);
    let text = format!(
        "engine: {engine}\n{system}policy: {policy}\nrun: {{warmup: 100, time: 1000, replications: {replications}, \
         seed: {seed}}}\nmeasure: {{quantiles: [0.5, 0.9, 0.99], tail_histogram_levels: {histograms}{probes}}}\n"
    );
    match Plan::read(&text, "test", "test", &[]) {
        Ok(plan) => Some(plan),
        Err(error) if engine == "occupancy" && !counts => {
            assert!(error.remedy.contains("engine: clock"), "{error}");
            None
        }
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// A metric by its name and key, its score, and what two engines say of it.
type Score = ((&'static str, String), f64, String);

/// The scores of all metrics that two engines can be judged by.
fn compare(one: &Results, other: &Results) -> Vec<Score> {
    let mut scores = Vec::new();
    for estimate in &one.estimates {
        let Some(twin) = other.estimate(estimate.metric, &estimate.key) else { continue };
        let (Some(a), Some(b)) = (estimate.estimate, twin.estimate) else { continue };
        let (Some(error), Some(twins)) = (estimate.std_error, twin.std_error) else { continue };
        // The longest queue is an extreme and the variance over the jobs of a window lacks the variance between windows,
        // but for those known by law.
        if matches!(estimate.metric, Metric::MaxQueue | Metric::ResponseTimeVariance) {
            continue;
        }
        let error = error.hypot(twins);
        // Of events so rare that they were met a few times only, the scores are far from normal.
        if error > 0.05 * a.abs().min(b.abs()) && a != b {
            continue;
        }
        let z = if error > 1e-12 * a.abs() { (a - b) / error } else { (a - b) / a.abs().max(1e-300) * 1e10 };
        scores.push(((estimate.metric.name(), estimate.key.clone()), z, format!("{a} and {b}, z = {z:.2}")));
    }
    scores
}

fn run(plan: &Plan) -> Results {
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    experiment::run(plan, threads, &Unwatched).expect("the run ends well")
}

#[test]
fn engines_agree() {
    let (mut judged, mut failures) = (0, Vec::new());
    for scenario in SCENARIOS {
        let mut known: Vec<((&str, &str), Results)> = Vec::new();
        for engine in ENGINES {
            let Some(first) = plan(scenario, engine, false) else { continue };
            let results = run(&first);
            assert!(results.manifest.jobs.largest_relative_gap < 1e-9, "{scenario:?} {engine:?}");
            for (other, others) in &known {
                let mut scores = compare(others, &results);
                judged += scores.len();
                scores.retain(|(_, z, _)| z.abs() >= Z_LIMIT);
                if scores.is_empty() {
                    continue;
                }
                let [one, two] = [*other, engine].map(|engine| run(&plan(scenario, engine, true).expect("as before")));
                let again = compare(&one, &two);
                for (metric, _, first) in scores {
                    // One that cannot be judged again is not forgiven.
                    let second = again.iter().find(|(other, ..)| *other == metric);
                    if second.is_none_or(|(_, z, _)| z.abs() >= Z_LIMIT) {
                        let second = second.map(|(.., second)| second);
                        failures.push(format!(
                            "{scenario:?}: {other:?} and {engine:?}: {metric:?}: {first}; again: {second:?}"
                        ));
                    }
                }
            }
            known.push((engine, results));
        }
        assert_eq!(known.len(), if scenario.2 { 6 } else { 4 });
    }
    assert!(failures.is_empty(), "of {judged} scores:\n{}", failures.join("\n"));
    assert!(judged > 3000, "only {judged} scores were judged");
}

fn chosen(text: &str, overrides: &[&str]) -> (EngineKind, String) {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let plan = Plan::read(text, "test", "test", &overrides).unwrap_or_else(|error| panic!("{error}"));
    (plan.engine.kind, plan.engine.why)
}

#[test]
fn auto_takes_the_cheapest_exact_engine() {
    let text = "engine: auto\nservers: 10\nload: 0.9\npolicy: {dispatch: {power_of_d: {d: 2}}}\n\
                measure: {burst_size: false}\n";
    assert_eq!(chosen(text, &[]).0, EngineKind::Occupancy);
    for (change, kind, why) in [
        ("measure.burst_size=true", EngineKind::Clock, "measure.burst_size"),
        ("policy.information=pull", EngineKind::Clock, "policy.information"),
        ("policy.dispatch=round_robin", EngineKind::Clock, "policy.dispatch"),
        ("dispatchers=2", EngineKind::Clock, "measure.coincidence_window"),
        ("policy.dispatch=shortest", EngineKind::Clock, "all levels at each arrival"),
        ("service=1", EngineKind::Event, "service"),
        ("arrivals={renewal: 1}", EngineKind::Event, "arrivals"),
    ] {
        let (found, reason) = chosen(text, &[change]);
        assert_eq!(found, kind, "{change}");
        assert!(reason.contains(why), "{change}: {reason}");
    }
    assert_eq!(chosen(text, &["policy.dispatch=shortest", "servers=2000000"]).0, EngineKind::Occupancy);
    let rare = chosen(text, &["load=0.05", "measure.burst_size=true"]);
    assert_eq!(rare.0, EngineKind::Event, "{rare:?}");
    assert_eq!(chosen(text, &["engine=event"]), (EngineKind::Event, "the scenario names it".to_owned()));
}

/// The same scenario and seed give the same numbers on any number of threads: on few of them replications may go side by
/// side, on many each goes alone.
#[test]
fn replications_repeat() {
    for (engine, measure) in
        [("clock", "trajectory: {step: 1}"), ("occupancy", "trajectory: {step: 1}"), ("occupancy", "imbalance: true")]
    {
        let text = format!(
            "engine: {engine}\nservers: 20\nload: 0.9\npolicy: {{dispatch: {{power_of_d: {{d: 2}}}}}}\n\
             run: {{warmup: 10, time: 500, replications: 11}}\nmeasure: {{burst_size: false, {measure}}}\n"
        );
        let plan = Plan::read(&text, "test", "test", &[]).unwrap_or_else(|error| panic!("{error}"));
        let run =
            |threads| experiment::run(&plan, NonZeroUsize::new(threads).expect("not 0"), &Unwatched).expect("runs");
        let one = run(1);
        for threads in [2, 11] {
            let others = run(threads);
            assert_eq!(one.estimates, others.estimates);
            assert_eq!(one.time_course, others.time_course);
        }
        assert_eq!(one.manifest.engine, engine);
    }
}

#[test]
fn check_says_which_engine_and_why() {
    let mut command = assert_cmd::Command::cargo_bin("herdsim").expect("the program is built");
    let output = command.args(["check", "--set", "engine=auto"]).output().expect("it runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    let line = text.lines().find(|line| line.starts_with("# engine: ")).expect("it says which");
    assert!(line.starts_with("# engine: clock; Poisson arrivals") && line.contains("burst_size"), "{line}");
    let mut refused = assert_cmd::Command::cargo_bin("herdsim").expect("the program is built");
    let output = refused.args(["check", "--set", "engine=occupancy"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).expect("text");
    assert!(text.contains("measure.burst_size") && text.contains("help: write burst_size: false"), "{text}");
}

/// An engine that counts by itself goes the same path as one that tells every event, so all that both measure is the
/// same but for rounding.
#[test]
fn counting_changes_no_number() {
    let probes = ", burst_size: false, coincidence_window: 0, estimates: false, estimate_age: false";
    // Parts of the window are more than an engine counts by itself.
    let parts = "servers: 1\nload: 0.5\npolicy: {dispatch: random}\nrun: {replications: 1, interval: batch_means}\n";
    let parts = Plan::read(parts, "test", "test", &[]).unwrap_or_else(|error| panic!("{error}")).batching;
    assert!(parts.is_some());
    let mut compared = 0;
    for (system, policy) in [
        (ONE, "{dispatch: {power_of_d: {d: 2}}}"),
        (ONE, "{dispatch: shortest}"),
        (ONE, "{dispatch: random, information: none}"),
        ("servers: 4\nload: 0.9\nbuffer: 3\n", "{dispatch: {power_of_d: {d: 2, replacement: true}}}"),
        ("servers: 1\narrival_rate: 0.5\ninitial: {length: 4}\n", "{dispatch: random}"),
        (MANY, "{dispatch: shortest}"),
        (MANY, "{dispatch: shortest, information: {pull: {probability: 0.3, loss: 0.1}}}"),
        (MANY, "{dispatch: {below_average: {}}, information: {push: {d: 2, probability: 0.5}, on_idle: {}}}"),
        // So many that what dispatchers believe is looked at beforehand.
        ("servers: 20000\ndispatchers: 3\narrival_rate: 100\n", "{dispatch: shortest, information: {pull: {}}}"),
        (ONE, "{dispatch: {one_plus_beta: {beta: 0.6}}}"),
    ] {
        let counts_suffice = !policy.contains("information: {") && !policy.contains("beta");
        for engine in if counts_suffice { &["clock", "occupancy"][..] } else { &["clock"] } {
            let record = |batching| {
                let mut plan = plan(&(system, policy, true), (engine, probes), false).expect("both engines can");
                (plan.seed, plan.batching) = (5, batching);
                assert_eq!(plan.is_counted(), batching.is_none());
                experiment::run_replication(&plan, 1).expect("the run ends well")
            };
            let (told, counted) = (record(parts), record(None));
            assert_eq!(told.balance.arrived, counted.balance.arrived);
            assert_eq!(told.balance.completed, counted.balance.completed);
            for reading in &counted.readings {
                let found = told.readings.iter().find(|r| r.metric == reading.metric && r.key == reading.key);
                let (Some(a), Some(b)) = (found.expect("measured by both").value, reading.value) else { continue };
                let close = (a - b).abs() <= 1e-9 * a.abs().max(1e-3);
                assert!(close, "{engine} {policy} {:?} {}: {a} and {b}", reading.metric, reading.key);
                compared += 1;
            }
            assert_eq!(told.occupancy.len(), counted.occupancy.len());
            for (a, b) in told.occupancy.iter().zip(&counted.occupancy) {
                for ((low, high, time), (other_low, other_high, other)) in a.blocks().zip(b.blocks()) {
                    assert_eq!((low, high), (other_low, other_high));
                    assert!((time - other).abs() <= 1e-9 * time.max(1e-3), "{engine} {policy}: {time} and {other}");
                }
            }
            for (a, b) in told.halves.iter().zip(counted.halves) {
                assert!((a - b).abs() <= 1e-9 * a, "{engine} {policy}: halves {a} and {b}");
            }
        }
    }
    assert!(compared > 500, "{compared}");
}

//! How simulators like this one have failed their users: each test names the row of the list of pitfalls it covers.

use herdsim::engine::{Dispatched, Engine, EventEngine, Joined, LengthChange, Observer};
use herdsim::experiment::{self, Monitor, Unwatched, run_replication};
use herdsim::measure::{DelayHistogram, Measure, Metric, Moments, Probes, Record};
use herdsim::model::law::{Constant, Exponential, Uniform};
use herdsim::model::{Arrivals, Dispatchers, Initial, Law, NonNegative, Servers, System, Window};
use herdsim::output::{Results, write_results};
use herdsim::policy::dispatch::Shortest;
use herdsim::policy::{Dispatch, Information, Policy};
use herdsim::scenario::{Plan, ScenarioError};
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

/// Statistical tests fail beyond this many standard errors: by chance once in 15,000 comparisons.
const Z_LIMIT: f64 = 4.0;

fn plan(text: &str) -> Plan {
    Plan::read(text, "test", "test", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refusal(text: &str) -> ScenarioError {
    match Plan::read(text, "test", "test", &[]) {
        Err(error) => error,
        Ok(plan) => panic!("accepted, though it should be refused:\n{text}\n{plan:?}"),
    }
}

fn record(text: &str) -> Record {
    run_replication(&plan(text), 0).expect("lengths stay within their range")
}

fn results(text: &str) -> Results {
    let threads = NonZeroUsize::new(2).expect("2 is not 0");
    experiment::run(&plan(text), threads, &Unwatched).expect("lengths stay within their range")
}

/// Deterministic arrivals every `gap`, on servers with deterministic service of a time of 1 at rate 1.
fn clockwork(gap: f64, servers: &str, run: &str) -> String {
    format!(
        "servers: {servers}\narrival_rate: {}\narrivals: {{renewal: {{constant: 1}}}}\nservice: {{constant: 1}}\n\
         policy: {{dispatch: round_robin}}\nrun: {run}\n",
        1.0 / gap
    )
}

/// One queue with Poisson arrivals.
fn single_server(service: &str, load: f64, run: &str) -> String {
    format!("servers: 1\nload: {load}\nservice: {service}\npolicy: {{dispatch: random}}\nrun: {run}\n")
}

fn value(record: &Record, metric: Metric, key: &str) -> Option<f64> {
    record.readings.iter().find(|reading| reading.metric == metric && reading.key == key)?.value
}

fn response(record: &Record) -> &Moments {
    record.response.as_ref().expect("delays are on").moments()
}

#[track_caller]
fn assert_no_nan(record: &Record) {
    for reading in &record.readings {
        assert!(reading.value.is_none_or(f64::is_finite), "{reading:?}");
    }
    assert!(record.balance.counts_agree(), "{:?}", record.balance);
    assert!(record.balance.relative_gap() < 1e-9, "{:?}", record.balance);
}

/// Holds an estimate against an exact value; `allowance` is what the reference itself, or the setting, may be off.
/// The standard error must be small enough, relative to the value, that the comparison says something.
#[track_caller]
fn assert_z(results: &Results, metric: Metric, key: &str, exact: f64, allowance: f64, precision: f64) {
    let estimate = results.estimate(metric, key).expect("the metric is measured");
    let error = estimate.std_error.expect("there are several replications");
    let off = (estimate.estimate.expect("something was measured") - exact).abs();
    assert!(error <= precision * exact.abs(), "{metric:?} {key}: the test is too weak, {estimate:?}");
    assert!(off <= Z_LIMIT * error + allowance, "{metric:?} {key}: exact {exact}, {estimate:?}");
}

/// T01: time averages of M/M/1 at load 0.8 are those of theory: L = 4, T = 5, W = 4, P(N >= k) = 0.8^k.
/// T02, H04: response times are Exp(0.2): p50 3.466 up to p99.999 57.56, each under its own label.
#[test]
fn t01_t02_h04_m_m_1_at_load_0_8() {
    let text = single_server("exponential", 0.8, "{warmup: 500, time: 200000, replications: 30, seed: 3}")
        + "measure: {quantiles: [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999]}\n";
    let results = results(&text);
    assert_z(&results, Metric::MeanJobs, "", 4.0, 0.0, 0.007);
    assert_z(&results, Metric::ResponseTimeMean, "", 5.0, 0.0, 0.007);
    assert_z(&results, Metric::WaitingTimeMean, "", 4.0, 0.0, 0.007);
    assert_z(&results, Metric::Utilization, "", 0.8, 0.0, 0.005);
    assert_z(&results, Metric::EmptyProbability, "", 0.2, 0.0, 0.005);
    assert_z(&results, Metric::WaitingProbability, "", 0.8, 0.0, 0.005);
    for k in 1..=10 {
        assert_z(&results, Metric::TailFraction, &k.to_string(), 0.8_f64.powi(k), 0.0, 0.05);
    }
    let mut last = 0.0;
    for (key, precision) in
        [("0.5", 0.007), ("0.9", 0.007), ("0.99", 0.01), ("0.999", 0.03), ("0.9999", 0.07), ("0.99999", 0.2)]
    {
        let q: f64 = key.parse().expect("keys are numbers");
        assert_z(&results, Metric::ResponseTimeQuantile, key, -5.0 * (1.0 - q).ln(), 0.0, precision);
        let quantile = results.estimate(Metric::ResponseTimeQuantile, key).and_then(|estimate| estimate.estimate);
        let quantile = quantile.expect("there were jobs");
        assert!(quantile > last, "quantiles increase strictly: {last}, then {quantile} at {key}");
        last = quantile;
    }
}

/// Everything that an engine tells of jobs, in order.
#[derive(Debug, Default, PartialEq)]
struct Diary {
    dispatched: Vec<(f64, u32, u32, u32)>,
    responses: Vec<f64>,
    departures: Vec<f64>,
}

impl Observer for Diary {
    fn dispatched(&mut self, d: &Dispatched) {
        self.dispatched.push((d.time, d.dispatcher, d.server, d.found));
    }

    fn joined(&mut self, joined: &Joined) {
        self.responses.push(joined.response());
    }

    fn length_changed(&mut self, change: &LengthChange) {
        if change.new < change.old {
            self.departures.push(change.time);
        }
    }
}

impl Diary {
    /// The diary of a system from time 0 to `end`, looked at every `step`.
    fn of(system: &System, policy: &Policy, replication: u64, end: f64, step: f64) -> Self {
        let mut diary = Self::default();
        let mut engine = EventEngine::new(system, policy, 1, replication).expect("lengths start within their range");
        while engine.now() < end {
            let next = (engine.now() + step).min(end);
            engine.run_until(next, u64::MAX, &mut diary).expect("lengths stay within their range");
        }
        diary
    }

    fn of_text(text: &str, end: f64) -> Self {
        let plan = plan(text);
        Self::of(&plan.system, &plan.policy, 0, end, end)
    }
}

/// T01: how often one looks at the state has no influence on the path.
#[test]
fn t01_the_reporting_interval_does_not_matter() {
    let plan = plan(&single_server("exponential", 0.8, "{}"));
    let diary = |step| Diary::of(&plan.system, &plan.policy, 0, 1000.0, step);
    let whole = diary(1000.0);
    assert!(whole.departures.len() > 500);
    assert_eq!(whole, diary(1.0));
    assert_eq!(whole, diary(0.37));
}

/// T03: a server works on while jobs are queued: three jobs at time 0 leave at 1, 2 and 3 without later arrivals, and
/// M/M/1 at load 0.3 has T = 1.4286 and is busy 0.3 of the time.
#[test]
fn t03_a_server_with_jobs_works() {
    let text = "servers: 1\narrival_rate: 0\nservice: {constant: 1}\npolicy: {dispatch: random}\ninitial: {length: 3}";
    assert_eq!(Diary::of_text(text, 10.0).departures, [1.0, 2.0, 3.0]);
    let results = results(&single_server("exponential", 0.3, "{warmup: 50, time: 40000, replications: 20}"));
    assert_z(&results, Metric::ResponseTimeMean, "", 1.0 / 0.7, 0.0, 0.005);
    assert_z(&results, Metric::Utilization, "", 0.3, 0.0, 0.005);
}

/// T04: waits follow Pollaczek and Khinchine for every service law: W = 0.7 E[S^2] / (2 * 0.3).
#[test]
fn t04_waits_depend_on_the_service_law_as_in_theory() {
    let laws = [("{constant: 1}", 1.0), ("{uniform: {low: 0, high: 2}}", 4.0 / 3.0), ("exponential", 2.0)];
    for (law, second_moment) in laws {
        let results = results(&single_server(law, 0.7, "{warmup: 200, time: 60000, replications: 20}"));
        assert_z(&results, Metric::WaitingTimeMean, "", 0.7 * second_moment / 0.6, 0.0, 0.01);
    }
}

/// T06: a job that is still inside at the end is counted: in the system, not completed, and with its delay, which is
/// known when it joins.
#[test]
fn t06_jobs_still_inside_are_counted() {
    let text = clockwork(5.0, "[{count: 1, rate: 0.09090909090909091}]", "{warmup: 0, time: 9, replications: 1}");
    let one = record(&text);
    let balance = &one.balance;
    assert_eq!((balance.arrived, balance.completed, balance.inside_at_close), (1, 0, 1));
    assert!(value(&one, Metric::ResponseTimeMean, "").is_some_and(|t| (t - 11.0).abs() < 1e-12));

    let many = results(&single_server("exponential", 0.95, "{warmup: 0, time: 50, replications: 200}"));
    let jobs = &many.manifest.jobs;
    assert!(jobs.inside_at_close > 0);
    assert_eq!(jobs.inside_at_open + jobs.arrived, jobs.completed + jobs.blocked + jobs.inside_at_close);
    assert_eq!(many.response.expect("delays are on").moments().count(), jobs.arrived);
}

/// T08: at the end of the window either all of several simultaneous events happen or none: the window is half-open.
#[test]
fn t08_simultaneous_events_at_the_end_share_their_fate() {
    for (time, completed) in [("10", 36), ("10.000001", 40), ("9.999999", 36), ("1", 0)] {
        let text = format!(
            "servers: 4\narrival_rate: 0\nservice: {{constant: 1}}\npolicy: {{dispatch: random}}\n\
             initial: {{length: 20}}\nrun: {{warmup: 0, time: {time}, replications: 1}}"
        );
        assert_eq!(record(&text).balance.completed, completed, "window of {time}");
    }
}

/// T09: an event beyond the end does not happen: no job, and statistics of jobs are not available.
/// H01: what was not measured is null everywhere, never a number.
#[test]
fn t09_h01_without_jobs_there_are_no_delays() {
    let results = results(&clockwork(5.0, "1", "{warmup: 0, time: 3, replications: 2}"));
    assert_eq!(results.manifest.jobs.arrived, 0);
    assert_eq!(results.manifest.window_close, 3.0);
    let of_jobs = [
        Metric::ResponseTimeMean,
        Metric::ResponseTimeVariance,
        Metric::ResponseTimeQuantile,
        Metric::WaitingTimeMean,
        Metric::WaitingTimeQuantile,
        Metric::WaitingProbability,
        Metric::MessagesPerJob,
        Metric::BlockedFraction,
        Metric::RegretMean,
        Metric::ChosenRankMean,
        Metric::ChosenRank,
        Metric::ChosenShortestProbability,
        Metric::BurstSizeMean,
        Metric::BurstSize,
        Metric::CoincidenceRatio,
        Metric::EstimateAgeMean,
    ];
    for estimate in &results.estimates {
        if of_jobs.contains(&estimate.metric) {
            let nothing = (estimate.estimate, estimate.low, estimate.high, estimate.std_error);
            assert_eq!(nothing, (None, None, None, None), "{estimate:?}");
        } else {
            assert!(estimate.estimate.is_some_and(f64::is_finite), "{estimate:?}");
        }
    }
    let json = serde_json::to_string(&results.estimates).expect("results are plain");
    let read: serde_json::Value = serde_json::from_str(&json).expect("strict JSON");
    let delay = read.as_array().expect("a list").iter().find(|row| row["metric"] == "response_time_mean");
    assert!(delay.expect("a row even without jobs")["estimate"].is_null());
    let folder = tempfile::tempdir().expect("a place for temporary files");
    write_results(folder.path(), &results).expect("empty results can be written");
    let log = std::fs::read_to_string(folder.path().join("estimates.csv")).expect("written");
    assert!(!log.to_lowercase().contains("nan") && !log.contains("inf"), "{log}");
}

/// H01: a class that got no job has no delay, beside one that got them all.
#[test]
fn h01_a_class_without_jobs_has_no_delay() {
    let text = "servers: [{count: 1, rate: 10}, {count: 1, rate: 1}]\narrival_rate: 0.000001\n\
                policy: {dispatch: shortest_delay}\nrun: {warmup: 0, time: 10000000, replications: 1}";
    let record = record(text);
    assert!(value(&record, Metric::ClassResponseTimeMean, "class_1").is_some());
    assert_eq!(value(&record, Metric::ClassResponseTimeMean, "class_2"), None);
    assert_eq!(value(&record, Metric::ClassShare, "class_2"), Some(0.0));
    assert_eq!(DelayHistogram::new(1.0).quantile(0.99), None);
}

/// T10: the run ends when asked and averages over the length asked: one job of length 2 in a window of 10.
#[test]
fn t10_averages_are_over_the_window_asked_for() {
    let text = clockwork(7.0, "[{count: 1, rate: 0.5}]", "{warmup: 0, time: 10, replications: 1}");
    let plan = plan(&text);
    assert_eq!(plan.window, Window { open: 0.0, close: 10.0 });
    let record = record(&text);
    for metric in [Metric::Utilization, Metric::MeanJobs] {
        assert!(value(&record, metric, "").is_some_and(|x| (x - 0.2).abs() < 1e-15), "{metric:?}");
    }
}

/// T11: when a departure coincides with the next arrival the job has left first: at most one job is in the system,
/// nobody waits, and no state of zero length is in the histogram.
#[test]
fn t11_a_job_that_leaves_when_the_next_arrives_has_left() {
    let record = record(&clockwork(1.0, "1", "{warmup: 0, time: 100, replications: 1}"));
    assert_eq!(value(&record, Metric::MaxQueue, ""), Some(1.0));
    assert_eq!(value(&record, Metric::JoinPosition, "0"), Some(1.0));
    assert_eq!(value(&record, Metric::WaitingTimeMean, ""), Some(0.0));
    assert_eq!(record.occupancy.len(), 1, "levels beyond 1 were never held for any time");
    let blocks: Vec<_> = record.occupancy[0].blocks().collect();
    assert_eq!(blocks, [(0, 0, 1.0), (1, 1, 99.0)]);
}

/// T12: jobs that did not wait belong to the mean wait, and the empty state to the time averages.
#[test]
fn t12_zero_waits_and_the_empty_state_count() {
    let text = single_server("exponential", 0.5, "{warmup: 100, time: 60000, replications: 20}");
    let results = results(&text);
    assert_z(&results, Metric::WaitingTimeMean, "", 1.0, 0.0, 0.007);
    assert_z(&results, Metric::EmptyProbability, "", 0.5, 0.0, 0.005);
    let record = record(&text);
    let counts = [&record.waiting, &record.response].map(|delays| delays.as_ref().expect("on").counts().len());
    assert_eq!(counts, [record.balance.arrived; 2]);
}

/// T13: arrivals are counted when they happen, not when they are scheduled.
#[test]
fn t13_the_next_arrival_is_not_counted_yet() {
    for (time, arrived) in [("0.5", 0), ("1", 0), ("1.5", 1), ("5.5", 5)] {
        let text = clockwork(1.0, "1", &format!("{{warmup: 0, time: {time}, replications: 1}}"));
        assert_eq!(record(&text).balance.arrived, arrived, "window of {time}");
    }
}

/// T14: averages are over time and not over events: a job of length 1 every 10 is 0.1 jobs, and arrivals see none.
#[test]
fn t14_averages_are_over_time() {
    let record = record(&clockwork(10.0, "1", "{warmup: 5, time: 1000, replications: 1}"));
    assert_eq!(value(&record, Metric::MeanJobs, ""), Some(0.1));
    assert_eq!(value(&record, Metric::TailFraction, "1"), Some(0.1));
    assert_eq!(value(&record, Metric::JoinPosition, "0"), Some(1.0));
}

/// T15: on each sample path the integral of the number of jobs is the time of the jobs inside the window.
#[test]
fn t15_little_holds_on_each_path() {
    for load in [0.5, 0.95, 1.2] {
        let plan = plan(&single_server("exponential", load, "{warmup: 100, time: 10000}"));
        for replication in 0..5 {
            assert_no_nan(&run_replication(&plan, replication).expect("lengths stay within their range"));
        }
    }
}

/// T16: under overload the throughput is the capacity, the backlog grows by 0.2 per unit of time and the mean delay
/// with the length of the run; the result says so and gives no interval.
#[test]
fn t16_overload_is_told() {
    for time in [5000.0_f64, 10_000.0] {
        let run = format!("{{warmup: 0, time: {time}, replications: 40}}");
        let plan = plan(&single_server("exponential", 1.2, &run));
        assert!(plan.is_overloaded());
        let results = results(&single_server("exponential", 1.2, &run));
        assert!(results.manifest.warnings.iter().any(|warning| warning.code == "not_stable"));
        for estimate in &results.estimates {
            let interval = (estimate.low, estimate.high, estimate.std_error);
            assert_eq!(interval, (None, None, None), "no steady state, no interval: {estimate:?}");
        }
        let estimate = |metric| results.estimate(metric, "").and_then(|e| e.estimate).expect("measured");
        let utilization = estimate(Metric::Utilization);
        assert!((0.99..=1.0).contains(&utilization), "{utilization}");
        // Standard errors by theory: the number of jobs has variance 2.2 per unit of time (1.2 arrivals and 1
        // departure); it is off by the time the server stood idle at the start, 1 / 0.2 at the mean or so.
        let error = (2.2 * time / 40.0).sqrt();
        let backlog = results.manifest.jobs.inside_at_close as f64 / 40.0;
        assert!((backlog - 0.2 * time).abs() < Z_LIMIT * error + 10.0, "{backlog}");
        let throughput = estimate(Metric::Throughput);
        assert!((throughput - 1.0).abs() < Z_LIMIT * (1.0 / time / 40.0).sqrt() + 10.0 / time, "{throughput}");
        // A job that arrives at t waits for 0.2 t or so: 0.1 H at the mean. Its error is that of the mean of a random
        // walk, sqrt(1/3) of the error at the end.
        let delay = estimate(Metric::ResponseTimeMean);
        assert!((delay - 0.1 * time).abs() < Z_LIMIT * error + 10.0, "{delay} in {time}");
    }
}

/// E01: laws cannot go negative; the refusal names the key.
#[test]
fn e01_negative_durations_are_refused() {
    let base = "servers: 1\nload: 0.5\npolicy: {dispatch: shortest}\n";
    let pull = |delay: &str| {
        format!("servers: 1\nload: 0.5\npolicy: {{dispatch: shortest, information: {{pull: {{delay: {delay}}}}}}}")
    };
    let cases = [
        (pull("-1"), "policy.information.pull.delay"),
        (pull("{constant: -1}"), "policy.information.pull.delay"),
        (pull("{exponential: {mean: -1}}"), "policy.information.pull.delay"),
        (pull("{uniform: {low: -1, high: 3}}"), "policy.information.pull.delay"),
        (pull("{uniform: {low: 3, high: 1}}"), "policy.information.pull.delay"),
        (format!("{base}service: {{uniform: {{low: -1, high: 3}}}}"), "service"),
        (format!("{base}service: {{constant: -1}}"), "service"),
        (format!("{base}arrivals: {{renewal: {{uniform: {{low: -1, high: 3}}}}}}"), "arrivals"),
        (format!("{base}run: {{warmup: -1}}"), "run.warmup"),
        (format!("{base}run: {{time: -1}}"), "run.time"),
    ];
    for (text, path) in cases {
        let error = refusal(&text);
        assert!(error.path.starts_with(path), "{error}\n{text}");
    }
}

/// E02: simultaneous events happen in the order in which they were scheduled, whatever inert parts stand beside them.
#[test]
fn e02_inert_parts_do_not_change_the_order() {
    let text = |servers: &str, dispatchers: &str| {
        format!(
            "servers: {servers}\ndispatchers: {dispatchers}\narrival_rate: 1\narrivals: {{renewal: {{constant: 1}}}}\n\
             service: {{constant: 1}}\npolicy: {{dispatch: weighted_random}}\n"
        )
    };
    let diary = |text: &str| {
        let diary = Diary::of_text(text, 50.0);
        let jobs: Vec<(f64, u32, u32)> = diary.dispatched.iter().map(|&(time, m, _, found)| (time, m, found)).collect();
        (jobs, diary.responses, diary.departures)
    };
    let plain = diary(&text("1", "3"));
    assert_eq!(plain.1, [1.0; 49]);
    assert_eq!(plain, diary(&text("1", "3")));
    // Shares and rates too small to be drawn stand for rates of 0, which are refused.
    assert_eq!(plain, diary(&text("[{count: 1, rate: 1}, {count: 50, rate: 1e-100}]", "3")));
    let thirds = "{shares: [0.3333333333333333, 0.3333333333333333, 0.3333333333333334]}";
    let with_idle = "{shares: [0.3333333333333333, 0.3333333333333333, 0.3333333333333334, 0, 0, 0]}";
    assert_eq!(diary(&text("1", thirds)), diary(&text("1", with_idle)));
}

/// A scenario with everything that takes time, with all rates multiplied and all times divided by `factor`.
fn scaled(factor: f64, delay: &str) -> String {
    let time = |t: f64| format!("{:e}", t / factor);
    let delay = match delay {
        "constant" => format!("{{constant: {}}}", time(0.5)),
        "uniform" => format!("{{uniform: {{low: {}, high: {}}}}}", time(0.25), time(2.0)),
        _ => format!("{{exponential: {{mean: {}}}}}", time(0.5)),
    };
    format!(
        "servers: [{{count: 6, rate: {:e}}}, {{count: 2, rate: {:e}}}]\ndispatchers: 3\narrival_rate: {:e}\n\
         buffer: 20\n\
         policy: {{dispatch: shortest, information: {{push: {{d: 2, probability: 0.25, delay: {delay}, loss: 0.125}}, \
         pull: {{probability: 0.25, delay: {delay}}}}}}}\nrun: {{warmup: {}, time: {}, replications: 3}}\n\
         measure: {{coincidence_window: {}}}\n",
        factor,
        2.0 * factor,
        9.0 * factor,
        time(50.0),
        time(500.0),
        time(0.125)
    )
}

/// How a metric scales with the unit of time: with which power of it.
fn power_of_time(metric: Metric) -> i32 {
    match metric.unit() {
        "time" => 1,
        "time^2" => 2,
        "jobs/time" => -1,
        _ => 0,
    }
}

/// E03: rates times 2^40 or 2^-40, and times the other way, give the same path with every delay scaled exactly; powers
/// of ten to 1e-9.
#[test]
fn e03_results_scale_with_the_unit_of_time() {
    for delay in ["constant", "uniform", "exponential"] {
        let base = results(&scaled(1.0, delay));
        for (factor, exact) in [(2_f64.powi(40), true), (2_f64.powi(-40), true), (1e12, false), (1e-12, false)] {
            let other = results(&scaled(factor, delay));
            let counts = |results: &Results| {
                let jobs = &results.manifest.jobs;
                (jobs.arrived, jobs.blocked, jobs.completed, jobs.inside_at_open, jobs.inside_at_close)
            };
            assert_eq!(counts(&base), counts(&other));
            assert_eq!(base.estimates.len(), other.estimates.len());
            for (here, there) in base.estimates.iter().zip(&other.estimates) {
                assert_eq!((here.metric, &here.key), (there.metric, &there.key));
                let unit = factor.powi(-power_of_time(here.metric));
                let pairs = [(here.estimate, there.estimate), (here.std_error, there.std_error)];
                for (expected, scaled) in pairs.map(|(x, y)| (x.map(|x| x * unit), y)) {
                    if exact {
                        assert_eq!(expected, scaled, "{delay} {factor:e} {here:?} {there:?}");
                    } else if let (Some(x), Some(y)) = (expected, scaled) {
                        // A histogram keeps three digits, and its buckets do not scale by powers of ten.
                        let digits = if here.metric.name().ends_with("quantile") { 1e-2 } else { 1e-9 };
                        let scale = here.estimate.unwrap_or(0.0).abs() * unit;
                        let close = (x - y).abs() <= digits * scale.max(1e-3 * unit);
                        assert!(close, "{delay} {factor:e} {here:?} {there:?}");
                    }
                }
            }
        }
    }
}

/// E03, H05: files written in a small unit of time keep their digits.
#[test]
fn e03_percentile_text_keeps_digits_in_small_units() {
    let results = results(&scaled(2_f64.powi(40), "constant"));
    let lines = percentile_lines(&results);
    let median = lines.iter().find(|line| line.1 >= 0.5).expect("the text goes up to 100 %").0;
    let exact = results.response.expect("delays are on").quantile(0.5).expect("there were jobs");
    assert!((median - exact).abs() < 0.1 * exact, "the text says {median}, the histogram {exact}");
}

/// E04: simulated time may be long where rates are small; a time that the clock cannot hold is refused at once.
#[test]
fn e04_long_times_work_or_are_refused() {
    let text = |rate: f64, time: &str| {
        format!(
            "servers: [{{count: 2, rate: {rate:e}}}]\narrival_rate: {rate:e}\npolicy: {{dispatch: shortest}}\n\
             run: {{warmup: 0, time: {time}, replications: 1}}"
        )
    };
    let short = record(&text(1.0, "100"));
    for (rate, time) in [(1e-10, "1e12"), (1e-13, "1e15"), (1e-148, "1e150")] {
        let long = record(&text(rate, time));
        assert_no_nan(&long);
        assert_eq!(long.balance.arrived, short.balance.arrived, "time {time}");
        for metric in [Metric::ResponseTimeMean, Metric::ResponseTimeVariance] {
            let unit = rate.powi(-power_of_time(metric));
            let pair = value(&short, metric, "").zip(value(&long, metric, ""));
            assert!(pair.is_some_and(|(x, y)| (x * unit - y).abs() < 1e-9 * y), "time {time}: {metric:?} {pair:?}");
        }
    }
    for (rate, time) in [(1.0, "1e15"), (1.0, "1e300"), (1.0, ".inf"), (1e-13, ".inf")] {
        assert!(refusal(&text(rate, time)).path.starts_with("run.time"));
    }
}

/// E04: at 1e300 the square of a delay is beyond what a number holds: refused, or told as not available, but no
/// variance of 0 and no NaN. The same for rates whose mean service time is infinite.
#[test]
fn e04_what_overflows_is_not_reported_as_a_number() {
    let cases = [
        "servers: [{count: 2, rate: 1e-298}]\narrival_rate: 1e-298\npolicy: {dispatch: shortest}\n\
         run: {warmup: 0, time: 1e300, replications: 1}",
        "servers: [{count: 1, rate: 1e-310}]\narrival_rate: 1\npolicy: {dispatch: shortest}\n\
         run: {warmup: 0, time: 10, replications: 1}",
    ];
    for text in cases {
        let Ok(plan) = Plan::read(text, "test", "test", &[]) else { continue };
        let record = run_replication(&plan, 0).expect("lengths stay within their range");
        for reading in &record.readings {
            assert!(reading.value.is_none_or(f64::is_finite), "{reading:?}\n{text}");
        }
        let variance = value(&record, Metric::ResponseTimeVariance, "");
        let spread = response(&record).max() > response(&record).min();
        assert!(!spread || variance != Some(0.0), "delays differ, so their variance is not 0\n{text}");
    }
}

/// E04, Y08: a window that vanishes beside the warm-up cannot be measured over.
#[test]
fn e04_a_window_too_short_for_the_clock_is_refused() {
    let text = "servers: 1\nload: 0.5\npolicy: {dispatch: random}\nrun: {warmup: 1e12, time: 1e-5}";
    assert!(refusal(text).path.starts_with("run"));
}

/// Stops after some replications.
struct StopAfter {
    looks: AtomicU64,
    limit: u64,
}

impl Monitor for StopAfter {
    fn stopped(&self) -> bool {
        self.looks.fetch_add(1, Ordering::Relaxed) >= self.limit
    }
}

/// E05: numbers beyond 2^32 are kept as they are, the work starts, and what was done is told beside what was asked.
#[test]
fn e05_counts_beyond_32_bits_are_kept() {
    let text = "servers: 1\nload: 0.5\npolicy: {dispatch: random}\n\
                run: {time: 10, warmup: 0, replications: 5000000000, seed: 18446744073709551615}";
    let plan = plan(text);
    assert_eq!((plan.replications, plan.seed), (5_000_000_000, u64::MAX));
    let monitor = StopAfter { looks: AtomicU64::new(0), limit: 3 };
    let results = experiment::run(&plan, NonZeroUsize::MIN, &monitor).expect("lengths stay within their range");
    assert_eq!(results.manifest.replications_requested, 5_000_000_000);
    assert_eq!((results.manifest.replications, results.replications.len()), (3, 3));
    assert!(results.manifest.jobs.arrived > 0);
    assert!(results.manifest.warnings.iter().any(|warning| warning.code == "interrupted"));
}

/// A system of one server as only the library can make it.
fn lone_server(arrivals: Arrivals, service: f64) -> System {
    System {
        servers: Servers::homogeneous(1).expect("one server"),
        dispatchers: Dispatchers::equal(1).expect("one dispatcher"),
        arrivals,
        service: Law::from(NonNegative::new(service).expect("not negative")),
        buffer: None,
        initial: Initial::Empty,
    }
}

/// E06: jobs that arrive in no time are refused; jobs that take no time leave at once and are counted.
#[test]
fn e06_zero_times_neither_hang_nor_vanish() {
    let base = "servers: 1\nload: 0.5\npolicy: {dispatch: random}\n";
    for law in ["0", "{constant: 0}", "{exponential: {mean: 0}}", "{uniform: {low: 0, high: 0}}"] {
        assert!(refusal(&format!("{base}arrivals: {{renewal: {law}}}")).path.starts_with("arrivals"));
        // A scenario's sizes have mean 1, for the rate of the server is its speed.
        assert!(refusal(&format!("{base}service: {law}")).path.starts_with("service"));
    }
    let system = lone_server(Arrivals::poisson(1.0), 0.0);
    let policy = Policy {
        dispatch: Dispatch::Shortest(Shortest {}),
        information: Information::exact(),
        count_own_jobs: true,
        per_probe: 2,
    };
    let window = Window { open: 0.0, close: 100.0 };
    let mut engine = EventEngine::new(&system, &policy, 1, 0).expect("queues start empty");
    let mut probes = Probes::new(&Measure::default(), &system, &policy, window, &engine.snapshot());
    engine.run_until(window.close, u64::MAX, &mut probes).expect("lengths stay within their range");
    let snapshot = engine.snapshot();
    probes.close(&snapshot);
    let record = probes.into_record();
    assert_no_nan(&record);
    let balance = &record.balance;
    assert!(balance.arrived > 50);
    assert_eq!(balance.completed, balance.arrived);
    assert_eq!((response(&record).count(), response(&record).max()), (balance.arrived, Some(0.0)));
    assert_eq!(value(&record, Metric::MaxQueue, ""), Some(0.0), "no state of zero length");
    // The laws of the library that are 0 say so.
    let zero = NonNegative::new(0.0).expect("0 is not negative");
    assert!(Law::Constant(Constant(zero)).is_zero() && Law::Exponential(Exponential { mean: zero }).is_zero());
    assert!(Law::Uniform(Uniform::new(0.0, 0.0).expect("an interval")).is_zero());
}

/// E07: without arrivals the run ends at its time with 0 jobs; servers that never work are refused.
#[test]
fn e07_nothing_to_do_is_no_error() {
    for rate in ["arrival_rate: 0", "load: 0", "arrival_rate: 0\ninitial: {length: 2}"] {
        let text = format!("servers: 3\n{rate}\npolicy: {{dispatch: shortest, information: pull}}\nrun: {{time: 50}}");
        let record = record(&text);
        assert_no_nan(&record);
        assert_eq!((record.balance.arrived, record.balance.inside_at_close), (0, 0));
        assert_eq!(value(&record, Metric::ResponseTimeMean, ""), None);
        let results = results(&text);
        assert!(results.estimates.iter().all(|e| e.estimate.is_none_or(f64::is_finite)));
    }
    let stuck = "servers: [{count: 2, rate: 0}]\narrival_rate: 1\npolicy: {dispatch: random}";
    assert_eq!(refusal(stuck).path, "servers[0].rate");
}

/// P02: more choices than servers are refused by name where samples are distinct, and fine where they are not.
#[test]
fn p02_choices_are_counted_against_servers() {
    let text = |servers: &str, strategy: &str, load: f64| {
        format!(
            "servers: {servers}\nload: {load}\npolicy: {{dispatch: {{power_of_d: {strategy}}}}}\n\
             run: {{warmup: 200, time: 20000, replications: 20}}"
        )
    };
    let path = "policy.dispatch.power_of_d.d";
    assert_eq!(refusal(&text("3", "{d: 5}", 0.7)).path, path);
    assert_eq!(refusal(&text("1", "{d: 2}", 0.7)).path, path);
    assert_eq!(refusal(&text("3", "{d: 0}", 0.7)).path, path);
    assert_eq!(refusal(&text("0", "{d: 1}", 0.7)).path, "servers");
    let push = "servers: 3\nload: 0.5\npolicy: {dispatch: shortest, information: {push: {d: 4}}}";
    assert_eq!(refusal(push).path, "policy.information.push.d");
    // All servers sampled are the shortest queue; the only server is the only choice.
    let all = results(&text("3", "{d: 3}", 0.7));
    assert_z(&all, Metric::ResponseTimeMean, "", 1.708_876_093_676, 1e-8, 0.005);
    let only = results(&text("1", "{d: 2, replacement: true}", 0.8));
    assert_z(&only, Metric::ResponseTimeMean, "", 5.0, 0.0, 0.03);
    assert_no_nan(&record(&text("3", "{d: 5, replacement: true}", 0.7)));
}

/// P02: a number of choices that nobody can make is refused and does not overflow.
#[test]
fn p02_absurdly_many_choices_are_refused() {
    let text = "servers: 3\nload: 0.5\npolicy: {dispatch: {power_of_d: {d: 10000000000000000000, replacement: true}}}";
    assert_eq!(refusal(text).path, "policy.dispatch.power_of_d.d");
}

/// P03: power of two looks at two servers, and takes the shorter: exact for 3 servers, and for 1,000 the mean-field
/// value 2.614057 with its correction of order 1/N.
#[test]
fn p03_power_of_two_is_the_supermarket_model() {
    let text = |servers: u32, load: f64, run: &str| {
        format!("servers: {servers}\nload: {load}\npolicy: {{dispatch: {{power_of_d: {{d: 2}}}}}}\nrun: {run}")
    };
    let three = results(&text(3, 0.7, "{warmup: 100, time: 30000, replications: 20}"));
    assert_z(&three, Metric::ResponseTimeMean, "", 1.884_792_361_497, 1e-8, 0.005);
    let thousand = results(&text(1000, 0.9, "{warmup: 100, time: 400, replications: 8}"));
    let mean = thousand.estimate(Metric::ResponseTimeMean, "").expect("measured");
    let (mean, error) = mean.estimate.zip(mean.std_error).expect("several replications");
    assert!(error < 0.005 * mean);
    let limits = (2.61 - Z_LIMIT * error, 2.64 + Z_LIMIT * error);
    assert!((limits.0..limits.1).contains(&mean), "{mean} +- {error}");
}

/// Jobs per server.
struct PerServer(Vec<u64>);

impl Observer for PerServer {
    fn dispatched(&mut self, dispatched: &Dispatched) {
        self.0[dispatched.server as usize] += 1;
    }
}

fn jobs_per_server(text: &str, end: f64) -> Vec<u64> {
    let plan = plan(text);
    let mut engine = EventEngine::new(&plan.system, &plan.policy, plan.seed, 0).expect("queues start empty");
    let mut per_server = PerServer(vec![0; plan.system.servers.len() as usize]);
    engine.run_until(end, u64::MAX, &mut per_server).expect("lengths stay within their range");
    per_server.0
}

/// P04: ties are uniformly random: at a load of 0.01 each of five servers gets a fifth of the jobs.
#[test]
fn p04_ties_are_uniform() {
    for dispatch in ["shortest", "{power_of_d: {d: 2}}", "idle_first", "shortest_delay", "below_average", "random"] {
        for information in ["exact", "pull"] {
            let text = format!("servers: 5\nload: 0.01\npolicy: {{dispatch: {dispatch}, information: {information}}}");
            let jobs = jobs_per_server(&text, 2e6);
            let total: u64 = jobs.iter().sum();
            let expected = total as f64 / 5.0;
            let chi_square: f64 = jobs.iter().map(|&n| (n as f64 - expected).powi(2) / expected).sum();
            // Chi-square with 4 degrees of freedom exceeds 23.5 once in 10,000.
            assert!(total > 90_000 && chi_square < 23.5, "{dispatch} {information} {jobs:?}");
        }
    }
}

/// P05: among idle servers of rate 10 and 1 the strategies that heed the rates use them, the others split evenly.
#[test]
fn p05_speed_counts_where_it_should() {
    // The share of the fast server, of which the mean response is share / 10 + (1 - share).
    let cases = [
        ("shortest_delay", 1.0),
        ("shortest", 0.5),
        ("shortest_normalized", 0.5),
        ("below_average", 10.0 / 11.0),
        ("{below_average: {weighting: uniform}}", 0.5),
        ("weighted_random", 10.0 / 11.0),
        ("random", 0.5),
        ("round_robin", 0.5),
        ("{power_of_d: {d: 2}}", 0.5),
        ("idle_first", 0.5),
    ];
    for (dispatch, share) in cases {
        let text = format!(
            "servers: [{{count: 1, rate: 10}}, {{count: 1, rate: 1}}]\narrival_rate: 1e-6\n\
             policy: {{dispatch: {dispatch}}}\nrun: {{warmup: 0, time: 1e10, replications: 8}}"
        );
        let results = results(&text);
        // A job meets another with a probability of about 1e-6.
        let allowance = 1e-5;
        assert_z(&results, Metric::ResponseTimeMean, "", share / 10.0 + (1.0 - share), allowance, 0.02);
        assert_z(&results, Metric::ClassShare, "class_1", share, allowance, 0.01);
    }
}

/// P06: weighted random routing is binomial from the first job on: no server is left out at first.
#[test]
fn p06_weighted_random_is_binomial_from_the_start() {
    let plan =
        plan("servers: [{count: 1, rate: 10}, {count: 1, rate: 1}]\nload: 0.5\npolicy: {dispatch: weighted_random}");
    let (mut light, mut squares, blocks) = (0.0, 0.0, 300);
    for replication in 0..blocks {
        let diary = Diary::of(&plan.system, &plan.policy, replication, 20.0, 20.0);
        let first: f64 = diary.dispatched.iter().take(11).map(|&(_, _, server, _)| f64::from(server)).sum();
        light += first;
        squares += (first - 1.0).powi(2);
    }
    // Binomial(11, 1/11): mean 1, variance 10/11, fourth central moment 10/11 (1 + 27/11 * 10/11 ...) below 4.
    let blocks = blocks as f64;
    assert!((light / blocks - 1.0).abs() < Z_LIMIT * (10.0 / 11.0 / blocks).sqrt(), "{light}");
    assert!((squares / blocks - 10.0 / 11.0).abs() < Z_LIMIT * (3.2 / blocks).sqrt(), "{squares}");
}

/// P07: dispatchers that are never told anything, and do not count, choose at random; a dispatcher that hears of
/// every completion and counts its own jobs is as good as one that sees the queues.
#[test]
fn p07_information_spans_random_to_shortest() {
    let text = |load: f64, dispatchers: u32, information: &str, own: bool| {
        format!(
            "servers: 2\ndispatchers: {dispatchers}\nload: {load}\npolicy: {{dispatch: shortest, information: \
             {information}, count_own_jobs: {own}}}\nrun: {{warmup: 300, time: 20000, replications: 20}}"
        )
    };
    for (load, shortest, random) in [(0.5, 1.426_320_751, 2.0), (0.8, 2.955_7, 5.0)] {
        let never = results(&text(load, 3, "none", false));
        assert_z(&never, Metric::ResponseTimeMean, "", random, 0.0, 0.015);
        for information in ["exact", "pull", "{push: {d: 2}, pull: {probability: 1}}"] {
            let always = results(&text(load, 1, information, true));
            // The value for load 0.8 is known to five digits.
            assert_z(&always, Metric::ResponseTimeMean, "", shortest, 5e-5, 0.015);
            let error = always.estimate(Metric::EstimateError, "").and_then(|e| e.estimate);
            assert_eq!(error, Some(0.0), "{information}");
        }
    }
}

/// A job that found its server busy although another was idle.
#[derive(Default)]
struct Misses {
    lengths: Vec<u32>,
    count: u64,
    jobs: u64,
}

impl Observer for Misses {
    fn dispatched(&mut self, dispatched: &Dispatched) {
        self.jobs += 1;
        self.count += u64::from(dispatched.found > 0 && self.lengths.contains(&0));
    }

    fn length_changed(&mut self, change: &LengthChange) {
        self.lengths[change.server as usize] = change.new;
    }
}

/// P08: an idle server in view is really idle where information is fresh: JIQ has T = 1.5 and 3.4615, also by its
/// messages when one dispatcher gets them all, and with several dispatchers that see the queues.
#[test]
fn p08_idle_means_idle() {
    for (load, exact) in [(0.5, 1.5), (0.8, 3.461_538_461_538)] {
        for (dispatchers, information) in [(1, "exact"), (3, "exact"), (1, "on_idle"), (1, "pull")] {
            let text = format!(
                "servers: 2\ndispatchers: {dispatchers}\nload: {load}\npolicy: {{dispatch: idle_first, information: \
                 {information}}}\nrun: {{warmup: 300, time: 20000, replications: 20}}"
            );
            assert_z(&results(&text), Metric::ResponseTimeMean, "", exact, 1e-9, 0.015);
            let plan = plan(&text);
            let mut misses = Misses { lengths: vec![0; 2], ..Misses::default() };
            let mut engine = EventEngine::new(&plan.system, &plan.policy, 1, 0).expect("queues start empty");
            engine.run_until(1e4, u64::MAX, &mut misses).expect("lengths stay within their range");
            assert!(misses.jobs > 5000);
            assert_eq!(misses.count, 0, "{text}");
        }
    }
}

/// D04: a weight of zero is never chosen; weights that are no shares are refused by name.
#[test]
fn d04_weights_are_checked() {
    let text = |shares: &str| {
        format!("servers: 2\ndispatchers: {{shares: {shares}}}\nload: 0.5\npolicy: {{dispatch: random}}\n")
    };
    let record = record(&text("[0, 0.5, 0.5, 0]"));
    let jobs = |m: &str| value(&record, Metric::JobsPerDispatcher, m).expect("measured");
    assert_eq!((jobs("0"), jobs("3")), (0.0, 0.0));
    let total = jobs("1") + jobs("2");
    assert!((jobs("1") - total / 2.0).abs() < Z_LIMIT * (total / 4.0).sqrt());
    for bad in ["[0, 0, 0]", "[.inf, 1]", "[1e308, 1e308]", "[-0.5, 1.5]", "[.nan, 1]", "[]", "[0, 1, 1, 0]"] {
        let error = refusal(&text(bad));
        assert!(error.path.starts_with("dispatchers"), "{error}");
    }
}

/// D04: rates whose sum is beyond what a number holds split evenly or are refused, but never silently misroute.
#[test]
fn d04_rates_that_overflow_are_refused_or_right() {
    let text = "servers: [{count: 1, rate: 1e308}, {count: 1, rate: 1e308}]\narrival_rate: 1e308\n\
                policy: {dispatch: weighted_random}\nrun: {warmup: 0, time: 1e-305, replications: 1}";
    let Ok(plan) = Plan::read(text, "test", "test", &[]) else { return };
    let record = run_replication(&plan, 0).expect("lengths stay within their range");
    assert_no_nan(&record);
    let share = value(&record, Metric::ClassShare, "class_1").expect("jobs joined");
    let error = (0.25 / record.balance.arrived as f64).sqrt();
    assert!((share - 0.5).abs() < Z_LIMIT * error, "{share}");
}

/// The lines of `response_time.hgrm`: value, percentile, count.
fn percentile_lines(results: &Results) -> Vec<(f64, f64, u64)> {
    let folder = tempfile::tempdir().expect("a place for temporary files");
    write_results(folder.path(), results).expect("written");
    let text = std::fs::read_to_string(folder.path().join("response_time.hgrm")).expect("written");
    let fields = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let rows = text.lines().skip(1).filter(|line| !line.trim().is_empty() && !line.starts_with('#')).map(fields);
    rows.map(|row| {
        let number = |i: usize| row[i].parse::<f64>().expect("a number");
        (number(0), number(1), row[2].parse().expect("a count"))
    })
    .collect()
}

/// H05: the percentile text ends with one line at 100 %, and values and counts do not decrease.
#[test]
fn h05_percentile_text_is_monotone_and_ends_once() {
    for service in ["exponential", "{constant: 1}"] {
        let results = results(&single_server(service, 0.8, "{time: 1250, replications: 10}"));
        let lines = percentile_lines(&results);
        assert_eq!(lines.iter().filter(|line| line.1 >= 1.0).count(), 1);
        let last = lines.last().expect("there were jobs");
        assert_eq!((last.1, last.2), (1.0, results.manifest.jobs.arrived));
        for pair in lines.windows(2) {
            assert!(pair[0].0 <= pair[1].0 && pair[0].1 < pair[1].1 && pair[0].2 <= pair[1].2, "{pair:?}");
        }
        let max = results.response.as_ref().and_then(|r| r.moments().max()).expect("there were jobs");
        assert!((last.0 - max).abs() < 2e-3 * max);
    }
}

/// H06: the interval log reads back with the same counts and quantiles; its tag has no comma and no blank.
#[test]
fn h06_the_interval_log_reads_back() {
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    let results = results(&single_server("exponential", 0.8, "{time: 1250, replications: 4}"));
    let folder = tempfile::tempdir().expect("a place for temporary files");
    write_results(folder.path(), &results).expect("written");
    let log = std::fs::read(folder.path().join("response_time.hlog")).expect("written");
    let entries: Vec<_> = IntervalLogIterator::new(&log).map(|entry| entry.expect("a valid line")).collect();
    let mut intervals = entries.iter().filter_map(|entry| match entry {
        LogEntry::Interval(interval) => Some(interval),
        _ => None,
    });
    let interval = intervals.next().expect("one interval");
    assert!(intervals.next().is_none());
    assert!(interval.tag().is_none_or(|tag| !tag.as_str().contains([',', ' '])));
    let encoded = base64(interval.encoded_histogram());
    let read: hdrhistogram::Histogram<u64> =
        Deserializer::new().deserialize(&mut encoded.as_slice()).expect("a valid histogram");
    let counts = results.response.as_ref().expect("delays are on").counts();
    assert_eq!(read.len(), results.manifest.jobs.arrived);
    for q in [0.0, 0.5, 0.9, 0.999, 1.0] {
        assert_eq!(read.value_at_quantile(q), counts.value_at_quantile(q));
    }
    assert!(interval.encoded_histogram().starts_with("HISTFAAA"), "compressed V2, as other readers expect");
}

/// Decodes base 64.
fn base64(text: &str) -> Vec<u8> {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for symbol in text.bytes().filter(|&symbol| symbol != b'=') {
        let value = alphabet.iter().position(|&other| other == symbol).expect("a symbol of base 64");
        bits = bits << 6 | value as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.write_all(&[(bits >> held) as u8]).expect("memory takes all");
            bits &= (1 << held) - 1;
        }
    }
    bytes
}

/// H08: values are exact beside the histogram: equal delays have one minimum, mean, maximum and median.
#[test]
fn h08_equal_delays_are_one_number() {
    for (rate, gap, jobs, exact) in [(1.0, 1.0, 99, 1.0), (1.0 / 35_071.0, 40_000.0, 1, 35_071.0)] {
        let servers = format!("[{{count: 1, rate: {rate:?}}}]");
        let time = gap * (f64::from(jobs) + 0.9);
        let results = results(&clockwork(gap, &servers, &format!("{{warmup: 0, time: {time}, replications: 1}}")));
        let delays = results.response.as_ref().expect("delays are on");
        let moments = delays.moments();
        assert_eq!(moments.count(), jobs as u64);
        let mean = moments.mean().expect("there were jobs");
        assert!((mean - exact).abs() <= 1e-15 * exact, "{mean}");
        for other in [moments.min(), moments.max(), delays.quantile(0.0), delays.quantile(0.5), delays.quantile(1.0)] {
            assert_eq!(other, Some(mean));
        }
        assert_eq!(moments.variance(), Some(0.0));
        let median = results.estimate(Metric::ResponseTimeQuantile, "0.5").and_then(|estimate| estimate.estimate);
        assert_eq!(median, Some(mean));
    }
}

/// H09: quantiles are those of all jobs together, not means of the quantiles of groups.
#[test]
fn h09_populations_are_merged() {
    let group = |delay: f64, count: usize| {
        let mut delays = DelayHistogram::new(DelayHistogram::tick_for(1.0));
        (0..count).for_each(|_| delays.add(delay));
        delays
    };
    let mut all = group(10.0, 1000);
    all.merge(&group(2000.0, 10));
    assert!(all.quantile(0.95).is_some_and(|p95| (p95 - 10.0).abs() < 0.01), "{:?}", all.quantile(0.95));

    // Replications of unequal numbers of jobs.
    let text = single_server("exponential", 0.9, "{warmup: 0, time: 20, replications: 50}");
    let results = results(&text);
    let plan = plan(&text);
    let mut merged = DelayHistogram::new(DelayHistogram::tick_for(1.0));
    for i in 0..50 {
        let record = run_replication(&plan, i).expect("lengths stay within their range");
        merged.merge(record.response.as_ref().expect("delays are on"));
    }
    for key in ["0.5", "0.9", "0.99"] {
        let q = key.parse().expect("keys are numbers");
        let estimate = results.estimate(Metric::ResponseTimeQuantile, key).and_then(|estimate| estimate.estimate);
        assert_eq!(estimate, merged.quantile(q));
    }
}

/// C02: the printed 95 % interval for the mean response of M/M/1 at load 0.9, from 10,000 jobs in ten replications,
/// holds the exact value about as often as it says; a single run prints none, and says why.
#[test]
fn c02_intervals_hold_the_truth_as_often_as_they_say() {
    let seeds = 100;
    let covered = (0..seeds).filter(|seed| {
        let run = format!("{{warmup: 2000, time: 1111, replications: 10, seed: {seed}}}");
        let results = results(&single_server("exponential", 0.9, &run));
        let estimate = results.estimate(Metric::ResponseTimeMean, "").expect("measured");
        let (low, high) = estimate.low.zip(estimate.high).expect("several replications");
        (low..=high).contains(&10.0)
    });
    let covered = covered.count() as f64 / f64::from(seeds);
    // 85 % at the least, less the error of so few seeds.
    let error = (0.85 * 0.15 / f64::from(seeds)).sqrt();
    assert!(covered > 0.85 - 2.0 * error, "{covered}");

    let single = results(&single_server("exponential", 0.9, "{warmup: 2000, time: 10000, replications: 1}"));
    assert!(single.estimates.iter().all(|e| (e.low, e.high, e.std_error) == (None, None, None)));
    assert!(single.manifest.warnings.iter().any(|warning| warning.code == "one_replication"));
}

/// C03: a start from empty biases the result, which more replications only hide: the result says so, and by default
/// there is a warm-up.
#[test]
fn c03_a_missing_warm_up_is_told() {
    let text = single_server("exponential", 0.95, "{warmup: 0, time: 526, replications: 400}");
    let results = results(&text);
    let mean = results.estimate(Metric::ResponseTimeMean, "").and_then(|estimate| estimate.estimate);
    assert!(mean.is_some_and(|mean| mean < 15.0), "{mean:?} shows the bias: the steady mean is 20");
    let warned =
        |codes: &[&str]| results.manifest.warnings.iter().any(|warning| codes.contains(&warning.code.as_str()));
    assert!(warned(&["no_warmup"]) && warned(&["drift", "backlog_grows"]), "{:?}", results.manifest.warnings);
    assert!(plan(&single_server("exponential", 0.95, "{}")).choose.warmup, "by default pilot runs find the warm-up");
}

/// C04: nearly constant data keep their spread: standard deviations 0, 0 and 0.2887, never NaN.
#[test]
fn c04_nearly_constant_delays_have_their_variance() {
    for time in [1.599, 1e9] {
        let servers = format!("[{{count: 1, rate: {:?}}}]", 1.0 / time);
        for gap in [time, 2.0 * time] {
            let run = format!("{{warmup: {:?}, time: {:?}, replications: 3}}", 0.5 * gap, 1000.0 * gap);
            let text = clockwork(gap, &servers, &run);
            let record = record(&text);
            assert_no_nan(&record);
            let delays = response(&record);
            assert_eq!(delays.variance(), Some(0.0), "{text}");
            assert_eq!((delays.min(), delays.max()), (delays.mean(), delays.mean()));
            let results = results(&text);
            let estimate = results.estimate(Metric::ResponseTimeMean, "").expect("measured");
            // At a load of 1 there is no interval; else its width is 0.
            assert!(estimate.std_error.is_none_or(|error| error == 0.0), "{estimate:?}");
        }
    }
    // 1e8 + Uniform(0, 1): the law in units of its mean, on a server of that mean.
    let mean = 1e8 + 0.5;
    let text = format!(
        "servers: [{{count: 1, rate: {:?}}}]\narrival_rate: 1e-9\narrivals: {{renewal: {{constant: 1}}}}\n\
         service: {{uniform: {{low: {:?}, high: {:?}}}}}\npolicy: {{dispatch: random}}\n\
         run: {{warmup: 0, time: 1e14, replications: 1}}",
        1.0 / mean,
        1e8 / mean,
        (1e8 + 1.0) / mean
    );
    let record = record(&text);
    let deviation = response(&record).variance().expect("there were jobs").sqrt();
    // Sizes near 1 have a spacing of 1.1e-16, delays of 1e8 one of 1.5e-8: small beside the error of 100,000 jobs,
    // which is 0.2887 sqrt((9/5 - 1) / 4n).
    let error = 0.288_675 * (0.8 / 4.0 / 1e5_f64).sqrt();
    assert!((deviation - 0.288_675).abs() < Z_LIMIT * error + 1e-6, "{deviation}");
}

/// C05: the interval is Student's, with the level asked for and n - 1: multipliers 2.132, 2.776 and 4.604 for five
/// replications.
#[test]
fn c05_the_confidence_level_is_heeded() {
    for (level, multiplier) in [("0.9", 2.131_846_786), ("0.95", 2.776_445_105), ("0.99", 4.604_094_871)] {
        let run = format!("{{time: 500, replications: 5, confidence: {level}}}");
        let results = results(&single_server("exponential", 0.5, &run));
        let estimate = results.estimate(Metric::MeanJobs, "").expect("measured");
        let values: Vec<f64> = results
            .replications
            .iter()
            .flat_map(|r| &r.readings)
            .filter(|reading| reading.metric == Metric::MeanJobs)
            .filter_map(|reading| reading.value)
            .collect();
        assert_eq!(values.len(), 5);
        let mean = values.iter().sum::<f64>() / 5.0;
        let error = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4.0 / 5.0).sqrt();
        let half_width = estimate.high.zip(estimate.low).map(|(high, low)| (high - low) / 2.0).expect("five values");
        assert!((half_width - multiplier * error).abs() < 1e-6 * half_width, "{estimate:?}");
        assert!((estimate.std_error.expect("five values") - error).abs() < 1e-9 * error);
    }
}

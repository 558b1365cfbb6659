//! Every strategy on every kind of information, in every kind of system: the books agree on each sample path.
//!
//! An observer of this file recomputes what the library's probes measure from scratch at every event, in the plainest
//! way, and must find the same.

use herdsim::engine::{
    Admitted, Blocked, ClockEngine, Dispatched, Engine, EventEngine, Joined, LengthChange, MessageKind, Observer,
    Unobserved,
};
use herdsim::experiment::run_replication;
use herdsim::measure::{Metric, Record};
use herdsim::policy::Dispatch;
use herdsim::scenario::{EngineKind, Plan};
use std::collections::{BTreeMap, VecDeque};

const WARMUP: f64 = 20.0;
const TIME: f64 = 60.0;

/// The scenario text of a strategy, by its tag.
fn strategy(tag: &str) -> String {
    match tag {
        "power_of_d" => "{power_of_d: {d: 2}}".to_owned(),
        "best_of_memory" => "{best_of_memory: {d: 2}}".to_owned(),
        "one_plus_beta" => "{one_plus_beta: {beta: 0.5}}".to_owned(),
        "ranked" => "{ranked: {weights: [0.4, 0.6]}}".to_owned(),
        plain => plain.to_owned(),
    }
}

/// The tags of all strategies that have a meaning in continuous time.
fn strategies() -> impl Iterator<Item = &'static str> {
    Dispatch::CATALOGUE.iter().map(|&(tag, _)| tag).filter(|&tag| tag != "tidal")
}

/// A kind of information: its scenario text, and what kinds of messages it may send.
#[derive(Clone, Debug)]
struct Info {
    text: String,
    push: bool,
    pull: bool,
    on_idle: bool,
}

/// Exact, none, and each set of update rules over each channel.
fn all_information() -> Vec<Info> {
    let plain = |text: &str| Info { text: text.to_owned(), push: false, pull: false, on_idle: false };
    let mut all = vec![plain("exact"), plain("none")];
    let delays = ["0", "{constant: 0.7}", "{exponential: {mean: 0.5}}", "{uniform: {low: 0, high: 2}}"];
    for delay in delays {
        // Losing is independent of the delay: two laws are enough for it.
        let losses: &[f64] = if delay == "0" || delay.contains("exponential") { &[0.0, 0.3] } else { &[0.0] };
        for loss in losses {
            let channel = format!("delay: {delay}, loss: {loss}");
            let push = format!("push: {{d: 2, probability: 1, {channel}}}");
            let pull = format!("pull: {{probability: 1, {channel}}}");
            let rare_pull = format!("pull: {{probability: 0.2, {channel}}}");
            let on_idle = format!("on_idle: {{{channel}}}");
            let sets = [
                (format!("{{{push}}}"), true, false, false),
                (format!("{{{pull}}}"), false, true, false),
                (format!("{{{on_idle}}}"), false, false, true),
                (format!("{{{push}, {rare_pull}}}"), true, true, false),
                (format!("{{{push}, {on_idle}}}"), true, false, true),
            ];
            all.extend(sets.into_iter().map(|(text, push, pull, on_idle)| Info { text, push, pull, on_idle }));
        }
    }
    // Two rules over channels of different speed.
    all.push(Info {
        text: "{push: {d: 1, probability: 1, delay: 1}, pull: {probability: 0.5, delay: 0}}".to_owned(),
        push: true,
        pull: true,
        on_idle: false,
    });
    all
}

/// One path through the program.
#[derive(Clone, Debug)]
struct Case {
    tag: &'static str,
    info: Info,
    own_jobs: bool,
    two_classes: bool,
    buffer: Option<u32>,
    three_dispatchers: bool,
}

impl Case {
    fn all() -> Vec<Self> {
        let mut cases = Vec::new();
        for tag in strategies() {
            for info in all_information() {
                for switches in 0..16_u32 {
                    let on = |bit: u32| switches >> bit & 1 == 1;
                    cases.push(Self {
                        tag,
                        info: info.clone(),
                        own_jobs: on(0),
                        two_classes: on(1),
                        buffer: on(2).then_some(3),
                        three_dispatchers: on(3),
                    });
                }
            }
        }
        cases
    }

    fn plan(&self, engine: &str) -> Plan {
        let servers = if self.two_classes { "[{count: 3, rate: 1}, {count: 2, rate: 2}]" } else { "5" };
        let dispatchers = if self.three_dispatchers { "{shares: [0.5, 0.3, 0.2]}" } else { "1" };
        let buffer = self.buffer.map_or(String::new(), |buffer| format!("buffer: {buffer}\n"));
        let text = format!(
            "engine: {engine}\nservers: {servers}\ndispatchers: {dispatchers}\nload: 0.8\n{buffer}policy: {{dispatch: {}, information: \
             {}, count_own_jobs: {}}}\nrun: {{warmup: {WARMUP}, time: {TIME}, replications: 1, seed: 5}}\n",
            strategy(self.tag),
            self.info.text,
            self.own_jobs,
        );
        Plan::read(&text, "test", "test", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn is_blind(&self) -> bool {
        matches!(self.tag, "random" | "weighted_random" | "round_robin")
    }

    /// Messages per job, where the convention leaves nothing to chance.
    fn messages_per_job(&self) -> Option<f64> {
        match (self.info.text.as_str(), self.tag) {
            ("exact", _) if self.is_blind() => Some(0.0),
            // Which jobs ask is drawn.
            ("exact", "one_plus_beta") => None,
            ("exact", "power_of_d") => Some(4.0),
            // Two are sampled and one is remembered.
            ("exact", "best_of_memory") => Some(6.0),
            ("exact", _) => Some(10.0),
            ("none", _) => Some(0.0),
            // Two servers are asked after each job, and answer.
            _ if self.info.push && !self.info.pull && !self.info.on_idle => Some(4.0),
            _ => None,
        }
    }
}

/// What the probes measure, recomputed from scratch at each event.
struct Ledger {
    now: f64,
    rates: Vec<f64>,
    lengths: Vec<u32>,
    /// By dispatcher, then server.
    estimates: Vec<Vec<u32>>,
    levels: BTreeMap<u32, f64>,
    error: f64,
    bias: f64,
    imbalance: f64,
    busy_rate: f64,
    regret: u64,
    arrived: u64,
    blocked: u64,
    completed: u64,
    response: f64,
    waiting: f64,
    waited: u64,
    messages: u64,
    per_dispatcher: Vec<u64>,
}

impl Ledger {
    fn run(plan: &Plan) -> Self {
        let Plan { system, policy, seed, .. } = plan;
        let start = "lengths start within their range";
        match plan.engine.kind {
            EngineKind::Clock => {
                Self::of(ClockEngine::new(system, policy, plan.holding(plan.window), *seed, 0).expect(start), plan)
            }
            _ => Self::of(EventEngine::new(system, policy, *seed, 0).expect(start), plan),
        }
    }

    fn of(mut engine: impl Engine, plan: &Plan) -> Self {
        engine.run_until(plan.window.open, u64::MAX, &mut Unobserved).expect("lengths stay within their range");
        let snapshot = engine.snapshot();
        let servers = plan.system.servers.numbered();
        let mut ledger = Self {
            now: snapshot.time,
            rates: (0..servers).map(|server| plan.system.servers.rate(server)).collect(),
            lengths: snapshot.lengths.to_vec(),
            estimates: snapshot.estimates.iter().map(|view| view.iter().collect()).collect(),
            levels: BTreeMap::new(),
            error: 0.0,
            bias: 0.0,
            imbalance: 0.0,
            busy_rate: 0.0,
            regret: 0,
            arrived: 0,
            blocked: 0,
            completed: 0,
            response: 0.0,
            waiting: 0.0,
            waited: 0,
            messages: 0,
            per_dispatcher: vec![0; plan.system.dispatchers.len() as usize],
        };
        // In pieces of odd length: how often one looks must not matter.
        while engine.now() < plan.window.close {
            let end = (engine.now() + 1.37).min(plan.window.close);
            engine.run_until(end, u64::MAX, &mut ledger).expect("lengths stay within their range");
        }
        ledger.advance(plan.window.close);
        let snapshot = engine.snapshot();
        assert_eq!(snapshot.lengths, ledger.lengths, "the changes reported lead to the lengths held");
        let estimates: Vec<Vec<u32>> = snapshot.estimates.iter().map(|view| view.iter().collect()).collect();
        assert_eq!(estimates, ledger.estimates, "the changes reported lead to the estimates held");
        ledger
    }

    /// Adds the stretch of time since the last event.
    fn advance(&mut self, time: f64) {
        let elapsed = time - self.now;
        assert!(elapsed >= 0.0, "the clock goes forward");
        self.now = time;
        let servers = self.lengths.len() as f64;
        let mean = self.lengths.iter().map(|&length| f64::from(length)).sum::<f64>() / servers;
        for (server, &length) in self.lengths.iter().enumerate() {
            for k in 1..=length {
                *self.levels.entry(k).or_default() += elapsed / servers;
            }
            self.imbalance += (f64::from(length) - mean).powi(2) * elapsed;
            self.busy_rate += if length > 0 { self.rates[server] * elapsed } else { 0.0 };
            for view in &self.estimates {
                let difference = f64::from(view[server]) - f64::from(length);
                self.error += difference.abs() * elapsed;
                self.bias += difference * elapsed;
            }
        }
    }
}

impl Observer for Ledger {
    fn dispatched(&mut self, dispatched: &Dispatched) {
        self.advance(dispatched.time);
        assert_eq!(dispatched.found, self.lengths[dispatched.server as usize]);
        let shortest = self.lengths.iter().min().expect("there are servers");
        self.regret += u64::from(dispatched.found - shortest);
        self.arrived += 1;
        self.per_dispatcher[dispatched.dispatcher as usize] += 1;
    }

    fn joined(&mut self, joined: &Joined) {
        assert!(joined.wait >= 0.0 && joined.response() >= joined.wait, "{joined:?}");
        assert_eq!(joined.wait == 0.0, joined.found == 0, "exponential jobs wait just when there is one before them");
        self.response += joined.response();
        self.waiting += joined.wait;
        self.waited += u64::from(joined.found > 0);
    }

    fn admitted(&mut self, admitted: &Admitted) {
        // Rates are 1 in the first class and 2 in the second; the means of the Erlang laws take the place of the times.
        let rate = f64::from(admitted.class) + 1.0;
        self.response += (f64::from(admitted.found) + 1.0) / rate;
        self.waiting += f64::from(admitted.found) / rate;
        self.waited += u64::from(admitted.found > 0);
    }

    fn blocked(&mut self, _: &Blocked) {
        self.blocked += 1;
    }

    fn length_changed(&mut self, change: &LengthChange) {
        self.advance(change.time);
        let server = change.server as usize;
        assert_eq!(change.old, self.lengths[server]);
        assert_eq!(change.old.abs_diff(change.new), 1);
        self.lengths[server] = change.new;
        self.completed += u64::from(change.new < change.old);
    }

    fn sent(&mut self, _: MessageKind, count: u64) {
        self.messages += count;
    }

    fn estimate_changed(&mut self, time: f64, dispatcher: u32, server: u32, old: u32, new: u32) {
        self.advance(time);
        let estimate = &mut self.estimates[dispatcher as usize][server as usize];
        assert_eq!(std::mem::replace(estimate, new), old);
    }
}

/// Each job must leave when it was told to on joining, in the order of joining.
struct Promises {
    /// By server, in the order of joining.
    departures: Vec<VecDeque<f64>>,
    /// Of the job that has just joined: what is told of it does not name the server, the change of length does.
    next: Option<f64>,
}

impl Observer for Promises {
    fn joined(&mut self, joined: &Joined) {
        self.next = Some(joined.time + joined.response());
    }

    fn length_changed(&mut self, change: &LengthChange) {
        let promised = &mut self.departures[change.server as usize];
        if change.new > change.old {
            promised.push_back(self.next.take().expect("a queue grows by a job that has just joined"));
        } else {
            let told = promised.pop_front().expect("a queue shrinks by a job that joined it");
            assert!((told - change.time).abs() <= 1e-12 * change.time, "told {told}, left at {}", change.time);
        }
        assert_eq!(promised.len(), change.new as usize);
    }
}

fn value(record: &Record, metric: Metric, key: &str) -> Option<f64> {
    record.readings.iter().find(|reading| reading.metric == metric && reading.key == key)?.value
}

fn values(record: &Record, metric: Metric) -> Vec<(&str, f64)> {
    let of_metric = record.readings.iter().filter(|reading| reading.metric == metric);
    of_metric.filter_map(|reading| Some((reading.key.as_str(), reading.value?))).collect()
}

#[track_caller]
fn assert_close(what: &str, measured: Option<f64>, expected: f64, case: &Case) {
    let close = |x: f64| (x - expected).abs() <= 1e-9 * expected.abs().max(1e-3);
    assert!(measured.is_some_and(close), "{what}: measured {measured:?}, expected {expected}\n{case:?}");
}

/// The rules that hold on every sample path, whatever the policy.
fn check_books(case: &Case, plan: &Plan, record: &Record) {
    let balance = &record.balance;
    assert!(balance.counts_agree(), "{balance:?}\n{case:?}");
    assert!(balance.relative_gap() < 1e-9, "{balance:?}\n{case:?}");
    assert!(balance.arrived > 100, "a case that simulates next to nothing shows nothing: {balance:?}\n{case:?}");
    for reading in &record.readings {
        assert!(reading.value.is_none_or(f64::is_finite), "{reading:?}\n{case:?}");
    }

    let tail = values(record, Metric::TailFraction);
    let mut above = 1.0;
    for &(_, fraction) in &tail {
        assert!((0.0..=above + 1e-12).contains(&fraction), "{tail:?}\n{case:?}");
        above = fraction;
    }
    let jobs: f64 = tail.iter().map(|(_, fraction)| fraction).sum();
    assert_close("sum of s_k", value(record, Metric::MeanJobs, ""), jobs, case);
    assert_close("integral", Some(balance.integral / TIME / 5.0), jobs, case);
    let waiting = record.waiting.as_ref().expect("delays are on").moments();
    assert!(waiting.min().is_some_and(|wait| wait >= 0.0), "{case:?}");
    assert_eq!(waiting.count(), balance.arrived - balance.blocked, "{case:?}");

    let per_dispatcher = values(record, Metric::JobsPerDispatcher);
    assert_eq!(per_dispatcher.len(), if case.three_dispatchers { 3 } else { 1 });
    assert_eq!(per_dispatcher.iter().map(|(_, jobs)| jobs).sum::<f64>(), balance.arrived as f64, "{case:?}");

    let longest = value(record, Metric::MaxQueue, "").expect("always measured");
    match case.buffer {
        Some(buffer) => assert!(longest <= f64::from(buffer), "{case:?}"),
        None => assert_eq!(balance.blocked, 0, "{case:?}"),
    }
    if case.two_classes {
        let of_class = |metric, key: &str| value(record, metric, key).unwrap_or(0.0);
        let (slow, fast) = (of_class(Metric::Utilization, "class_1"), of_class(Metric::Utilization, "class_2"));
        assert_close("utilization", value(record, Metric::Utilization, ""), (3.0 * slow + 4.0 * fast) / 7.0, case);
        for (k, fraction) in &tail {
            let class = |name: &str| of_class(Metric::ClassTailFraction, &format!("{name}/{k}"));
            let together = (3.0 * class("class_1") + 2.0 * class("class_2")) / 5.0;
            assert_close("tail over classes", Some(together), *fraction, case);
        }
        let shares: f64 = values(record, Metric::ClassShare).iter().map(|(_, share)| share).sum();
        assert_close("class shares", Some(shares), 1.0, case);
    } else {
        assert_close("utilization", value(record, Metric::Utilization, ""), tail[0].1, case);
    }

    let messages = value(record, Metric::MessagesPerJob, "");
    if let Some(expected) = case.messages_per_job() {
        assert_eq!(messages, Some(expected), "{case:?}");
    }
    let sent =
        |kind: MessageKind| value(record, Metric::MessagesPerJob, kind.name()).unwrap_or(0.0) * balance.arrived as f64;
    let completed = balance.completed as f64;
    if case.info.text.starts_with("{pull: {probability: 1,") {
        assert_close("pull messages", Some(sent(MessageKind::Pull)), completed, case);
    }
    assert!(sent(MessageKind::Pull) <= completed + 1e-6 && sent(MessageKind::OnIdle) <= completed + 1e-6, "{case:?}");
    let push = if case.info.push { sent(MessageKind::Push) > 0.0 } else { sent(MessageKind::Push) == 0.0 };
    assert!(push, "{case:?}");

    let regret = value(record, Metric::RegretMean, "").expect("jobs arrived");
    assert!(regret >= 0.0, "{case:?}");
    if case.info.text == "exact" {
        assert_eq!(value(record, Metric::EstimateError, ""), Some(0.0), "{case:?}");
        assert!(case.tag != "shortest" || regret == 0.0, "{case:?}");
    }
    assert_eq!(record.halves.len(), 2);
    assert_close("halves", Some(record.halves.iter().sum::<f64>() / 2.0 / 5.0), jobs, case);
    assert_eq!(plan.window.length(), TIME);
}

/// The probes against the ledger.
fn check_against_ledger(case: &Case, record: &Record, ledger: &Ledger) {
    let balance = &record.balance;
    let counts = (balance.arrived, balance.blocked, balance.completed);
    assert_eq!(counts, (ledger.arrived, ledger.blocked, ledger.completed), "{case:?}");
    for (k, fraction) in values(record, Metric::TailFraction) {
        let level = ledger.levels[&k.parse().expect("levels are numbers")];
        assert_close("s_k", Some(fraction), level / TIME, case);
    }
    let joined = (ledger.arrived - ledger.blocked) as f64;
    let arrived = ledger.arrived as f64;
    let total_rate: f64 = ledger.rates.iter().sum();
    let expected = [
        (Metric::ResponseTimeMean, ledger.response / joined),
        (Metric::WaitingTimeMean, ledger.waiting / joined),
        (Metric::WaitingProbability, ledger.waited as f64 / joined),
        (Metric::RegretMean, ledger.regret as f64 / arrived),
        (Metric::MessagesPerJob, ledger.messages as f64 / arrived),
        (Metric::BlockedFraction, ledger.blocked as f64 / arrived),
        (Metric::Throughput, ledger.completed as f64 / TIME),
        (Metric::Imbalance, ledger.imbalance / TIME),
        (Metric::Utilization, ledger.busy_rate / TIME / total_rate),
    ];
    for (metric, expected) in expected {
        assert_close(metric.name(), value(record, metric, ""), expected, case);
    }
    for (m, &jobs) in ledger.per_dispatcher.iter().enumerate() {
        assert_eq!(value(record, Metric::JobsPerDispatcher, &m.to_string()), Some(jobs as f64), "{case:?}");
    }
    if !ledger.estimates.is_empty() {
        let pairs = (ledger.estimates.len() * ledger.lengths.len()) as f64;
        assert_close("estimate error", value(record, Metric::EstimateError, ""), ledger.error / TIME / pairs, case);
        assert_close("estimate bias", value(record, Metric::EstimateBias, ""), ledger.bias / TIME / pairs, case);
    }
}

/// Runs all cases, with their numbers, on two threads.
fn for_all_cases(check: impl Fn(usize, &Case) + Sync) {
    let cases = Case::all();
    let check = &check;
    let cases = &cases;
    std::thread::scope(|scope| {
        for first in 0..2 {
            scope.spawn(move || cases.iter().enumerate().skip(first).step_by(2).for_each(|(i, case)| check(i, case)));
        }
    });
}

/// The books agree on every path, and on every fifth of them the probes say what a plain recount says; five has no
/// factor in common with the table of cases, so that every pair of settings is recounted.
#[test]
fn the_books_agree_on_every_path() {
    for_all_cases(|i, case| {
        for engine in ["event", "clock"] {
            let plan = case.plan(engine);
            let record = run_replication(&plan, 0).expect("lengths stay within their range");
            check_books(case, &plan, &record);
            if i % 5 == 0 {
                check_against_ledger(case, &record, &Ledger::run(&plan));
            }
        }
    });
}

/// A few cases of every strategy, for tests that need not see all information.
fn some_cases() -> Vec<Case> {
    let chosen = |(i, case): (usize, Case)| (i % 37 == 0).then_some(case);
    let cases: Vec<Case> = Case::all().into_iter().enumerate().filter_map(chosen).collect();
    for tag in strategies() {
        assert!(cases.iter().any(|case| case.tag == tag), "{tag} is missing");
    }
    cases
}

/// FIFO makes a job's departure known when it joins: it leaves at that moment, under every strategy.
#[test]
fn jobs_leave_when_they_were_told_to() {
    for case in some_cases() {
        let plan = case.plan("event");
        let mut engine = EventEngine::new(&plan.system, &plan.policy, plan.seed, 0).expect("queues start empty");
        let servers = plan.system.servers.len() as usize;
        let mut promises = Promises { departures: vec![VecDeque::new(); servers], next: None };
        engine.run_until(plan.window.close, u64::MAX, &mut promises).expect("lengths stay within their range");
    }
}

/// One seed gives one record, to the last digit.
#[test]
fn one_seed_gives_one_record() {
    for case in some_cases() {
        let plan = case.plan("event");
        let record = || run_replication(&plan, 0).expect("lengths stay within their range");
        let (first, again) = (record(), record());
        assert_eq!(first.readings, again.readings, "{case:?}");
        assert_eq!(first.balance, again.balance, "{case:?}");
        assert_eq!(first.halves, again.halves, "{case:?}");
        let (first, again) = (first.response.expect("on"), again.response.expect("on"));
        assert!(first.counts() == again.counts(), "{case:?}");
        let other = run_replication(&plan, 1).expect("lengths stay within their range");
        assert_ne!(other.response.expect("on").moments().total(), first.moments().total(), "{case:?}");
    }
}

/// What reaches the system: times, dispatchers and sizes of all jobs, in order.
#[derive(Default)]
struct Traffic {
    jobs: Vec<(f64, u32)>,
    services: Vec<f64>,
}

impl Observer for Traffic {
    fn dispatched(&mut self, dispatched: &Dispatched) {
        self.jobs.push((dispatched.time, dispatched.dispatcher));
    }

    fn joined(&mut self, joined: &Joined) {
        self.services.push(joined.service);
    }
}

/// R08, common random numbers: with one seed every strategy on every information meets the same jobs, at the same
/// times, at the same dispatchers, of the same sizes.
#[test]
fn every_policy_meets_the_same_traffic() {
    let traffic = |case: &Case| {
        let plan = case.plan("event");
        let mut engine = EventEngine::new(&plan.system, &plan.policy, plan.seed, 0).expect("queues start empty");
        let mut traffic = Traffic::default();
        engine.run_until(plan.window.close, u64::MAX, &mut traffic).expect("lengths stay within their range");
        traffic
    };
    for three_dispatchers in [false, true] {
        let cases =
            some_cases().into_iter().map(|case| Case { two_classes: false, buffer: None, three_dispatchers, ..case });
        let mut first: Option<Traffic> = None;
        for case in cases {
            let traffic = traffic(&case);
            let first =
                first.get_or_insert_with(|| Traffic { jobs: traffic.jobs.clone(), services: traffic.services.clone() });
            assert_eq!(first.jobs, traffic.jobs, "{case:?}");
            assert_eq!(first.services.len(), traffic.services.len(), "{case:?}");
            // The size is told as a difference of two delays, each rounded.
            let equal = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
            assert!(first.services.iter().zip(&traffic.services).all(equal), "{case:?}");
        }
    }
}

/// With one server there is nothing to choose: every policy gives the same delays.
#[test]
fn one_server_makes_all_policies_equal() {
    let mut first = None;
    for tag in strategies() {
        // One server is neither a pair nor two ranks.
        let strategy = strategy(tag).replace("d: 2", "d: 1").replace("beta: 0.5", "beta: 0").replace("0.4, 0.6", "1");
        for information in ["exact", "none", "pull", "push", "on_idle", "{pull: {delay: 1, loss: 0.5}}"] {
            let text = format!(
                "servers: 1\nload: 0.8\npolicy: {{dispatch: {strategy}, information: {information}}}\n\
                 run: {{time: 500}}"
            );
            let plan = Plan::read(&text, "test", "test", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let record = run_replication(&plan, 0).expect("lengths stay within their range");
            let delays = record.response.expect("delays are on");
            let summary = (record.balance, delays.moments().total(), delays.moments().max());
            assert_eq!(*first.get_or_insert(summary), summary, "{text}");
        }
    }
}

/// A report that a later report from the same server has overtaken is dropped, also when the later one took no time
/// and came by another rule: server 0 answers the question of time 10 with length 1, which arrives at 13; at 11 it
/// reports at once that it is idle.
#[test]
fn reports_are_overtaken_across_rules() {
    let text = "servers: 1\narrival_rate: 0.1\narrivals: {renewal: {constant: 1}}\nservice: {constant: 1}\n\
                policy: {dispatch: shortest, information: {push: {d: 1, probability: 1, delay: 3}, pull: {delay: 0}}}\n\
                run: {warmup: 5, time: 1000, replications: 1}";
    let plan = Plan::read(text, "test", "test", &[]).expect("the scenario is right");
    let record = run_replication(&plan, 0).expect("lengths stay within their range");
    assert_eq!(value(&record, Metric::MeanJobs, ""), Some(0.1));
    assert_eq!(value(&record, Metric::EstimateError, ""), Some(0.0), "the dispatcher knows the truth all the time");
}

/// Only exact information is free of error: dispatchers that never hear anything and do not look either are no
/// better informed, so their error is positive or not available.
#[test]
fn an_error_of_zero_is_claimed_for_exact_information_only() {
    for tag in strategies() {
        let text = format!(
            "servers: 5\nload: 0.8\npolicy: {{dispatch: {}, information: none}}\nrun: {{time: 100}}",
            strategy(tag)
        );
        let plan = Plan::read(&text, "test", "test", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let record = run_replication(&plan, 0).expect("lengths stay within their range");
        let error = value(&record, Metric::EstimateError, "");
        assert!(error.is_none_or(|error| error > 0.0), "{tag}: {error:?}");
    }
}

//! Time per strike of the clock of the memoryless engines: `cargo bench --bench memoryless`. A strike is an arrival or
//! an offer of service; a job takes 1 + 1 / load of them.
//!
//! Each measurement steps a system on that starts from its fixed point. Compare only numbers of one run.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use herdsim::engine::{ClockEngine, Engine, Holding, LANES, Observer, OccupancyEngine, Unobserved};
use herdsim::measure::Probes;
use herdsim::scenario::Plan;
use std::hint::black_box;

/// Strikes per iteration.
const STRIKES: u64 = 100_000;

/// What is measured, and in which times the engine moves.
const MEASURES: [(&str, &str, Holding); 3] = [
    (
        "s_k averages",
        "{tail_histogram_levels: 0, delays: false, dispatchers: false, estimates: false, imbalance: false, \
         queue_range: false, chosen_rank: false, burst_size: false, coincidence_window: 0, estimate_age: false}",
        Holding::Expected,
    ),
    (
        "s_k averages and delays",
        "{tail_histogram_levels: 0, dispatchers: false, estimates: false, imbalance: false, queue_range: false, \
         chosen_rank: false, burst_size: false, coincidence_window: 0, estimate_age: false}",
        Holding::Expected,
    ),
    ("everything but bursts", "{burst_size: false}", Holding::Sampled),
];

fn plan(engine: &str, servers: u32, policy: &str, measure: &str) -> Plan {
    let text = format!(
        "{{engine: {engine}, servers: {servers}, load: 0.9, policy: {policy}, run: {{warmup: 1, time: 1e6}}, measure: \
         {measure}}}"
    );
    Plan::read(&text, "bench", "bench", &[]).expect("the scenario is valid")
}

fn step<E: Engine, O: Observer>(engine: &mut E, observer: &mut O) {
    engine.run_until(f64::INFINITY, STRIKES, observer).expect("lengths stay small");
}

fn probes(plan: &Plan, engine: &impl Engine) -> Probes {
    Probes::new(&plan.measure, &plan.system, &plan.policy, plan.window, &engine.snapshot())
}

const TWO: &str = "{dispatch: {power_of_d: {d: 2, replacement: true}}}";

/// The supermarket model on both engines.
fn supermarket_model(c: &mut Criterion) {
    let mut group = c.benchmark_group("memoryless: supermarket d=2 load=0.9");
    group.throughput(Throughput::Elements(STRIKES)).sample_size(20);
    for (name, measure, holding) in MEASURES {
        for servers in [100, 10_000, 1_000_000] {
            let plan = plan("clock", servers, TWO, measure);
            let mut engine = ClockEngine::new(&plan.system, &plan.policy, holding, 1, 0).expect("it starts");
            engine.run_until(40.0, u64::MAX, &mut Unobserved).expect("lengths stay small");
            let mut probes = probes(&plan, &engine);
            group.bench_function(BenchmarkId::new(format!("clock, {name}"), servers), |b| {
                b.iter(|| step(black_box(&mut engine), &mut probes));
            });
        }
        for servers in [100, 10_000, 1_000_000, 1_000_000_000] {
            let plan = plan("occupancy", servers, TWO, measure);
            let mut engine = OccupancyEngine::new(&plan.system, &plan.policy, holding, 1, 0).expect("it starts");
            let warm = 5_000_000.0 / f64::from(servers);
            engine.run_until(warm.min(40.0), u64::MAX, &mut Unobserved).expect("lengths stay small");
            let mut probes = probes(&plan, &engine);
            group.bench_function(BenchmarkId::new(format!("occupancy, {name}"), servers), |b| {
                b.iter(|| step(black_box(&mut engine), &mut probes));
            });
        }
    }
    group.finish();
}

/// Nothing measured: the main policies.
fn policies(c: &mut Criterion) {
    let mut group = c.benchmark_group("memoryless: policies, nothing measured, load=0.9");
    group.throughput(Throughput::Elements(STRIKES)).sample_size(20);
    for (name, policy) in [
        ("random", "{dispatch: random}"),
        ("d=2", TWO),
        ("JSQ", "{dispatch: shortest}"),
        ("L-JSQ pull", "{dispatch: shortest, information: {pull: {probability: 0.1}}}"),
        ("L-JSQ late pull", "{dispatch: shortest, information: {pull: {probability: 0.1, delay: 1}}}"),
    ] {
        for servers in [100, 10_000, 1_000_000] {
            let plan = plan("clock", servers, policy, "{}");
            let mut engine = ClockEngine::new(&plan.system, &plan.policy, Holding::Sampled, 1, 0).expect("it starts");
            engine.run_until(20.0, u64::MAX, &mut Unobserved).expect("lengths stay small");
            group.bench_function(BenchmarkId::new(format!("clock, {name}"), servers), |b| {
                b.iter(|| step(black_box(&mut engine), &mut Unobserved));
            });
        }
    }
    group.finish();
}

/// What an engine counts by itself, of one replication and of some side by side.
fn counted(c: &mut Criterion) {
    let mut group = c.benchmark_group("memoryless: counted, supermarket d=2 load=0.9");
    group.sample_size(20);
    for (name, measure) in [("s_k averages", MEASURES[0].1), ("everything but bursts", MEASURES[2].1)] {
        for servers in [100, 10_000, 1_000_000, 1_000_000_000] {
            let plan = plan("occupancy", servers, TWO, measure);
            let counting = |engine: &OccupancyEngine<'_>| {
                probes(&plan, engine).counting(plan.policy.messages_per_choice(&plan.system.servers))
            };
            let mut engines = [0, 1, 2, 3].map(|replication| {
                OccupancyEngine::new(&plan.system, &plan.policy, Holding::Expected, 1, replication).expect("it starts")
            });
            let warm = 5_000_000.0 / f64::from(servers);
            for engine in &mut engines {
                let mut nothing = counting(engine);
                engine.run_until(warm.min(40.0), u64::MAX, &mut nothing).expect("lengths stay small");
            }
            let mut observers = engines.each_ref().map(counting);
            group.throughput(Throughput::Elements(LANES as u64 * STRIKES));
            group.bench_function(BenchmarkId::new(format!("occupancy side by side, {name}"), servers), |b| {
                b.iter(|| {
                    OccupancyEngine::run_together(black_box(&mut engines), f64::INFINITY, STRIKES, &mut observers)
                        .expect("lengths stay small")
                });
            });
            let [engine, ..] = &mut engines;
            let [observer, ..] = &mut observers;
            group.throughput(Throughput::Elements(STRIKES));
            group.bench_function(BenchmarkId::new(format!("occupancy, {name}"), servers), |b| {
                b.iter(|| step(black_box(engine), observer));
            });
        }
        for servers in [100, 10_000, 1_000_000] {
            let plan = plan("clock", servers, TWO, measure);
            let mut engine = ClockEngine::new(&plan.system, &plan.policy, Holding::Expected, 1, 0).expect("it starts");
            engine.run_until(40.0, u64::MAX, &mut Unobserved).expect("lengths stay small");
            let mut observer = probes(&plan, &engine).counting(plan.policy.messages_per_choice(&plan.system.servers));
            group.throughput(Throughput::Elements(STRIKES));
            group.bench_function(BenchmarkId::new(format!("clock, {name}"), servers), |b| {
                b.iter(|| step(black_box(&mut engine), &mut observer));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, supermarket_model, counted, policies);
criterion_main!(benches);

//! Time per event of the event engine: `cargo bench`. An arrival is one event and a departure another.
//!
//! Each measurement steps a system on that has long been in steady state, so start-up does not count. Compare only
//! numbers of one run: machines differ, and drift.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use herdsim::engine::{Engine, EventEngine, Observer, Unobserved};
use herdsim::measure::Probes;
use herdsim::scenario::Plan;
use std::hint::black_box;

/// Events per iteration.
const EVENTS: u64 = 100_000;

const SIZES: [u32; 3] = [100, 10_000, 1_000_000];

fn plan(yaml: &str) -> Plan {
    Plan::read(yaml, "bench", "bench", &[]).expect("the scenario is valid")
}

fn supermarket(servers: u32, measure: &str) -> Plan {
    plan(&format!(
        "{{servers: {servers}, load: 0.9, policy: {{dispatch: {{power_of_d: {{d: 2, replacement: true}}}}}}, \
         initial: fixed_point, run: {{warmup: 0, time: 1e6}}, measure: {measure}}}"
    ))
}

fn step<O: Observer>(engine: &mut EventEngine<'_>, observer: &mut O) {
    engine.run_until(f64::INFINITY, EVENTS, observer).expect("lengths stay small");
}

/// An engine that has run for some events per server.
fn warm(plan: &Plan) -> EventEngine<'_> {
    let mut engine = EventEngine::new(&plan.system, &plan.policy, plan.seed, 0).expect("it starts");
    let events = 20 * plan.system.servers.len();
    engine.run_until(f64::INFINITY, events.max(EVENTS), &mut Unobserved).expect("lengths stay small");
    engine
}

/// The supermarket model: nothing measured, s_k averages only, everything.
fn supermarket_model(c: &mut Criterion) {
    let mut group = c.benchmark_group("supermarket d=2 load=0.9");
    group.throughput(Throughput::Elements(EVENTS)).sample_size(20);
    let averages = "{tail_histogram_levels: 0, delays: false, imbalance: false, estimates: false}";
    let with_delays = "{tail_histogram_levels: 0, imbalance: false, estimates: false}";
    for servers in SIZES {
        group.bench_function(BenchmarkId::new("nothing measured", servers), |b| {
            let plan = supermarket(servers, "{}");
            let mut engine = warm(&plan);
            b.iter(|| step(black_box(&mut engine), &mut Unobserved));
        });
        for (name, measure) in
            [("s_k averages", averages), ("s_k averages and delays", with_delays), ("everything", "{}")]
        {
            group.bench_function(BenchmarkId::new(name, servers), |b| {
                let plan = supermarket(servers, measure);
                let mut engine = warm(&plan);
                let mut probes =
                    Probes::new(&plan.measure, &plan.system, &plan.policy, plan.window, &engine.snapshot());
                b.iter(|| step(black_box(&mut engine), &mut probes));
            });
        }
    }
    group.finish();
}

/// Local estimates with pull updates: join the shortest queue in view, ten dispatchers.
fn local_estimates(c: &mut Criterion) {
    let mut group = c.benchmark_group("L-JSQ pull p=0.1 M=10 load=0.9");
    group.throughput(Throughput::Elements(EVENTS)).sample_size(20);
    for servers in SIZES {
        for (name, delay) in [("instantaneous", "0"), ("late", "{exponential: {mean: 1}}")] {
            group.bench_function(BenchmarkId::new(name, servers), |b| {
                let plan = plan(&format!(
                    "{{servers: {servers}, dispatchers: 10, load: 0.9, policy: {{dispatch: shortest, \
                     information: {{pull: {{probability: 0.1, delay: {delay}}}}}}}}}"
                ));
                let mut engine = warm(&plan);
                b.iter(|| step(black_box(&mut engine), &mut Unobserved));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, supermarket_model, local_estimates);
criterion_main!(benches);

//! Time per job of the slotted engine: `cargo bench --bench slotted`.
//!
//! The work is that of the LED paper: M = 10 dispatchers, geometric services, load 0.9, Poisson arrivals; queue lengths
//! and response times are measured. Compare only numbers of one run.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use herdsim::engine::{Engine, SlottedEngine, Unobserved};
use herdsim::measure::Probes;
use herdsim::random::{Component, Stream};
use herdsim::scenario::Plan;
use std::hint::black_box;

/// Slots per iteration.
const SLOTS: u64 = 1000;

fn plan(servers: u32, dispatchers: u32, dispatch: &str, information: &str) -> Plan {
    let yaml = format!(
        "{{clock: slotted, servers: {servers}, dispatchers: {dispatchers}, load: 0.9, policy: {{dispatch: {dispatch}, \
         information: {information}}}, run: {{warmup: 0, time: 1000000}}, measure: {{tail_histogram_levels: 0, \
         estimates: false, imbalance: false, queue_range: false, chosen_rank: false, burst_size: false, \
         estimate_age: false, coincidence_window: 0}}}}"
    );
    Plan::read(&yaml, "bench", "bench", &[]).expect("the scenario is valid")
}

fn local_estimates(c: &mut Criterion) {
    let mut group = c.benchmark_group("slotted M=10 load=0.9, per job");
    group.sample_size(20);
    let push = "{push: {d: 2}}";
    let pull = "{pull: {probability: 0.1}}";
    for (name, dispatch, information) in [
        ("L-JSQ push d=2", "shortest", push),
        ("L-JBA push d=2", "below_average", push),
        ("L-Pod push d=2", "{power_of_d: {d: 2}}", push),
        ("L-JSQ pull p=0.1", "shortest", pull),
    ] {
        for servers in [100, 10_000] {
            let id = BenchmarkId::new(name, servers);
            time(&mut group, id, &plan(servers, 10, dispatch, information));
        }
    }
    group.finish();
}

/// A pull costs the same number of updates per job whatever the number of dispatchers.
fn dispatchers(c: &mut Criterion) {
    let mut group = c.benchmark_group("slotted L-JSQ pull p=0.1 N=100 load=0.9, per job, by M");
    group.sample_size(20);
    for dispatchers in [1, 10, 100, 1000] {
        let id = BenchmarkId::from_parameter(dispatchers);
        time(&mut group, id, &plan(100, dispatchers, "shortest", "{pull: {probability: 0.1}}"));
    }
    group.finish();
}

fn time(group: &mut BenchmarkGroup<'_, WallTime>, id: BenchmarkId, plan: &Plan) {
    let slots = plan.slots.as_ref().expect("slotted");
    group.throughput(Throughput::Elements((plan.system.arrivals.rate * SLOTS as f64) as u64));
    group.bench_function(id, |b| {
        let mut engine = SlottedEngine::new(&plan.system, slots, &plan.policy, plan.seed, 0).expect("the laws fit");
        engine.run_until(300.0, u64::MAX, &mut Unobserved).expect("lengths stay small");
        let mut probes = Probes::new(&plan.measure, &plan.system, &plan.policy, plan.window, &engine.snapshot());
        b.iter(|| {
            let end = engine.now() + SLOTS as f64;
            black_box(&mut engine).run_until(end, u64::MAX, &mut probes).expect("lengths stay small");
        });
    });
}

/// The yardstick of this machine: a random number of 64 bits.
fn random_number(c: &mut Criterion) {
    let mut stream = Stream::new(1, 0, Component::Dispatch);
    c.bench_function("xoshiro256++ u64, 1000 of them", |b| {
        b.iter(|| (0..1000).fold(0_u64, |sum, _| sum.wrapping_add(stream.bits())));
    });
}

criterion_group!(benches, random_number, local_estimates, dispatchers);
criterion_main!(benches);

//! Results of an older version can be had again only while each engine draws the same numbers.

use herdsim::experiment::run_replication;
use herdsim::scenario::Plan;

const SYSTEM: &str = "servers: [{count: 4, rate: 1}]\ndispatchers: 2\nload: 0.8\nbuffer: 9\n\
                      measure: {burst_size: false, coincidence_window: 0}\n\
                      run: {warmup: 20, time: 200, replications: 1, seed: 12345}\n";

/// Engine and policy, then jobs that arrived, were blocked and completed, and the mean number of jobs at a server.
type Pinned = (&'static str, &'static str, [u64; 3], f64);

const PINNED: &[Pinned] = &[
    ("engine: event", "{dispatch: {power_of_d: {d: 2}}}", [648, 0, 638], 1.9300946261614407),
    (
        "engine: event",
        "{dispatch: shortest, information: {pull: {probability: 0.5, delay: {exponential: {mean: 1}}, loss: 0.1}}}",
        [648, 2, 638],
        2.1375604878566783,
    ),
    (
        "engine: event",
        "{dispatch: below_average, information: {push: {d: 1, delay: 0.5}, periodic: {period: 3}}}",
        [648, 0, 638],
        2.0794316801630806,
    ),
    ("engine: clock", "{dispatch: {power_of_d: {d: 2}}}", [660, 0, 655], 1.928645833333333),
    (
        "engine: clock",
        "{dispatch: shortest, information: {pull: {probability: 0.5, delay: {exponential: {mean: 1}}, loss: 0.1}}}",
        [648, 1, 638],
        2.3377158169708028,
    ),
    (
        "engine: clock",
        "{dispatch: below_average, information: {push: {d: 1, delay: 0.5}, periodic: {period: 3}}}",
        [648, 0, 641],
        2.0343792009807853,
    ),
    ("engine: occupancy", "{dispatch: {power_of_d: {d: 2}}}", [660, 0, 651], 1.890972222222222),
    ("engine: occupancy", "{dispatch: idle_first}", [660, 0, 649], 1.6673611111111108),
    ("clock: slotted", "{dispatch: shortest, information: {pull: {probability: 0.5}}}", [651, 7, 649], 2.76875),
    ("clock: slotted", "{dispatch: tidal}", [651, 0, 654], 2.23125),
    (
        "engine: event\nservice: {erlang: {shape: 2, mean: 1}}",
        "{dispatch: {best_of_memory: {d: 1}}}",
        [648, 0, 648],
        1.6672297550916682,
    ),
];

#[test]
fn every_engine_draws_what_it_drew() {
    let mut wrong = Vec::new();
    for &(engine, policy, counts, jobs) in PINNED {
        let text = format!("{engine}\n{SYSTEM}policy: {policy}\n");
        let plan = Plan::read(&text, "test", "test", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let balance = run_replication(&plan, 0).expect("short queues").balance;
        let found = [balance.arrived, balance.blocked, balance.completed];
        let mean = balance.integral / 200.0 / 4.0;
        // The last digits of logarithms differ between platforms.
        if found != counts || (mean - jobs).abs() > 1e-9 * jobs {
            wrong.push(format!("    (\"{engine}\", \"{policy}\", {found:?}, {mean:?}),"));
        }
    }
    assert!(wrong.is_empty(), "value-breaking: say so in the README's changes, and pin\n{}", wrong.join("\n"));
}

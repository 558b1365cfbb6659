//! How much memory a replication takes, before it is run.

use super::engine::EngineKind;
use crate::engine::{ClockEngine, OccupancyEngine};
use crate::measure::Measure;
use crate::model::arrivals::Process;
use crate::model::{Fault, Initial, Servers, System};
use crate::policy::information::InFlight;
use crate::policy::{Information, Need, Policy};

/// More than this is refused: no machine that this is for has it, and the system would end the run without a word.
const MOST: f64 = 64.0 * GIB;

const GIB: f64 = (1_u64 << 30) as f64;

/// Counts of servers and the probes on them, most of it histograms.
const OF_COUNTS: f64 = 8.0 * 1024.0 * 1024.0;

/// What a length of a queue takes in the engine and the probes, for each class: levels, their histograms and the laws of
/// the delays.
const OF_LEVEL: f64 = 160.0;

/// A job in a calendar, whose lists have room to grow.
const OF_JOB: f64 = 56.0;

/// What takes the most memory.
enum Cause {
    /// Jobs left behind, as time goes on.
    Overload,
    /// Jobs that come at once.
    Batches,
    /// Servers, dispatchers, and what is there at the start.
    Size,
}

/// What a replication needs memory for.
pub(super) struct Needs<'a> {
    pub(super) system: &'a System,
    pub(super) policy: &'a Policy,
    pub(super) measure: &'a Measure,
    /// When it ends, as far as that is known.
    pub(super) end: f64,
}

impl Needs<'_> {
    /// About how many bytes one replication takes: servers, jobs, estimates, and the probes that keep copies of them.
    pub(super) fn estimate(&self, engine: EngineKind) -> f64 {
        let Self { system, policy, measure, .. } = self;
        let servers = system.servers.len() as f64;
        let longest = self.initial_length() + self.left_behind() / servers + self.batch();
        let levels = OF_LEVEL * longest * system.servers.classes().len() as f64;
        if engine == EngineKind::Occupancy {
            return OF_COUNTS + levels;
        }
        let dispatchers = f64::from(system.dispatchers.len());
        // A length takes 4 bytes, its place in an order 8 more; estimates in order keep no lengths beside it.
        let (truth, view) = match policy.dispatch.need(&system.servers) {
            Need::Nothing | Need::Lengths => (4.0, 4.0),
            Need::Sorted | Need::SortedByClass => (12.0, 8.0),
        };
        let copies = match &policy.information {
            Information::Exact(_) => 0.0,
            Information::Delayed(_) => 1.0,
            Information::None if policy.dispatch.need(&system.servers) == Need::Nothing => 0.0,
            Information::None | Information::Rules(_) => dispatchers,
        };
        let replay = matches!(&policy.information, Information::Rules(rules) if rules.in_flight == InFlight::Replay);
        let probes = 4.0 * f64::from(u8::from(measure.estimates)) + 8.0 * f64::from(u8::from(measure.estimate_age));
        let pairs = copies * servers * (view + probes + 4.0 * f64::from(u8::from(replay)));
        // Jobs in the system, by an M/M/1 queue per server, and what overload leaves behind.
        let load = system.load().min(0.95);
        let ahead = load / (1.0 - load);
        let jobs = servers * ahead.max(self.initial_length()) + self.left_behind() + self.batch() * (1.0 + ahead);
        let by_engine = match engine {
            EngineKind::Clock => 0.0,
            _ => servers * 16.0 + jobs * OF_JOB,
        };
        servers * truth + by_engine + dispatchers * self.of_dispatcher() + pairs + levels + self.recent_jobs()
    }

    /// What a dispatcher takes, most of it in the probe that counts its jobs and in what that tells.
    fn of_dispatcher(&self) -> f64 {
        40.0 + 120.0 * f64::from(u8::from(self.measure.dispatchers))
    }

    /// The jobs of a coincidence window.
    fn recent_jobs(&self) -> f64 {
        if self.system.dispatchers.len() == 1 {
            return 0.0;
        }
        OF_JOB * self.system.arrivals.rate * self.measure.coincidence_window.get().min(self.end)
    }

    /// Jobs that come at once, if not one by one.
    fn batch(&self) -> f64 {
        match &self.system.arrivals.process {
            Process::BatchPoisson(batch) if batch.mean_size() > 1.0 => batch.mean_size(),
            _ => 0.0,
        }
    }

    fn initial_length(&self) -> f64 {
        match &self.system.initial {
            Initial::Length(length) => f64::from(*length),
            Initial::Empty | Initial::Tail(_) => 0.0,
        }
    }

    /// Jobs that an overload has left in the queues at the end.
    fn left_behind(&self) -> f64 {
        let system = self.system;
        let surplus = (system.arrivals.rate - system.servers.total_rate()).max(0.0);
        let room = system.buffer.map_or(f64::INFINITY, |buffer| f64::from(buffer) * system.servers.len() as f64);
        (surplus * self.end).min(room)
    }

    /// Refuses what cannot fit.
    pub(super) fn check(&self, engine: EngineKind) -> Result<(), Fault> {
        if engine != EngineKind::Occupancy && self.system.servers.len() > Servers::MOST_NUMBERED {
            let rule = format!(
                "there are more than the {} servers of which an engine can keep each; {} does",
                Servers::MOST_NUMBERED,
                engine.name()
            );
            return Err(Fault::at("servers", rule, self.remedy(engine)));
        }
        let bytes = self.estimate(engine);
        if bytes <= MOST {
            return Ok(());
        }
        let path = match self.cause(engine) {
            Cause::Overload => "run.time",
            Cause::Batches => "arrivals",
            Cause::Size if u64::from(self.system.dispatchers.len()) > self.system.servers.len() => "dispatchers",
            Cause::Size => "servers",
        };
        let rule = format!("one replication would take about {:.0} GiB; more than 64 GiB is not tried", bytes / GIB);
        Err(Fault::at(path, rule, self.remedy(engine)))
    }

    /// What takes the most.
    fn cause(&self, engine: EngineKind) -> Cause {
        let all = self.estimate(engine);
        if (Needs { end: 0.0, ..*self }).estimate(engine) < all / 2.0 {
            Cause::Overload
        } else if self.batch() * OF_JOB > all / 8.0 {
            Cause::Batches
        } else {
            Cause::Size
        }
    }

    /// What would take less: another engine if there is one, or a smaller system.
    pub(super) fn remedy(&self, engine: EngineKind) -> String {
        let Self { system, policy, .. } = self;
        let mine = self.estimate(engine);
        let counts = OccupancyEngine::validate(system, policy).is_ok() && !policy.asks_at_random();
        let others = [
            (
                EngineKind::Clock,
                ClockEngine::validate(system).is_ok() && system.servers.len() <= Servers::MOST_NUMBERED,
                "",
            ),
            (
                EngineKind::Occupancy,
                counts,
                " with measure: {burst_size: false, coincidence_window: 0} and no snapshots",
            ),
        ];
        let other = others
            .into_iter()
            .filter(|&(other, can, _)| can && engine != EngineKind::Slotted && other != engine)
            .map(|(other, _, with)| (self.estimate(other), other, with))
            .filter(|&(bytes, ..)| bytes < mine / 2.0)
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let smaller = match self.cause(engine) {
            Cause::Overload => "write a shorter run.time, a buffer, or a load below 1",
            Cause::Batches => "use smaller batches",
            Cause::Size => {
                "use fewer servers, fewer dispatchers with estimates of their own, or shorter initial queues"
            }
        };
        match other {
            Some((bytes, other, with)) => {
                let gib = bytes / GIB;
                format!("write engine: {}{with}, which takes about {gib:.2} GiB; or {smaller}", other.name())
            }
            None => smaller.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::Plan;

    fn read(overrides: &[&str]) -> Result<Plan, String> {
        let text = "servers: 4\nload: 0.6\npolicy: {dispatch: shortest}\nrun: {warmup: 5, time: 40}\n";
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        Plan::read(text, "text", "test", &overrides).map_err(|error| error.to_string())
    }

    #[test]
    fn what_cannot_fit_is_refused_with_the_engine_that_would_do() {
        let message = read(&["servers=4e9", "engine=event"]).expect_err("hundreds of GiB");
        assert!(message.contains("GiB") && message.contains("engine: occupancy"), "{message}");
        // Push updates need every server, so that no engine would do.
        let push = "policy.information={push: {d: 1}}";
        let message = read(&["servers=1e6", "dispatchers=1e5", push]).expect_err("an estimate for each pair");
        assert!(message.contains("GiB") && !message.contains("write engine"), "{message}");
        let many = ["servers=1e12", "run.time=1", "run.warmup=1"];
        for engine in ["engine=event", "engine=clock"] {
            let message = read(&[&many[..], &[engine]].concat()).expect_err("more than 32 bits");
            assert!(message.contains("4294967294") && message.contains("engine: occupancy"), "{message}");
        }
        let counts = read(&[&many[..], &["engine=occupancy", "measure.burst_size=false"]].concat()).expect("counts");
        assert!(counts.memory() < 1e7, "{}", counts.memory());
    }

    #[test]
    fn what_comes_at_once_is_foreseen() {
        let message =
            read(&["arrivals={batch_poisson: {size: {constant: 4e9}}}", "run.time=1e11"]).expect_err("a batch");
        assert!(message.contains("GiB") && message.contains("smaller batches"), "{message}");
        let message = read(&["initial.length=4294967295"]).expect_err("a length");
        assert!(message.contains("GiB") && message.contains("initial"), "{message}");
        let recent = read(&["dispatchers=2", "measure.coincidence_window=1e300", "run.time=1e6"]).expect("it fits");
        assert!(recent.memory() > 5e7, "{}", recent.memory());
    }

    #[test]
    fn what_overload_leaves_behind_is_foreseen() {
        let overload = ["load=1.2", "servers=1", "run.time=1e10"];
        for engine in ["engine=event", "engine=clock", "engine=auto"] {
            let message = read(&[&overload[..], &[engine]].concat()).expect_err("2e9 jobs");
            assert!(message.contains("GiB") && message.contains("run.time"), "{message}");
        }
        let buffered = read(&[&overload[..], &["buffer=10"]].concat()).expect("a buffer bounds the queues");
        assert!(buffered.memory() < 1e6, "{}", buffered.memory());
        let short = read(&["load=1.2", "servers=1", "run.time=1e6", "engine=event"]).expect("it fits");
        assert!((2e7..2e8).contains(&short.memory()), "{}", short.memory());
    }
}

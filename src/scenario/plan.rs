//! From a scenario to what is run: everything filled in and checked.

use super::arrivals;
use super::decode::decode;
use super::engine::{EngineChoice, EngineKind};
use super::error::ScenarioError;
use super::file::{DispatchersSpec, InitialSpec, Scenario, ServersSpec};
use super::length::{Choose, Goal, check_choice, resolve_batching, resolve_goal, resolve_window};
use super::memory;
use super::resolve::{
    check_clock, check_grid, check_snapshots, initial, mean_one, resolve_dispatchers, resolve_engine, resolve_servers,
    resolve_slots, shorten,
};
use super::tree::{Node, Value};
use crate::measure::Measure;
use crate::model::arrivals::Process;
use crate::model::slots::Slots;
use crate::model::{Fault, Initial, Positive, System, Window};
use crate::policy::Policy;
use crate::stats::{Batching, Confidence, Warning};
use crate::theory::{ManyServerLoad, MeanField, Overload, Predictions, QUICK, Report, Theorems};
use std::path::Path;

/// A scenario ready to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The name in results.
    pub name: String,
    /// The scenario with all defaults filled in.
    pub scenario: Scenario,
    /// What is simulated.
    pub system: System,
    /// What happens in a slot, in slotted time.
    pub slots: Option<Slots>,
    /// The policy.
    pub policy: Policy,
    /// The engine that runs it, and why.
    pub engine: EngineChoice,
    /// The measuring window of each replication; where pilot runs choose, what they start from.
    pub window: Window,
    /// What pilot runs choose.
    pub choose: Choose,
    /// Independent replications; with a precision, the fewest.
    pub replications: u64,
    /// The precision to be reached.
    pub goal: Option<Goal>,
    /// How intervals are made from a single run, if they are.
    pub batching: Option<Batching>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Level of the confidence intervals.
    pub confidence: Confidence,
    /// What is measured.
    pub measure: Measure,
}

impl Plan {
    /// Reads a scenario, applies overrides `path=value` in order, and resolves it. `origin` is the path of the
    /// text: errors name it, and files that the scenario names lie in its folder. `fallback_name` names the scenario, if
    /// it has no name of its own.
    ///
    /// # Errors
    /// The first rule that is broken, and where.
    pub fn read(text: &str, origin: &str, fallback_name: &str, overrides: &[String]) -> Result<Self, ScenarioError> {
        let mut root = Node::parse(text, origin)?;
        for assignment in overrides {
            root.set(assignment)?;
        }
        for key in ["sweep", "compare"] {
            if root.get(key).is_some() {
                let fault = Fault::new("makes several points of the scenario", "read it as a study");
                return Err(locate(&root, key, fault));
            }
        }
        let plan = Self::resolve_tree(&root, origin, fallback_name)?;
        plan.check_memory(&root)?;
        Ok(plan)
    }

    /// Refuses a scenario that cannot be run for want of memory.
    pub(super) fn check_memory(&self, root: &Node) -> Result<(), ScenarioError> {
        self.needs().check(self.engine.kind).map_err(|fault| locate(root, "", fault))
    }

    /// Whether an engine could run it for all its memory takes.
    pub(super) fn fits(&self, engine: EngineKind) -> bool {
        self.needs().check(engine).is_ok()
    }

    /// The file of its arrivals, if they are read from one.
    pub fn trace(&self) -> Option<&Path> {
        match &self.system.arrivals.process {
            Process::Trace(trace) => Some(trace.path()),
            _ => None,
        }
    }

    fn needs(&self) -> memory::Needs<'_> {
        let Self { system, policy, measure, window, .. } = self;
        memory::Needs { system, policy, measure, end: window.close }
    }

    /// Resolves a scenario without a sweep.
    pub(super) fn resolve_tree(root: &Node, origin: &str, fallback_name: &str) -> Result<Self, ScenarioError> {
        let scenario: Scenario = decode(root)?;
        let folder = Path::new(origin).parent().unwrap_or(Path::new(""));
        Self::resolve(scenario, fallback_name, root, folder)
    }

    fn resolve(mut scenario: Scenario, fallback_name: &str, root: &Node, folder: &Path) -> Result<Self, ScenarioError> {
        let located = |prefix: &'static str| move |fault: Fault| locate(root, prefix, fault);
        let servers = resolve_servers(&scenario.servers).map_err(located("servers"))?;
        let dispatchers = resolve_dispatchers(&scenario.dispatchers).map_err(|fault| {
            let prefix = if matches!(scenario.dispatchers, DispatchersSpec::Shares(_)) { ".shares" } else { "" };
            locate(root, &format!("dispatchers{prefix}"), fault)
        })?;
        let (window, choose) = resolve_window(&scenario, &servers).map_err(located("run"))?;
        let goal = resolve_goal(&scenario.run).map_err(located("run"))?;
        let batching = resolve_batching(&scenario).map_err(located("run"))?;
        let arrivals =
            arrivals::resolve(&mut scenario, &servers, dispatchers.len(), window.close, folder).map_err(located(""))?;
        mean_one(&scenario.service, "the speed of a server is its rate").map_err(located("service"))?;
        let buffer = match scenario.buffer {
            None => None,
            Some(buffer) => Some(u32::try_from(buffer.get()).map_err(|_| {
                let rule = format!("must be at most {}", u32::MAX);
                locate(root, "buffer", Fault::new(rule, "drop the key for an unlimited buffer"))
            })?),
        };
        let mut system = System {
            servers,
            dispatchers,
            arrivals,
            service: scenario.service.clone(),
            buffer,
            initial: Initial::Empty,
        };
        let policy = Policy {
            dispatch: scenario.policy.dispatch.clone(),
            information: scenario.policy.information.clone(),
            count_own_jobs: scenario.policy.count_own_jobs,
            per_probe: scenario.policy.per_probe.get(),
        };
        policy.validate(&system).map_err(located("policy"))?;
        let slots = resolve_slots(&mut scenario, &system, &policy).map_err(located(""))?;
        system.initial = initial(&scenario.initial, &system, &policy).map_err(located("initial"))?;
        let engine = resolve_engine(&mut scenario, &system, &policy).map_err(located(""))?;
        let time = scenario.run.time.given().map_or(window.length(), Positive::get);
        check_clock(&system, window, time).map_err(located("run"))?;
        for (i, &q) in scenario.measure.quantiles.iter().enumerate() {
            if !(0.0..=1.0).contains(&q) {
                let fault = Fault::at(format!("[{i}]"), "must be a number from 0 to 1", "write for example 0.99");
                return Err(locate(root, "measure.quantiles", fault));
            }
        }
        check_grid(&scenario.measure, window).map_err(located("measure.trajectory"))?;
        let window_is_known = scenario.run.time.given().is_some();
        check_snapshots(&scenario.measure, window, window_is_known, system.servers.len())
            .map_err(located("measure.snapshots"))?;
        check_choice(&scenario, choose).map_err(located("run"))?;
        if let ServersSpec::Classes(classes) = &mut scenario.servers {
            for (class, resolved) in classes.iter_mut().zip(system.servers.classes()) {
                class.name = Some(resolved.name.clone());
            }
        }
        // The resolved scenario may be saved under another file name.
        let name = scenario.name.get_or_insert_with(|| fallback_name.to_owned()).clone();
        Ok(Self {
            name,
            system,
            slots,
            policy,
            engine,
            window,
            choose,
            goal,
            batching,
            replications: scenario.run.replications.get(),
            seed: scenario.run.seed,
            confidence: scenario.run.confidence,
            measure: scenario.measure.clone(),
            scenario,
        })
    }

    /// The resolved scenario as YAML, which reads back as itself.
    pub fn to_yaml(&self) -> String {
        let mut value = serde_json::to_value(&self.scenario).expect("scenarios have text keys and finite numbers");
        shorten(&mut value);
        serde_yaml::to_string(&value).expect("what JSON can hold, YAML can")
    }

    /// The mean-field limit of the scenario, where one is known.
    pub fn mean_field(&self) -> Option<MeanField> {
        self.limit().ok()
    }

    /// The mean-field limit of the scenario, or why none is known.
    ///
    /// # Errors
    /// The reason.
    pub fn limit(&self) -> Result<MeanField, String> {
        match self.slots {
            Some(_) => Err("the mean-field limit is in continuous time".into()),
            None => MeanField::new(&self.system, &self.policy),
        }
    }

    /// What theory predicts for the metrics of a run.
    pub fn predictions(&self) -> Predictions {
        Predictions::new(&self.system, &self.policy, self.slots.as_ref(), QUICK)
    }

    /// All that theory says, and why the rest is not known; at most so many states of a small system are followed.
    pub fn theory(&self, most_states: usize) -> Report {
        let regime = self.scenario.many_server.as_ref();
        let load = regime.map(|regime| ManyServerLoad { beta: regime.beta.get(), gamma: regime.gamma.get() });
        Report::new(&self.system, &self.policy, self.slots.as_ref(), load, &self.measure.quantiles, most_states)
    }

    /// About how many bytes of memory one replication takes.
    pub fn memory(&self) -> f64 {
        self.needs().estimate(self.engine.kind)
    }

    /// What would take less memory: another engine where one can do the scenario, or a smaller system.
    pub fn with_less_memory(&self) -> String {
        self.needs().remedy(self.engine.kind)
    }

    /// What the theorems of the LED paper say about the scenario.
    pub fn theorems(&self) -> Theorems {
        Theorems::new(&self.system, &self.policy, self.slots.as_ref())
    }

    /// Servers that get at least the work they can do under this policy, whatever the view, although all servers
    /// together could do it. With limited buffers there is always a steady state, and none are named.
    pub fn overload(&self) -> Option<Overload> {
        let enough = self.system.buffer.is_none() && self.system.load() < 1.0;
        if enough { Overload::new(&self.system, &self.policy.dispatch) } else { None }
    }

    /// Whether work arrives at least as fast as it can be done and nothing is lost, at all servers together or at some
    /// that the policy cannot spare, so that a steady state cannot be counted on.
    pub fn is_overloaded(&self) -> bool {
        self.system.buffer.is_none() && self.system.load() >= 1.0 || self.overload().is_some()
    }

    /// Why there is no steady state, when that is known. At a load of exactly 1 queues need not grow in proportion to
    /// time, nor at all when nothing is random.
    fn no_steady_state(&self) -> Option<String> {
        if !self.is_overloaded() {
            return None;
        }
        let (what, load) = match self.overload() {
            Some(overload) => (overload.to_string(), overload.load),
            None => (format!("the load is {}", self.system.load()), self.system.load()),
        };
        let finding = if load > 1.0 + 1e-12 {
            "the system is not stable, its queues grow without end"
        } else {
            "there is no steady state to count on"
        };
        Some(format!("{what}: {finding}, and the results describe this run only; intervals are withheld"))
    }

    /// Doubts about the scenario that can be had before it runs.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if let Some(why) = self.no_steady_state() {
            warnings.push(Warning::new("not_stable", why));
        }
        if self.replications == 1 && self.goal.is_none() && self.batching.is_none() {
            warnings.push(Warning::new(
                "one_replication",
                "one replication gives no confidence interval, and policies cannot be compared; set run.replications to 10 or \
                 so",
            ));
        }
        if let Process::Trace(trace) = &self.system.arrivals.process
            && trace.last().is_none_or(|last| last < self.window.close)
        {
            let last = trace.last().map_or("holds no job".to_owned(), |last| format!("ends at {last}"));
            let close = self.window.close;
            warnings.push(Warning::new(
                "trace_ends",
                format!("the trace {last}, before the run ends at {close}: no job arrives after that"),
            ));
        }
        if self.window.open == 0.0 && !self.choose.warmup && self.scenario.initial == InitialSpec::Empty {
            warnings.push(Warning::new(
                "no_warmup",
                "measuring starts with the empty system, so delays are biased low; set run.warmup",
            ));
        }
        let renewal = match &self.system.arrivals.process {
            Process::Renewal(law) => Some(("arrivals.renewal", law)),
            _ => None,
        };
        for (key, law) in renewal.into_iter().chain([("service", &self.system.service)]) {
            if law.variance() == f64::INFINITY {
                warnings.push(Warning::new(
                    "heavy_tail",
                    format!(
                        "the law of {key} has infinite variance: a few draws decide every mean, and confidence \
                         intervals of means are not reliable; trust quantiles, or set alpha above 2"
                    ),
                ));
            }
        }
        warnings
    }
}

/// Turns a fault below `prefix` into a located error.
pub(super) fn locate(root: &Node, prefix: &str, fault: Fault) -> ScenarioError {
    let dot = if prefix.is_empty() || fault.path.is_empty() || fault.path.starts_with('[') { "" } else { "." };
    let path = format!("{prefix}{dot}{}", fault.path);
    let node = root.nearest(&path);
    let value = match (&node.value, root.get(&path)) {
        (Value::Scalar { text, .. }, Some(_)) => Some(text.clone()),
        _ => None,
    };
    ScenarioError { mark: node.mark.clone(), path, value, rule: fault.rule, remedy: fault.remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinite_variance_is_warned_of() {
        let text = "servers: 2\nload: 0.5\npolicy: {dispatch: random}\nrun: {warmup: 1, time: 10}\n";
        let warned = |law: &str| -> Vec<String> {
            let plan = Plan::read(text, "text", "test", &[law.to_owned()]).unwrap_or_else(|error| panic!("{error}"));
            plan.warnings().into_iter().filter(|doubt| doubt.code == "heavy_tail").map(|doubt| doubt.message).collect()
        };
        for key in ["service", "arrivals.renewal"] {
            let heavy = warned(&format!("{key}={{pareto: {{alpha: 2, mean: 1}}}}"));
            assert!(heavy.len() == 1 && heavy[0].contains(key), "{heavy:?}");
            assert!(warned(&format!("{key}={{pareto: {{alpha: 2.1, mean: 1}}}}")).is_empty());
        }
    }
    #[test]
    fn an_overloaded_class_is_warned_of() {
        let text = "servers: [{count: 2, rate: 1}, {count: 2, rate: 3}]\nload: 0.8\npolicy: {dispatch: random}\n\
                    run: {warmup: 1, time: 10}\n";
        let unstable = |overrides: &[&str]| -> Option<String> {
            let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
            let plan = Plan::read(text, "text", "test", &overrides).unwrap_or_else(|error| panic!("{error}"));
            let warning = plan.warnings().into_iter().find(|doubt| doubt.code == "not_stable");
            assert_eq!(warning.is_some(), plan.is_overloaded());
            warning.map(|warning| warning.message)
        };
        for blind in ["random", "round_robin", "{power_of_d: {d: 1}}", "{one_plus_beta: {beta: 0}}"] {
            let blind = format!("policy.dispatch={blind}");
            // Each server gets 1.6 of 6.4.
            let message = unstable(&[&blind]).expect("servers of rate 1 are overloaded");
            assert!(message.contains("50 % of the jobs") && message.contains("grow without end"), "{message}");
            let message = unstable(&[&blind, "load=0.5"]).expect("their load is 1");
            assert!(message.contains("load 1:") && message.contains("no steady state"), "{message}");
            assert!(!message.contains("grow"), "{message}");
            assert_eq!(unstable(&[&blind, "load=0.49"]), None);
            assert_eq!(unstable(&[&blind, "buffer=5"]), None);
            assert_eq!(unstable(&[&blind, "servers=4"]), None);
        }
        assert_eq!(unstable(&["policy.dispatch=weighted_random"]), None);
        assert_eq!(unstable(&["policy.dispatch=shortest"]), None);
        let full = unstable(&["policy.dispatch=shortest", "load=1"]).expect("no room is left");
        assert!(full.contains("the load is 1: there is no steady state"), "{full}");
    }
}

//! `herdsim check`: the resolved scenario and what is wrong with it.

use super::load::Source;
use super::{Failure, print};
use clap::Args;
use std::fmt::Write;

/// Arguments of `herdsim check`.
#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    source: Source,
}

impl Check {
    /// Prints the scenario as YAML; what is known about it stands in comments, so that the output is a scenario too.
    pub(super) fn execute(self) -> Result<(), Failure> {
        let plan = self.source.plan()?;
        let system = &plan.system;
        let mut text = plan.to_yaml();
        let jobs = system.arrivals.rate * plan.window.close * plan.replications as f64;
        let lines = [
            ("servers", system.servers.len().to_string()),
            ("dispatchers", system.dispatchers.len().to_string()),
            ("total service rate", system.servers.total_rate().to_string()),
            ("total arrival rate", system.arrivals.rate.to_string()),
            ("load", system.load().to_string()),
            ("engine", format!("{}; {}", plan.engine.kind.name(), plan.engine.why)),
            ("memory per replication", format!("about {:.1} MiB", plan.memory() / f64::from(1 << 20))),
            ("jobs expected", format!("{jobs:.3e} in {} replications, warm-up included", plan.replications)),
        ];
        // A string takes every line.
        let _ = writeln!(text, "#");
        for (name, value) in lines {
            let _ = writeln!(text, "# {name}: {value}");
        }
        for line in plan.theorems().lines() {
            let _ = writeln!(text, "# {line}");
        }
        for warning in plan.warnings() {
            let _ = writeln!(text, "# warning: {}", warning.message);
        }
        print(&text)
    }
}

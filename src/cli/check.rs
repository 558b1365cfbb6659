//! `herdsim check`: the resolved scenario and what is wrong with it.

use super::load::Source;
use super::{Failure, print};
use crate::scenario::Plan;
use clap::Args;
use std::fmt::Write;

/// Points of a sweep of which is told what is known.
const TOLD: usize = 20;

/// Arguments of `herdsim check`.
#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    source: Source,
}

impl Check {
    /// Prints the scenario as YAML; what is known about it stands in comments, so that the output is a scenario too.
    pub(super) fn execute(self) -> Result<(), Failure> {
        let study = self.source.study()?;
        let mut text = study.to_yaml();
        // A string takes every line.
        if let [only] = &study.points[..] {
            let _ = writeln!(text, "#");
            describe(&only.plan, &mut text);
        } else {
            let _ = writeln!(text, "#\n# points: {}", study.points.len());
        }
        if study.points.len() > 1 {
            for (i, point) in study.points.iter().enumerate().take(TOLD) {
                let _ = writeln!(text, "#\n# point {i}: {}", study.place(i));
                describe(&point.plan, &mut text);
            }
            if study.points.len() > TOLD {
                let _ = writeln!(text, "#\n# and {} points more", study.points.len() - TOLD);
            }
        }
        print(&text)
    }
}

/// What is known of a point before it runs.
fn describe(plan: &Plan, text: &mut String) {
    let system = &plan.system;
    let replications = match &plan.goal {
        None => format!("{} replications", plan.replications),
        Some(goal) => format!("{} replications or more, at most {}", plan.replications, goal.max_replications),
    };
    let jobs = system.arrivals.rate * plan.window.close * plan.replications as f64;
    let jobs = if plan.choose.any() {
        format!("pilot runs choose the window; {replications}")
    } else {
        format!("{jobs:.3e} in {replications}, warm-up included")
    };
    let lines = [
        ("servers", system.servers.len().to_string()),
        ("dispatchers", system.dispatchers.len().to_string()),
        ("total service rate", system.servers.total_rate().to_string()),
        ("total arrival rate", system.arrivals.rate.to_string()),
        ("load", system.load().to_string()),
        ("engine", format!("{}; {}", plan.engine.kind.name(), plan.engine.why)),
        ("memory per replication", format!("about {:.1} MiB", plan.memory() / f64::from(1 << 20))),
        ("jobs expected", jobs),
    ];
    for (name, value) in lines {
        let _ = writeln!(text, "# {name}: {value}");
    }
    for line in plan.theorems().lines() {
        let _ = writeln!(text, "# {line}");
    }
    for warning in plan.warnings() {
        let _ = writeln!(text, "# warning: {}", warning.message);
    }
}

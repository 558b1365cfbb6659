//! `herdsim run`: simulate a scenario, write its results, print the main ones.

use super::load::Source;
use super::progress::Progress;
use super::table::table;
use super::{Failure, print};
use crate::engine::EngineError;
use crate::experiment;
use crate::output::{Directory, portable_name};
use crate::stats::Warning;
use clap::Args;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Arguments of `herdsim run`.
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    source: Source,
    /// The directory for the results [default: results/<scenario name>].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace results that are already in the directory.
    #[arg(short, long)]
    force: bool,
    /// Threads to run replications on [default: one per core]; the results do not depend on it.
    #[arg(short, long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print the estimates as JSON on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
    /// Show no progress bar.
    #[arg(short, long)]
    quiet: bool,
}

impl Run {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let plan = self.source.plan()?;
        let output = self.output.unwrap_or_else(|| Path::new("results").join(portable_name(&plan.name)));
        let directory = Directory::claim(&output, self.force).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => Failure::Input(error.to_string()),
            _ => Failure::Outside(error.to_string()),
        })?;
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let threads = self.threads.unwrap_or(cores);
        tracing::info!(name = plan.name, %threads, replications = plan.replications, "run starts");
        let progress = Progress::new(plan.replications, self.quiet);
        let ran = experiment::run(&plan, threads, &progress);
        progress.finish();
        let results = ran.map_err(|error| {
            directory.abandon();
            match error {
                EngineError::Trace(error) => Failure::Input(error.to_string()),
                error => Failure::Outside(error.to_string()),
            }
        })?;
        if results.replications.is_empty() {
            directory.abandon();
            return Err(Failure::Interrupted);
        }
        directory.write(&results)?;
        warn(&results.manifest.warnings);
        if self.json {
            let json = serde_json::to_string_pretty(&results.estimates)
                .map_err(|error| Failure::Outside(error.to_string()))?;
            print(&format!("{json}\n"))?;
        } else {
            let manifest = &results.manifest;
            // A name may hold anything; a terminal gets none of its control codes.
            let name: String = manifest.name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            print(&format!(
                "{name}: {} jobs in {} of {} after a warm-up of {}, seed {}, {} engine, {:.1} s\n{}\n\
                 Results are in {}\n",
                manifest.jobs.arrived,
                match manifest.replications {
                    1 => "1 replication".to_owned(),
                    count => format!("{count} replications"),
                },
                plan.scenario.run.time.get(),
                manifest.window_open,
                manifest.seed,
                manifest.engine,
                manifest.duration_seconds,
                table(&results),
                directory.path().display()
            ))?;
        }
        if progress.interrupted() { Err(Failure::Interrupted) } else { Ok(()) }
    }
}

/// Nothing is lost if standard error is gone: the manifest has the warnings too.
fn warn(warnings: &[Warning]) {
    let mut out = io::stderr().lock();
    for warning in warnings {
        let _ = writeln!(out, "warning: {}", warning.message);
    }
}

//! Reading a scenario as the run and check commands name it.

use super::Failure;
use crate::scenario::{DEFAULT, Plan, ScenarioError};
use clap::Args;
use std::path::PathBuf;

/// Largest scenario file that is read; people write a few kilobytes.
const LARGEST: u64 = 16 << 20;

/// Which scenario, and what to change in it.
#[derive(Debug, Args)]
pub(super) struct Source {
    /// The scenario file; without one, the supermarket model with 1,000 servers.
    file: Option<PathBuf>,
    /// Override a key, for example --set load=0.95 or --set policy.dispatch=shortest; may be repeated. Nothing
    /// behind the = takes the key away.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    overrides: Vec<String>,
}

impl Source {
    /// Reads and resolves the scenario.
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        self.read(Plan::read)
    }

    /// The same for a scenario that is not run, however many servers it has.
    pub(super) fn plan_for_theory(&self) -> Result<Plan, Failure> {
        self.read(Plan::read_for_theory)
    }

    fn read(&self, read: impl Fn(&str, &str, &str, &[String]) -> Result<Plan, ScenarioError>) -> Result<Plan, Failure> {
        let plan = match &self.file {
            None => read(DEFAULT, "built-in scenario", "supermarket", &self.overrides),
            Some(path) => {
                let name = path.display().to_string();
                let told = |reason: String| Failure::Input(format!("{name}: {reason}"));
                let size = std::fs::metadata(path).map_err(|error| told(error.to_string()))?;
                if size.is_dir() {
                    return Err(told("is a directory\n  help: name a scenario file".into()));
                }
                if size.len() > LARGEST {
                    return Err(told(format!("is larger than {} MiB\n  help: name a scenario file", LARGEST >> 20)));
                }
                let bytes = std::fs::read(path).map_err(|error| told(error.to_string()))?;
                let text = String::from_utf8(bytes).map_err(|error| {
                    let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|&b| b == b'\n').count();
                    told(format!("line {line}: is not UTF-8 text\n  help: save the file as UTF-8"))
                })?;
                let stem = path.file_stem().map_or("scenario".into(), |stem| stem.to_string_lossy());
                read(&text, &name, &stem, &self.overrides)
            }
        };
        plan.map_err(|error| Failure::Input(error.to_string()))
    }
}

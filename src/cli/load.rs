//! Reading a scenario as the run and check commands name it.

use super::Failure;
use crate::scenario::{Changes, DEFAULT, ScenarioError, Study};
use clap::Args;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest scenario file that is read; people write a few kilobytes.
const LARGEST: u64 = 16 << 20;

/// Errors of a sweep that are shown; each may stand for many points.
const SHOWN: usize = 20;

/// Which scenario, and what to change in it.
#[derive(Debug, Args)]
pub(super) struct Source {
    /// The scenario file; without one, the supermarket model with 1,000 servers.
    file: Option<PathBuf>,
    /// Override a key, for example --set load=0.95 or --set policy.dispatch=shortest; may be repeated. Nothing
    /// behind the = takes the key away.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    overrides: Vec<String>,
    /// The seed of all random numbers, as --set run.seed=N.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<String>,
    /// Run the scenario for each value of a key: --sweep load=0.5,0.9,0.95 or --sweep servers=10..10000:log:7; several
    /// keys are crossed.
    #[arg(long, value_name = "PATH=VALUES")]
    sweep: Vec<String>,
    /// As --sweep, but the keys change together: their first values, their second values, ...
    #[arg(long, value_name = "PATH=VALUES")]
    zip: Vec<String>,
    /// A short version: with the changes that the scenario names under `quick`, or else a tenth of run.time and at most three
    /// replications. Its name, and so the directory of its results, ends with -quick; --set and others come after.
    #[arg(long)]
    quick: bool,
}

impl Source {
    /// Reads and resolves the scenario.
    pub(super) fn study(&self) -> Result<Study, Failure> {
        self.read(&[], false)
    }

    /// The same for a scenario that is not run, however many servers it has.
    pub(super) fn study_for_theory(&self) -> Result<Study, Failure> {
        self.read(&[], true)
    }

    /// Reads and resolves the scenario, to compare these policies, or those that it names itself.
    pub(super) fn study_comparing(&self, policies: &[String]) -> Result<Study, Failure> {
        self.read(policies, false)
    }

    /// The scenario file, if one is named.
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    fn read(&self, policies: &[String], theory_only: bool) -> Result<Study, Failure> {
        let seed = self.seed.iter().map(|seed| format!("run.seed={seed}"));
        let overrides: Vec<String> = self.overrides.iter().cloned().chain(seed).collect();
        let changes =
            Changes { set: &overrides, sweep: &self.sweep, zip: &self.zip, policies, quick: self.quick, theory_only };
        let read = match &self.file {
            None => Study::read(DEFAULT, "built-in scenario", "supermarket", changes),
            Some(path) => {
                let name = path.display().to_string();
                let told = |reason: String| Failure::Input(format!("{name}: {reason}"));
                let size = std::fs::metadata(path).map_err(|error| told(error.to_string()))?;
                if size.is_dir() {
                    return Err(told("is a directory\n  help: name a scenario file".into()));
                }
                // A pipe or a device does not say how much will come.
                let mut bytes = Vec::new();
                let mut file = File::open(path).map_err(|error| told(error.to_string()))?.take(LARGEST + 1);
                file.read_to_end(&mut bytes).map_err(|error| told(error.to_string()))?;
                if size.len().max(bytes.len() as u64) > LARGEST {
                    return Err(told(format!("is larger than {} MiB\n  help: name a scenario file", LARGEST >> 20)));
                }
                let text = String::from_utf8(bytes).map_err(|error| {
                    let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|&b| b == b'\n').count();
                    told(format!("line {line}: is not UTF-8 text\n  help: save the file as UTF-8"))
                })?;
                let stem = path.file_stem().map_or("scenario".into(), |stem| stem.to_string_lossy());
                Study::read(&text, &name, &stem, changes)
            }
        };
        read.map_err(|errors| Failure::Input(all(&errors)))
    }
}

/// All errors, one after the other.
fn all(errors: &[ScenarioError]) -> String {
    let mut lines: Vec<String> = errors.iter().take(SHOWN).map(ToString::to_string).collect();
    if errors.len() > SHOWN {
        lines.push(format!("and {} more", errors.len() - SHOWN));
    }
    lines.join("\nerror: ")
}

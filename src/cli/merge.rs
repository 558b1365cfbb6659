//! `herdsim merge`: the tables of an experiment from the cells of its shares.

use super::Failure;
use super::finished::collect;
use super::run::{Wish, report};
use crate::experiment::{self, Experiment, Shard};
use crate::output::{Claim, Directory, Format};
use clap::Args;
use std::path::{Path, PathBuf};

/// Arguments of `herdsim merge`.
#[derive(Debug, Args)]
pub(super) struct Merge {
    /// Directories that shares of one experiment were run in; one that all shared will do.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// The directory for the results; it may be left out when there is one directory only.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace results that are already in the output directory.
    #[arg(short, long)]
    force: bool,
    /// Write tables although cells are missing.
    #[arg(long)]
    incomplete: bool,
    /// Formats of the tables: csv, json, parquet; several with commas.
    #[arg(long, value_name = "FORMATS", value_delimiter = ',', default_value = "csv")]
    format: Vec<Format>,
    /// Print the estimates as JSON on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
    /// Also write report.html, one file to be read in any browser.
    #[arg(long)]
    report: bool,
}

impl Merge {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let (study, cells) = collect(&self.folders)?;
        let mut experiment = Experiment::new(&study, cells, Shard::WHOLE)?;
        let missing = experiment.missing();
        if missing > 0 && !self.incomplete {
            return Err(Failure::Input(format!(
                "{missing} cells are missing: a share has not been run to its end\n  help: run it with --resume, name \
                 its directory too, or use --incomplete"
            )));
        }
        let same = |one: &Path, other: &Path| {
            one.canonicalize().ok().zip(other.canonicalize().ok()).is_some_and(|(one, other)| one == other)
        };
        let folder = match (&self.output, &self.folders[..]) {
            // Cells that are to be merged are not to be replaced.
            (Some(output), folders) if folders.iter().any(|folder| same(folder, output)) => output.clone(),
            (Some(output), _) => {
                let claim = if self.force { Claim::Replace } else { Claim::Fresh };
                let (directory, own) = Directory::claim(output, claim, (0, 1), experiment::origin(&study))?;
                drop(own);
                directory.tidy(experiment.cells())?;
                directory.path().to_owned()
            }
            (None, [only]) => only.clone(),
            (None, _) => {
                let message = "there are several directories\n  help: name the one for the results with -o";
                return Err(Failure::Input(message.to_owned()));
            }
        };
        let wish = Wish { formats: &self.format, json: self.json, report: self.report, plot: false };
        report(&mut experiment, &study, &folder, wish)
    }
}

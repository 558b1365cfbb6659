//! `herdsim report`: one HTML file of the results in a directory.

use super::finished::collect;
use super::{Failure, print};
use crate::experiment::{Experiment, Shard};
use crate::output::figure::Figures;
use crate::output::report::{Made, Report as Html, write_report};
use crate::output::{Comparison, MANIFEST, Results, Summary};
use crate::scenario::Study;
use clap::Args;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// The file in a results directory.
const NAME: &str = "report.html";

/// Arguments of `herdsim report`.
#[derive(Debug, Args)]
pub(super) struct Report {
    /// The results directory of a run.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The file to write [default: report.html in the directory].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Report {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let Self { folder, output } = self;
        let output = output.unwrap_or_else(|| folder.join(NAME));
        if output.is_dir() {
            let message = format!("{}: is a directory\n  help: name a file, such as report.html", output.display());
            return Err(Failure::Input(message));
        }
        let (study, cells) = collect(std::slice::from_ref(&folder))?;
        let mut experiment = Experiment::new(&study, cells, Shard::WHOLE)?;
        let missing = experiment.missing();
        let page = RefCell::new(Page::new(&study));
        experiment.results(
            |results| {
                page.borrow_mut().add(&results);
                Ok(())
            },
            |rows| {
                page.borrow_mut().compare(&rows);
                Ok(())
            },
        )?;
        page.into_inner().write(&output, &made(&folder), missing)?;
        print(&format!("The report is {}\n", output.display()))
    }
}

/// When the results were made: what their manifest says, if it is there.
fn made(folder: &Path) -> Made {
    let manifest = std::fs::read(folder.join(MANIFEST)).ok();
    let manifest: serde_json::Value =
        manifest.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    Made {
        started: manifest["started"].as_str().map(str::to_owned),
        duration_seconds: manifest["duration_seconds"].as_f64(),
    }
}

/// A report with its figures, gathered point by point.
pub(super) struct Page<'a> {
    report: Html<'a>,
    figures: Figures<'a>,
}

impl<'a> Page<'a> {
    pub(super) fn new(study: &'a Study) -> Self {
        Self { report: Html::new(study), figures: Figures::all(study) }
    }

    pub(super) fn add(&mut self, results: &Results) {
        self.report.add(results);
        self.figures.add(results);
    }

    pub(super) fn compare(&mut self, rows: &[Comparison]) {
        self.report.compare(rows);
    }

    /// Writes the report of a run into its directory; where it is.
    pub(super) fn write_beside(self, folder: &Path, summary: &Summary, missing: u64) -> Result<PathBuf, Failure> {
        let first = summary.manifests().next();
        let made = Made {
            started: first.map(|manifest| manifest.started.clone()),
            duration_seconds: first.map(|manifest| manifest.duration_seconds),
        };
        let path = folder.join(NAME);
        self.write(&path, &made, missing)?;
        Ok(path)
    }

    fn write(self, path: &Path, made: &Made, missing: u64) -> Result<(), Failure> {
        let page = self.report.finish(&self.figures.finish(), made, missing);
        write_report(path, &page)?;
        Ok(())
    }
}

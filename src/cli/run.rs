//! `herdsim run`: simulate a scenario, write its results, print the main ones.

use super::load::Source;
use super::progress::Progress;
use super::report::Page;
use super::shard::ShardArgument;
use super::tables::Tables;
use super::{Failure, memory, plot, print};
use crate::engine::EngineError;
use crate::experiment::{self, Experiment, RunError, Shard};
use crate::output::figure::Figures;
use crate::output::{Claim, Directory, DirectoryError, FIGURES, Files, Format, PictureFormat, portable_name};
use crate::scenario::Study;
use clap::Args;
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Arguments of `herdsim run`.
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    options: Options,
}

/// Where and how to run.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The directory for the results [default: results/<scenario name>].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace results that are already in the directory.
    #[arg(short, long, conflicts_with = "resume")]
    force: bool,
    /// Go on with the run in the directory: cells that are finished there count; without any, start.
    #[arg(short, long)]
    resume: bool,
    /// Run a share of the cells only: 2/5 is the second of five; auto or auto/5 takes the number from the job array of
    /// Slurm and others. Then bring the shares together with `herdsim merge`.
    #[arg(long, value_name = "I/N")]
    shard: Option<ShardArgument>,
    /// Formats of the tables: csv, json, parquet; several with commas.
    #[arg(long, value_name = "FORMATS", value_delimiter = ',', default_value = "csv")]
    format: Vec<Format>,
    /// Threads to run cells on [default: one per core, fewer if memory is short]; the results do not depend on it.
    #[arg(short, long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    threads: Option<NonZeroUsize>,
    /// Print the estimates as JSON on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
    /// Also write report.html, one file to be read in any browser.
    #[arg(long, conflicts_with = "shard")]
    report: bool,
    /// Make the figures that the scenario names under `plot`, or those that suit, in DIR/figures.
    #[arg(long, conflicts_with = "shard")]
    plot: bool,
    /// Show no progress.
    #[arg(short, long)]
    quiet: bool,
}

impl Run {
    pub(super) fn execute(self) -> Result<(), Failure> {
        self.options.execute(&self.source.study()?, self.source.file())
    }
}

impl Options {
    /// Runs a study.
    pub(super) fn execute(self, study: &Study, input: Option<&Path>) -> Result<(), Failure> {
        let shard = match &self.shard {
            None => Shard::WHOLE,
            Some(argument) => argument.shard().map_err(Failure::Input)?,
        };
        let threads = memory::threads(study, self.threads)?;
        let output = self.output.clone().unwrap_or_else(|| Path::new("results").join(portable_name(&study.name)));
        let resolved = output.join("scenario.yaml").canonicalize().ok();
        if let (Some(input), true) = (input, resolved.is_some())
            && input.canonicalize().ok() == resolved
            && !self.resume
        {
            // The results have a scenario.yaml of their own, which would take its place.
            let message =
                format!("{}: would be replaced by results\n  help: name another directory with -o", input.display());
            return Err(Failure::Input(message));
        }
        let folder = output.canonicalize().ok();
        let inside = |file: &&Path| {
            folder.is_some() && file.canonicalize().ok().as_deref().and_then(Path::parent) == folder.as_deref()
        };
        if let Some(trace) = study.points.iter().filter_map(|point| point.plan.trace()).find(inside) {
            let message = format!(
                "{}: is where the results go, which could take its place\n  help: name another directory with -o",
                trace.display()
            );
            return Err(Failure::Input(message));
        }
        let claim = match (self.force, self.resume) {
            (true, _) => Claim::Replace,
            (_, true) => Claim::Resume,
            _ => Claim::Fresh,
        };
        let origin = experiment::origin(study);
        let (directory, cells) = Directory::claim(&output, claim, (shard.index, shard.of), origin)?;
        let mut experiment = Experiment::new(study, cells, shard)?;
        let now = experiment.progress();
        tracing::info!(name = study.name, %threads, cells = now.wanted, done = now.done, "run starts");
        let progress = Progress::new(now, self.quiet);
        let ran = experiment.run(threads, &progress);
        progress.finish();
        ran.map_err(|error| {
            directory.abandon(experiment.cells());
            match error {
                RunError::Engine(EngineError::Trace(error)) => Failure::Input(error.to_string()),
                error => Failure::Outside(error.to_string()),
            }
        })?;
        if experiment.cells().is_empty() && progress.interrupted() {
            directory.abandon(experiment.cells());
            return Err(Failure::Interrupted);
        }
        directory.tidy(experiment.cells())?;
        if shard == Shard::WHOLE {
            let wish = Wish { formats: &self.format, json: self.json, report: self.report, plot: self.plot };
            report(&mut experiment, study, directory.path(), wish)?;
        } else {
            let now = experiment.progress();
            let path = directory.path().display();
            print(&format!("{} of {} cells of share {shard} are in {path}\n", now.done, now.wanted))?;
        }
        if progress.interrupted() { Err(Failure::Interrupted) } else { Ok(()) }
    }
}

fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "must be a whole number of at least 1".to_owned())
}

/// What is made of the results.
#[derive(Clone, Copy)]
pub(super) struct Wish<'a> {
    /// Formats of the tables.
    pub(super) formats: &'a [Format],
    /// Whether JSON is printed, and nothing else.
    pub(super) json: bool,
    /// Whether there is a report.
    pub(super) report: bool,
    /// Whether there are figures.
    pub(super) plot: bool,
}

/// Writes all files, and prints what is worth a glance.
pub(super) fn report(
    experiment: &mut Experiment<'_>,
    study: &Study,
    folder: &Path,
    wish: Wish<'_>,
) -> Result<(), Failure> {
    let missing = if wish.report { experiment.missing() } else { 0 };
    let page = wish.report.then(|| RefCell::new(Page::new(study)));
    let mut files = Files::create(folder, study, wish.formats)?;
    let mut tables = Tables::new(study, wish.json)?;
    let mut figures = wish.plot.then(|| Figures::new(study));
    let mut compared = Vec::new();
    experiment.results(
        |results| {
            files.add(&results)?;
            if let Some(page) = &page {
                page.borrow_mut().add(&results);
            }
            if let Some(figures) = &mut figures {
                figures.add(&results);
            }
            tables.add(results)
        },
        |rows| {
            if let Some(page) = &page {
                page.borrow_mut().compare(&rows);
            }
            compared.extend(rows);
            Ok(())
        },
    )?;
    files.compare(&compared)?;
    let summary = files.finish()?;
    let page = page.map(|page| page.into_inner().write_beside(folder, &summary, missing)).transpose()?;
    tables.print(&summary, &compared, folder, page.as_deref())?;
    let Some(figures) = figures else { return Ok(()) };
    let made = plot::write(&figures.finish(), &folder.join(FIGURES), &[PictureFormat::Svg])?;
    if wish.json { Ok(()) } else { print(&made) }
}

impl From<DirectoryError> for Failure {
    fn from(error: DirectoryError) -> Self {
        match error {
            DirectoryError::Taken(message) => Self::Input(message),
            DirectoryError::Io(error) => Self::Outside(error.to_string()),
        }
    }
}

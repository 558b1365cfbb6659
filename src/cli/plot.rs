//! `herdsim plot`: figures of results that are there.

use super::finished::collect;
use super::{Failure, print};
use crate::experiment::{Experiment, Shard};
use crate::model::Fault;
use crate::output::figure::{Figure, Figures};
use crate::output::{FIGURES, PictureFormat, write_figure};
use crate::scenario::{FigureName, Quantity, Reference, Study, Wanted};
use clap::Args;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Arguments of `herdsim plot`.
#[derive(Debug, Args)]
pub(super) struct Plot {
    /// Directories with results, or with shares of them.
    #[arg(required_unless_present = "list", value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Formats of the figures: svg, png, pdf; several with commas.
    #[arg(long, value_name = "FORMATS", value_delimiter = ',', default_value = "svg")]
    format: Vec<PictureFormat>,
    /// A figure, for example --figure tail_fraction or --figure 'regret_mean against load'; may be repeated. Without any,
    /// those that the scenario names under `plot`, or those that suit.
    #[arg(long, value_name = "NAME")]
    figure: Vec<String>,
    /// The folder for the figures [default: figures in the first directory].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print what figures there are, and make none.
    #[arg(long)]
    list: bool,
}

impl Plot {
    pub(super) fn execute(self) -> Result<(), Failure> {
        if self.list {
            return print(&list());
        }
        let (study, cells) = collect(&self.folders)?;
        let figures = match &self.figure[..] {
            [] => Figures::new(&study),
            names => Figures::of(&study, wanted(names, &study)?),
        };
        let mut experiment = Experiment::new(&study, cells, Shard::WHOLE)?;
        let missing = experiment.missing();
        if missing > 0 {
            // Nothing is lost if standard error is gone.
            let _ = writeln!(io::stderr(), "warning: {missing} cells are missing, and the figures are of the others");
        }
        let mut figures = figures;
        let add = |results| {
            figures.add(&results);
            Ok(())
        };
        experiment.results(add, |_| Ok(()))?;
        let folder = self.output.unwrap_or_else(|| self.folders[0].join(FIGURES));
        print(&write(&figures.finish(), &folder, &self.format)?)
    }
}

/// Writes figures, and tells which.
pub(super) fn write(figures: &[Figure], folder: &Path, formats: &[PictureFormat]) -> Result<String, Failure> {
    let mut text = String::new();
    for figure in figures {
        for file in write_figure(folder, figure, formats)? {
            let empty = if figure.is_empty() { ": there is nothing to draw" } else { "" };
            let _ = writeln!(text, "{}{empty}", file.display());
        }
    }
    if figures.is_empty() {
        text.push_str("No figure suits these results; name one with --figure\n");
    }
    Ok(text)
}

/// The figures that are named on the command line.
fn wanted(names: &[String], study: &Study) -> Result<Vec<Wanted>, Failure> {
    let mut all: Vec<Wanted> = Vec::new();
    for name in names {
        let told =
            |fault: Fault| Failure::Input(format!("--figure '{name}': {}\n  help: {}", fault.rule, fault.remedy));
        let wanted: Wanted = name.parse().map_err(told)?;
        wanted.check(&study.axes, &study.points).map_err(told)?;
        if !all.contains(&wanted) {
            all.push(wanted);
        }
    }
    Ok(all)
}

/// All figures, with a line each.
pub(super) fn list() -> String {
    let mut text = String::new();
    for name in FigureName::ALL {
        let _ = writeln!(text, "  {:<26} {}", name.name(), name.meaning());
    }
    let metric = "Any metric, or METRIC:KEY, against a key that is swept through numbers.";
    let _ = writeln!(text, "  {:<26} {metric}", "METRIC [against PATH]");
    let quantities: Vec<&str> = Quantity::ALL.iter().map(|quantity| quantity.name()).collect();
    let quantities = format!("The same, multiplied by, or against, {}.", quantities.join(", "));
    let _ = writeln!(text, "  {:<26} {quantities}", "METRIC times QUANTITY ...");
    let references: Vec<&str> = Reference::ALL.iter().map(|reference| reference.name()).collect();
    let references = format!("The same beside a line of a paper: {}.", references.join(", "));
    let _ = writeln!(text, "  {:<26} {references}", "METRIC beside REFERENCE ...");
    text
}

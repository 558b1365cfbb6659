//! All files of an experiment, written point by point.

use super::axis::OfPoint;
use super::directory::remove_unfinished;
use super::format::Format;
use super::hgrm::{percentile_name, write_percentiles};
use super::hlog::ResponseLog;
use super::manifest::{MANIFEST, Summary};
use super::picture::remove_figures;
use super::results::{Comparison, Results};
use super::table::{COMPARISON, TABLES, Table};
use super::table_writer::TableWriter;
use crate::measure::Measure;
use crate::scenario::{Axis, Study};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that is being written.
type Out = BufWriter<File>;

/// The files of an experiment while they are written. Each has a name of its own until all are complete; the manifest
/// comes last, so that it vouches for the others. What is kept in memory does not grow with the number of points, but for a
/// few lines of the manifest.
pub struct Files {
    unfinished: Unfinished,
    folder: PathBuf,
    swept: bool,
    /// Those that are complete, by their right names.
    complete: Vec<String>,
    tables: Vec<Open<Results>>,
    comparison: Vec<Open<Comparison>>,
    log: ResponseLog<Out>,
    summary: Summary,
}

/// Tables that are written only if they were asked for.
#[derive(Clone, Copy)]
struct Extra {
    trajectory: bool,
    snapshots: bool,
    comparison: bool,
}

/// Takes away what was not completed, when writing has failed.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        // If they cannot be removed either, the next run into the folder does.
        let _ = remove_unfinished(&self.0);
    }
}

/// A table that is being written, and its name.
type Open<S> = (String, TableWriter<S, Out>);

const LOG: &str = "response_time.hlog";

/// Tells of results that these replace.
const REPORT: &str = "report.html";

impl Files {
    /// Begins the files of a study in a folder, its tables in the given formats. Files of other formats that are there
    /// are of results that these replace, and go.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn create(folder: &Path, study: &Study, formats: &[Format]) -> io::Result<Self> {
        let asked = |is: fn(&Measure) -> bool| study.points.iter().any(|point| is(&point.plan.measure));
        let extra = Extra {
            trajectory: asked(|measure| measure.trajectory.is_some()),
            snapshots: asked(|measure| measure.snapshots.is_some()),
            comparison: study.policies > 1,
        };
        Self::begin(folder, &study.to_yaml(), &study.axes, extra, formats)
    }

    fn begin(folder: &Path, scenario_yaml: &str, axes: &[Axis], extra: Extra, formats: &[Format]) -> io::Result<Self> {
        let swept = !axes.is_empty();
        remove_percentiles(folder)?;
        remove_if_there(&folder.join(REPORT))?;
        remove_figures(folder)?;
        let guard = Unfinished(folder.to_owned());
        let mut complete = Vec::new();
        let scenario = "scenario.yaml";
        let mut out = open(folder, scenario)?;
        out.write_all(scenario_yaml.as_bytes())?;
        close(folder, scenario, out)?;
        complete.push(scenario.to_owned());
        let mut tables = Vec::new();
        for table in &TABLES {
            let wanted = match table.name {
                "trajectory" => extra.trajectory,
                "snapshots" => extra.snapshots,
                _ => true,
            };
            tables.extend(begin(folder, table, axes, if wanted { formats } else { &[] })?);
        }
        // The policy is no key of a comparison, but a column of its own.
        let others = &axes[..axes.len() - usize::from(extra.comparison)];
        let comparison = begin(folder, &COMPARISON, others, if extra.comparison { formats } else { &[] })?;
        let log = ResponseLog::new(open(folder, LOG)?, swept)?;
        let summary = Summary::new(axes);
        Ok(Self { unfinished: guard, folder: folder.to_owned(), swept, complete, tables, comparison, log, summary })
    }

    /// Adds the results of a point. Points come in the order of the grid.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn add(&mut self, results: &Results) -> io::Result<()> {
        for (name, table) in &mut self.tables {
            table.add(results).map_err(|error| told(&self.folder, name, error))?;
        }
        let name = percentile_name(results.point, self.swept);
        let mut out = open(&self.folder, &name)?;
        write_percentiles(results, &mut out)?;
        close(&self.folder, &name, out)?;
        self.complete.push(name);
        self.log.add(results).map_err(|error| told(&self.folder, LOG, error))?;
        self.summary.add(results);
        Ok(())
    }

    /// Adds comparisons of policies.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn compare(&mut self, rows: &[Comparison]) -> io::Result<()> {
        for (name, table) in &mut self.comparison {
            rows.iter().try_for_each(|row| table.add(row)).map_err(|error| told(&self.folder, name, error))?;
        }
        Ok(())
    }

    /// Completes all files and gives them their names.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(self) -> io::Result<Summary> {
        let Self { unfinished: _guard, folder, mut complete, tables, comparison, log, summary, .. } = self;
        for (name, table) in tables {
            close(&folder, &name, table.finish().map_err(|error| told(&folder, &name, error))?)?;
            complete.push(name);
        }
        for (name, table) in comparison {
            close(&folder, &name, table.finish().map_err(|error| told(&folder, &name, error))?)?;
            complete.push(name);
        }
        close(&folder, LOG, log.finish().map_err(|error| told(&folder, LOG, error))?)?;
        complete.push(LOG.to_owned());
        let mut out = open(&folder, MANIFEST)?;
        summary.write(&mut out)?;
        close(&folder, MANIFEST, out)?;
        complete.push(MANIFEST.to_owned());
        for name in complete {
            fs::rename(unfinished(&folder, &name), folder.join(&name)).map_err(|error| told(&folder, &name, error))?;
        }
        Ok(summary)
    }
}

/// Writes the files of a single point, its tables as CSV.
///
/// # Errors
/// If a file cannot be written.
pub fn write_results(folder: &Path, results: &Results) -> io::Result<Summary> {
    let extra =
        Extra { trajectory: results.time_course.is_some(), snapshots: results.snapshots.is_some(), comparison: false };
    let mut files = Files::begin(folder, &results.scenario_yaml, &[], extra, &[Format::Csv])?;
    files.add(results)?;
    files.finish()
}

/// Begins a table in some formats, and takes it away in the others.
fn begin<S: OfPoint>(
    folder: &Path,
    table: &'static Table<S>,
    axes: &[Axis],
    formats: &[Format],
) -> io::Result<Vec<Open<S>>> {
    let mut begun = Vec::new();
    for &format in Format::ALL {
        let name = table.file_name(format);
        if formats.contains(&format) {
            let writer = TableWriter::new(table, format, axes, open(folder, &name)?)?;
            begun.push((name, writer));
        } else {
            remove_if_there(&folder.join(name))?;
        }
    }
    Ok(begun)
}

/// Removes the percentile files of results that these replace: there may have been more points.
fn remove_percentiles(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("response_time") && name.ends_with(".hgrm") {
            remove_if_there(&folder.join(&*name))?;
        }
    }
    Ok(())
}

fn unfinished(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".{name}.partial"))
}

fn open(folder: &Path, name: &str) -> io::Result<Out> {
    let file = File::create(unfinished(folder, name)).map_err(|error| told(folder, name, error))?;
    Ok(BufWriter::new(file))
}

fn close(folder: &Path, name: &str, out: Out) -> io::Result<()> {
    let written = out.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file| file.sync_all());
    written.map_err(|error| told(folder, name, error))
}

fn told(folder: &Path, name: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", folder.join(name).display()))
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

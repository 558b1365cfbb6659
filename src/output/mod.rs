//! One file per format over one plain result.

mod cells;
mod directory;
mod estimates_csv;
mod hgrm;
mod hlog;
mod manifest;
mod replications_csv;
mod response_csv;
mod results;
mod tail_histogram_csv;
mod trajectory_csv;

pub use cells::{Cell, Cells, CellsError, Origin, Settled};
pub use directory::{Directory, portable_name};
pub use manifest::{Jobs, Manifest};
pub use results::{Curve, Estimate, Mean, Replication, Results, TimeCourse};

use std::io::{self, Write};

/// A file of results: its name, and how it is written.
type Format = (&'static str, fn(&Results, &mut dyn Write) -> io::Result<()>);

/// Every file of a results directory, in the order of writing: the manifest last, so that it vouches for the others.
const FORMATS: &[Format] = &[
    ("scenario.yaml", |results, out| out.write_all(results.scenario_yaml.as_bytes())),
    ("estimates.csv", estimates_csv::write),
    ("replications.csv", replications_csv::write),
    ("tail_histogram.csv", tail_histogram_csv::write),
    ("response_time.csv", response_csv::write),
    ("response_time.hgrm", hgrm::write),
    ("response_time.hlog", hlog::write),
    (TRAJECTORY, trajectory_csv::write),
    ("manifest.json", manifest::write),
];

/// The file that is there only when it was asked for.
const TRAJECTORY: &str = "trajectory.csv";

/// Whether a file belongs to a result.
fn is_wanted(name: &str, results: &Results) -> bool {
    name != TRAJECTORY || results.time_course.is_some()
}

/// Writes a row of a table.
fn row<T: serde::Serialize>(table: &mut csv::Writer<&mut dyn Write>, row: &T) -> io::Result<()> {
    table.serialize(row).map_err(io::Error::other)
}

/// A table to be written to, with a line of column names even when it gets no row.
fn table<'a>(out: &'a mut dyn Write, columns: &[&str]) -> io::Result<csv::Writer<&'a mut dyn Write>> {
    let mut table = csv::WriterBuilder::new().has_headers(false).from_writer(out);
    table.write_record(columns).map_err(io::Error::other)?;
    Ok(table)
}

//! What a run prints: the table of its only point, a line for each point of a sweep, or JSON.

use super::table::{STYLE, table};
use super::{Failure, print};
use crate::measure::Metric;
use crate::output::{Comparison, Doubt, Estimate, Format, Results, Summary, TABLES, TableWriter, interval, number};
use crate::scenario::Study;
use crate::theory::Kind;
use comfy_table::{CellAlignment, Table};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

/// Points of a sweep, or rows of a comparison, that are printed.
const ROWS: usize = 60;

/// Warnings that are printed; the manifest has all.
const WARNINGS: usize = 20;

/// Metrics that are printed for each point of a sweep and for each policy compared.
const SHOWN: &[Metric] = &[Metric::MeanJobs, Metric::ResponseTimeMean, Metric::WaitingTimeMean];

/// Gathers what is printed, point by point.
pub(super) struct Tables<'a> {
    study: &'a Study,
    json: Option<TableWriter<Results, Vec<u8>>>,
    /// The only point of a study.
    single: Option<Results>,
    points: Table,
    rows: usize,
}

impl<'a> Tables<'a> {
    pub(super) fn new(study: &'a Study, json: bool) -> io::Result<Self> {
        let json = json.then(|| TableWriter::new(&TABLES[0], Format::Json, &study.axes, Vec::new())).transpose()?;
        let mut points = Table::new();
        points.load_style(STYLE);
        let mut header: Vec<String> = study.axes.iter().map(|axis| axis.key.clone()).collect();
        for metric in SHOWN {
            header.extend([metric.name().to_owned(), "+-".to_owned(), "theory".to_owned()]);
        }
        header.push("replications".to_owned());
        let columns = header.len();
        points.set_header(header);
        for column in study.axes.len()..columns {
            if let Some(column) = points.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        Ok(Self { study, json, single: None, points, rows: 0 })
    }

    pub(super) fn add(&mut self, results: Results) -> io::Result<()> {
        if let Some(json) = &mut self.json {
            return json.add(&results);
        }
        if self.study.axes.is_empty() {
            self.single = Some(results);
            return Ok(());
        }
        self.rows += 1;
        if self.rows <= ROWS {
            let mut row: Vec<String> = results.labels.iter().map(|label| plain(&label.to_string())).collect();
            for metric in SHOWN {
                let estimate = results.estimate(*metric, "");
                row.push(number(estimate.and_then(|estimate| estimate.estimate)));
                let half = estimate.and_then(|estimate| Some((estimate.high? - estimate.low?) / 2.0));
                row.push(number(half));
                row.push(estimate.map_or_else(|| number(None), theory));
            }
            row.push(results.manifest.replications.to_string());
            self.points.add_row(row);
        }
        Ok(())
    }

    pub(super) fn print(
        self,
        summary: &Summary,
        compared: &[Comparison],
        folder: &Path,
        report: Option<&Path>,
    ) -> Result<(), Failure> {
        warn(&summary.doubts());
        if let Some(json) = self.json {
            let text = json.finish()?;
            return print(&String::from_utf8_lossy(&text));
        }
        let mut text = String::new();
        // A string takes every line.
        if let Some(results) = &self.single {
            let _ = writeln!(text, "{}\n{}", heading(results), table(results));
        } else {
            let name = plain(&self.study.name);
            let _ = writeln!(text, "{name}: {} points\n{}", self.rows, self.points);
            if self.rows > ROWS {
                let _ = writeln!(text, "and {} points more in the files", self.rows - ROWS);
            }
        }
        if !compared.is_empty() {
            let _ = writeln!(text, "{}", comparison(self.study, compared));
            let rows = compared.iter().filter(|row| SHOWN.contains(&row.metric)).count();
            if rows > ROWS {
                let _ = writeln!(text, "The first {ROWS} of {rows} comparisons; all are in the table comparison");
            }
        }
        let _ = writeln!(text, "Results are in {}", folder.display());
        if let Some(report) = report {
            let _ = writeln!(text, "The report is {}", report.display());
        }
        print(&text)
    }
}

/// Text without the control codes that a terminal would follow.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn heading(results: &Results) -> String {
    let manifest = &results.manifest;
    format!(
        "{}: {} jobs in {} of {} after a warm-up of {}, seed {}, {} engine, {:.1} s",
        plain(&manifest.name),
        manifest.jobs.arrived,
        match manifest.replications {
            1 => "1 replication".to_owned(),
            count => format!("{count} replications"),
        },
        manifest.window_close - manifest.window_open,
        manifest.window_open,
        manifest.seed,
        manifest.engine,
        manifest.duration_seconds,
    )
}

/// What theory says; a bound looks like one.
fn theory(estimate: &Estimate) -> String {
    let bound = if estimate.theory_kind == Some(Kind::Bound) && estimate.theory.is_some() { ">= " } else { "" };
    format!("{bound}{}", number(estimate.theory))
}

/// Differences from the baseline and what pairing saved.
fn comparison(study: &Study, rows: &[Comparison]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE);
    let others = study.axes.iter().take(study.axes.len() - 1).map(|axis| axis.key.clone());
    let own = ["policy", "minus", "metric", "difference", "interval", "ratio", "interval", "saving"];
    table.set_header(others.chain(own.map(str::to_owned)));
    for row in rows.iter().filter(|row| SHOWN.contains(&row.metric)).take(ROWS) {
        let place = row.labels.iter().map(|label| plain(&label.to_string()));
        table.add_row(place.chain([
            plain(&row.policy),
            plain(&row.baseline),
            row.metric.name().to_owned(),
            number(row.difference),
            interval(row.difference_low, row.difference_high),
            number(row.ratio),
            interval(row.ratio_low, row.ratio_high),
            number(row.saving),
        ]));
    }
    table
}

/// Nothing is lost if standard error is gone: the manifest has the warnings too.
fn warn(doubts: &[Doubt]) {
    let mut out = io::stderr().lock();
    for doubt in doubts.iter().take(WARNINGS) {
        let _ = match &doubt.place[..] {
            "" => writeln!(out, "warning: {}", doubt.warning.message),
            place => writeln!(out, "warning: {}: {}", plain(place), doubt.warning.message),
        };
    }
    if doubts.len() > WARNINGS {
        let _ = writeln!(out, "warning: and {} more, in the manifest", doubts.len() - WARNINGS);
    }
}

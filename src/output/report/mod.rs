//! The report: results as one HTML file that needs no other, nor a network, and is smaller than two megabytes.
//!
//! The tables are plain HTML; the figures are JSON that the script in the page draws. Each part has room for so many bytes,
//! and says what it had to leave out. The same results give the same bytes.

mod charts;
mod html;
mod tables;

use super::figure::Figure;
use super::manifest::Manifest;
use super::results::{Comparison, Results};
use crate::scenario::Study;
use html::{Room, embed, escape, fill, shorten};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use tables::{Cells, Words};

const PAGE: &str = include_str!("report.html");
const STYLE: &str = include_str!("report.css");

/// The script in its parts, one after the other in one function.
const SCRIPT: &str = concat!(
    include_str!("script/elements.js"),
    include_str!("script/scale.js"),
    include_str!("script/series.js"),
    include_str!("script/frame.js"),
    include_str!("script/lines.js"),
    include_str!("script/maps.js"),
    include_str!("script/page.js"),
);

/// Bytes for each part; with what surrounds them they stay below two megabytes.
const ROOM: [(Part, usize); 7] = [
    (Part::Figures, 700_000),
    (Part::Captions, 60_000),
    (Part::Points, 300_000),
    (Part::Full, 350_000),
    (Part::Comparisons, 150_000),
    (Part::Warnings, 80_000),
    (Part::Scenario, 200_000),
];

/// A part of the page that grows with the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Figures,
    Captions,
    Points,
    Full,
    Comparisons,
    Warnings,
    Scenario,
}

impl Part {
    fn bytes(self) -> usize {
        ROOM.iter().find(|(part, _)| *part == self).map_or(0, |(_, bytes)| *bytes)
    }
}

/// When the results were made, as their manifest tells; nothing where there is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Made {
    /// When the run started (UTC).
    pub started: Option<String>,
    /// Seconds it took.
    pub duration_seconds: Option<f64>,
}

/// A report, gathered point by point; what it keeps in memory does not grow with the histograms.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    study: &'a Study,
    first: Option<Manifest>,
    engines: BTreeSet<String>,
    windows: BTreeSet<String>,
    replications: BTreeSet<u64>,
    arrived: u64,
    points: u64,
    /// The points that have a row, with what it shows.
    cells: Vec<Cells>,
    full: Room,
    comparisons: Room,
    warnings: Room,
    words: Words,
}

/// Points that have a row, if there is room.
const ROWS: usize = 5_000;

/// Values that provenance lists.
const LISTED: usize = 4;

impl<'a> Report<'a> {
    /// An empty report of a study.
    pub fn new(study: &'a Study) -> Self {
        Self {
            study,
            first: None,
            engines: BTreeSet::new(),
            windows: BTreeSet::new(),
            replications: BTreeSet::new(),
            arrived: 0,
            points: 0,
            cells: Vec::new(),
            full: Room::new(Part::Full.bytes()),
            comparisons: Room::new(Part::Comparisons.bytes()),
            warnings: Room::new(Part::Warnings.bytes()),
            words: Words::default(),
        }
    }

    /// Adds the results of a point. Points come in the order of the grid.
    pub fn add(&mut self, results: &Results) {
        let manifest = &results.manifest;
        gather(&mut self.engines, format!("{} ({})", manifest.engine, manifest.engine_reason));
        gather(&mut self.windows, format!("{} to {}", manifest.window_open, manifest.window_close));
        gather(&mut self.replications, manifest.replications);
        self.arrived += manifest.jobs.arrived;
        self.points += 1;
        if self.first.is_none() {
            self.first = Some(Manifest { warnings: Vec::new(), ..manifest.clone() });
        }
        let place = self.place(results);
        for warning in &manifest.warnings {
            self.words.warning(&warning.code);
            self.warnings.add(|| tables::warning(&place, warning));
        }
        if self.swept() && self.cells.len() < ROWS {
            self.cells.push(Cells::new(results));
        }
        let words = &mut self.words;
        let heading = if place.is_empty() { String::new() } else { escape(&place) };
        self.full.add(|| tables::full(&heading, results, words));
    }

    /// Adds comparisons of policies.
    pub fn compare(&mut self, rows: &[Comparison]) {
        for row in rows.iter().filter(|row| tables::is_compared(row)) {
            let words = &mut self.words;
            self.comparisons.add(|| tables::comparison(row, words));
        }
    }

    fn swept(&self) -> bool {
        !self.study.axes.is_empty()
    }

    /// The values of the swept keys, as `key=value`.
    fn place(&self, results: &Results) -> String {
        let pair = |(axis, label): (&crate::scenario::Axis, &crate::scenario::Label)| format!("{}={label}", axis.key);
        let pairs: Vec<String> = self.study.axes.iter().zip(&results.labels).map(pair).collect();
        shorten(&pairs.join(", "), 300)
    }

    /// The page, with figures; `missing` cells of the experiment have not been run yet.
    pub fn finish(mut self, figures: &[Figure], made: &Made, missing: u64) -> String {
        let name = escape(&shorten(&self.study.name, 200));
        let (charts, drawn) = charts::charts(figures, Part::Figures.bytes());
        let frames = frames(&figures[..drawn], figures.len());
        let confidence = self.first.as_ref().map_or(95.0, |first| 100.0 * first.confidence);
        // Before the words, since it uses some.
        let points = self.point_table(confidence);
        fill(PAGE, |part| match part {
            "title" => name.clone(),
            "style" => STYLE.to_owned(),
            "script" => SCRIPT.to_owned(),
            "summary" => self.summary(missing),
            "warnings" => self.warnings(),
            "figures" => frames.clone(),
            "points" => points.clone(),
            "full" => self.full_tables(confidence),
            "comparisons" => self.comparison_table(confidence),
            "scenario" => self.scenario(),
            "provenance" => self.provenance(made),
            "words" => self.words.list(),
            "charts" => embed(&charts),
            _ => String::new(),
        })
    }

    fn summary(&self, missing: u64) -> String {
        let mut text = String::new();
        // A string takes every line.
        let Some(first) = &self.first else {
            return "<p class=lead>No cell of this experiment is finished yet.</p>".to_owned();
        };
        let points = if self.swept() { format!("{} points, ", self.points) } else { String::new() };
        let _ = write!(
            text,
            "<p class=lead>{points}{} jobs, replications: {}, window: {}, seed {}.</p>",
            self.arrived,
            few(self.replications.iter().map(u64::to_string)),
            few(self.windows.iter().cloned()),
            first.seed,
        );
        if missing > 0 {
            let _ = write!(text, "<p class=note>{missing} cells of the experiment have not been run yet.</p>");
        }
        text
    }

    fn warnings(&self) -> String {
        if self.warnings.is_empty() {
            return String::new();
        }
        format!(
            "<section id=warnings aria-labelledby=warnings-title><h2 id=warnings-title>Warnings</h2><ul>{}</ul>{}</section>",
            self.warnings.text(),
            self.warnings.left_out("warnings", "manifest.json has all")
        )
    }

    fn point_table(&mut self, confidence: f64) -> String {
        if !self.swept() {
            return String::new();
        }
        tables::points(&self.study.axes, &self.cells, self.points, Part::Points.bytes(), confidence, &mut self.words)
    }

    fn full_tables(&self, confidence: f64) -> String {
        let left_out = self.full.left_out("full tables", "the table <code>estimates</code> has all");
        if self.full.is_empty() {
            return left_out;
        }
        let title = if self.swept() { "Every metric, point by point" } else { "Results" };
        format!(
            "<section id=results aria-labelledby=results-title><h2 id=results-title>{title}</h2><p>Simulated values with \
             {confidence} % intervals, and what theory says.</p>{}{left_out}</section>",
            self.full.text(),
        )
    }

    fn comparison_table(&self, confidence: f64) -> String {
        if self.comparisons.is_empty() {
            return String::new();
        }
        let others = &self.study.axes[..self.study.axes.len().saturating_sub(1)];
        tables::comparisons(others, &self.comparisons, confidence)
    }

    fn scenario(&self) -> String {
        let yaml = self.study.to_yaml();
        let shown = escape(&yaml);
        if shown.len() <= Part::Scenario.bytes() {
            return format!("<pre><code>{shown}</code></pre>");
        }
        // Escaping makes a character at most six times as long.
        let most = Part::Scenario.bytes() / 6;
        let note = "<p class=note>Only its beginning is shown; scenario.yaml has all.</p>";
        format!("<pre><code>{}</code></pre>{note}", escape(&shorten(&yaml, most)))
    }

    fn provenance(&self, made: &Made) -> String {
        let Some(first) = &self.first else { return String::new() };
        let duration = made.duration_seconds.map(|seconds| format!("{seconds:.1} s"));
        let rows = [
            ("program", format!("herdsim {}", first.version)),
            ("scenario", shorten(&self.study.name, 200)),
            ("seed", first.seed.to_string()),
            ("engine", few(self.engines.iter().cloned())),
            (
                "started (UTC)",
                made.started.clone().unwrap_or_else(|| "not known: there is no manifest.json".to_owned()),
            ),
            ("duration", duration.unwrap_or_else(|| "not known".to_owned())),
            ("replications", few(self.replications.iter().map(u64::to_string))),
            ("window", few(self.windows.iter().cloned())),
            ("jobs", self.arrived.to_string()),
            ("intervals", format!("{} %; {}", 100.0 * first.confidence, first.interval_method)),
        ];
        let row = |(name, value): &(&str, String)| format!("<dt>{name}</dt><dd>{}</dd>", escape(value));
        format!("<dl class=facts>{}</dl>", rows.iter().map(row).collect::<String>())
    }
}

/// Adds a value, until there are more than are listed.
fn gather<T: Ord>(values: &mut BTreeSet<T>, value: T) {
    if values.len() <= LISTED {
        values.insert(value);
    }
}

/// Values, if they are few.
fn few(values: impl ExactSizeIterator<Item = String>) -> String {
    match values.len() {
        count if count > LISTED => "it differs from point to point".to_owned(),
        _ => values.map(|value| shorten(&value, 300)).collect::<Vec<_>>().join(", "),
    }
}

/// The places in the page for figures, with titles and captions; the script draws in them.
fn frames(figures: &[Figure], all: usize) -> String {
    if all == 0 {
        return "<p class=note>There are no figures.</p>".to_owned();
    }
    let mut room = Room::new(Part::Captions.bytes());
    for (i, figure) in figures.iter().enumerate() {
        let (title, caption) = (escape(&shorten(&figure.title, 300)), escape(&shorten(&figure.caption, 2000)));
        room.add(|| {
            format!(
                "<figure class=figure aria-labelledby=figure-{i}><h3 id=figure-{i}>{title}</h3><div class=chart \
                 data-figure={i}></div><figcaption>{caption}</figcaption></figure>"
            )
        });
    }
    let left_out = match all - figures.len() {
        0 => String::new(),
        count => format!("<p class=note>{count} figures have no room here; herdsim plot draws them.</p>"),
    };
    format!("{}{}{left_out}", room.text(), room.left_out("figures", "herdsim plot draws all"))
}

/// Writes a file, which has its name only when it is complete.
///
/// # Errors
/// If it cannot be written; the error names it.
pub fn write_report(path: &Path, page: &str) -> io::Result<()> {
    let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    // Through a link to what it names; a device is written to, and not replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if target.exists() && !target.is_file() {
        return fs::write(&target, page).map_err(told);
    }
    let Some(name) = target.file_name() else {
        return Err(told(io::Error::new(io::ErrorKind::InvalidInput, "is no name of a file")));
    };
    let unfinished = target.with_file_name(format!(".{}.partial", name.to_string_lossy()));
    let written = fs::write(&unfinished, page).and_then(|()| fs::rename(&unfinished, &target));
    written.map_err(|error| {
        // It may not even have been made.
        let _ = fs::remove_file(&unfinished);
        told(error)
    })
}

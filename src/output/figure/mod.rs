//! Figures as plain data, made from results and drawn by every format: pictures and the report show the same numbers.

mod collector;
mod labels;
mod metric;
mod reference;
mod response_time;
mod snapshots;
mod tail_fraction;
mod tail_histogram;
mod trajectory;

pub use collector::Figures;

use serde::Serialize;

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Its name in files and in `plot:`, such as `tail_fraction`.
    pub name: String,
    /// What it shows, in a line.
    pub title: String,
    /// What else a reader must know: parameters, replications, what theory it is.
    pub caption: String,
    /// What is drawn.
    pub content: Content,
}

/// What a figure draws.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Lines and points on two axes.
    Lines(Lines),
    /// Pictures beside each other, of one scale of colours: values on a grid of cells.
    Maps(Maps),
}

/// Lines and points on two axes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lines {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn on them, in the order of the legend.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// What it is, with its unit if it has one: `response time (mean service times)`.
    pub label: String,
    /// How it is divided.
    pub scale: Scale,
}

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Evenly.
    Linear,
    /// Evenly in the logarithm. Values that are not positive have no place on it and are left out.
    Logarithmic,
}

/// A line of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// What kind of numbers these are.
    pub kind: Kind,
    /// The points, in the order in which they are joined.
    pub points: Vec<Point>,
}

/// What kind of numbers a series has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Simulated, at a few points: marks, joined by a line, with intervals.
    Estimates,
    /// Simulated, at so many points that they are a curve: a line.
    Curve,
    /// Simulated: a bar at each point.
    Bars,
    /// From theory: a dashed line, in the colour of the series before it where that is simulated.
    Theory,
    /// From theory, for all series: a dotted line in grey.
    Reference,
}

impl Kind {
    /// Whether these numbers are simulated.
    pub fn is_simulated(self) -> bool {
        !matches!(self, Self::Theory | Self::Reference)
    }
}

/// A point of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Where on the horizontal axis.
    pub x: f64,
    /// Where on the vertical axis.
    pub y: f64,
    /// The ends of its confidence interval, if it has one.
    pub interval: Option<(f64, f64)>,
}

/// Values on a grid, as colours: servers over time, say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Maps {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What the colours tell.
    pub colour: Axis,
    /// One picture each.
    pub panels: Vec<Panel>,
}

/// One of the pictures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    /// Its title.
    pub label: String,
    /// The edges of the columns, one more than there are columns.
    pub edges: Vec<f64>,
    /// One list for each row from the bottom, with a value for each column.
    pub rows: Vec<Vec<f64>>,
}

impl Figure {
    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        match &self.content {
            Content::Lines(lines) => lines.series.iter().all(|series| series.points.is_empty()),
            Content::Maps(maps) => maps.panels.iter().all(|panel| panel.rows.iter().all(Vec::is_empty)),
        }
    }
}

impl Axis {
    fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear }
    }

    fn logarithmic(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Logarithmic }
    }
}

impl Point {
    fn plain(x: f64, y: f64) -> Self {
        Self { x, y, interval: None }
    }
}

/// An axis for values: logarithmic if they are above 0 and span more than two decades, or those above 0 do and the rest is 0.
fn scaled(label: impl Into<String>, values: impl Iterator<Item = f64>) -> Axis {
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for value in values.filter(|value| value.is_finite()) {
        if value < 0.0 {
            return Axis::linear(label);
        }
        if value > 0.0 {
            (least, most) = (least.min(value), most.max(value));
        }
    }
    if most > 100.0 * least { Axis::logarithmic(label) } else { Axis::linear(label) }
}

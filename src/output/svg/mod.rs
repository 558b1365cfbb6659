//! Figures as SVG: the same bytes from the same figure, in colours that all can tell apart, and in grey by marks and dashes.
//!
//! Not by the crate kuva 0.6, whose source was read for this: its logarithmic axes lose ticks below 1e-10, where doubly
//! exponential tails go, end at whole decades, and where data are not positive it prints to standard error by itself.

mod canvas;
mod lines;
mod maps;
mod scale;
mod style;

use super::figure::{Content, Figure};
use canvas::{Canvas, Text};

/// Width of the text of titles and captions at least, whatever is drawn.
const LEAST_WIDTH: f64 = 420.0;

/// The distance of everything from the edge.
const MARGIN: f64 = 12.0;

/// What is drawn below the title, and its size.
struct Drawing {
    canvas: Canvas,
    width: f64,
    height: f64,
}

/// A figure as an SVG document.
pub fn svg(figure: &Figure) -> String {
    let drawing = match &figure.content {
        Content::Lines(lines) => lines::draw(lines, &figure.name),
        Content::Maps(maps) => maps::draw(maps),
    };
    let width = drawing.width.max(LEAST_WIDTH);
    let mut canvas = Canvas::default();
    let mut y = MARGIN;
    for line in canvas::wrapped(&figure.title, width / style::BOLD, style::TITLE) {
        y += style::TITLE + 2.0;
        canvas.text(&Text::new(&line, MARGIN, y, style::TITLE).bold());
    }
    y += MARGIN;
    canvas.group(MARGIN, y, drawing.canvas);
    y += drawing.height;
    for line in canvas::wrapped(&figure.caption, width, style::CAPTION) {
        y += style::CAPTION + 4.0;
        canvas.text(&Text::new(&line, MARGIN, y, style::CAPTION).colour(style::GREY));
    }
    canvas.document(width + 2.0 * MARGIN, y + MARGIN, &figure.title, &figure.caption)
}

#[cfg(test)]
mod tests;

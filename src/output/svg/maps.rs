//! Pictures beside each other, with one scale of colours.

use super::canvas::{Anchor, Canvas, Run, Stroke, Text, shortened, width};
use super::scale::{Manner, Stretch, fits};
use super::{Drawing, MARGIN, style};
use crate::output::figure::{Axis, Maps, Panel, Scale};

/// The rectangle of a picture.
const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 250.0;

/// Between two of them.
const GAP: f64 = 40.0;

/// Room for the title of a picture, and for what stands below the lowest.
const ABOVE: f64 = 24.0;
const BELOW: f64 = 54.0;

/// Steps of the scale of colours.
const STEPS: usize = 64;

/// Draws the pictures in two columns, and the scale beside them.
pub(super) fn draw(maps: &Maps) -> Drawing {
    let columns = maps.panels.len().clamp(1, 2);
    let rows = maps.panels.len().div_ceil(columns).max(1);
    let values = || maps.panels.iter().flat_map(|panel| panel.rows.iter().flatten().copied());
    let from_zero = Axis { scale: Scale::Linear, label: String::new() };
    let axis = if maps.colour.scale == Scale::Logarithmic { &maps.colour } else { &from_zero };
    let zero = values().all(|value| value.is_nan() || value >= 0.0).then_some(0.0);
    let manner = Manner { tight: true, whole: false, zero: true };
    let colours = Stretch::new(axis, values().chain(zero), rows as f64 * (HEIGHT + ABOVE) - ABOVE, manner);
    let most_rows = maps.panels.iter().map(|panel| panel.rows.len()).max().unwrap_or(0);
    let tick_width = width(&most_rows.to_string(), style::TICK);
    let left = tick_width + style::LABEL + 24.0;
    let mut canvas = Canvas::default();
    for (i, panel) in maps.panels.iter().enumerate() {
        let (column, row) = (i % columns, i / columns);
        let lowest = i + columns >= maps.panels.len();
        let mut inner = Canvas::default();
        draw_panel(&mut inner, panel, maps, &colours, axis, (column == 0, lowest));
        let x = MARGIN + left + column as f64 * (WIDTH + GAP);
        canvas.group(x, ABOVE + row as f64 * (HEIGHT + ABOVE), inner);
    }
    let bottom = ABOVE + rows as f64 * (HEIGHT + ABOVE) - ABOVE;
    let y = shortened(&maps.y.label, HEIGHT, style::LABEL);
    let middle = (MARGIN + style::LABEL - 2.0, (ABOVE + bottom) / 2.0);
    canvas.text(&Text::new(&y, middle.0, middle.1, style::LABEL).anchor(Anchor::Middle).upright());
    let right = left + columns as f64 * (WIDTH + GAP);
    let scale_width = draw_scale(&mut canvas, &colours, &maps.colour, (MARGIN + right, ABOVE));
    if maps.panels.iter().all(|panel| panel.rows.is_empty()) {
        let nothing = Text::new("no data", MARGIN + left + WIDTH / 2.0, ABOVE + HEIGHT / 2.0, style::LABEL);
        canvas.text(&nothing.anchor(Anchor::Middle).colour(style::GREY));
    }
    Drawing { canvas, width: right + scale_width, height: bottom + BELOW }
}

/// The step of the scale that a value has; none if it has no place on it.
fn step(value: f64, axis: &Axis, colours: &Stretch, height: f64) -> Option<usize> {
    let share = (colours.place(value) / height).clamp(0.0, 1.0);
    fits(axis, value).then(|| (share * (STEPS - 1) as f64).round() as usize)
}

fn draw_panel(
    canvas: &mut Canvas,
    panel: &Panel,
    maps: &Maps,
    colours: &Stretch,
    axis: &Axis,
    (first, lowest): (bool, bool),
) {
    let label = shortened(&panel.label, WIDTH / style::BOLD, style::LABEL);
    canvas.text(&Text::new(&label, WIDTH / 2.0, -8.0, style::LABEL).anchor(Anchor::Middle).bold());
    let height = colours.pixels();
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); STEPS];
    let (start, end) = (panel.edges.first().copied().unwrap_or(0.0), panel.edges.last().copied().unwrap_or(1.0));
    let columns = panel.edges.len().saturating_sub(1);
    // In columns of the mean width, so that even ones have short numbers.
    let place = |edge: usize| (panel.edges[edge] - start) / (end - start) * columns as f64;
    for (i, row) in panel.rows.iter().enumerate() {
        let mut begun = 0;
        let steps: Vec<Option<usize>> =
            row.iter().take(columns).map(|&value| step(value, axis, colours, height)).collect();
        for column in 1..=steps.len() {
            if column == steps.len() || steps[column] != steps[begun] {
                // White is there already.
                if let Some(step) = steps[begun].filter(|&step| step > 0) {
                    let (from, to) = (place(begun), place(column));
                    runs[step].push(Run { x: from, row: panel.rows.len() - 1 - i, length: to - from });
                }
                begun = column;
            }
        }
    }
    let colour = |step: usize| style::heat(step as f64 / (STEPS - 1) as f64);
    let runs: Vec<_> =
        runs.into_iter().enumerate().filter(|(_, runs)| !runs.is_empty()).map(|(i, runs)| (colour(i), runs)).collect();
    if !runs.is_empty() {
        canvas.runs((WIDTH / columns as f64, HEIGHT / panel.rows.len() as f64), &runs);
    }
    canvas.rectangle((0.0, 0.0), (WIDTH, HEIGHT), "none", style::INK);
    let ink = Stroke::plain(style::INK, 1.0);
    let manner = Manner { tight: true, ..Manner::default() };
    let x = Stretch::new(&maps.x, [start, end].into_iter(), WIDTH, manner);
    let (ticks, power) = x.ticks(60.0);
    for tick in ticks {
        let at = x.place(tick.value);
        canvas.line((at, HEIGHT), (at, HEIGHT + 4.0), ink);
        if let Some(label) = tick.label.filter(|_| lowest) {
            canvas.text(&Text::new(&label, at, HEIGHT + 18.0, style::TICK).anchor(Anchor::Middle));
        }
    }
    if lowest {
        let power = power.map_or(String::new(), |power| format!(" \u{d7}10^{power}"));
        let label = shortened(&format!("{}{power}", maps.x.label), WIDTH, style::LABEL);
        canvas.text(&Text::new(&label, WIDTH / 2.0, HEIGHT + 39.0, style::LABEL).anchor(Anchor::Middle));
    }
    let y = Stretch::new(&maps.y, [0.0, panel.rows.len().max(1) as f64].into_iter(), HEIGHT, manner);
    for tick in y.ticks(45.0).0 {
        let at = HEIGHT - y.place(tick.value);
        canvas.line((-4.0, at), (0.0, at), ink);
        if let Some(label) = tick.label.filter(|_| first) {
            canvas.text(&Text::new(&label, -7.0, at + 4.0, style::TICK).anchor(Anchor::End));
        }
    }
}

/// The scale of colours, and how wide it is.
fn draw_scale(canvas: &mut Canvas, colours: &Stretch, axis: &Axis, (left, top): (f64, f64)) -> f64 {
    const BAR: f64 = 14.0;
    let height = colours.pixels();
    let mut inner = Canvas::default();
    let bars = (0..STEPS).map(|step| {
        let colour = style::heat(step as f64 / (STEPS - 1) as f64);
        (colour, vec![Run { x: 0.0, row: STEPS - 1 - step, length: 1.0 }])
    });
    inner.runs((BAR, height / STEPS as f64), &bars.collect::<Vec<_>>());
    inner.rectangle((0.0, 0.0), (BAR, height), "none", style::INK);
    let (ticks, power) = colours.ticks(40.0);
    let mut widest: f64 = 0.0;
    for tick in ticks {
        let at = height - colours.place(tick.value);
        inner.line((BAR, at), (BAR + 4.0, at), Stroke::plain(style::INK, 1.0));
        if let Some(label) = tick.label {
            inner.text(&Text::new(&label, BAR + 7.0, at + 4.0, style::TICK));
            widest = widest.max(width(&label, style::TICK));
        }
    }
    let power = power.map_or(String::new(), |power| format!(" \u{d7}10^{power}"));
    let label = shortened(&format!("{}{power}", axis.label), height, style::LABEL);
    let x = BAR + 7.0 + widest + style::LABEL + 4.0;
    inner.text(&Text::new(&label, x, height / 2.0, style::LABEL).anchor(Anchor::Middle).upright());
    canvas.group(left, top, inner);
    x + 10.0
}

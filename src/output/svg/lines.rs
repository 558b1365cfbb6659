//! Lines and points on two axes, with a legend beside them.

use super::canvas::{Anchor, Canvas, Stroke, Text, shortened, width};
use super::scale::{Manner, ROOM, Stretch, Tick, fits};
use super::{Drawing, MARGIN, style};
use crate::output::figure::{Axis, Kind, Lines, Point, Scale, Series};

/// The rectangle of the data.
const WIDTH: f64 = 430.0;
const HEIGHT: f64 = 290.0;

/// The widest label of a legend.
const LEGEND: f64 = 290.0;

/// Room for a line of the legend.
const ROW: f64 = 20.0;

/// How much of a line is seen along which a theory runs.
const FAINT: f64 = 0.45;

/// A theory may lie so many times below all that is simulated, and is seen.
const BELOW: f64 = 1e3;

/// How a series looks.
#[derive(Clone, Copy)]
struct Look {
    /// Which of the simulated series it is, or belongs to.
    number: usize,
    /// Whether a line of theory runs along it.
    beside_theory: bool,
    /// Whether it is the only one.
    alone: bool,
}

/// Draws the axes, the series and the legend.
pub(super) fn draw(lines: &Lines, name: &str) -> Drawing {
    let x = stretch_of_x(lines);
    let y = stretch_of_y(lines);
    let (x_ticks, x_power) = x.ticks(58.0);
    let (y_ticks, y_power) = y.ticks(ROOM);
    let tick_width = y_ticks.iter().flat_map(|tick| &tick.label).map(|label| width(label, style::TICK));
    let left = tick_width.fold(0.0, f64::max) + style::LABEL + 26.0;
    let top = if y_power.is_some() { 22.0 } else { 8.0 };
    let mut canvas = Canvas::default();
    let mut plot = Canvas::default();
    frame(&mut plot, (&x_ticks, &x), (&y_ticks, &y));
    let mut data = Canvas::default();
    let mut marks = Canvas::default();
    let looks = looks(&lines.series);
    // Theory lies over what it is compared with.
    let order = |theory: bool| {
        let own = move |(series, _): &(&Series, &Look)| series.kind.is_simulated() != theory;
        lines.series.iter().zip(&looks).filter(own)
    };
    for (series, look) in order(false).chain(order(true)) {
        draw_series((&mut data, &mut marks), series, *look, lines, (&x, &y));
    }
    plot.clipped(name, (WIDTH, HEIGHT), data);
    // Marks on the edge are seen whole.
    plot.group(0.0, 0.0, marks);
    let drawn = |series: &Series| series.points.iter().any(|point| is_drawn(lines, point));
    if !lines.series.iter().any(drawn) {
        let nothing = Text::new("no data", WIDTH / 2.0, HEIGHT / 2.0, style::LABEL);
        plot.text(&nothing.anchor(Anchor::Middle).colour(style::GREY));
    }
    label_axes(&mut plot, lines, left, (x_power, y_power));
    canvas.group(MARGIN + left, top, plot);
    let entries = legend(&lines.series, &looks);
    let legend_width =
        if entries.len() < 2 { 0.0 } else { draw_legend(&mut canvas, &entries, (MARGIN + left + WIDTH + 18.0, top)) };
    let height = (top + HEIGHT + 52.0).max(top + ROW * entries.len() as f64);
    Drawing { canvas, width: left + WIDTH + legend_width + 16.0, height }
}

fn is_drawn(lines: &Lines, point: &Point) -> bool {
    fits(&lines.x, point.x) && fits(&lines.y, point.y)
}

/// Half the distance of two bars.
fn half_width(series: &Series) -> f64 {
    let distance = series.points.windows(2).map(|pair| pair[1].x - pair[0].x).fold(f64::INFINITY, f64::min);
    if distance.is_finite() && distance > 0.0 { distance / 2.0 } else { 0.0 }
}

fn stretch_of_x(lines: &Lines) -> Stretch {
    let bars = |series: &Series| if series.kind == Kind::Bars { half_width(series) } else { 0.0 };
    let simulated = lines.series.iter().any(|series| series.kind.is_simulated() && !series.points.is_empty());
    let counted = |series: &&Series| !simulated || series.kind.is_simulated();
    let values = lines.series.iter().filter(counted).flat_map(|series| {
        let half = bars(series);
        series
            .points
            .iter()
            .filter(|point| is_drawn(lines, point))
            .flat_map(move |point| [point.x - half, point.x + half])
    });
    let curves = lines.series.iter().all(|series| series.kind == Kind::Curve || !series.kind.is_simulated());
    Stretch::new(&lines.x, values, WIDTH, Manner { tight: curves, whole: false, zero: false })
}

fn stretch_of_y(lines: &Lines) -> Stretch {
    let own = |theory: bool| {
        let points = lines.series.iter().filter(move |series| series.kind.is_simulated() != theory);
        points.flat_map(|series| &series.points).filter(|point| is_drawn(lines, point))
    };
    let simulated: Vec<f64> = own(false).map(|point| point.y).collect();
    let least = simulated.iter().copied().fold(f64::INFINITY, f64::min);
    let most = simulated.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Intervals and theory are seen as far as they leave room for the rest.
    let near = |value: &f64| {
        simulated.is_empty()
            || match lines.y.scale {
                Scale::Logarithmic => *value >= least / BELOW && *value <= most * BELOW,
                Scale::Linear => {
                    let room = 2.0 * (most - least).max(0.5 * most.abs());
                    *value >= least - room && *value <= most + room
                }
            }
    };
    let ends = own(false).filter_map(|point| point.interval).flat_map(|(low, high)| [low, high]);
    let ends = ends.filter(|end| match lines.y.scale {
        Scale::Linear => near(end),
        Scale::Logarithmic => *end >= least / 3.0 && near(end),
    });
    let expected = own(true).map(|point| point.y).filter(near);
    let values = simulated.iter().copied().chain(ends).chain(expected);
    Stretch::new(&lines.y, values, HEIGHT, Manner { tight: false, whole: true, zero: true })
}

fn looks(series: &[Series]) -> Vec<Look> {
    let alone = series.iter().filter(|series| series.kind.is_simulated()).count() < 2;
    let mut simulated = 0_usize;
    let mut looks = Vec::new();
    for (i, one) in series.iter().enumerate() {
        let theory = one.kind == Kind::Theory;
        let follows = i > 0 && series[i - 1].kind.is_simulated();
        // A reference has no colour of its own.
        if one.kind != Kind::Reference && (!theory || !follows) {
            simulated += 1;
        }
        let beside_theory = !theory && series.get(i + 1).is_some_and(|next| next.kind == Kind::Theory);
        looks.push(Look { number: simulated.saturating_sub(1), beside_theory, alone });
    }
    looks
}

/// The lines of ticks, and the frame.
fn frame(plot: &mut Canvas, (x_ticks, x): (&[Tick], &Stretch), (y_ticks, y): (&[Tick], &Stretch)) {
    let grid = Stroke::plain(style::GRID, 1.0);
    for tick in x_ticks.iter().filter(|tick| tick.label.is_some()) {
        let at = x.place(tick.value);
        plot.line((at, 0.0), (at, HEIGHT), grid);
    }
    for tick in y_ticks.iter().filter(|tick| tick.label.is_some()) {
        let at = HEIGHT - y.place(tick.value);
        plot.line((0.0, at), (WIDTH, at), grid);
    }
    let ink = Stroke::plain(style::INK, 1.0);
    plot.line((0.0, HEIGHT), (WIDTH, HEIGHT), ink);
    plot.line((0.0, 0.0), (0.0, HEIGHT), ink);
    let length = |tick: &Tick| if tick.label.is_some() { 5.0 } else { 3.0 };
    for tick in x_ticks {
        let at = x.place(tick.value);
        plot.line((at, HEIGHT), (at, HEIGHT + length(tick)), ink);
        if let Some(label) = &tick.label {
            plot.text(&Text::new(label, at, HEIGHT + 19.0, style::TICK).anchor(Anchor::Middle));
        }
    }
    for tick in y_ticks {
        let at = HEIGHT - y.place(tick.value);
        plot.line((-length(tick), at), (0.0, at), ink);
        if let Some(label) = &tick.label {
            plot.text(&Text::new(label, -8.0, at + 4.0, style::TICK).anchor(Anchor::End));
        }
    }
}

fn label_axes(plot: &mut Canvas, lines: &Lines, left: f64, (x_power, y_power): (Option<i32>, Option<i32>)) {
    let cut = |axis: &Axis, most: f64| shortened(&axis.label, most, style::LABEL);
    let (x, y) = (cut(&lines.x, WIDTH + 40.0), cut(&lines.y, HEIGHT + 30.0));
    plot.text(&Text::new(&x, WIDTH / 2.0, HEIGHT + 42.0, style::LABEL).anchor(Anchor::Middle));
    plot.text(&Text::new(&y, style::LABEL - left, HEIGHT / 2.0, style::LABEL).anchor(Anchor::Middle).upright());
    let times = |power: i32| format!("\u{d7}10^{power}");
    if let Some(power) = x_power {
        plot.text(&Text::new(&times(power), WIDTH, HEIGHT + 35.0, style::TICK).anchor(Anchor::End));
    }
    if let Some(power) = y_power {
        plot.text(&Text::new(&times(power), 0.0, -8.0, style::TICK).anchor(Anchor::Middle));
    }
}

fn draw_series(
    (data, marks): (&mut Canvas, &mut Canvas),
    series: &Series,
    look: Look,
    lines: &Lines,
    (x, y): (&Stretch, &Stretch),
) {
    let colour = style::colour(look.number);
    let at = |px: f64, py: f64| (x.place(px), HEIGHT - y.place(py));
    let mut stretches: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for point in &series.points {
        if is_drawn(lines, point) {
            if let Some(stretch) = stretches.last_mut() {
                stretch.push(at(point.x, point.y));
            }
        } else {
            stretches.push(Vec::new());
        }
    }
    match series.kind {
        Kind::Estimates => {
            let join = if look.beside_theory { FAINT } else { 0.8 };
            data.path(&stretches, Stroke { opacity: join, ..Stroke::plain(colour, 1.2) });
            for point in series.points.iter().filter(|point| is_drawn(lines, point)) {
                interval(data, point, lines, (x, y), colour);
            }
            let mark = style::mark(look.number);
            stretches.iter().flatten().for_each(|&place| marks.mark(mark, place, colour));
        }
        Kind::Curve => {
            let (width, opacity) = if look.beside_theory { (3.2, FAINT) } else { (1.7, 1.0) };
            data.path(&stretches, Stroke { opacity, ..Stroke::plain(colour, width) });
            if !look.alone {
                sparse_marks(marks, &stretches, look.number, colour);
            }
        }
        Kind::Bars => {
            let half = half_width(series);
            for stretch in series.points.split(|point| !is_drawn(lines, point)).filter(|points| !points.is_empty()) {
                let base = |px: f64| (x.place(px), HEIGHT - y.place(0.0).max(0.0));
                let mut outline = vec![base(stretch[0].x - half)];
                for point in stretch {
                    outline.extend([at(point.x - half, point.y), at(point.x + half, point.y)]);
                }
                outline.push(base(stretch[stretch.len() - 1].x + half));
                data.shape(&outline, colour, 0.2);
                data.path(&[outline], Stroke::plain(colour, 1.2));
            }
            let highest = series.points.iter().filter(|point| is_drawn(lines, point));
            if let Some(top) = highest.max_by(|one, other| one.y.total_cmp(&other.y)).filter(|_| !look.alone) {
                marks.mark(style::mark(look.number), at(top.x, top.y), colour);
            }
        }
        Kind::Theory => data.path(&stretches, Stroke { dashed: true, ..Stroke::plain(colour, 1.5) }),
        Kind::Reference => data.path(&stretches, Stroke { dotted: true, ..Stroke::plain(style::INK, 1.7) }),
    }
}

/// A curve is known by its marks in grey; they lie where they are not on those of the next curve.
fn sparse_marks(data: &mut Canvas, stretches: &[Vec<(f64, f64)>], number: usize, colour: &str) {
    const APART: f64 = 75.0;
    let mark = style::mark(number);
    let mut next = APART * (0.25 + 0.31 * (number % 3) as f64);
    let mut last: Option<(f64, f64)> = None;
    for &(x, y) in stretches.iter().flatten() {
        if x >= next {
            data.mark(mark, (x, y), colour);
            while next <= x {
                next += APART;
            }
        }
        // A steep line has marks too.
        if last.is_some_and(|(_, before)| (y - before).abs() > APART) {
            data.mark(mark, (x, y), colour);
        }
        last = Some((x, y));
    }
}

/// The interval of a point; on a logarithmic axis one that reaches 0 goes down to the edge.
fn interval(data: &mut Canvas, point: &Point, lines: &Lines, (x, y): (&Stretch, &Stretch), colour: &str) {
    let Some((low, high)) = point.interval.filter(|(low, high)| low.is_finite() && high.is_finite()) else { return };
    let place = |value: f64| if fits(&lines.y, value) { HEIGHT - y.place(value) } else { HEIGHT + 10.0 };
    let (at, top, bottom) = (x.place(point.x), place(high), place(low));
    if bottom - top < 1.0 {
        return;
    }
    let stroke = Stroke::plain(colour, 1.2);
    data.line((at, top), (at, bottom), stroke);
    // Caps that a mark would cover are left out.
    if bottom - top > 9.0 {
        data.line((at - 3.5, top), (at + 3.5, top), stroke);
        data.line((at - 3.5, bottom), (at + 3.5, bottom), stroke);
    }
}

/// A line of the legend.
struct Entry {
    label: String,
    kind: Kind,
    look: Look,
    colour: &'static str,
}

/// What the legend says: theories of several lines are said once, since each has the colour of its line.
fn legend(series: &[Series], looks: &[Look]) -> Vec<Entry> {
    let theories: Vec<&Series> = series.iter().filter(|series| series.kind == Kind::Theory).collect();
    let several = theories.len() > 1;
    let mut entries: Vec<Entry> = series
        .iter()
        .zip(looks)
        .filter(|(series, _)| !(several && series.kind == Kind::Theory))
        .map(|(series, &look)| Entry {
            label: series.label.clone(),
            kind: series.kind,
            look,
            colour: style::colour(look.number),
        })
        .collect();
    if several {
        let words = |series: &&Series| series.label.rsplit(": ").next().unwrap_or_default().to_owned();
        let mut all: Vec<String> = theories.iter().map(words).collect();
        all.dedup();
        let label = if let [only] = &all[..] { only.clone() } else { "theory".to_owned() };
        let look = Look { number: 0, beside_theory: false, alone: false };
        entries.push(Entry { label, kind: Kind::Theory, look, colour: style::GREY });
    }
    entries
}

/// Draws the legend, and tells how wide it is.
fn draw_legend(canvas: &mut Canvas, entries: &[Entry], (left, top): (f64, f64)) -> f64 {
    let mut widest: f64 = 0.0;
    for (row, entry) in entries.iter().enumerate() {
        let y = top + ROW * (row as f64 + 0.5);
        let (from, to) = ((left, y), (left + 28.0, y));
        let middle = (left + 14.0, y);
        match entry.kind {
            Kind::Theory => canvas.line(from, to, Stroke { dashed: true, ..Stroke::plain(entry.colour, 1.5) }),
            Kind::Reference => canvas.line(from, to, Stroke { dotted: true, ..Stroke::plain(style::INK, 1.7) }),
            Kind::Bars => {
                let outline =
                    [(left, y + 6.0), (left, y - 5.0), (left + 28.0, y - 5.0), (left + 28.0, y + 6.0), (left, y + 6.0)];
                canvas.shape(&outline, entry.colour, 0.2);
                canvas.path(&[outline.to_vec()], Stroke::plain(entry.colour, 1.2));
            }
            Kind::Curve if entry.look.beside_theory => {
                canvas.line(from, to, Stroke { opacity: FAINT, ..Stroke::plain(entry.colour, 3.2) });
            }
            Kind::Curve => canvas.line(from, to, Stroke::plain(entry.colour, 1.7)),
            Kind::Estimates => {
                let opacity = if entry.look.beside_theory { FAINT } else { 0.8 };
                canvas.line(from, to, Stroke { opacity, ..Stroke::plain(entry.colour, 1.2) });
            }
        }
        let marked = match entry.kind {
            Kind::Estimates => true,
            Kind::Curve | Kind::Bars => !entry.look.alone,
            Kind::Theory | Kind::Reference => false,
        };
        if marked {
            canvas.mark(style::mark(entry.look.number), middle, entry.colour);
        }
        let label = shortened(&entry.label, LEGEND, style::TICK);
        canvas.text(&Text::new(&label, left + 35.0, y + 4.0, style::TICK));
        widest = widest.max(width(&label, style::TICK));
    }
    18.0 + 35.0 + widest
}

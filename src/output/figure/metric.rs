//! A metric against a swept key, a line for each value of the others, with intervals and theory.

use super::{Axis, Content, Figure, Kind, Lines, Point, Scale, Series};
use super::{labels, reference};
use crate::output::Estimate;
use crate::scenario::{self, Label, OfMetric, Plan, Quantity, Reference, Study, Wanted};

/// More lines than this are not told apart.
const LINES: usize = 12;

/// The estimates of some metrics at a point of the sweep.
pub(super) struct Estimates {
    /// Which point.
    pub(super) point: usize,
    /// The values of the swept keys.
    pub(super) labels: Vec<Label>,
    pub(super) estimates: Vec<Estimate>,
}

fn number(label: &Label) -> Option<f64> {
    match label {
        Label::Integer(n) => Some(*n as f64),
        Label::Real(x) => Some(*x),
        Label::Text(_) => None,
    }
}

/// The swept key with most numbers as its values, if there is one.
pub(super) fn default_axis(study: &Study) -> Option<usize> {
    let count = |axis: usize| {
        let mut values: Vec<String> = study.points.iter().map(|point| point.labels[axis].to_string()).collect();
        values.sort_unstable();
        values.dedup();
        values.len()
    };
    let numbers = (0..study.axes.len()).filter(|&axis| study.axes[axis].kind != scenario::Kind::Text);
    // The first of those with equally many.
    numbers.rev().max_by_key(|&axis| count(axis))
}

/// Whether another key has one value only for each value on the axis, so that it tells no lines apart.
fn follows(points: &[Estimates], axis: usize, other: usize) -> bool {
    let mut pairs: Vec<(String, String)> =
        points.iter().map(|point| (point.labels[axis].to_string(), point.labels[other].to_string())).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.windows(2).all(|pair| pair[0].0 != pair[1].0)
}

/// Whether another key changes with that on the axis.
fn goes_along(points: &[Estimates], axis: usize, other: usize) -> bool {
    let changes = points.windows(2).any(|pair| pair[0].labels[other] != pair[1].labels[other]);
    other != axis && changes && follows(points, axis, other)
}

/// A line: its name, and what stands at each value on the axis.
type Line<'a> = (String, Vec<At<'a>>);

/// What stands at a value on the axis.
struct At<'a> {
    x: f64,
    /// What the estimate is multiplied by.
    factor: f64,
    plan: &'a Plan,
    estimate: &'a Estimate,
}

/// The horizontal axis.
#[derive(Clone, Copy)]
struct Across {
    /// A swept key.
    axis: usize,
    /// What changes with it, and is drawn in its place.
    quantity: Option<Quantity>,
}

impl Across {
    fn of(study: &Study, against: Option<&str>) -> Option<Self> {
        let swept = |key: &str| study.axes.iter().position(|axis| axis.key == key);
        match against {
            Some(key) => match swept(key) {
                Some(axis) => Some(Self { axis, quantity: None }),
                None => Some(Self { axis: default_axis(study)?, quantity: Some(Quantity::named(key)?) }),
            },
            None => default_axis(study).map(|axis| Self { axis, quantity: None }),
        }
    }

    fn value(self, labels: &[Label], plan: &Plan) -> Option<f64> {
        match self.quantity {
            Some(quantity) => Some(quantity.of(plan)),
            None => number(&labels[self.axis]),
        }
    }

    fn label(self, study: &Study) -> String {
        match self.quantity {
            Some(quantity) => labels::of_quantity(quantity),
            None => labels::of_key(&study.axes[self.axis].key, &study.points[0].plan),
        }
    }
}

/// The figure of a metric; empty if nothing can be drawn. Its caption says what is left out or hidden.
pub(super) fn figure(study: &Study, points: &[Estimates], wanted: &Wanted, asked: &OfMetric) -> Figure {
    let plan = &study.points[0].plan;
    let across = Across::of(study, asked.against.as_deref());
    let lines = across.map_or_else(Vec::new, |across| lines(study, points, across, asked));
    let cut = lines.len() > LINES;
    let mut series: Vec<Series> = lines.iter().take(LINES).flat_map(|line| series_of(line, asked.beside)).collect();
    let common = asked.beside.filter(|&beside| reference::is_common(beside));
    // Policies may stop being stable before others, so that the longest line has most to be beside.
    let longest = lines.iter().rev().max_by_key(|line| line.1.len());
    series.extend(common.zip(longest).map(|(beside, line)| beside_line(&line.1, beside)));
    let x_label = across.map_or_else(String::new, |across| across.label(study));
    let values = || series.iter().flat_map(|series| &series.points);
    let x = Axis { scale: spaced(values().map(|point| point.x)), label: x_label };
    let key = asked.key.as_deref().unwrap_or_default();
    let what = labels::words(asked.metric, key);
    let (what, y_label) = match &asked.times[..] {
        [] => (labels::capital(&what), labels::of_metric(asked.metric, key, plan)),
        // The unit would be another.
        times => (labels::scaled(&what, times), labels::scaled(&what, times)),
    };
    let y = super::scaled(y_label, values().map(|point| point.y));
    let without_place = y.scale == Scale::Logarithmic && values().any(|point| point.y == 0.0);
    if y.scale == Scale::Logarithmic {
        // A legend names no line that cannot be seen.
        let drawn = |series: &Series| series.points.iter().filter(|point| point.y > 0.0).count() > 1;
        series.retain(|series| series.kind.is_simulated() || drawn(series));
    }
    let plain = x.label.split(" (").next().unwrap_or_default();
    let mut caption = String::new();
    for other in (0..study.axes.len()).filter(|&other| across.is_some_and(|x| goes_along(points, x.axis, other))) {
        if !is_of_run(&study.axes[other].key) {
            caption.push_str(&format!("; {} changes along", study.axes[other].key));
        }
    }
    if without_place {
        caption.push_str("; zeros have no place on the axis");
    }
    if cut {
        caption.push_str(&format!("; the first {LINES} of {} lines", lines.len()));
    }
    Figure {
        name: wanted.file_name(),
        title: if plain.is_empty() { what } else { format!("{what} against {plain}") },
        caption,
        content: Content::Lines(Lines { x, y, series }),
    }
}

/// How long and how often is simulated says nothing of what is.
fn is_of_run(key: &str) -> bool {
    ["run.time", "run.warmup", "run.replications"].contains(&key)
}

fn lines<'a>(study: &'a Study, points: &'a [Estimates], across: Across, asked: &OfMetric) -> Vec<Line<'a>> {
    let (metric, axis) = (asked.metric, across.axis);
    let named = |other: usize| other != axis && !is_of_run(&study.axes[other].key) && !follows(points, axis, other);
    let named: Vec<bool> = (0..study.axes.len()).map(named).collect();
    let own = || points.iter().flat_map(|point| &point.estimates).filter(|estimate| estimate.metric == metric);
    let single = own().any(|estimate| estimate.key.is_empty());
    let mut lines: Vec<Line<'a>> = Vec::new();
    for point in points {
        let plan = &study.points[point.point].plan;
        let Some(x) = across.value(&point.labels, plan) else { continue };
        let place = labels::place(&study.axes, &point.labels, |other| named[other]);
        for estimate in point.estimates.iter().filter(|estimate| estimate.metric == metric) {
            let label = match &asked.key {
                Some(key) if estimate.key == *key => place.clone(),
                None if single && estimate.key.is_empty() => place.clone(),
                // Without one that stands for all, each has a line.
                None if !single && place.is_empty() => format!("{} {}", metric.key(), estimate.key),
                None if !single => format!("{} {}, {place}", metric.key(), estimate.key),
                _ => continue,
            };
            let factor = asked.times.iter().map(|quantity| quantity.of(plan)).product();
            let at = At { x, factor, plan, estimate };
            match lines.iter_mut().find(|line| line.0 == label) {
                Some(line) => line.1.push(at),
                None => lines.push((label, vec![at])),
            }
        }
    }
    for (_, line) in &mut lines {
        line.sort_by(|one, other| one.x.total_cmp(&other.x));
    }
    lines
}

fn series_of((label, line): &Line<'_>, beside: Option<Reference>) -> Vec<Series> {
    let simulated = line.iter().filter_map(|at| {
        let ends = at.estimate.interval().map(|(low, high)| (at.factor * low, at.factor * high));
        // A factor may be negative, as 1 - load is in an overload.
        let interval = ends.map(|(low, high)| (low.min(high), low.max(high)));
        Some(Point { x: at.x, y: at.factor * at.estimate.estimate?, interval })
    });
    let expected: Vec<Point> =
        line.iter().filter_map(|at| Some(Point::plain(at.x, at.factor * labels::predicted(at.estimate)?))).collect();
    let name = if label.is_empty() { "simulated" } else { label };
    let mut series = vec![Series { label: name.to_owned(), kind: Kind::Estimates, points: simulated.collect() }];
    if let Some(beside) = beside.filter(|&beside| !reference::is_common(beside)) {
        let mut own = beside_line(line, beside);
        own.label = labels::theory_line(label, &own.label);
        series.extend((!own.points.is_empty()).then_some(own));
    } else if !expected.is_empty() {
        let kinds = line.iter().filter(|at| labels::predicted(at.estimate).is_some());
        let kind = labels::of_theory(kinds.filter_map(|at| at.estimate.theory_kind));
        series.push(Series { label: labels::theory_line(label, &kind), kind: Kind::Theory, points: expected });
    }
    series
}

/// The line of a paper at the places of one that is simulated.
fn beside_line(line: &[At<'_>], beside: Reference) -> Series {
    let values = line.iter().filter_map(|at| Some((at, reference::value(beside, at.plan, &at.estimate.key)?)));
    let points: Vec<Point> = values.map(|(at, value)| Point::plain(at.x, value)).collect();
    // Only the growth is known: the height is that of the first value.
    let first = line.iter().find(|at| points.first().is_some_and(|first| first.x == at.x));
    let height = first.and_then(|at| Some(at.factor * at.estimate.estimate? / points.first()?.y));
    let scale = if reference::is_growth(beside) { height.unwrap_or(1.0) } else { 1.0 };
    Series {
        label: reference::label(beside).to_owned(),
        kind: if reference::is_common(beside) { Kind::Reference } else { Kind::Theory },
        points: points.into_iter().map(|point| Point::plain(point.x, scale * point.y)).collect(),
    }
}

/// Values that are spaced like powers, or span more than two decades, belong on a logarithmic axis.
fn spaced(values: impl Iterator<Item = f64>) -> Scale {
    let mut values: Vec<f64> = values.filter(|x| x.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let (Some(&first), Some(&last)) = (values.first(), values.last()) else { return Scale::Linear };
    if first <= 0.0 {
        return Scale::Linear;
    }
    let ratios = || values.windows(2).map(|pair| pair[1] / pair[0]);
    let (least, most) = (ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max));
    // Two values tell no spacing, but a decade between them does.
    let like_powers =
        values.len() == 2 && last >= 10.0 * first || values.len() >= 3 && least >= 1.5 && most / least < 1.3;
    if last > 100.0 * first || like_powers { Scale::Logarithmic } else { Scale::Linear }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_logarithmic_where_values_are_spaced_so() {
        let scale = |values: &[f64]| spaced(values.iter().copied());
        assert_eq!(scale(&[0.5, 0.7, 0.9]), Scale::Linear);
        assert_eq!(scale(&[10.0, 100.0, 1000.0]), Scale::Logarithmic);
        assert_eq!(scale(&[1.0, 2.0, 5.0, 10.0]), Scale::Logarithmic);
        assert_eq!(scale(&[1.0, 2.0, 3.0, 4.0]), Scale::Linear);
        assert_eq!(scale(&[1.0, 2.0, 4.0, 8.0]), Scale::Logarithmic);
        assert_eq!(scale(&[0.01, 0.5, 1.5]), Scale::Logarithmic);
        assert_eq!(scale(&[0.0, 0.1, 1.0, 100.0]), Scale::Linear);
        assert_eq!(scale(&[1000.0, 10000.0]), Scale::Logarithmic);
        assert_eq!(scale(&[0.5, 0.9]), Scale::Linear);
        assert_eq!(scale(&[f64::NAN]), Scale::Linear);
        assert_eq!(scale(&[]), Scale::Linear);
    }
}

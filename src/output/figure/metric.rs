//! A metric against a swept key, a line for each value of the others, with intervals and theory.

use super::labels;
use super::{Axis, Content, Figure, Kind, Lines, Point, Scale, Series};
use crate::measure::Metric;
use crate::output::Estimate;
use crate::scenario::{self, Label, Study, Wanted};

/// More lines than this are not told apart.
const LINES: usize = 12;

/// The estimates of some metrics at a point of the sweep.
pub(super) struct Estimates {
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

/// A line: its name, the key of the metric, and what stands at each value on the axis.
type Line<'a> = (String, Vec<(f64, &'a Estimate)>);

/// The figure of a metric; empty if nothing can be drawn. Its caption says what is left out or hidden.
pub(super) fn figure(
    study: &Study,
    points: &[Estimates],
    wanted: &Wanted,
    (metric, key, against): (Metric, Option<&str>, Option<&str>),
) -> Figure {
    let plan = &study.points[0].plan;
    let axis = match against {
        Some(against) => study.axes.iter().position(|axis| axis.key == against),
        None => default_axis(study),
    };
    let lines = axis.map_or_else(Vec::new, |axis| lines(study, points, axis, metric, key));
    let cut = lines.len() > LINES;
    let series: Vec<Series> = lines.iter().take(LINES).flat_map(series_of).collect();
    let x_label = axis.map_or_else(String::new, |axis| labels::of_key(&study.axes[axis].key, plan));
    let values = || series.iter().flat_map(|series| &series.points);
    let x = Axis { scale: spaced(values().map(|point| point.x)), label: x_label };
    let y = super::scaled(labels::of_metric(metric, key.unwrap_or_default(), plan), values().map(|point| point.y));
    let what = labels::words(metric, key.unwrap_or_default());
    let mut capital = what.chars();
    // Symbols stay as they are.
    let what = match capital.next() {
        Some(first) if !what.starts_with("s_") => first.to_uppercase().chain(capital).collect(),
        _ => what,
    };
    let plain = x.label.split(" (").next().unwrap_or_default();
    let mut caption = String::new();
    for other in (0..study.axes.len()).filter(|&other| axis.is_some_and(|axis| goes_along(points, axis, other))) {
        caption.push_str(&format!("; {} changes along", study.axes[other].key));
    }
    if y.scale == Scale::Logarithmic && values().any(|point| point.y == 0.0) {
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

fn lines<'a>(study: &Study, points: &'a [Estimates], axis: usize, metric: Metric, key: Option<&str>) -> Vec<Line<'a>> {
    let named: Vec<bool> = (0..study.axes.len()).map(|other| other != axis && !follows(points, axis, other)).collect();
    let own = || points.iter().flat_map(|point| &point.estimates).filter(|estimate| estimate.metric == metric);
    let single = own().any(|estimate| estimate.key.is_empty());
    let mut lines: Vec<Line<'a>> = Vec::new();
    for point in points {
        let Some(x) = number(&point.labels[axis]) else { continue };
        let place = labels::place(&study.axes, &point.labels, |other| named[other]);
        for estimate in point.estimates.iter().filter(|estimate| estimate.metric == metric) {
            let label = match key {
                Some(key) if estimate.key == key => place.clone(),
                None if single && estimate.key.is_empty() => place.clone(),
                // Without one that stands for all, each has a line.
                None if !single && place.is_empty() => format!("{} {}", metric.key(), estimate.key),
                None if !single => format!("{} {}, {place}", metric.key(), estimate.key),
                _ => continue,
            };
            match lines.iter_mut().find(|line| line.0 == label) {
                Some(line) => line.1.push((x, estimate)),
                None => lines.push((label, vec![(x, estimate)])),
            }
        }
    }
    for (_, line) in &mut lines {
        line.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    lines
}

fn series_of((label, line): &Line<'_>) -> Vec<Series> {
    let simulated: Vec<Point> = line
        .iter()
        .filter_map(|(x, estimate)| Some(Point { x: *x, y: estimate.estimate?, interval: estimate.interval() }))
        .collect();
    let expected: Vec<Point> =
        line.iter().filter_map(|(x, estimate)| Some(Point::plain(*x, labels::predicted(estimate)?))).collect();
    let name = if label.is_empty() { "simulated" } else { label };
    let mut series = vec![Series { label: name.to_owned(), kind: Kind::Estimates, points: simulated }];
    if !expected.is_empty() {
        let kinds = line.iter().filter(|(_, estimate)| labels::predicted(estimate).is_some());
        let kind = labels::of_theory(kinds.filter_map(|(_, estimate)| estimate.theory_kind));
        series.push(Series { label: labels::theory_line(label, &kind), kind: Kind::Theory, points: expected });
    }
    series
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
    let like_powers = values.len() >= 3 && least >= 1.5 && most / least < 1.3;
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
        assert_eq!(scale(&[f64::NAN]), Scale::Linear);
        assert_eq!(scale(&[]), Scale::Linear);
    }
}

//! `trajectory`: s_k in the course of time beside the mean-field equation.

use super::{Axis, Content, Figure, Kind, Lines, Point, Series, labels};
use crate::measure::Metric;
use crate::output::{Curve, Results};
use crate::scenario::Plan;

/// Levels that are shown.
const LEVELS: usize = 6;

/// A level that never gets there is not worth a line.
const LEAST: f64 = 0.005;

/// Moments of a curve.
const MOMENTS: usize = 300;

/// Error of a step of the solver: a line on paper shows less.
const TOLERANCE: f64 = 1e-6;

/// Simulated curves, and those of the mean-field equation where it is known.
pub(super) fn kept(results: &Results, plan: &Plan) -> Vec<Series> {
    let Some(course) = &results.time_course else { return Vec::new() };
    let stride = course.times.len().div_ceil(MOMENTS).max(1);
    let times: Vec<f64> = course.times.iter().copied().step_by(stride).collect();
    let limit = plan.mean_field_course(&times, TOLERANCE).ok();
    let reaches = |curve: &&Curve| curve.means.iter().any(|mean| mean.estimate.is_some_and(|s| s >= LEAST));
    let levels = course.curves.iter().filter(|curve| curve.metric == Metric::TailFraction).filter(reaches);
    let mut series = Vec::new();
    for curve in levels.take(LEVELS) {
        let means = times.iter().zip(curve.means.iter().step_by(stride));
        let points = means.filter_map(|(&x, mean)| Some(Point::plain(x, mean.estimate?))).collect();
        let label = format!("s_{}", curve.key);
        let level = curve.key.parse::<usize>().ok().and_then(|k| k.checked_sub(1));
        series.push(Series { label: label.clone(), kind: Kind::Curve, points });
        if let (Some(limit), Some(level)) = (&limit, level) {
            let at = |tail: &Vec<f64>| tail.get(level).copied().unwrap_or(0.0);
            let points = times.iter().zip(&limit.tails).map(|(&x, tail)| Point::plain(x, at(tail))).collect();
            let label = labels::theory_line(&label, "mean field");
            series.push(Series { label, kind: Kind::Theory, points });
        }
    }
    series
}

/// The curves of one point.
pub(super) fn figure(name: String, place: &str, series: Vec<Series>, plan: &Plan, caption: String) -> Figure {
    let title = "s_k in the course of time";
    Figure {
        name,
        title: if place.is_empty() { title.to_owned() } else { format!("{title}: {place}") },
        caption,
        content: Content::Lines(Lines {
            x: Axis::linear(format!("time ({})", labels::unit_of_time(plan))),
            y: Axis::linear("s_k, fraction of servers with at least k jobs"),
            series,
        }),
    }
}

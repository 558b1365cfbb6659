//! `tail_fraction`: s_k against k, with theory.

use super::labels;
use super::{Axis, Content, Figure, Kind, Lines, Point, Series};
use crate::measure::Metric;
use crate::output::{Estimate, Results};

/// More levels than this are a curve rather than marks.
const MARKS: usize = 40;

/// The estimates of s_k.
pub(super) fn kept(results: &Results) -> Vec<Estimate> {
    results.estimates.iter().filter(|estimate| estimate.metric == Metric::TailFraction).cloned().collect()
}

/// The interval, as far as a fraction can lie in it.
fn within(estimate: &Estimate) -> Option<(f64, f64)> {
    estimate.interval().map(|(low, high)| (low, high.min(1.0)))
}

/// A line of estimates and one of theory, for each of some points.
pub(super) fn figure(points: &[(String, &[Estimate])], caption: String) -> Figure {
    let mut series = Vec::new();
    // All look alike.
    let many = points.iter().any(|(_, estimates)| estimates.len() > MARKS);
    for (label, estimates) in points {
        let of = |estimate: &Estimate| Some((estimate.key.parse().ok()?, estimate.estimate?, within(estimate)));
        let simulated: Vec<Point> =
            estimates.iter().filter_map(of).map(|(x, y, interval)| Point { x, y, interval }).collect();
        let of_theory =
            |estimate: &Estimate| Some(Point::plain(estimate.key.parse().ok()?, labels::predicted(estimate)?));
        let expected: Vec<Point> = estimates.iter().filter_map(of_theory).collect();
        let kind = if many { Kind::Curve } else { Kind::Estimates };
        let name = if label.is_empty() { "simulated" } else { label };
        series.push(Series { label: name.to_owned(), kind, points: simulated });
        if !expected.is_empty() {
            // s_1 is known exactly nearly always: the rest tells what theory this is.
            let kinds = || estimates.iter().filter(|estimate| labels::predicted(estimate).is_some());
            let later = kinds().skip(usize::from(expected.len() > 1)).filter_map(|estimate| estimate.theory_kind);
            let label = labels::theory_line(label, &labels::of_theory(later));
            series.push(Series { label, kind: Kind::Theory, points: expected });
        }
    }
    let label = "s_k, fraction of servers with at least k jobs";
    let y = super::scaled(label, series.iter().flat_map(|series| &series.points).map(|point| point.y));
    Figure {
        name: "tail_fraction".to_owned(),
        title: "Fraction of servers with at least k jobs".to_owned(),
        caption,
        content: Content::Lines(Lines { x: Axis::linear("k (jobs)"), y, series }),
    }
}

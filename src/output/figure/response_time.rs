//! `response_time`: the complementary distribution of the response time, with theory.

use super::labels;
use super::{Axis, Content, Figure, Kind, Lines, Point, Series};
use crate::measure::{DelayHistogram, Metric};
use crate::output::Results;
use crate::scenario::Plan;
use crate::theory;

/// Points of a curve along each axis.
const POINTS: f64 = 150.0;

/// From this ratio of the longest to the median response time on both axes are logarithmic.
const HEAVY: f64 = 60.0;

/// What a point of the experiment says about the response time.
pub(super) struct Law {
    simulated: Vec<Point>,
    expected: Vec<Point>,
    kind: Option<theory::Kind>,
}

/// The curves of a point.
pub(super) fn kept(results: &Results, plan: &Plan) -> Law {
    let simulated = results.response.as_ref().map_or_else(Vec::new, survival);
    let least = simulated.last().map_or(1.0, |point| point.y);
    let (expected, kind) = if results.manifest.steady { expected(plan, least) } else { (Vec::new(), None) };
    Law { simulated, expected, kind }
}

/// P(T > t), as many points of it as can be told apart.
fn survival(response: &DelayHistogram) -> Vec<Point> {
    let counts = response.counts();
    let jobs = counts.len();
    if jobs == 0 {
        return Vec::new();
    }
    let time = |ticks: u64| (ticks as f64 + 0.5) * response.tick();
    let longest = time(counts.highest_equivalent(counts.max()));
    let (right, down) = (longest / POINTS, (jobs as f64).log10().max(1.0) / POINTS);
    let mut points = vec![Point::plain(0.0, 1.0)];
    let (mut below, mut last) = (0, Point::plain(0.0, 1.0));
    let mut skipped: Option<Point> = None;
    for bucket in counts.iter_recorded() {
        let value = bucket.value_iterated_to();
        let before =
            Point::plain(time(counts.lowest_equivalent(value)) - response.tick(), (jobs - below) as f64 / jobs as f64);
        below += bucket.count_at_value();
        let here = Point::plain(time(counts.highest_equivalent(value)), (jobs - below) as f64 / jobs as f64);
        // A long stretch without jobs is level.
        if before.x - skipped.unwrap_or(last).x > right && before.y > 0.0 {
            points.extend(skipped.take());
            points.push(before);
            last = before;
        }
        let moved = here.x - last.x >= right || last.y.log10() - here.y.log10() >= down;
        let far = here.x > 1.02 * last.x;
        if here.y > 0.0 && moved && (far || here.x - last.x >= right) {
            points.push(here);
            last = here;
            skipped = None;
        } else if here.y > 0.0 {
            skipped = Some(here);
        }
    }
    points.extend(skipped);
    points
}

/// The same from theory, down to a probability.
fn expected(plan: &Plan, least: f64) -> (Vec<Point>, Option<theory::Kind>) {
    let predictions = plan.predictions();
    let mut kind = None;
    let steps = 60;
    let least = least.clamp(1e-12, 0.5);
    let points = (0..=steps).filter_map(|i| {
        let y = least.powf(f64::from(i) / f64::from(steps));
        let found = predictions.of(Metric::ResponseTimeQuantile, &(1.0 - y).to_string())?;
        kind = Some(found.kind);
        found.value.is_finite().then(|| Point::plain(found.value, y))
    });
    let points: Vec<Point> = points.collect();
    (points, kind)
}

/// A curve and one of theory for each of some points.
pub(super) fn figure(points: &[(String, &Law)], plan: &Plan, caption: String) -> Figure {
    let mut series = Vec::new();
    let mut heavy = matches!(plan.system.service, crate::model::Law::Pareto(_));
    for (label, law) in points {
        let name = if label.is_empty() { "simulated" } else { label };
        let median = law.simulated.iter().find(|point| point.y <= 0.5).map_or(f64::INFINITY, |point| point.x);
        heavy |= law.simulated.last().is_some_and(|last| last.x > HEAVY * median);
        series.push(Series { label: name.to_owned(), kind: Kind::Curve, points: law.simulated.clone() });
        if let Some(kind) = law.kind {
            let label = labels::theory_line(label, &labels::of_theory(std::iter::once(kind)));
            series.push(Series { label, kind: Kind::Theory, points: law.expected.clone() });
        }
    }
    let x = format!("response time t ({})", labels::unit_of_time(plan));
    Figure {
        name: "response_time".to_owned(),
        title: "Fraction of jobs that stay longer than t".to_owned(),
        caption,
        content: Content::Lines(Lines {
            x: if heavy { Axis::logarithmic(x) } else { Axis::linear(x) },
            y: Axis::logarithmic("P(T > t), fraction of jobs that stay longer"),
            series,
        }),
    }
}

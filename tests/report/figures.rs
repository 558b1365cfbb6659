//! Figures with all that data can do to a chart, and a page with them.

use herdsim::experiment::{self, Unwatched};
use herdsim::output::figure::{Axis, Content, Figure, Kind, Lines, Maps, Panel, Point, Scale, Series};
use herdsim::output::report::{Made, Report};
use herdsim::scenario::{Changes, Study};
use std::num::NonZeroUsize;

/// A name that would be a programme if it were not escaped.
pub(crate) const HOSTILE: &str = "</script><img src=x onerror=alert(1)> {{charts}} <!-- & \" ' ";

const SCENARIO: &str = "
servers: [{name: slow, count: 3, rate: 1}, {name: '<b>fast', count: 2, rate: 3}]
dispatchers: 2
load: 0.6
policy: {dispatch: shortest, information: {pull: {probability: 0.5, delay: {exponential: {mean: 0.3}}}}}
run: {warmup: 5, time: 40, replications: 4, seed: 7}
measure: {quantiles: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99, 0.999]}
";

fn axis(label: &str, scale: Scale) -> Axis {
    Axis { label: label.to_owned(), scale }
}

fn series(label: &str, kind: Kind, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
    let points = points.into_iter().map(|(x, y)| Point { x, y, interval: None }).collect();
    Series { label: label.to_owned(), kind, points }
}

fn with_intervals(label: &str, points: impl IntoIterator<Item = (f64, f64, f64)>) -> Series {
    let point = |(x, y, half)| Point { x, y, interval: Some((y - half, y + half)) };
    Series { label: label.to_owned(), kind: Kind::Estimates, points: points.into_iter().map(point).collect() }
}

fn figure(name: &str, content: Content) -> Figure {
    let caption = format!("What the figure {name} is made of.");
    Figure { name: name.to_owned(), title: format!("Figure {name}"), caption, content }
}

fn lines(name: &str, x: Scale, y: Scale, series: Vec<Series>) -> Figure {
    let content = Lines { x: axis("k (jobs)", x), y: axis("value (mean service times)", y), series };
    figure(name, Content::Lines(content))
}

fn maps(name: &str, panels: Vec<Panel>) -> Figure {
    let (x, y, colour) = ("time (mean service times)", "server", "queue length (jobs)");
    let axes = [x, y, colour].map(|label| axis(label, Scale::Linear));
    let [x, y, colour] = axes;
    figure(name, Content::Maps(Maps { x, y, colour, panels }))
}

fn panel(label: &str, columns: u32, rows: u32, value: impl Fn(u32, u32) -> f64) -> Panel {
    Panel {
        label: label.to_owned(),
        edges: (0..=columns).map(f64::from).collect(),
        rows: (0..rows).map(|row| (0..columns).map(|column| value(column, row)).collect()).collect(),
    }
}

/// Figures that must be drawn, with what each is about.
pub(crate) fn drawn() -> Vec<Figure> {
    use Scale::{Linear, Logarithmic};
    let tail = |rho: f64| move |k: u32| (f64::from(k), rho.powf(2_f64.powi(k as i32) - 1.0));
    let wave = |phase: f64| move |i: u32| (f64::from(i) / 100.0, 3.0 + (f64::from(i) / 800.0 + phase).sin());
    let estimates =
        |rho: f64| (1..8).map(tail(rho)).map(|(x, y)| (x, y, 0.2 * y.sqrt() * 0.01)).filter(|(_, y, _)| *y > 1e-9);
    let many = (0..12).map(|i| {
        let label = format!("policy {i} with a rather long name, which has to be broken on a phone");
        with_intervals(&label, (1..10).map(|k| (f64::from(k) / 10.0, f64::from(k * (i + 2)), f64::from(i))))
    });
    vec![
        lines(
            "tails",
            Linear,
            Logarithmic,
            vec![
                with_intervals("two choices", estimates(0.9)),
                series("two choices, theory", Kind::Theory, (1..12).map(tail(0.9))),
                with_intervals("at load 0.7", estimates(0.7)),
                series("at load 0.7, theory", Kind::Theory, (1..12).map(tail(0.7))),
            ],
        ),
        lines(
            "curves",
            Linear,
            Linear,
            vec![
                series("in time", Kind::Curve, (0..50_000).map(wave(0.0))),
                series("the equation", Kind::Theory, (0..5_000).map(wave(0.1))),
                series("later", Kind::Curve, (0..20_000).map(wave(2.0))),
            ],
        ),
        lines(
            "bars",
            Linear,
            Linear,
            vec![
                series(
                    "histogram",
                    Kind::Bars,
                    (0..30).map(|i| (f64::from(i), 10.0 / f64::from(1 + (i - 9) * (i - 9)))),
                ),
                series("law", Kind::Theory, (0..30).map(|i| (f64::from(i), 9.0 / f64::from(1 + (i - 9) * (i - 9))))),
            ],
        ),
        lines("many", Linear, Linear, many.collect()),
        lines(
            "delays",
            Logarithmic,
            Logarithmic,
            vec![with_intervals("d", (0..6).map(|i| (10_f64.powi(i - 3), 2.0, 0.1)))],
        ),
        lines("decade", Linear, Logarithmic, vec![series("two to eight", Kind::Curve, [(1.0, 2.0), (2.0, 8.0)])]),
        lines(
            "gaps",
            Linear,
            Linear,
            vec![series("g", Kind::Curve, [(1.0, 1.0), (2.0, f64::NAN), (3.0, 2.0), (4.0, 1.0)])],
        ),
        lines("zeros", Linear, Linear, vec![with_intervals("always zero", (0..5).map(|i| (f64::from(i), 0.0, 0.0)))]),
        lines("constant", Linear, Linear, vec![series("constant", Kind::Curve, (0..5).map(|i| (f64::from(i), 7.0)))]),
        lines(
            "single",
            Linear,
            Linear,
            vec![with_intervals("one", [(3.0, 5.0, 1.0)]), series("t", Kind::Theory, [(3.0, 5.5)])],
        ),
        lines(
            "huge",
            Linear,
            Linear,
            vec![series("h", Kind::Curve, [(0.0, -1e308), (1.0, 1e308), (2.0, f64::INFINITY)])],
        ),
        lines(
            "some zeros",
            Linear,
            Logarithmic,
            vec![with_intervals("z", [(0.0, 0.0, 0.0), (1.0, 0.1, 0.2), (2.0, 0.0, 0.1)])],
        ),
        lines(HOSTILE, Linear, Linear, vec![series(HOSTILE, Kind::Curve, [(1.0, 1.0), (2.0, 2.0)])]),
        maps(
            "herd",
            vec![
                panel("JSQ on one late view", 120, 50, |c, r| f64::from((c / 10 + r / 10) % 4 * 5 + (c * r) % 3)),
                panel("L-JBA", 120, 50, |c, r| if c == 7 { f64::NAN } else { f64::from((c * 7 + r * 3) % 5) }),
            ],
        ),
        maps("flat", vec![panel("all equal", 3, 2, |_, _| 0.0)]),
    ]
}

/// Figures in which there is nothing to draw, which must say so.
pub(crate) fn empty() -> Vec<Figure> {
    use Scale::{Linear, Logarithmic};
    vec![
        lines("no series", Linear, Linear, Vec::new()),
        lines("no points", Linear, Logarithmic, vec![with_intervals("none", [])]),
        lines("not numbers", Linear, Linear, vec![series("n", Kind::Curve, [(1.0, f64::NAN), (f64::NAN, 1.0)])]),
        lines("zeros on a logarithm", Linear, Logarithmic, vec![series("z", Kind::Bars, [(1.0, 0.0), (2.0, -1.0)])]),
        maps("no pictures", Vec::new()),
        maps("no columns", vec![panel("empty", 0, 5, |_, _| 1.0)]),
        maps("no numbers", vec![panel("none", 3, 5, |_, _| f64::NAN)]),
    ]
}

/// A report of a small run with these figures.
pub(crate) fn page(figures: &[Figure]) -> String {
    let text = format!("name: \"{}\"{SCENARIO}", HOSTILE.replace('"', "\\\""));
    let study = Study::read(&text, "test", "test", Changes::default()).expect("a valid scenario");
    let results = experiment::run(&study.points[0].plan, NonZeroUsize::MIN, &Unwatched).expect("it runs");
    let mut report = Report::new(&study);
    report.add(&results);
    let made = Made { started: Some("2026-01-01T00:00:00Z".to_owned()), duration_seconds: Some(1.0) };
    report.finish(figures, &made, 0)
}

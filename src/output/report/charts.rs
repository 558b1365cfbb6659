//! The figures as the script draws them: JSON, thinned until it has room.

use crate::output::figure::{Content, Figure, Kind, Lines, Maps, Panel, Point, Series};
use serde_json::{Value, json};

/// Points of a line, columns and rows of a picture, and lines of a figure, at most.
#[derive(Clone, Copy, Debug)]
struct Limits {
    points: usize,
    cells: usize,
    series: usize,
}

/// Where thinning starts: more than this no screen shows.
const FINEST: Limits = Limits { points: 4000, cells: 600, series: 60 };

/// Where it ends; figures that still have no room are left out.
const COARSEST: usize = 16;

/// The figures as JSON of at most `bytes`, and how many of them it has.
pub(super) fn charts(figures: &[Figure], bytes: usize) -> (String, usize) {
    let mut limits = FINEST;
    loop {
        let drawn: Vec<String> = figures.iter().map(|figure| chart(figure, limits).to_string()).collect();
        let length = |drawn: &[String]| 2 + drawn.iter().map(|chart| chart.len() + 1).sum::<usize>();
        if length(&drawn) <= bytes {
            return (format!("[{}]", drawn.join(",")), drawn.len());
        }
        if limits.points <= COARSEST {
            let fitting = (0..drawn.len()).rev().find(|&count| length(&drawn[..count]) <= bytes).unwrap_or(0);
            return (format!("[{}]", drawn[..fitting].join(",")), fitting);
        }
        let half = |limit: usize| (limit / 2).max(COARSEST);
        limits = Limits { points: half(limits.points), cells: half(limits.cells), series: limits.series };
    }
}

fn chart(figure: &Figure, limits: Limits) -> Value {
    let mut notes: Vec<String> = Vec::new();
    let content = match &figure.content {
        Content::Lines(lines) => json!({ "lines": of_lines(lines, limits, &mut notes) }),
        Content::Maps(maps) => json!({ "maps": of_maps(maps, limits, &mut notes) }),
    };
    json!({ "name": figure.name, "content": content, "note": notes.join(" ") })
}

fn of_lines(lines: &Lines, limits: Limits, notes: &mut Vec<String>) -> Value {
    if lines.series.len() > limits.series {
        notes.push(format!("The first {} of {} lines are drawn.", limits.series, lines.series.len()));
    }
    let longest = lines.series.iter().map(|series| series.points.len()).max().unwrap_or(0);
    if longest > limits.points {
        notes.push(format!("Of lines with up to {longest} points {} are drawn, peaks included.", limits.points));
    }
    let series: Vec<Value> = lines.series.iter().take(limits.series).map(|series| of_series(series, limits)).collect();
    json!({ "x": lines.x, "y": lines.y, "series": series })
}

fn of_series(series: &Series, limits: Limits) -> Value {
    let points: Vec<Value> = thinned(&series.points, limits.points).map(of_point).collect();
    let kind = match series.kind {
        Kind::Estimates => "estimates",
        Kind::Curve => "curve",
        Kind::Bars => "bars",
        Kind::Theory | Kind::Reference => "theory",
    };
    json!({ "label": super::html::shorten(&series.label, 120), "kind": kind, "points": points })
}

/// `[x, y]` or `[x, y, low, high]`; what is not finite is null.
fn of_point(point: &Point) -> Value {
    match point.interval {
        None => json!([point.x, point.y]),
        Some((low, high)) => json!([point.x, point.y, low, high]),
    }
}

/// At most `most` points in their order: the lowest and the highest of each of equal stretches, and both ends.
fn thinned(points: &[Point], most: usize) -> impl Iterator<Item = &Point> {
    let chosen: Vec<usize> = if points.len() <= most {
        (0..points.len()).collect()
    } else {
        let stretches = most / 2 - 1;
        let inner = points.len() - 2;
        let extremes = |i: usize| {
            let stretch = 1 + i * inner / stretches..1 + (i + 1) * inner / stretches;
            let by_height = |a: &usize, b: &usize| points[*a].y.total_cmp(&points[*b].y);
            let low = stretch.clone().min_by(by_height);
            let high = stretch.max_by(by_height);
            let (low, high) = (low.min(high), low.max(high));
            low.into_iter().chain(high.filter(|_| low != high))
        };
        let middle = (0..stretches).flat_map(extremes);
        std::iter::once(0).chain(middle).chain(std::iter::once(points.len() - 1)).collect()
    };
    chosen.into_iter().map(|i| &points[i])
}

fn of_maps(maps: &Maps, limits: Limits, notes: &mut Vec<String>) -> Value {
    let widest = maps.panels.iter().map(|panel| panel.edges.len().saturating_sub(1)).max().unwrap_or(0);
    let highest = maps.panels.iter().map(|panel| panel.rows.len()).max().unwrap_or(0);
    // Pictures beside each other share the room.
    let most = (limits.cells / maps.panels.len().clamp(1, 4)).max(COARSEST);
    let (across, up) = (widest.div_ceil(most).max(1), highest.div_ceil(most).max(1));
    if across > 1 || up > 1 {
        notes.push(format!("Each cell that is drawn is one of {across} columns and {up} rows of the data."));
    }
    let panels: Vec<Value> = maps.panels.iter().map(|panel| of_panel(panel, across, up)).collect();
    json!({ "x": maps.x, "y": maps.y, "colour": maps.colour, "panels": panels })
}

/// Every `across`-th column and `up`-th row; the edges are those of the cells that one stands for.
fn of_panel(panel: &Panel, across: usize, up: usize) -> Value {
    let columns = panel.edges.len().saturating_sub(1);
    let mut edges: Vec<f64> = panel.edges.iter().take(columns).step_by(across).copied().collect();
    edges.extend(panel.edges.last());
    let row = |row: &Vec<f64>| row.iter().take(columns).step_by(across).copied().collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = panel.rows.iter().step_by(up).map(row).collect();
    let label = super::html::shorten(&panel.label, 120);
    json!({ "label": label, "edges": edges, "rows": rows, "height": panel.rows.len() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::figure::{Axis, Scale};

    fn axis(label: &str) -> Axis {
        Axis { label: label.to_owned(), scale: Scale::Linear }
    }

    fn figure(content: Content) -> Figure {
        Figure { name: "test".to_owned(), title: String::new(), caption: String::new(), content }
    }

    fn line(points: Vec<Point>) -> Figure {
        let series = vec![Series { label: "a".to_owned(), kind: Kind::Curve, points }];
        figure(Content::Lines(Lines { x: axis("x"), y: axis("y"), series }))
    }

    fn point(x: f64, y: f64) -> Point {
        Point { x, y, interval: None }
    }

    #[test]
    fn what_is_not_finite_is_null() {
        let mut points = vec![point(1.0, f64::NAN), point(2.0, f64::INFINITY)];
        points.push(Point { x: 3.0, y: 0.5, interval: Some((f64::NEG_INFINITY, 1.0)) });
        let (json, count) = charts(&[line(points)], 10_000);
        assert_eq!(count, 1);
        assert!(json.contains("[[1.0,null],[2.0,null],[3.0,0.5,null,1.0]]"), "{json}");
        serde_json::from_str::<Value>(&json).expect("it is JSON");
    }

    #[test]
    fn long_lines_keep_ends_and_peaks() {
        let mut points: Vec<Point> = (0..100_000).map(|i| point(f64::from(i), 1.0)).collect();
        points[54_321].y = 9.0;
        points[777].y = f64::NAN;
        let kept: Vec<&Point> = thinned(&points, 100).collect();
        assert!(kept.len() <= 100 && kept.len() > 50);
        assert!(kept.windows(2).all(|pair| pair[0].x < pair[1].x));
        assert_eq!((kept[0].x, kept[kept.len() - 1].x), (0.0, 99_999.0));
        assert!(kept.iter().any(|point| point.y == 9.0));
        let (json, count) = charts(&[line(points)], 20_000);
        assert!(count == 1 && json.len() <= 20_000 && json.contains("peaks included"));
    }

    #[test]
    fn figures_without_room_are_left_out() {
        let figures = vec![line((0..30).map(|i| point(f64::from(i), 0.1234567)).collect()); 100];
        let (json, count) = charts(&figures, 5_000);
        assert!(count > 3 && count < 100 && json.len() <= 5_000, "{count}");
        serde_json::from_str::<Value>(&json).expect("it is JSON");
        assert_eq!(charts(&[], 10), ("[]".to_owned(), 0));
    }

    #[test]
    fn pictures_are_thinned_with_their_edges() {
        let panel = |columns: usize, rows: usize| Panel {
            label: "a".to_owned(),
            edges: (0..=columns).map(|i| i as f64).collect(),
            rows: vec![vec![1.0; columns]; rows],
        };
        let panels = vec![panel(5000, 3000), panel(0, 0), Panel { label: String::new(), edges: vec![], rows: vec![] }];
        let maps = figure(Content::Maps(Maps { x: axis("x"), y: axis("y"), colour: axis("c"), panels }));
        let (json, count) = charts(&[maps], 400_000);
        let value: Value = serde_json::from_str(&json).expect("it is JSON");
        let first = &value[0]["content"]["maps"]["panels"][0];
        let count_of = |value: &Value| value.as_array().map_or(0, Vec::len);
        assert_eq!(count, 1);
        assert_eq!(count_of(&first["edges"]), 1 + count_of(&first["rows"][0]));
        assert_eq!(first["edges"].as_array().and_then(|edges| edges.last()?.as_f64()), Some(5000.0));
        assert_eq!(first["height"], 3000);
    }
}

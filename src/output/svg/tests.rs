//! What every figure must have, whatever is in it.

use super::*;
use crate::output::figure::{Axis, Kind, Lines, Maps, Panel, Point, Scale, Series};

fn figure(scales: (Scale, Scale), kind: Kind, values: &[(f64, f64)]) -> Figure {
    let point = |&(x, y): &(f64, f64)| Point { x, y, interval: Some((y - 0.5, y + 0.5)) };
    let points: Vec<Point> = values.iter().map(point).collect();
    let one = |label: &str, kind| Series { label: label.into(), kind, points: points.clone() };
    Figure {
        name: "test".into(),
        title: "A <title> & \u{7} more".into(),
        caption: "s_k and 10^-3".into(),
        content: Content::Lines(Lines {
            x: Axis { label: "x & y".into(), scale: scales.0 },
            y: Axis { label: "y".into(), scale: scales.1 },
            series: vec![one("a \"b\" <c>", kind), one("theory", Kind::Theory), one("later", Kind::Curve)],
        }),
    }
}

/// Tags are balanced, names of elements are few, and no number is missing.
#[track_caller]
fn assert_well_formed(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let end = rest[start..].find('>').expect("every tag ends") + start;
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'), "{tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split([' ', '\n']).next().expect("a name"));
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(!text.contains("NaN") && !text.contains("inf\"") && !text.contains(" inf"), "{text}");
    let plain = text.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").replace("&quot;", "");
    assert!(!plain.contains('&'));
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
}

/// Pitfall O08.
#[test]
fn nothing_breaks_a_figure() {
    let values: [&[(f64, f64)]; 9] = [
        &[],
        &[(0.0, 0.0)],
        &[(1.0, 5.0)],
        &[(1.0, f64::NAN), (f64::INFINITY, 1.0)],
        &[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0)],
        &[(1.0, 2.0), (2.0, 3.0), (3.0, 8.0)],
        &[(1.0, 1e-300), (2.0, 1e300), (3.0, -1e308)],
        &[(1.0, 1.0), (2.0, f64::NAN), (3.0, 0.5), (4.0, 0.25)],
        &[(-1.0, -1.0), (0.0, 0.0), (1e9, 1e9 + 1e-7)],
    ];
    for values in values {
        for x in [Scale::Linear, Scale::Logarithmic] {
            for y in [Scale::Linear, Scale::Logarithmic] {
                for kind in [Kind::Estimates, Kind::Curve, Kind::Bars, Kind::Theory] {
                    let figure = figure((x, y), kind, values);
                    let text = svg(&figure);
                    assert_well_formed(&text);
                    assert_eq!(svg(&figure), text);
                    assert!(text.matches("<text").count() > 6, "{values:?} has no ticks: {text}");
                }
            }
        }
    }
    assert!(svg(&figure((Scale::Linear, Scale::Linear), Kind::Curve, &[])).contains("no data"));
}

#[test]
fn nothing_breaks_a_map() {
    let maps = |panels: Vec<Panel>, scale| Figure {
        name: "maps".into(),
        title: "t".into(),
        caption: String::new(),
        content: Content::Maps(Maps {
            x: Axis { label: "time".into(), scale: Scale::Linear },
            y: Axis { label: "server".into(), scale: Scale::Linear },
            colour: Axis { label: "jobs".into(), scale },
            panels,
        }),
    };
    let panel = |edges: &[f64], rows: &[&[f64]]| Panel {
        label: "<p>".into(),
        edges: edges.to_vec(),
        rows: rows.iter().map(|row| row.to_vec()).collect(),
    };
    let panels = [
        panel(&[], &[]),
        panel(&[0.0, 1.0], &[&[0.0]]),
        panel(&[0.0, 1.0, 2.0], &[&[3.0, 3.0], &[f64::NAN, 1.0]]),
        panel(&[5.0, 5.0], &[&[1.0]]),
        panel(&[0.0, 1.0, 5.0], &[&[-1.0, 1e9]]),
    ];
    for scale in [Scale::Linear, Scale::Logarithmic] {
        for panel in &panels {
            assert_well_formed(&svg(&maps(vec![panel.clone()], scale)));
        }
        assert_well_formed(&svg(&maps(panels.to_vec(), scale)));
        assert_well_formed(&svg(&maps(Vec::new(), scale)));
    }
    // Equal neighbours are one bar.
    let text = svg(&maps(vec![panels[2].clone()], Scale::Linear));
    assert!(text.contains("M0 1.5h2"), "{text}");
}

#[test]
fn indices_and_powers_are_set_as_such() {
    let text = svg(&figure((Scale::Linear, Scale::Linear), Kind::Curve, &[(0.0, 1.0)]));
    assert!(
        text.contains(">s<tspan dy=\"2.42\" font-size=\"7.92\">k</tspan> <tspan dy=\"-2.42\">and 10</tspan>"),
        "{text}"
    );
    assert!(!text.contains("10^-3</text>"));
}

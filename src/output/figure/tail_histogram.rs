//! `tail_histogram`: how s_k spreads in the course of time.

use super::{Axis, Content, Figure, Kind, Lines, Point, Series};
use crate::model::TimeHistogram;
use crate::output::Results;

/// Levels that are shown.
const LEVELS: usize = 5;

/// Bars over the whole axis, about.
const BARS: f64 = 120.0;

/// For some k, the time at each value of s_k, in bars of one width.
pub(super) fn kept(results: &Results) -> Vec<Series> {
    let servers = results.servers;
    // What never moves is a single bar, which says nothing that a number does not.
    let moving = |histogram: &TimeHistogram| {
        let most = histogram.blocks().map(|(.., time)| time).fold(0.0, f64::max);
        most < 0.9 * histogram.total()
    };
    let levels: Vec<(usize, &TimeHistogram)> = (1..).zip(&results.occupancy).collect();
    let mut shown: Vec<_> = levels.iter().filter(|(_, histogram)| moving(histogram)).take(LEVELS).collect();
    if shown.is_empty() {
        shown = levels.iter().take(1).collect();
    }
    let blocks = || shown.iter().flat_map(|(_, histogram)| histogram.blocks());
    let (low, high) = (blocks().map(|block| block.0).min(), blocks().map(|block| block.1.min(servers)).max());
    let (Some(low), Some(high)) = (low, high) else { return Vec::new() };
    let finest = blocks().map(|(low, high, _)| high - low + 1).max().unwrap_or(1);
    let width = (((high - low) as f64 / BARS).ceil() as u64).max(finest);
    shown.iter().map(|(k, histogram)| of_level(*k, histogram, width, servers)).collect()
}

fn of_level(k: usize, histogram: &TimeHistogram, width: u64, servers: u64) -> Series {
    let total = histogram.total();
    let mut bars: Vec<(u64, f64)> = Vec::new();
    for (low, _, time) in histogram.blocks() {
        let bar = low / width;
        match bars.last_mut() {
            Some((last, sum)) if *last == bar => *sum += time,
            _ => bars.push((bar, time)),
        }
    }
    let centre = |bar: u64| (bar as f64 * width as f64 + (width - 1) as f64 / 2.0) / servers as f64;
    // Bars without time keep the outline closed.
    let (Some(&(first, _)), Some(&(last, _))) = (bars.first(), bars.last()) else {
        return Series { label: format!("s_{k}"), kind: Kind::Bars, points: Vec::new() };
    };
    let mut rest = bars.into_iter().peekable();
    let points = (first..=last).map(|bar| {
        let time = rest.next_if(|(next, _)| *next == bar).map_or(0.0, |(_, time)| time);
        Point::plain(centre(bar), time / total)
    });
    Series { label: format!("s_{k}"), kind: Kind::Bars, points: points.collect() }
}

/// The histograms of one point.
pub(super) fn figure(name: String, place: &str, series: Vec<Series>, caption: String) -> Figure {
    let title = "How s_k spreads in the course of time";
    Figure {
        name,
        title: if place.is_empty() { title.to_owned() } else { format!("{title}: {place}") },
        caption,
        content: Content::Lines(Lines {
            x: Axis::linear("s_k, fraction of servers with at least k jobs"),
            y: Axis::linear("fraction of the time, per bar"),
            series,
        }),
    }
}

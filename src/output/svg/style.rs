//! Colours, marks and sizes.

/// Sizes of type, in pixels.
pub(super) const TITLE: f64 = 15.0;
pub(super) const LABEL: f64 = 13.0;
pub(super) const TICK: f64 = 12.0;
pub(super) const CAPTION: f64 = 11.0;

/// How much wider bold type is.
pub(super) const BOLD: f64 = 1.15;

/// Axes and text.
pub(super) const INK: &str = "#222222";
pub(super) const GREY: &str = "#666666";
pub(super) const GRID: &str = "#e4e4e4";

/// The colours of Okabe and Ito (2008), in an order in which neighbours differ in brightness too; without yellow, which
/// white paper swallows.
const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9"];

/// A colour for a series.
pub(super) fn colour(series: usize) -> &'static str {
    COLOURS[series % COLOURS.len()]
}

/// Shapes that a series is known by in grey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
    TriangleDown,
    Plus,
    OpenCircle,
    OpenSquare,
}

const MARKS: [Mark; 9] = [
    Mark::Circle,
    Mark::Square,
    Mark::Triangle,
    Mark::Diamond,
    Mark::Cross,
    Mark::TriangleDown,
    Mark::Plus,
    Mark::OpenCircle,
    Mark::OpenSquare,
];

/// A mark for a series; colours and marks together repeat after 63.
pub(super) fn mark(series: usize) -> Mark {
    MARKS[series % MARKS.len()]
}

/// From white to nearly black, each step darker than the one before, so that it reads in grey.
const HEAT: [(f64, [f64; 3]); 6] = [
    (0.0, [255.0, 255.0, 255.0]),
    (0.18, [254.0, 224.0, 160.0]),
    (0.42, [245.0, 150.0, 80.0]),
    (0.65, [200.0, 70.0, 60.0]),
    (0.85, [120.0, 25.0, 70.0]),
    (1.0, [35.0, 10.0, 40.0]),
];

/// The colour at a fraction of the scale.
pub(super) fn heat(fraction: f64) -> String {
    let fraction = fraction.clamp(0.0, 1.0);
    let upper = HEAT.iter().position(|(at, _)| *at >= fraction).unwrap_or(HEAT.len() - 1).max(1);
    let ((low, from), (high, to)) = (HEAT[upper - 1], HEAT[upper]);
    let within = (fraction - low) / (high - low);
    let channel = |i: usize| (from[i] + within * (to[i] - from[i])).round() as u8;
    format!("#{:02x}{:02x}{:02x}", channel(0), channel(1), channel(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_gets_darker() {
        let brightness = |fraction: f64| {
            let colour = heat(fraction);
            let channel = |i: usize| f64::from(u8::from_str_radix(&colour[i..i + 2], 16).expect("two digits"));
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
        };
        let steps: Vec<f64> = (0..=20).map(|i| brightness(f64::from(i) / 20.0)).collect();
        assert!(steps.windows(2).all(|pair| pair[0] > pair[1]), "{steps:?}");
        assert_eq!((heat(-1.0), heat(2.0)), ("#ffffff".to_owned(), "#230a28".to_owned()));
    }
}

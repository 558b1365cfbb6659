//! Elements of SVG as text: numbers of one form, and text that cannot break the document.

use super::style::{self, Mark};
use std::fmt::Write;

/// Fonts that are about as wide as each other.
const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

/// Radius of a mark.
const RADIUS: f64 = 3.6;

/// Elements, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Canvas {
    body: String,
}

/// Where a text begins, is centred or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text. In it `s_k` stands for s with an index, and `10^-3` for a power.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    text: &'a str,
    x: f64,
    y: f64,
    size: f64,
    anchor: Anchor,
    colour: &'a str,
    bold: bool,
    upright: bool,
}

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str, x: f64, y: f64, size: f64) -> Self {
        let (anchor, colour) = (Anchor::Start, style::INK);
        Self { text, x, y, size, anchor, colour, bold: false, upright: false }
    }

    pub(super) fn anchor(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    pub(super) fn colour(self, colour: &'a str) -> Self {
        Self { colour, ..self }
    }

    pub(super) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// Turned to read from below.
    pub(super) fn upright(self) -> Self {
        Self { upright: true, ..self }
    }
}

/// A horizontal bar one unit high on a grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) x: f64,
    /// From the top.
    pub(super) row: usize,
    pub(super) length: f64,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stroke<'a> {
    pub(super) colour: &'a str,
    pub(super) width: f64,
    pub(super) dashed: bool,
    pub(super) dotted: bool,
    pub(super) opacity: f64,
}

impl<'a> Stroke<'a> {
    pub(super) fn plain(colour: &'a str, width: f64) -> Self {
        Self { colour, width, dashed: false, dotted: false, opacity: 1.0 }
    }

    fn attributes(&self) -> String {
        let mut text = format!(r#"stroke="{}" stroke-width="{}""#, self.colour, number(self.width));
        if self.dashed {
            text.push_str(r#" stroke-dasharray="6 3.5""#);
        }
        if self.dotted {
            text.push_str(r#" stroke-dasharray="1.8 2.6""#);
        }
        if self.opacity < 1.0 {
            let _ = write!(text, r#" stroke-opacity="{}""#, number(self.opacity));
        }
        text
    }
}

impl Canvas {
    /// The whole document; `description` is for those who cannot see it.
    pub(super) fn document(&self, width: f64, height: f64, title: &str, description: &str) -> String {
        let (width, height) = (number(width.ceil()), number(height.ceil()));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
             {height}\" font-family=\"{FONTS}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n<rect \
             width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escaped(title),
            escaped(description),
            self.body
        )
    }

    pub(super) fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), stroke: Stroke<'_>) {
        let attributes = stroke.attributes();
        let _ = writeln!(
            self.body,
            r#"<line x1="{}" y1="{}" x2="{}" y2="{}" {attributes}/>"#,
            number(x1),
            number(y1),
            number(x2),
            number(y2)
        );
    }

    /// Lines through points; a new one starts after each gap.
    pub(super) fn path(&mut self, stretches: &[Vec<(f64, f64)>], stroke: Stroke<'_>) {
        // A single point has no length.
        let stretches: Vec<Vec<(f64, f64)>> = stretches.iter().filter(|points| points.len() > 1).cloned().collect();
        let data = path_data(&stretches, false);
        if !data.is_empty() {
            let attributes = stroke.attributes();
            let _ = writeln!(self.body, r#"<path d="{data}" fill="none" stroke-linejoin="round" {attributes}/>"#);
        }
    }

    /// A filled shape without an outline.
    pub(super) fn shape(&mut self, outline: &[(f64, f64)], colour: &str, opacity: f64) {
        let data = path_data(&[outline.to_vec()], true);
        let _ = writeln!(self.body, r#"<path d="{data}" fill="{colour}" fill-opacity="{}"/>"#, number(opacity));
    }

    pub(super) fn rectangle(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str, edge: &str) {
        let _ = writeln!(
            self.body,
            r#"<rect x="{}" y="{}" width="{}" height="{}" fill="{fill}" stroke="{edge}"/>"#,
            number(x),
            number(y),
            number(width),
            number(height)
        );
    }

    pub(super) fn text(&mut self, text: &Text<'_>) {
        let (x, y) = (number(text.x), number(text.y));
        let mut attributes = format!(r#"x="{x}" y="{y}" font-size="{}" fill="{}""#, number(text.size), text.colour);
        match text.anchor {
            Anchor::Start => {}
            Anchor::Middle => attributes.push_str(r#" text-anchor="middle""#),
            Anchor::End => attributes.push_str(r#" text-anchor="end""#),
        }
        if text.bold {
            attributes.push_str(r#" font-weight="bold""#);
        }
        if text.upright {
            let _ = write!(attributes, r#" transform="rotate(-90 {x} {y})""#);
        }
        let _ = writeln!(self.body, "<text {attributes}>{}</text>", rich(text.text, text.size));
    }

    /// A mark; those that only have an outline are filled with white.
    pub(super) fn mark(&mut self, mark: Mark, (x, y): (f64, f64), colour: &str) {
        let r = RADIUS;
        let (fill, edge) = match mark {
            Mark::OpenCircle | Mark::OpenSquare => ("#ffffff", colour),
            Mark::Cross | Mark::Plus => ("none", colour),
            _ => (colour, "#ffffff"),
        };
        let width = if edge == colour { 1.6 } else { 0.7 };
        let attributes = format!(r#"fill="{fill}" stroke="{edge}" stroke-width="{width}""#);
        let polygon = |corners: &[(f64, f64)]| -> String {
            let corners = corners.iter().map(|(dx, dy)| format!("{},{}", number(x + r * dx), number(y + r * dy)));
            format!(r#"<polygon points="{}" {attributes}/>"#, corners.collect::<Vec<_>>().join(" "))
        };
        let element = match mark {
            Mark::Circle | Mark::OpenCircle => {
                format!(r#"<circle cx="{}" cy="{}" r="{}" {attributes}/>"#, number(x), number(y), number(r))
            }
            Mark::Square | Mark::OpenSquare => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            Mark::Triangle => polygon(&[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)]),
            Mark::TriangleDown => polygon(&[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)]),
            Mark::Diamond => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
            Mark::Cross | Mark::Plus => {
                let d = if mark == Mark::Plus {
                    [(-1.1, 0.0), (1.1, 0.0), (0.0, -1.1), (0.0, 1.1)]
                } else {
                    [(-0.9, -0.9), (0.9, 0.9), (-0.9, 0.9), (0.9, -0.9)]
                };
                let at = |i: usize| (x + r * d[i].0, y + r * d[i].1);
                format!(r#"<path d="{}" {attributes}/>"#, path_data(&[vec![at(0), at(1)], vec![at(2), at(3)]], false))
            }
        };
        let _ = writeln!(self.body, "{element}");
    }

    /// Another canvas, moved.
    pub(super) fn group(&mut self, x: f64, y: f64, inner: Canvas) {
        let _ = writeln!(self.body, "<g transform=\"translate({} {})\">\n{}</g>", number(x), number(y), inner.body);
    }

    /// Another canvas, of which only a rectangle from the origin is seen; `name` is that of the figure.
    pub(super) fn clipped(&mut self, name: &str, (width, height): (f64, f64), inner: Canvas) {
        let id = format!("clip-{}", escaped(name));
        let (width, height) = (number(width), number(height));
        let _ = writeln!(
            self.body,
            "<clipPath id=\"{id}\"><rect width=\"{width}\" height=\"{height}\"/></clipPath>\n<g \
             clip-path=\"url(#{id})\">\n{}</g>",
            inner.body
        );
    }

    /// Runs of each colour, on a grid that has its origin here and squares of this size.
    pub(super) fn runs(&mut self, (width, height): (f64, f64), runs: &[(String, Vec<Run>)]) {
        let scale = format!("scale({} {})", precise(width), precise(height));
        let _ = writeln!(self.body, "<g transform=\"{scale}\" shape-rendering=\"crispEdges\" fill=\"none\">");
        for (colour, runs) in runs {
            let mut data = String::new();
            for run in runs {
                let _ = write!(data, "M{} {}.5h{}", number(run.x), run.row, number(run.length));
            }
            let _ = writeln!(self.body, r#"<path stroke="{colour}" d="{data}"/>"#);
        }
        self.body.push_str("</g>\n");
    }
}

fn path_data(stretches: &[Vec<(f64, f64)>], closed: bool) -> String {
    let mut data = String::new();
    for stretch in stretches {
        for (i, (x, y)) in stretch.iter().enumerate() {
            let _ = write!(data, "{}{} {}", if i == 0 { "M" } else { "L" }, number(*x), number(*y));
        }
        if closed && !stretch.is_empty() {
            data.push('Z');
        }
    }
    data
}

/// A length in pixels: two decimals at most, never `-0`, `inf` or `NaN`.
pub(super) fn number(x: f64) -> String {
    trimmed(x, 2)
}

fn precise(x: f64) -> String {
    trimmed(x, 6)
}

fn trimmed(x: f64, decimals: usize) -> String {
    let x = if x.is_finite() { x.clamp(-1e6, 1e6) } else { 0.0 };
    let text = format!("{x:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text for XML 1.0, which has no place for control characters.
pub(super) fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => result.push(' '),
            c => result.push(c),
        }
    }
    result
}

/// A text in parts that are level (0), an index (-1) or a power (1).
fn parts(text: &str) -> Vec<(String, i8)> {
    let mut parts = vec![(String::new(), 0_i8)];
    let mut rest = text;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let index = rest.starts_with("s_") && !before.is_alphanumeric() && before != '_';
        let power = rest.starts_with('^') && before.is_ascii_digit();
        let (lead, level) = if index { ("s", -1) } else { ("", 1) };
        if index || power {
            let body = if index { &rest[2..] } else { after };
            let end = body.find(|c: char| !(c.is_ascii_alphanumeric() || (power && c == '-'))).unwrap_or(body.len());
            if end > 0 && !body[end..].starts_with('_') {
                if let Some((last, _)) = parts.last_mut() {
                    last.push_str(lead);
                }
                parts.push((body[..end].replace('-', "\u{2212}"), level));
                parts.push((String::new(), 0));
                before = 'x';
                rest = &body[end..];
                continue;
            }
        }
        if let Some((last, _)) = parts.last_mut() {
            last.push(c);
        }
        before = c;
        rest = after;
    }
    parts.retain(|(part, _)| !part.is_empty());
    parts
}

/// Text with its indices and powers as elements.
fn rich(text: &str, size: f64) -> String {
    let mut result = String::new();
    let mut level = 0.0;
    for (part, place) in parts(text) {
        let wanted = match place {
            -1 => 0.22 * size,
            1 => -0.36 * size,
            _ => 0.0,
        };
        let mut part = escaped(&part);
        if level != 0.0 && part.starts_with(' ') {
            // Some programs drop a space at the start of an element that is shifted.
            part.remove(0);
            result.push(' ');
        }
        if place == 0 && level == 0.0 {
            result.push_str(&part);
        } else {
            let dy = number(wanted - level);
            let small = if place == 0 { String::new() } else { format!(r#" font-size="{}""#, number(0.72 * size)) };
            let _ = write!(result, r#"<tspan dy="{dy}"{small}>{part}</tspan>"#);
        }
        level = wanted;
    }
    result
}

/// About how wide a text is; rather too much than too little.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.32,
        'f' | 't' | 'r' | ' ' | '(' | ')' | '[' | ']' | '-' | '/' => 0.4,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.98,
        'A'..='Z' => 0.72,
        '\u{2e80}'.. => 1.05,
        _ => 0.61,
    };
    let of_part =
        |(part, level): &(String, i8)| part.chars().map(of).sum::<f64>() * if *level == 0 { 1.0 } else { 0.72 };
    size * parts(text).iter().map(of_part).sum::<f64>()
}

/// A text that is no wider, cut off if need be.
pub(super) fn shortened(text: &str, most: f64, size: f64) -> String {
    if width(text, size) <= most {
        return text.to_owned();
    }
    let mut result = text.to_owned();
    while !result.is_empty() && width(&result, size) + size > most {
        result.pop();
    }
    result.trim_end().to_owned() + "\u{2026}"
}

/// A text in lines that are no wider; words that are go on a line of their own and are cut off.
pub(super) fn wrapped(text: &str, most: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = shortened(word, most, size);
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= most => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

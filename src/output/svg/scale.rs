//! Axes: the stretch of values that is shown, where a value lies on it, and ticks.

use crate::output::figure::{Axis, Scale};

/// Numbers beyond this, or nearer to 0, are left out: their differences and ratios could not be held.
const BEYOND: f64 = 1e150;

/// Room for a tick of an upright axis, in pixels; an axis that ends at ticks ends at these.
pub(super) const ROOM: f64 = 36.0;

/// A stretch of an axis, on so many pixels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stretch {
    logarithmic: bool,
    low: f64,
    high: f64,
    pixels: f64,
}

/// A tick: where it is, and what stands there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: Option<String>,
}

/// What must be seen of an axis beside the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Manner {
    /// Values reach the ends of the axis.
    pub(super) tight: bool,
    /// The axis ends at ticks.
    pub(super) whole: bool,
    /// 0 is seen, if the axis is even.
    pub(super) zero: bool,
}

/// Whether a value has a place on an axis.
pub(super) fn fits(axis: &Axis, value: f64) -> bool {
    let size = value.abs();
    value.is_finite()
        && size <= BEYOND
        && match axis.scale {
            Scale::Linear => size == 0.0 || size >= BEYOND.recip(),
            Scale::Logarithmic => value >= BEYOND.recip(),
        }
}

impl Stretch {
    /// The stretch that shows all values that fit.
    pub(super) fn new(axis: &Axis, values: impl Iterator<Item = f64>, pixels: f64, manner: Manner) -> Self {
        let logarithmic = axis.scale == Scale::Logarithmic;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|&value| fits(axis, value)) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = if logarithmic { (0.1, 1.0) } else { (0.0, 1.0) };
        }
        let stretch = if logarithmic {
            Self::of_powers(low, high, pixels, manner)
        } else {
            Self::even(low, high, pixels, manner)
        };
        Self { pixels, ..stretch }
    }

    fn even(mut low: f64, mut high: f64, pixels: f64, manner: Manner) -> Self {
        let size = low.abs().max(high.abs());
        // Digits that a value hardly has are no range.
        if high - low <= 1e-9 * size {
            let room = if size > 0.0 { 0.2 * size } else { 0.5 };
            (low, high) = (low - room, high + room);
            if size == 0.0 {
                (low, high) = (0.0, 1.0);
            }
        }
        if manner.zero && low > 0.0 && low < 0.6 * high {
            low = 0.0;
        }
        if !manner.tight {
            let room = 0.04 * (high - low);
            let at_zero = low == 0.0;
            low -= if at_zero && manner.zero { 0.0 } else { room };
            high += room;
        }
        if manner.whole {
            let step = step(low, high, pixels / ROOM);
            (low, high) = ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step);
        }
        Self { logarithmic: false, low, high, pixels }
    }

    fn of_powers(mut low: f64, mut high: f64, pixels: f64, manner: Manner) -> Self {
        if high <= low * (1.0 + 1e-9) {
            (low, high) = (low / 2.0, high * 2.0);
        }
        let decades = (high / low).log10();
        let room = if manner.tight { 0.0 } else { 0.04 * decades };
        let (bottom, top) = (low.log10() - room, high.log10() + room);
        // A power of ten that is near is the end.
        let near = if manner.whole { (0.12 * decades).min(0.6) } else { 0.0 };
        let (below, above) = ((low.log10() + 1e-9).floor(), (high.log10() - 1e-9).ceil());
        low = 10_f64.powf(if bottom - below <= near && near > 0.0 { below } else { bottom });
        high = 10_f64.powf(if above - top <= near && near > 0.0 { above } else { top });
        Self { logarithmic: true, low, high, pixels }
    }

    /// Its length.
    pub(super) fn pixels(&self) -> f64 {
        self.pixels
    }

    /// How far along the axis a value lies, in pixels.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(f64::MIN_POSITIVE) / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        // What lies far outside is still drawn towards where it is.
        share.clamp(-2.0, 3.0) * self.pixels
    }

    /// Ticks, at most about one for each `room` pixels, and what all labels are to be multiplied with, as a power of ten.
    pub(super) fn ticks(&self, room: f64) -> (Vec<Tick>, Option<i32>) {
        if self.logarithmic {
            let ticks = self.ticks_of_powers(room);
            if ticks.iter().filter(|tick| tick.label.is_some()).count() >= 2 {
                return (ticks, None);
            }
        }
        self.even_ticks(room)
    }

    fn even_ticks(&self, room: f64) -> (Vec<Tick>, Option<i32>) {
        let step = step(self.low, self.high, self.pixels / room);
        let (first, last) = ((self.low / step - 1e-6).ceil(), (self.high / step + 1e-6).floor());
        let size = self.low.abs().max(self.high.abs());
        let power = size.log10().floor() as i32;
        let power = (power >= 5 || step < 0.99e-4).then_some(power);
        let unit = power.map_or(1.0, |power| 10_f64.powi(power));
        let decimals = decimals(step / unit);
        let tick = |i: i32| {
            let value = (first + f64::from(i)) * step;
            let label = format!("{:.decimals$}", value / unit);
            let label = if label.trim_matches(['-', '0', '.']).is_empty() { label.replace('-', "") } else { label };
            Tick { value, label: Some(label.replace('-', "\u{2212}")) }
        };
        let count = (last - first).clamp(0.0, 50.0) as i32;
        ((0..=count).map(tick).collect(), power)
    }

    fn ticks_of_powers(&self, room: f64) -> Vec<Tick> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let within = |value: f64| value >= self.low * (1.0 - 1e-9) && value <= self.high * (1.0 + 1e-9);
        let decades = (self.high / self.low).log10();
        // Labels of every so many decades; they are short.
        let stride = (decades * 0.8 * room / self.pixels).ceil().max(1.0) as i32;
        let whole = (first..=last).filter(|&power| within(10_f64.powi(power))).count();
        let few = whole < 3;
        let mut ticks = Vec::new();
        for power in first..=last {
            let unit = 10_f64.powi(power);
            let named = power.rem_euclid(stride) == 0;
            if within(unit) && (named || decades <= 40.0) {
                let label = named.then(|| power_label(1, power, few));
                ticks.push(Tick { value: unit, label });
            }
            for digit in 2..=9 {
                let value = f64::from(digit) * unit;
                if decades <= 10.0 && within(value) {
                    let named = few && matches!(digit, 2 | 5);
                    ticks.push(Tick { value, label: named.then(|| power_label(digit, power, few)) });
                }
            }
        }
        ticks
    }
}

/// `10^3`, or `300` where plain numbers are short enough.
fn power_label(digit: i32, power: i32, plain: bool) -> String {
    if plain && (-3..=4).contains(&power) {
        let decimals = usize::try_from(-power).unwrap_or(0);
        return format!("{:.decimals$}", f64::from(digit) * 10_f64.powi(power));
    }
    match (digit, power) {
        (1, 0) => "1".to_owned(),
        (1, 1) => "10".to_owned(),
        (1, power) => format!("10^{power}"),
        (digit, power) => format!("{digit}\u{b7}10^{power}"),
    }
}

/// A step of 1, 2 or 5 times a power of ten, of which about `count` lie between.
fn step(low: f64, high: f64, count: f64) -> f64 {
    let least = (high - low) / count.max(1.0);
    let unit = 10_f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * unit >= least * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * unit
}

/// Decimals that tell multiples of a step apart.
fn decimals(step: f64) -> usize {
    (-(step.log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(scale: Scale) -> Axis {
        Axis { label: String::new(), scale }
    }

    fn labels(scale: Scale, values: &[f64]) -> Vec<String> {
        let stretch = Stretch::new(&axis(scale), values.iter().copied(), 300.0, Manner::default());
        let (ticks, power) = stretch.ticks(50.0);
        assert!(ticks.iter().all(|tick| stretch.place(tick.value).is_finite()));
        assert!(ticks.len() < 120);
        let labels = ticks.into_iter().filter_map(|tick| tick.label);
        labels.chain(power.map(|power| format!("x10^{power}"))).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(labels(Scale::Linear, &[0.0, 1.0]), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(Scale::Linear, &[-3.0, 3.0]), ["\u{2212}2", "0", "2"]);
        assert_eq!(
            labels(Scale::Linear, &[0.0, 3e6]),
            ["0.0", "1.0", "2.0", "3.0", "x10^6"].map(|s| s.replace(".0", ""))
        );
        assert_eq!(labels(Scale::Linear, &[0.5, 0.9]), ["0.5", "0.6", "0.7", "0.8", "0.9"]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        assert_eq!(labels(Scale::Logarithmic, &[1e-4, 1.0]), ["10^-4", "10^-3", "10^-2", "10^-1", "1"]);
        assert_eq!(labels(Scale::Logarithmic, &[1e-30, 1.0])[..2], ["10^-30", "10^-25"]);
        // Less than a decade: O08.
        assert_eq!(labels(Scale::Logarithmic, &[2.0, 8.0]), ["2", "5"]);
        assert_eq!(labels(Scale::Logarithmic, &[3.0, 4.0]), ["3.0", "3.2", "3.4", "3.6", "3.8", "4.0"]);
    }

    #[test]
    fn nothing_breaks_an_axis() {
        for scale in [Scale::Linear, Scale::Logarithmic] {
            for values in [
                &[][..],
                &[0.0],
                &[1.0],
                &[-1.0],
                &[f64::NAN, f64::INFINITY],
                &[0.0, 0.0],
                &[1e308, -1e308],
                &[5e-324, 1e-320],
                &[1e9, 1e9 + 1e-7],
                &[1e-140, 1e140],
                &[-2.0, 0.0, 3.0],
            ] {
                let labels = labels(scale, values);
                assert!(labels.len() >= 2, "{values:?}: {labels:?}");
                let mut once = labels.clone();
                once.dedup();
                assert_eq!(once, labels, "{values:?}");
            }
        }
    }
}

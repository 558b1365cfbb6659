//! Counts in the course of a window, with their integrals over time as whole numbers.
//!
//! The integral of a count c over a window of length T is found from its changes, `c(T) T - sum of t (change of c)`, and
//! that of its square likewise, so that a change touches what it changes and nothing has to be brought up to date. Times
//! are whole numbers of ticks, as fine as floating-point numbers tell them apart at the end of the window, so the sums are
//! exact and do not depend on their order.

use crate::model::Window;

/// The ticks of a window: a power of two in units of time, of which the window has at least 2^51; in slotted time half a
/// slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ruler {
    opened: f64,
    tick: f64,
    ticks_per_unit: f64,
}

/// Ticks of a window: at least 2 to this power.
const EXPONENT: f64 = 51.0;

/// Next to numbers of this size nothing is less than 1: 2^52.
const WHOLE: f64 = (1_u64 << 52) as f64;

/// No tick is shorter than 2 to this power, so that there is a reciprocal.
const SHORTEST: f64 = -1000.0;

impl Ruler {
    pub(super) fn new(window: Window, slotted: bool) -> Self {
        let exponent = (window.length().log2().floor() - EXPONENT).max(SHORTEST);
        let tick = if slotted { 0.5 } else { 2_f64.powi(exponent as i32) };
        Self { opened: window.open, tick, ticks_per_unit: tick.recip() }
    }

    /// Ticks since the opening.
    #[inline(always)]
    pub(super) fn ticks(&self, time: f64) -> i64 {
        // Numbers from 2^52 to 2^53 are whole and have the same exponent, so they differ as their bits do. A cast would have
        // to look whether its number fits.
        ((time - self.opened) * self.ticks_per_unit + WHOLE).to_bits() as i64 - WHOLE.to_bits() as i64
    }

    /// A sum of ticks, in units of time.
    pub(super) fn time(&self, ticks: i128) -> f64 {
        self.time_of(ticks as f64)
    }

    /// The same of a sum that is rounded already.
    pub(super) fn time_of(&self, ticks: f64) -> f64 {
        ticks * self.tick
    }
}

/// What a count differs from its value at the opening, and the sums of the changes of the difference and of those of its
/// square, each times its tick. A run of 2^37 changes stays within 128 bits, and however many servers there are, the
/// difference stays small.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Course {
    difference: i64,
    changes: i128,
    squares: i128,
}

impl Course {
    #[inline(always)]
    pub(super) fn difference(&self) -> i64 {
        self.difference
    }

    /// The count grows by one.
    #[inline(always)]
    pub(super) fn rise(&mut self, tick: i64) {
        self.changes += i128::from(tick);
        self.squares += i128::from(tick) * i128::from(2 * self.difference + 1);
        self.difference += 1;
    }

    /// The count shrinks by one.
    #[inline(always)]
    pub(super) fn fall(&mut self, tick: i64) {
        self.changes -= i128::from(tick);
        self.squares -= i128::from(tick) * i128::from(2 * self.difference - 1);
        self.difference -= 1;
    }

    /// The difference becomes another.
    #[inline]
    pub(super) fn set(&mut self, difference: i64, tick: i64) {
        let (tick, old, new) = (i128::from(tick), i128::from(self.difference), i128::from(difference));
        self.changes += tick * (new - old);
        self.squares += tick * (new * new - old * old);
        self.difference = difference;
    }

    /// The integral of the difference up to a tick after all changes.
    pub(super) fn area(&self, end: i64) -> i128 {
        i128::from(self.difference) * i128::from(end) - self.changes
    }

    /// The integral of its square.
    pub(super) fn area_of_square(&self, end: i64) -> i128 {
        i128::from(self.difference).pow(2) * i128::from(end) - self.squares
    }
}

/// The integral over time of a whole number that is brought up to a tick before the number changes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Integral {
    since: i64,
    area: i128,
}

impl Integral {
    /// The number has been this since the last tick.
    #[inline(always)]
    pub(super) fn advance(&mut self, number: i64, tick: i64) {
        self.area += i128::from(number) * i128::from(tick - self.since);
        self.since = tick;
    }

    /// The integral from a tick on.
    pub(super) fn from(tick: i64) -> Self {
        Self { since: tick, area: 0 }
    }

    /// The last tick.
    pub(super) fn since(&self) -> i64 {
        self.since
    }

    /// The integral up to it.
    pub(super) fn area(&self) -> i128 {
        self.area
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    #[test]
    fn agrees_with_sums_of_stretches() {
        let mut stream = Stream::new(3, 0, Component::Gaps);
        let mut course = Course::default();
        let (mut tick, mut count) = (0_i64, 0_i64);
        let (mut area, mut squares) = (0_i128, 0_i128);
        for _ in 0..10_000 {
            let stretch = stream.below(1 << 40) as i64;
            area += i128::from(count * stretch);
            squares += i128::from(count * count) * i128::from(stretch);
            tick += stretch;
            match stream.below(3) {
                0 => course.rise(tick),
                1 => course.fall(tick),
                _ => course.set(stream.below(1000) as i64, tick),
            }
            count = course.difference();
        }
        assert_eq!((course.area(tick), course.area_of_square(tick)), (area, squares));
        let later = 1000;
        assert_eq!(course.area(tick + later), area + i128::from(count * later));
    }

    #[test]
    fn an_integral_is_a_sum_of_stretches() {
        let mut integral = Integral::default();
        for (number, tick) in [(i64::MAX, 10), (-7, 10), (-7, 15), (1 << 40, (1 << 52) + 15)] {
            integral.advance(number, tick);
        }
        assert_eq!(integral.area(), i128::from(i64::MAX) * 10 - 35 + (1 << 92));
    }

    #[test]
    fn ticks_are_powers_of_two_and_fine() {
        for (open, length) in [(0.0, 1.0), (7.0, 1e-280), (1e12, 3.0), (0.5, 1e280)] {
            let window = Window { open, close: open + length };
            let ruler = Ruler::new(window, false);
            assert_eq!(ruler.tick.log2().fract(), 0.0);
            let ticks = ruler.ticks(window.close);
            let exact = window.length();
            assert!((ruler.time(i128::from(ticks)) - exact).abs() <= 1e-15 * exact + ruler.tick, "{ticks}");
        }
        let slots = Ruler::new(Window { open: 3.0, close: 13.0 }, true);
        assert_eq!([3.0, 4.5, 13.0].map(|time| slots.ticks(time)), [0, 3, 20]);
    }
}

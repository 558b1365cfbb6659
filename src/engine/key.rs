//! When an event happens, and its place among simultaneous ones.

use ordered_float::OrderedFloat;

/// Events sort by time, and simultaneous ones by the order in which they were scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) time: OrderedFloat<f64>,
    pub(super) sequence: u64,
}

//! Results of a point of a sweep.

use crate::scenario::Label;

/// What belongs to one point of an experiment.
pub trait OfPoint {
    /// Number of the point in the order of the grid; 0 without a sweep.
    fn point(&self) -> u64;

    /// The value of each swept key there, in the order of the axes.
    fn labels(&self) -> &[Label];
}

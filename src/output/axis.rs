//! The swept keys of an experiment, and their values at a point.

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers of 64 bits with a sign.
    Integer,
    /// Double precision numbers.
    Real,
    /// Text in UTF-8.
    Text,
}

/// A swept key. It is a column of every table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Its YAML path, such as `policy.dispatch`.
    pub key: String,
    /// What its values are, the same at all points.
    pub kind: Kind,
}

/// The value of a swept key at a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text, such as the name of a policy.
    Text(String),
}

impl Label {
    /// What it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Integer(_) => Kind::Integer,
            Self::Real(_) => Kind::Real,
            Self::Text(_) => Kind::Text,
        }
    }
}

/// What belongs to one point of an experiment.
pub trait OfPoint {
    /// Number of the point in the order of the grid; 0 without a sweep.
    fn point(&self) -> u64;

    /// The value of each swept key there, in the order of the axes.
    fn labels(&self) -> &[Label];
}

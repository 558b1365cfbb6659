//! Columns of tables: a name, and how a row gives the value.

use crate::scenario::{Kind, Label};
use serde::{Serialize, Serializer};
use std::io;

/// One value of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// There is none.
    Missing,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(&'a str),
}

impl Value<'_> {
    /// Whether it may stand in a column.
    pub(super) fn suits(&self, field: &Field) -> bool {
        match self {
            Value::Missing => field.nullable,
            Value::Integer(_) => field.kind == Kind::Integer,
            Value::Real(number) => field.kind == Kind::Real && number.is_finite(),
            Value::Text(_) => field.kind == Kind::Text,
        }
    }
}

impl<'a> From<&'a Label> for Value<'a> {
    fn from(label: &'a Label) -> Self {
        match label {
            Label::Integer(value) => Self::Integer(*value),
            Label::Real(value) => Self::Real(*value),
            Label::Text(value) => Self::Text(value),
        }
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Missing => serializer.serialize_none(),
            Self::Integer(value) => serializer.serialize_i64(value),
            Self::Real(value) => serializer.serialize_f64(value),
            Self::Text(value) => serializer.serialize_str(value),
        }
    }
}

/// A column as every format has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// Whether values may be missing.
    pub nullable: bool,
}

/// A column of a table whose rows are made from `R`. Its kind, and whether values may be missing, follow from the
/// function that gives the value, so that what a schema says and what rows hold cannot differ.
pub(super) struct Column<R> {
    name: &'static str,
    get: Get<R>,
}

enum Get<R> {
    Integer(fn(&R) -> u64),
    Real(fn(&R) -> f64),
    RealOrMissing(fn(&R) -> Option<f64>),
    Text(fn(&R) -> &str),
    TextOrMissing(fn(&R) -> Option<&str>),
}

impl<R> Column<R> {
    pub(super) fn integer(name: &'static str, get: fn(&R) -> u64) -> Self {
        Self { name, get: Get::Integer(get) }
    }

    pub(super) fn real(name: &'static str, get: fn(&R) -> f64) -> Self {
        Self { name, get: Get::Real(get) }
    }

    pub(super) fn real_or_missing(name: &'static str, get: fn(&R) -> Option<f64>) -> Self {
        Self { name, get: Get::RealOrMissing(get) }
    }

    pub(super) fn text(name: &'static str, get: fn(&R) -> &str) -> Self {
        Self { name, get: Get::Text(get) }
    }

    pub(super) fn text_or_missing(name: &'static str, get: fn(&R) -> Option<&str>) -> Self {
        Self { name, get: Get::TextOrMissing(get) }
    }

    pub(super) fn field(&self) -> Field {
        let (kind, nullable) = match self.get {
            Get::Integer(_) => (Kind::Integer, false),
            Get::Real(_) => (Kind::Real, false),
            Get::RealOrMissing(_) => (Kind::Real, true),
            Get::Text(_) => (Kind::Text, false),
            Get::TextOrMissing(_) => (Kind::Text, true),
        };
        Field { name: self.name.to_owned(), kind, nullable }
    }

    /// The value in a row.
    ///
    /// # Errors
    /// If a count is beyond the 63 bits that all formats hold.
    pub(super) fn value<'r>(&self, row: &'r R) -> io::Result<Value<'r>> {
        Ok(match self.get {
            Get::Integer(get) => Value::Integer(whole(self.name, get(row))?),
            Get::Real(get) => Value::Real(get(row)),
            Get::RealOrMissing(get) => get(row).map_or(Value::Missing, Value::Real),
            Get::Text(get) => Value::Text(get(row)),
            Get::TextOrMissing(get) => get(row).map_or(Value::Missing, Value::Text),
        })
    }
}

/// A count as the tables hold it.
pub(super) fn whole(name: &str, count: u64) -> io::Result<i64> {
    let beyond = |_| io::Error::new(io::ErrorKind::InvalidData, format!("{name}: {count} does not fit into 63 bits"));
    i64::try_from(count).map_err(beyond)
}

//! What a table is: one description, from which every format is written.

use super::axis::OfPoint;
use super::column::{Column, Field, Value, whole};
use super::format::Format;
use super::results::{Comparison, Results};
use super::{comparison, estimates, replications, response_time, snapshots, tail_histogram, trajectory};
use crate::scenario::{Axis, Kind};
use std::io;

/// A table whose rows are made from an `S` at a time.
///
/// Its columns are `point`, the swept keys by their YAML paths, and its own. Numbers are finite: where values may be
/// missing, one that is not finite is.
#[derive(Debug)]
pub struct Table<S> {
    /// Its name, and that of its files.
    pub name: &'static str,
    /// The columns of its own.
    pub(super) fields: fn() -> Vec<Field>,
    /// Gives the rows in their order.
    pub(super) rows: fn(&S, &mut Rows<'_>) -> io::Result<()>,
}

/// The tables made from the results of each point.
pub static TABLES: [Table<Results>; 6] = [
    estimates::TABLE,
    replications::TABLE,
    tail_histogram::TABLE,
    response_time::TABLE,
    trajectory::TABLE,
    snapshots::TABLE,
];

/// The table made from comparisons.
pub static COMPARISON: Table<Comparison> = comparison::TABLE;

impl<S> Table<S> {
    /// Name of its file in a format.
    pub fn file_name(&self, format: Format) -> String {
        format!("{}.{}", self.name, format.name())
    }

    /// All columns, the same in every format.
    pub fn schema(&self, axes: &[Axis]) -> Vec<Field> {
        let point = Field { name: "point".to_owned(), kind: Kind::Integer, nullable: false };
        let swept = axes.iter().map(|axis| Field { name: axis.key.clone(), kind: axis.kind, nullable: false });
        std::iter::once(point).chain(swept).chain((self.fields)()).collect()
    }
}

impl<S: OfPoint> Table<S> {
    /// Gives each row, with `point` and the labels first.
    pub(super) fn each_row(&self, source: &S, sink: &mut Sink<'_>) -> io::Result<()> {
        let mut place = vec![Value::Integer(whole("point", source.point())?)];
        place.extend(source.labels().iter().map(Value::from));
        (self.rows)(source, &mut Rows { place, sink })
    }
}

/// Takes a row; it may change its values.
type Sink<'a> = dyn FnMut(&mut [Value<'_>]) -> io::Result<()> + 'a;

/// Takes the rows of one point.
pub(super) struct Rows<'a> {
    place: Vec<Value<'a>>,
    sink: &'a mut Sink<'a>,
}

impl Rows<'_> {
    pub(super) fn add<R>(&mut self, columns: &[Column<R>], row: &R) -> io::Result<()> {
        let mut values = Vec::with_capacity(self.place.len() + columns.len());
        values.extend_from_slice(&self.place);
        for column in columns {
            values.push(column.value(row)?);
        }
        (self.sink)(&mut values)
    }
}

/// The columns as a schema has them.
pub(super) fn fields<R>(columns: &[Column<R>]) -> Vec<Field> {
    columns.iter().map(Column::field).collect()
}

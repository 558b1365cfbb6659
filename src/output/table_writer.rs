//! A table, written point by point.

use super::axis::OfPoint;
use super::column::{Field, Value};
use super::csv::CsvRows;
use super::format::Format;
use super::json::JsonRows;
#[cfg(feature = "parquet")]
use super::parquet::ParquetRows;
use super::table::Table;
use crate::scenario::Axis;
use std::io::{self, Write};

/// Writes a table in one format. What it keeps in memory does not grow with the number of points.
///
/// The file is complete only after [`TableWriter::finish`]; then it is a whole table even if nothing was added.
pub struct TableWriter<S: 'static, W: Write + Send> {
    table: &'static Table<S>,
    schema: Vec<Field>,
    axes: usize,
    rows: Encoder<W>,
}

enum Encoder<W: Write + Send> {
    Csv(Box<CsvRows<W>>),
    Json(JsonRows<W>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetRows<W>>),
}

impl<S: OfPoint, W: Write + Send> TableWriter<S, W> {
    /// Begins a table for points that are labelled along `axes`.
    ///
    /// # Errors
    /// If two columns have one name, or nothing can be written.
    pub fn new(table: &'static Table<S>, format: Format, axes: &[Axis], out: W) -> io::Result<Self> {
        let schema = table.schema(axes);
        for (i, field) in schema.iter().enumerate() {
            if schema[..i].iter().any(|other| other.name == field.name) {
                let message = format!("{}: two columns would be `{}`", table.name, field.name);
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
        }
        let rows = match format {
            Format::Csv => Encoder::Csv(Box::new(CsvRows::new(&schema, out)?)),
            Format::Json => Encoder::Json(JsonRows::new(&schema, out)),
            #[cfg(feature = "parquet")]
            Format::Parquet => Encoder::Parquet(Box::new(ParquetRows::new(&schema, out)?)),
        };
        Ok(Self { table, schema, axes: axes.len(), rows })
    }

    /// Adds the rows of a point. Points come in the order of the grid.
    ///
    /// # Errors
    /// If the labels do not match the axes, a value cannot be held, or nothing can be written.
    pub fn add(&mut self, source: &S) -> io::Result<()> {
        let Self { table, schema, axes, rows } = self;
        if source.labels().len() != *axes {
            let message = format!("{}: point {} has not one label per axis", table.name, source.point());
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        table.each_row(source, &mut |values| {
            if values.len() != schema.len() {
                return Err(io::Error::other(format!("{}: a row has {} values", table.name, values.len())));
            }
            schema.iter().zip(values.iter_mut()).try_for_each(|(field, value)| check(table.name, field, value))?;
            rows.add(values)
        })
    }

    /// Completes the table, and gives back what it was written to.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> io::Result<W> {
        match self.rows {
            Encoder::Csv(rows) => rows.finish(),
            Encoder::Json(rows) => rows.finish(),
            #[cfg(feature = "parquet")]
            Encoder::Parquet(rows) => rows.finish(),
        }
    }
}

impl<W: Write + Send> Encoder<W> {
    fn add(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        match self {
            Self::Csv(rows) => rows.add(row),
            Self::Json(rows) => rows.add(row),
            #[cfg(feature = "parquet")]
            Self::Parquet(rows) => rows.add(row),
        }
    }
}

/// Makes a number that is not finite a missing value, and refuses a value that may not stand in the column.
fn check(table: &str, field: &Field, value: &mut Value<'_>) -> io::Result<()> {
    if field.nullable && matches!(value, Value::Real(number) if !number.is_finite()) {
        *value = Value::Missing;
    }
    if value.suits(field) {
        return Ok(());
    }
    let message = format!("{table}: {value:?} may not stand in the column `{}`", field.name);
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}

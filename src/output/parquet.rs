//! Tables as Apache Parquet.
//!
//! Columns are INT64, DOUBLE and BYTE_ARRAY of UTF-8, compressed with Snappy; OPTIONAL where values may be missing,
//! else REQUIRED. The same rows give the same bytes.

use super::column::{Field, Value};
use crate::scenario::Kind;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows in a row group. Those of one group are kept in memory, as columns are written one after the other: at most
/// some 10 MB.
const ROWS_PER_GROUP: usize = 1 << 15;

/// Writes row groups, and the footer at the end.
pub(super) struct ParquetRows<W: Write + Send> {
    file: SerializedFileWriter<Shared<W>>,
    out: Shared<W>,
    columns: Vec<Chunk>,
    rows: usize,
}

/// What is written to, kept here while the file has it: the way by which a file gives it back hides what went wrong
/// with the last bytes.
struct Shared<W>(Arc<Mutex<W>>);

impl<W: Write> Write for Shared<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// The values of a column in the current row group.
struct Chunk {
    /// For each row 1 if it has a value, else 0; `None` if every row has.
    levels: Option<Vec<i16>>,
    values: Values,
}

enum Values {
    Integer(Vec<i64>),
    Real(Vec<f64>),
    Text(Vec<ByteArray>),
}

impl<W: Write + Send> ParquetRows<W> {
    pub(super) fn new(fields: &[Field], out: W) -> io::Result<Self> {
        let properties = WriterProperties::builder()
            .set_created_by(concat!("herdsim ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::SNAPPY)
            // Statistics by page would be longer than the pages.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .build();
        let columns = fields.iter().map(column).collect::<Result<_, _>>().map_err(plain)?;
        let schema = Type::group_type_builder("schema").with_fields(columns).build().map_err(plain)?;
        let out = Shared(Arc::new(Mutex::new(out)));
        let file = SerializedFileWriter::new(Shared(out.0.clone()), Arc::new(schema), Arc::new(properties));
        Ok(Self { file: file.map_err(plain)?, out, columns: fields.iter().map(Chunk::new).collect(), rows: 0 })
    }

    pub(super) fn add(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        self.columns.iter_mut().zip(row).try_for_each(|(chunk, value)| chunk.add(value))?;
        self.rows += 1;
        if self.rows == ROWS_PER_GROUP { self.write_group() } else { Ok(()) }
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.file.close().map_err(plain)?;
        let out = Arc::into_inner(self.out.0).ok_or_else(|| io::Error::other("the file is still being written"))?;
        Ok(out.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn write_group(&mut self) -> io::Result<()> {
        let mut group = self.file.next_row_group().map_err(plain)?;
        for chunk in &mut self.columns {
            let Some(column) = group.next_column().map_err(plain)? else {
                return Err(io::Error::other("the row group has too few columns"));
            };
            chunk.write(column).map_err(plain)?;
        }
        group.close().map_err(plain)?;
        self.rows = 0;
        Ok(())
    }
}

impl Chunk {
    fn new(field: &Field) -> Self {
        let values = match field.kind {
            Kind::Integer => Values::Integer(Vec::new()),
            Kind::Real => Values::Real(Vec::new()),
            Kind::Text => Values::Text(Vec::new()),
        };
        Self { levels: field.nullable.then(Vec::new), values }
    }

    fn add(&mut self, value: &Value<'_>) -> io::Result<()> {
        match (value, &mut self.values) {
            (Value::Missing, _) if self.levels.is_some() => {}
            (Value::Integer(value), Values::Integer(values)) => values.push(*value),
            (Value::Real(value), Values::Real(values)) => values.push(*value),
            (Value::Text(value), Values::Text(values)) => values.push(value.as_bytes().to_vec().into()),
            _ => return Err(io::Error::other(format!("{value:?} does not suit its column"))),
        }
        if let Some(levels) = &mut self.levels {
            levels.push(i16::from(*value != Value::Missing));
        }
        Ok(())
    }

    /// Writes the values and forgets them.
    fn write(&mut self, mut column: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = self.levels.as_deref();
        match &mut self.values {
            Values::Integer(values) => write::<Int64Type>(&mut column, values, levels),
            Values::Real(values) => write::<DoubleType>(&mut column, values, levels),
            Values::Text(values) => write::<ByteArrayType>(&mut column, values, levels),
        }?;
        if let Some(levels) = &mut self.levels {
            levels.clear();
        }
        column.close()
    }
}

fn write<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    values: &mut Vec<T::T>,
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    column.typed::<T>().write_batch(values, levels, None)?;
    values.clear();
    Ok(())
}

fn column(field: &Field) -> Result<Arc<Type>, ParquetError> {
    let (physical, logical) = match field.kind {
        Kind::Integer => (Physical::INT64, None),
        Kind::Real => (Physical::DOUBLE, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let repetition = if field.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    Type::primitive_type_builder(&field.name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()
        .map(Arc::new)
}

/// The error of the system, if it is one, so that a full disk is told as such.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

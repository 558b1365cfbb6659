//! Tables as comma-separated values.

use super::column::{Field, Value};
use csv::{Writer, WriterBuilder};
use std::io::{self, Write};

/// Writes a line of names, even when no row follows, and a line per row.
pub(super) struct CsvRows<W: Write> {
    out: Writer<W>,
}

impl<W: Write> CsvRows<W> {
    pub(super) fn new(fields: &[Field], out: W) -> io::Result<Self> {
        let mut out = WriterBuilder::new().has_headers(false).from_writer(out);
        out.write_record(fields.iter().map(|field| &field.name)).map_err(plain)?;
        Ok(Self { out })
    }

    pub(super) fn add(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        self.out.serialize(row).map_err(plain)
    }

    pub(super) fn finish(self) -> io::Result<W> {
        self.out.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

/// The error of the system, if it is one, so that a full disk is told as such.
fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

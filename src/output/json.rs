//! Tables as JSON.

use super::column::{Field, Value};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::io::{self, Write};

/// Writes an array with a line per row.
pub(super) struct JsonRows<W: Write> {
    names: Vec<String>,
    out: W,
    empty: bool,
}

struct Row<'a> {
    names: &'a [String],
    values: &'a [Value<'a>],
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_map(Some(self.names.len()))?;
        for (name, value) in self.names.iter().zip(self.values) {
            row.serialize_entry(name, value)?;
        }
        row.end()
    }
}

impl<W: Write> JsonRows<W> {
    pub(super) fn new(fields: &[Field], out: W) -> Self {
        Self { names: fields.iter().map(|field| field.name.clone()).collect(), out, empty: true }
    }

    pub(super) fn add(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        self.out.write_all(if self.empty { b"[\n" } else { b",\n" })?;
        self.empty = false;
        serde_json::to_writer(&mut self.out, &Row { names: &self.names, values: row }).map_err(io::Error::from)
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.out.write_all(if self.empty { b"[]\n" } else { b"\n]\n" })?;
        self.out.flush()?;
        Ok(self.out)
    }
}

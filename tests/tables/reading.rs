//! Tables read back by readers that know nothing of the writers.

use herdsim::output::{Field, Format};
use herdsim::scenario::Kind;

/// A value as any format holds it. A real number is its bits: formats must not round.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Missing,
    Integer(i64),
    Real(u64),
    Text(String),
}

/// Reads a table back: names, and cells by the kinds of the schema.
pub(crate) fn read(format: Format, bytes: &[u8], schema: &[Field]) -> (Vec<String>, Vec<Vec<Cell>>) {
    match format {
        Format::Csv => read_csv(bytes, schema),
        Format::Json => (names(schema), read_json(bytes, schema)),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet_file::read(bytes),
    }
}

pub(crate) fn names(schema: &[Field]) -> Vec<String> {
    schema.iter().map(|field| field.name.clone()).collect()
}

pub(crate) fn read_csv(bytes: &[u8], schema: &[Field]) -> (Vec<String>, Vec<Vec<Cell>>) {
    let mut reader = csv::Reader::from_reader(bytes);
    let header = reader.headers().expect("a header").iter().map(str::to_owned).collect();
    let cell = |(text, field): (&str, &Field)| match field.kind {
        _ if text.is_empty() && field.nullable => Cell::Missing,
        Kind::Text => Cell::Text(text.to_owned()),
        Kind::Integer => Cell::Integer(text.parse().expect("an integer")),
        Kind::Real => Cell::Real(text.parse::<f64>().expect("a number").to_bits()),
    };
    let rows = reader.records().map(|row| row.expect("a row").iter().zip(schema).map(cell).collect());
    (header, rows.collect())
}

fn read_json(bytes: &[u8], schema: &[Field]) -> Vec<Vec<Cell>> {
    let rows: Vec<serde_json::Map<String, serde_json::Value>> = serde_json::from_slice(bytes).expect("strict JSON");
    let cell = |field: &Field, value: &serde_json::Value| match (field.kind, value) {
        (_, serde_json::Value::Null) => Cell::Missing,
        (Kind::Integer, value) => Cell::Integer(value.as_i64().expect("an integer")),
        (Kind::Real, value) => Cell::Real(value.as_f64().expect("a number").to_bits()),
        (Kind::Text, value) => Cell::Text(value.as_str().expect("a text").to_owned()),
    };
    rows.iter()
        .map(|row| {
            assert!(row.keys().eq(schema.iter().map(|field| &field.name)), "{row:?}");
            schema.iter().map(|field| cell(field, &row[&field.name])).collect()
        })
        .collect()
}

#[cfg(feature = "parquet")]
pub(crate) mod parquet_file {
    use super::Cell;
    use herdsim::output::Field;
    use herdsim::scenario::Kind;
    use parquet::basic::{LogicalType, Repetition, Type};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field as Value;
    use std::io::Write;

    pub(crate) fn open(bytes: &[u8]) -> SerializedFileReader<std::fs::File> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("written");
        SerializedFileReader::new(file).expect("a Parquet file")
    }

    pub(crate) fn read(bytes: &[u8]) -> (Vec<String>, Vec<Vec<Cell>>) {
        let file = open(bytes);
        let header = file.metadata().file_metadata().schema().get_fields().iter().map(|f| f.name().to_owned());
        let cell = |value: &Value| match value {
            Value::Null => Cell::Missing,
            Value::Long(value) => Cell::Integer(*value),
            Value::Double(value) => Cell::Real(value.to_bits()),
            Value::Str(value) => Cell::Text(value.clone()),
            other => panic!("{other:?} is of a type that no column has"),
        };
        let rows = file.get_row_iter(None).expect("rows");
        let rows = rows.map(|row| row.expect("a row").get_column_iter().map(|(_, value)| cell(value)).collect());
        (header.collect(), rows.collect())
    }

    pub(crate) fn schema(bytes: &[u8]) -> Vec<Field> {
        let file = open(bytes);
        let fields = file.metadata().file_metadata().schema().get_fields();
        let kind = |field: &parquet::schema::types::Type| match (
            field.get_physical_type(),
            field.get_basic_info().logical_type_ref(),
        ) {
            (Type::INT64, None) => Kind::Integer,
            (Type::DOUBLE, None) => Kind::Real,
            (Type::BYTE_ARRAY, Some(LogicalType::String)) => Kind::Text,
            other => panic!("{other:?}"),
        };
        fields
            .iter()
            .map(|field| Field {
                name: field.name().to_owned(),
                kind: kind(field),
                nullable: field.get_basic_info().repetition() == Repetition::OPTIONAL,
            })
            .collect()
    }
}

//! `replications`: the same metrics, one row per replication, metric and key.

use super::column::Column;
use super::results::Results;
use super::table::{Rows, Table, fields};
use crate::measure::Reading;
use std::io;

pub(super) const TABLE: Table<Results> = Table { name: "replications", fields: || fields(&columns()), rows };

struct Row<'a> {
    replication: u64,
    reading: &'a Reading,
}

fn columns<'a>() -> Vec<Column<Row<'a>>> {
    vec![
        Column::integer("replication", |row| row.replication),
        Column::text("metric", |row| row.reading.metric.name()),
        Column::text("key", |row| &row.reading.key),
        Column::real_or_missing("value", |row| row.reading.value),
    ]
}

fn rows(results: &Results, rows: &mut Rows<'_>) -> io::Result<()> {
    let columns = columns();
    for replication in &results.replications {
        for reading in &replication.readings {
            rows.add(&columns, &Row { replication: replication.replication, reading })?;
        }
    }
    Ok(())
}

//! `tail_histogram`: the stationary law of each s_k.

use super::column::Column;
use super::results::Results;
use super::table::{Rows, Table, fields};
use std::io;

pub(super) const TABLE: Table<Results> = Table { name: "tail_histogram", fields: || fields(&columns()), rows };

/// For this fraction of the time, s_k was between `low` and `high`, both included.
struct Row {
    k: u64,
    low: f64,
    high: f64,
    fraction_of_time: f64,
}

fn columns() -> Vec<Column<Row>> {
    vec![
        Column::integer("k", |row| row.k),
        Column::real("low", |row| row.low),
        Column::real("high", |row| row.high),
        Column::real("fraction_of_time", |row| row.fraction_of_time),
    ]
}

fn rows(results: &Results, rows: &mut Rows<'_>) -> io::Result<()> {
    let columns = columns();
    let servers = results.servers as f64;
    for (k, histogram) in (1..).zip(&results.occupancy) {
        let total = histogram.total();
        for (low, high, time) in histogram.blocks() {
            let (low, high) = (low as f64 / servers, high.min(results.servers) as f64 / servers);
            rows.add(&columns, &Row { k, low, high, fraction_of_time: time / total })?;
        }
    }
    Ok(())
}

//! `response_time`: the histogram of response times in units of time.

use super::column::Column;
use super::results::Results;
use super::table::{Rows, Table, fields};
use std::io;

pub(super) const TABLE: Table<Results> = Table { name: "response_time", fields: || fields(&columns()), rows };

/// So many jobs had a response time between `low` and `high`, and this fraction of all at most `high`.
struct Row {
    low: f64,
    high: f64,
    count: u64,
    cumulative_fraction: f64,
}

fn columns() -> Vec<Column<Row>> {
    vec![
        Column::real("low", |row| row.low),
        Column::real("high", |row| row.high),
        Column::integer("count", |row| row.count),
        Column::real("cumulative_fraction", |row| row.cumulative_fraction),
    ]
}

fn rows(results: &Results, rows: &mut Rows<'_>) -> io::Result<()> {
    let Some(response) = &results.response else { return Ok(()) };
    let columns = columns();
    let counts = response.counts();
    let mut below = 0;
    for bucket in counts.iter_recorded() {
        let value = bucket.value_iterated_to();
        let count = bucket.count_at_value();
        below += count;
        // Delays are rounded to the nearest tick.
        let low = (counts.lowest_equivalent(value) as f64 - 0.5).max(0.0) * response.tick();
        let high = (counts.highest_equivalent(value) as f64 + 0.5) * response.tick();
        rows.add(&columns, &Row { low, high, count, cumulative_fraction: below as f64 / counts.len() as f64 })?;
    }
    Ok(())
}

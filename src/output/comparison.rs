//! `comparison`: policies against a baseline on common random numbers, one row per policy, metric and key.

use super::column::Column;
use super::results::Comparison;
use super::table::{Rows, Table, fields};
use std::io;

pub(super) const TABLE: Table<Comparison> = Table { name: "comparison", fields: || fields(&columns()), rows };

fn columns() -> Vec<Column<Comparison>> {
    vec![
        Column::text("policy", |row| &row.policy),
        Column::text("baseline", |row| &row.baseline),
        Column::text("metric", |row| row.metric.name()),
        Column::text("key", |row| &row.key),
        Column::real_or_missing("difference", |row| row.difference),
        Column::real_or_missing("difference_low", |row| row.difference_low),
        Column::real_or_missing("difference_high", |row| row.difference_high),
        Column::real_or_missing("difference_std_error", |row| row.difference_std_error),
        Column::real_or_missing("ratio", |row| row.ratio),
        Column::real_or_missing("ratio_low", |row| row.ratio_low),
        Column::real_or_missing("ratio_high", |row| row.ratio_high),
        Column::real_or_missing("unpaired_half_width", |row| row.unpaired_half_width),
        Column::real_or_missing("saving", |row| row.saving),
        Column::integer("replications", |row| row.replications),
    ]
}

fn rows(row: &Comparison, rows: &mut Rows<'_>) -> io::Result<()> {
    rows.add(&columns(), row)
}

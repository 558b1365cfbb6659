//! `trajectory`: the time course, one row per metric, key and moment.

use super::column::Column;
use super::results::{Curve, Mean, Results};
use super::table::{Rows, Table, fields};
use std::io;

pub(super) const TABLE: Table<Results> = Table { name: "trajectory", fields: || fields(&columns()), rows };

/// The mean over the replications that have a value at this moment.
struct Row<'a> {
    time: f64,
    curve: &'a Curve,
    mean: Mean,
}

fn columns<'a>() -> Vec<Column<Row<'a>>> {
    vec![
        Column::real("time", |row| row.time),
        Column::text("metric", |row| row.curve.metric.name()),
        Column::text("key", |row| &row.curve.key),
        Column::real_or_missing("estimate", |row| row.mean.estimate),
        Column::real_or_missing("std_error", |row| row.mean.std_error),
        Column::integer("replications", |row| row.mean.replications),
    ]
}

fn rows(results: &Results, rows: &mut Rows<'_>) -> io::Result<()> {
    let Some(course) = &results.time_course else { return Ok(()) };
    let columns = columns();
    for curve in &course.curves {
        for (&time, &mean) in course.times.iter().zip(&curve.means) {
            rows.add(&columns, &Row { time, curve, mean })?;
        }
    }
    Ok(())
}

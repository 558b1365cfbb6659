//! `snapshots`: the lengths of queues at moments of the first replication.

use super::column::Column;
use super::results::Results;
use super::table::{Rows, Table, fields};
use std::io;

pub(super) const TABLE: Table<Results> = Table { name: "snapshots", fields: || fields(&columns()), rows };

/// So many jobs were at a server, the one in service included.
struct Row {
    time: f64,
    server: u64,
    jobs: u64,
}

fn columns() -> Vec<Column<Row>> {
    vec![
        Column::real("time", |row| row.time),
        Column::integer("server", |row| row.server),
        Column::integer("jobs", |row| row.jobs),
    ]
}

fn rows(results: &Results, rows: &mut Rows<'_>) -> io::Result<()> {
    let Some(lengths) = &results.snapshots else { return Ok(()) };
    let columns = columns();
    for (&time, jobs) in lengths.times.iter().zip(&lengths.jobs) {
        for (&server, &jobs) in lengths.servers.iter().zip(jobs) {
            rows.add(&columns, &Row { time, server: server.into(), jobs: jobs.into() })?;
        }
    }
    Ok(())
}

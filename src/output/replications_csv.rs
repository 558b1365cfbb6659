//! `replications.csv`: the same metrics, one row per replication, metric and key.

use super::results::Results;
use super::{row, table};
use std::io::{self, Write};

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let mut table = table(out, &["point", "replication", "metric", "key", "value"])?;
    for replication in &results.replications {
        for reading in &replication.readings {
            row(&mut table, &(0, replication.replication, reading.metric.name(), &reading.key, reading.value))?;
        }
    }
    table.flush()
}

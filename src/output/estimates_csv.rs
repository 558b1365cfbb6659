//! `estimates.csv`: one row per metric and key.

use super::results::Results;
use super::{row, table};
use std::io::{self, Write};

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let columns =
        ["point", "metric", "key", "estimate", "low", "high", "std_error", "replications", "theory", "theory_kind"];
    let mut table = table(out, &columns)?;
    for estimate in &results.estimates {
        row(&mut table, estimate)?;
    }
    table.flush()
}

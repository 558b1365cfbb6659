//! `tail_histogram.csv`: the stationary law of each s_k.

use super::results::Results;
use super::{row, table};
use std::io::{self, Write};

/// A row says: for this fraction of the time, s_k was between `low` and `high`, both included.
pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let mut table = table(out, &["k", "low", "high", "fraction_of_time"])?;
    let servers = results.servers as f64;
    for (k, histogram) in (1..).zip(&results.occupancy) {
        let total = histogram.total();
        for (low, high, time) in histogram.blocks() {
            let high = high.min(results.servers);
            row(&mut table, &(k, low as f64 / servers, high as f64 / servers, time / total))?;
        }
    }
    table.flush()
}

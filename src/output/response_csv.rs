//! `response_time.csv`: the histogram of response times in units of time.

use super::results::Results;
use super::{row, table};
use std::io::{self, Write};

/// A row says: so many jobs had a response time between `low` and `high`, and this fraction of all at most `high`.
pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let mut table = table(out, &["low", "high", "count", "cumulative_fraction"])?;
    if let Some(response) = &results.response {
        let counts = response.counts();
        let mut below = 0;
        for bucket in counts.iter_recorded() {
            let value = bucket.value_iterated_to();
            below += bucket.count_at_value();
            // Delays are rounded to the nearest tick.
            let low = (counts.lowest_equivalent(value) as f64 - 0.5).max(0.0) * response.tick();
            let high = (counts.highest_equivalent(value) as f64 + 0.5) * response.tick();
            row(&mut table, &(low, high, bucket.count_at_value(), below as f64 / counts.len() as f64))?;
        }
    }
    table.flush()
}

//! `response_time.hgrm`, or `response_time_3.hgrm` for point 3 of a sweep: the percentile text that HdrHistogram plotters read, in units of time.

use super::results::Results;
use crate::measure::DelayHistogram;
use std::io::{self, Write};

/// Lines per halving of the distance to 100 %.
const LINES_PER_HALVING: u32 = 5;

/// Name of the percentile text of a point, which is of a sweep or the only one.
pub fn percentile_name(point: u64, swept: bool) -> String {
    if swept { format!("response_time_{point}.hgrm") } else { "response_time.hgrm".to_owned() }
}

/// Writes the percentile text of a point.
///
/// # Errors
/// If it cannot be written.
pub fn write_percentiles(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{:>14} {:>14} {:>10} {:>14}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    let Some(response) = &results.response else { return Ok(()) };
    let counts = response.counts();
    if !counts.is_empty() {
        write_lines(response, out)?;
    }
    let moments = response.moments();
    let decimals = decimals(response);
    let or_zero = |value: Option<f64>| value.unwrap_or(0.0);
    let deviation = or_zero(moments.variance()).sqrt();
    let (mean, max) = (or_zero(moments.mean()), or_zero(moments.max()));
    writeln!(out, "#[Mean    = {mean:>14.decimals$}, StdDeviation   = {deviation:>14.decimals$}]")?;
    writeln!(out, "#[Max     = {max:>14.decimals$}, Total count    = {:>14}]", moments.count())?;
    writeln!(out, "#[Buckets = {:>14}, SubBuckets     = {:>14}]", counts.buckets(), 1 << 11)
}

/// Enough decimals to show a tick.
fn decimals(response: &DelayHistogram) -> usize {
    (-response.tick().log10()).ceil().max(6.0) as usize
}

fn write_lines(response: &DelayHistogram, out: &mut dyn Write) -> io::Result<()> {
    let counts = response.counts();
    let decimals = decimals(response);
    let mut total = 0;
    for step in counts.iter_quantiles(LINES_PER_HALVING) {
        total += step.count_since_last_iteration();
        let quantile = step.quantile_iterated_to();
        let value = step.value_iterated_to() as f64 * response.tick();
        if quantile >= 1.0 || total == counts.len() {
            // The iterator may come to the last value several times: one line says 100 %.
            return writeln!(out, "{value:>14.decimals$} {:>2.12} {:>10}", 1.0, counts.len());
        }
        writeln!(out, "{value:>14.decimals$} {quantile:>2.12} {total:>10} {:>14.2}", 1.0 / (1.0 - quantile))?;
    }
    Ok(())
}

//! `response_time.hlog`: the histogram as an HdrHistogram log (V2, compressed), in ticks.

use super::results::Results;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;
use std::io::{self, Write};
use std::time::Duration;

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let manifest = &results.manifest;
    let mut serializer = V2DeflateSerializer::new();
    let mut out = out;
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("[Response times of all replications; timestamps are simulated time]")
        .add_comment(&format!("[A tick is {} units of time; the maximum is in units of time]", manifest.tick))
        .with_max_value_divisor(1.0 / manifest.tick)
        .begin_log_with(&mut out, &mut serializer)?;
    if let Some(response) = &results.response
        && !response.counts().is_empty()
    {
        // Simulated time may exceed what the format can hold as seconds.
        let seconds = |time| Duration::try_from_secs_f64(time).unwrap_or(Duration::from_secs(u32::MAX.into()));
        let (open, length) = (manifest.window_open, manifest.window_close - manifest.window_open);
        log.write_histogram(response.counts(), seconds(open), seconds(length), None)
            .map_err(|error| io::Error::other(format!("the histogram cannot be written as a log: {error:?}")))?;
    }
    Ok(())
}

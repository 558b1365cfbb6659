//! `response_time.hlog`: the histograms as an HdrHistogram log (V2, compressed), in ticks.

use super::results::Results;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError, Tag};
use std::io::{self, Write};
use std::time::Duration;

/// Writes one histogram per point, with the tag `point_3` for point 3 of a sweep and no tag without a sweep.
#[derive(Debug)]
pub struct ResponseLog<W: Write> {
    out: W,
    swept: bool,
}

impl<W: Write> ResponseLog<W> {
    /// Begins a log, of the points of a sweep or of a single one.
    ///
    /// # Errors
    /// If nothing can be written.
    pub fn new(mut out: W, swept: bool) -> io::Result<Self> {
        IntervalLogWriterBuilder::new()
            .add_comment("[Response times of all replications; timestamps are simulated time]")
            .begin_log_with(&mut out, &mut V2DeflateSerializer::new())?;
        Ok(Self { out, swept })
    }

    /// Adds the histogram of a point. Ticks differ where rates do, so each histogram follows a comment on its own.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, results: &Results) -> io::Result<()> {
        let manifest = &results.manifest;
        let name = format!("point_{}", results.point);
        let place = if self.swept { format!("{name}: ") } else { String::new() };
        let tick = manifest.tick;
        let mut serializer = V2DeflateSerializer::new();
        let mut log = IntervalLogWriterBuilder::new()
            .add_comment(&format!("[{place}A tick is {tick} units of time; the maximum is in units of time]"))
            .with_max_value_divisor(1.0 / tick)
            .begin_log_with(&mut self.out, &mut serializer)?;
        if let Some(response) = &results.response
            && !response.counts().is_empty()
        {
            // Simulated time may exceed what the format can hold as seconds.
            let seconds = |time| Duration::try_from_secs_f64(time).unwrap_or(Duration::from_secs(u32::MAX.into()));
            let (open, length) = (manifest.window_open, manifest.window_close - manifest.window_open);
            let tag = if self.swept { Tag::new(&name) } else { None };
            log.write_histogram(response.counts(), seconds(open), seconds(length), tag).map_err(
                |error| match error {
                    IntervalLogWriterError::IoError(error) => error,
                    other => io::Error::other(format!("the histogram cannot be written as a log: {other:?}")),
                },
            )?;
        }
        Ok(())
    }

    /// Completes the log, and gives back what it was written to.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

//! Bursts: jobs that go one after the other to one server, counted in strikes of the clock.

use crate::random::Stream;

/// Bursts up to this size have a count of their own.
pub const BURST_SIZES: usize = 64;

/// Bursts of jobs, one after the other, at one server.
#[derive(Clone, Debug)]
pub struct Bursts {
    server: u32,
    /// A job that comes that long after the first, or later, starts a burst of its own.
    length: f64,
    /// How often the clock strikes in that time, on average.
    strikes: f64,
    /// The strike of the first job of the burst, and how often the clock has struck within `length` of it, once that is
    /// drawn: a Poisson number, whatever happens at the strikes.
    begun: u64,
    within: Option<u64>,
    gaps: Option<Stream>,
    size: u64,
    /// Bursts that are over.
    pub bursts: u64,
    /// The jobs in them.
    pub jobs: u64,
    /// Bursts by size 1, 2, ..., and all above.
    pub counts: Vec<u64>,
}

impl Bursts {
    pub(super) fn new(length: f64) -> Self {
        Self {
            server: 0,
            length,
            strikes: 0.0,
            begun: 0,
            within: None,
            gaps: None,
            size: 0,
            bursts: 0,
            jobs: 0,
            counts: vec![0; BURST_SIZES + 1],
        }
    }

    pub(super) fn begin(&mut self, tick: f64, gaps: &Stream) {
        self.strikes = self.length / tick;
        self.gaps = Some(gaps.clone());
    }

    #[inline(always)]
    pub(super) fn add(&mut self, server: u32, strike: u64) {
        if server == self.server && self.size > 0 && self.is_within(strike) {
            self.size += 1;
        } else {
            self.finish();
            (self.server, self.begun, self.within, self.size) = (server, strike, None, 1);
        }
    }

    /// Whether a strike comes within the length of the burst.
    fn is_within(&mut self, strike: u64) -> bool {
        let strikes = self.strikes;
        let gaps = &mut self.gaps;
        let within = *self.within.get_or_insert_with(|| gaps.as_mut().map_or(0, |stream| stream.poisson(strikes)));
        strike - self.begun <= within
    }

    #[inline(always)]
    pub(super) fn finish(&mut self) {
        if self.size > 0 {
            self.bursts += 1;
            self.jobs += self.size;
            self.counts[(self.size - 1).min(BURST_SIZES as u64) as usize] += 1;
            self.size = 0;
        }
    }
}

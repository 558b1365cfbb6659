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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Component;

    fn bursts(length: f64) -> Bursts {
        let mut bursts = Bursts::new(length);
        bursts.begin(1.0, &Stream::new(12, 0, Component::Gaps));
        bursts
    }

    #[test]
    fn a_burst_ends_with_its_time_or_where_a_job_goes_elsewhere() {
        for (length, sizes) in [(1e6, [2, 1]), (0.0, [4, 0])] {
            let mut bursts = bursts(length);
            for (server, strike) in [(0, 1), (0, 2), (1, 3), (0, 4)] {
                bursts.add(server, strike);
            }
            bursts.finish();
            assert_eq!((bursts.bursts, bursts.jobs), (sizes.iter().sum(), 4), "{length}");
            assert_eq!(bursts.counts[..2], sizes, "{length}");
        }
    }

    /// A second job joins the burst of the first if the clock has struck often enough before its end: a Poisson number.
    /// A right law fails with probability 6e-5.
    #[test]
    fn the_end_of_a_burst_comes_after_a_poisson_number_of_strikes() {
        let mut bursts = bursts(3.0);
        let pairs = 40_000;
        for pair in 0..pairs {
            bursts.add(pair as u32 % 2, 10 * pair);
            bursts.add(pair as u32 % 2, 10 * pair + 2);
        }
        bursts.finish();
        let joins = 1.0 - 4.0 * (-3.0_f64).exp();
        let expected = pairs as f64 * joins;
        let z = (bursts.counts[1] as f64 - expected) / (expected * (1.0 - joins)).sqrt();
        assert!(z.abs() < 4.0, "{} bursts of two, {expected} expected", bursts.counts[1]);
        assert_eq!(bursts.jobs, 2 * pairs);
    }
}

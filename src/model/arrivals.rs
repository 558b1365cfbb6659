//! Arrivals: one renewal stream over all dispatchers, Poisson when the law is exponential.

use super::law::Law;

/// The stream of arrivals.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrivals {
    /// `lambda_sum`, arrivals per unit of time over all dispatchers; 0 means that no job ever arrives.
    pub rate: f64,
    /// Law of the time between arrivals in units of its mean, hence itself of mean 1; exponential gives Poisson
    /// arrivals.
    pub interarrival: Law,
}

impl Arrivals {
    /// Poisson arrivals of the given total rate.
    pub fn poisson(rate: f64) -> Self {
        Self { rate, interarrival: Law::standard_exponential() }
    }
}

//! M/G/1 (Pollaczek and Khinchine).

use crate::model::Law;

/// One server with Poisson arrivals and sizes of any law of mean 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MG1 {
    load: f64,
    rate: f64,
    /// Second moment of a size.
    square: f64,
}

impl MG1 {
    /// The queue at a load below 1, where a size S takes S / rate.
    pub fn new(load: f64, rate: f64, size: &Law) -> Option<Self> {
        let square = size.variance() + size.mean().powi(2);
        (load < 1.0 && square.is_finite()).then_some(Self { load, rate, square })
    }

    /// Mean time before service, `lambda E[(S / mu)^2] / (2 (1 - rho))`.
    pub fn waiting_time(&self) -> f64 {
        self.load * self.square / self.rate / (2.0 * (1.0 - self.load))
    }

    /// Mean time from arrival to departure.
    pub fn response_time(&self) -> f64 {
        self.waiting_time() + 1.0 / self.rate
    }

    /// Mean number of jobs.
    pub fn jobs(&self) -> f64 {
        self.load * self.rate * self.response_time()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NonNegative;

    #[test]
    fn exponential_and_constant_sizes() {
        let mm1 = MG1::new(0.8, 1.0, &Law::standard_exponential()).expect("stable");
        assert!((mm1.response_time() - 5.0).abs() < 1e-12 && (mm1.jobs() - 4.0).abs() < 1e-12);
        let md1 = MG1::new(0.8, 2.0, &Law::from(NonNegative::new(1.0).expect("one"))).expect("stable");
        assert!((md1.waiting_time() - 1.0).abs() < 1e-12);
        assert!(MG1::new(1.0, 1.0, &Law::standard_exponential()).is_none());
    }
}

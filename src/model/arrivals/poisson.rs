//! Poisson arrivals: independent exponential times between them.

use crate::model::law::Law;

/// The law of the time between two, in units of its mean.
pub(super) fn gap() -> Law {
    Law::standard_exponential()
}

#[cfg(test)]
mod tests {
    use crate::model::arrivals::{Arrivals, Process};
    use crate::model::law::Law;
    use crate::random::{Component, Stream};

    fn times(arrivals: &Arrivals) -> Vec<f64> {
        let mut source = arrivals.start(Stream::new(1, 0, Component::Arrivals)).expect("there is no file");
        let mut now = 0.0;
        let mut next = || {
            now = source.next(now).expect("there is no file").time;
            now
        };
        (0..1000).map(|_| next()).collect()
    }

    /// Poisson arrivals and renewals with exponential times are one process, draw by draw.
    #[test]
    fn exponential_renewals_are_poisson() {
        let renewal = Arrivals { rate: 3.0, process: Process::Renewal(Law::standard_exponential()) };
        assert!(renewal.are_poisson());
        let poisson = times(&Arrivals::poisson(3.0));
        assert_eq!(times(&renewal), poisson);
        assert!(poisson.is_sorted());
        // The last of a thousand has the mean 1000 / 3 and the standard deviation sqrt(1000) / 3: |z| < 4.
        assert!((poisson[999] - 1000.0 / 3.0).abs() < 4.0 * 1000.0_f64.sqrt() / 3.0);
    }

    #[test]
    fn a_rate_of_zero_is_silence() {
        let silent = Arrivals::poisson(0.0);
        let mut source = silent.start(Stream::new(1, 0, Component::Arrivals)).expect("no file");
        assert_eq!(source.next(5.0).expect("no file").time, f64::INFINITY);
    }
}

//! M/M/N with a load of 1 - beta / sqrt(N), as N grows (Halfin and Whitt 1981).

use statrs::distribution::{Continuous, ContinuousCDF, Normal};

/// The limit of Halfin and Whitt for one queue before N servers of rate 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfinWhitt {
    /// beta, above 0.
    pub beta: f64,
}

impl HalfinWhitt {
    /// Probability that a job waits: `1 / (1 + beta Phi(beta) / phi(beta))`.
    pub fn waiting_probability(&self) -> f64 {
        let normal = Normal::standard();
        1.0 / (1.0 + self.beta * normal.cdf(self.beta) / normal.pdf(self.beta))
    }

    /// sqrt(N) times the mean wait: the probability of a wait over beta.
    pub fn scaled_wait(&self) -> f64 {
        self.waiting_probability() / self.beta
    }
}

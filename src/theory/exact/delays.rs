//! Response and waiting times in continuous time: mixtures of Erlang laws by the jobs that a job finds.

/// Jobs at servers of one rate: `ahead[k]` is the fraction of all jobs that find k jobs there.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) rate: f64,
    pub(super) ahead: Vec<f64>,
}

/// The law of a delay: with weight `ahead[k]`, the sum of k + `extra` exponential times of the rate of the part.
///
/// First come, first served: a job that finds k jobs waits for k services, of which the first goes on without memory.
#[derive(Clone, Debug)]
pub(super) struct Mixture<'a> {
    pub(super) parts: &'a [Part],
    /// 1 for response times, 0 for waiting times.
    pub(super) extra: usize,
}

impl Mixture<'_> {
    fn sum(&self, of: impl Fn(f64, f64) -> f64) -> f64 {
        let terms = |part: &Part| -> f64 {
            let terms = part.ahead.iter().enumerate();
            terms.map(|(k, weight)| weight * of((k + self.extra) as f64, part.rate)).sum()
        };
        self.parts.iter().map(terms).sum::<f64>() / self.weight()
    }

    fn weight(&self) -> f64 {
        self.parts.iter().flat_map(|part| &part.ahead).sum()
    }

    pub(super) fn mean(&self) -> f64 {
        self.sum(|services, rate| services / rate)
    }

    pub(super) fn variance(&self) -> f64 {
        let mean = self.mean();
        // A sum of k exponential times has variance k / rate^2; about the mean, no large numbers cancel.
        self.sum(|services, rate| services / rate.powi(2) + (services / rate - mean).powi(2))
    }

    /// The probability of a longer delay: with a Poisson number I of mean `rate * time` of services over by then, that
    /// of needing more than I.
    pub(super) fn survival(&self, time: f64) -> f64 {
        self.parts.iter().map(|part| self.survival_of(part, time)).sum::<f64>() / self.weight()
    }

    fn survival_of(&self, part: &Part, time: f64) -> f64 {
        let mean = part.rate * time;
        // Weight of those that need more than i services, for i = 0, 1, ...
        let services = part.ahead.len() + self.extra;
        let mut needing = vec![0.0; services];
        let mut sum = 0.0;
        for i in (0..services).rev() {
            // Needing exactly i + 1 services is finding i + 1 - extra jobs.
            sum += part.ahead.get(i + 1 - self.extra).copied().unwrap_or(0.0);
            needing[i] = sum;
        }
        let mut log_weight = -mean;
        let mut survival = 0.0;
        for (i, needing) in needing.iter().enumerate() {
            if i > 0 {
                log_weight += (mean / i as f64).ln();
            }
            survival += log_weight.exp() * needing;
        }
        survival
    }

    /// The least delay that is exceeded with probability at most `1 - q`; none for q = 1 or beyond.
    pub(super) fn quantile(&self, q: f64) -> Option<f64> {
        if !(0.0..1.0).contains(&q) {
            return None;
        }
        let beyond = |time: f64| self.survival(time) > 1.0 - q;
        let (mut low, mut high) = (0.0, 1.0);
        if !beyond(low) {
            return Some(0.0);
        }
        while beyond(high) {
            high *= 2.0;
        }
        for _ in 0..100 {
            let middle = low + (high - low) / 2.0;
            if beyond(middle) { low = middle } else { high = middle }
        }
        Some(low + (high - low) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_server_gives_an_exponential_response_and_no_wait() {
        let parts = [Part { rate: 2.0, ahead: vec![1.0] }];
        let response = Mixture { parts: &parts, extra: 1 };
        assert!((response.mean() - 0.5).abs() < 1e-15 && (response.variance() - 0.25).abs() < 1e-15);
        let median = response.quantile(0.5).expect("below 1");
        assert!((median - 2.0_f64.ln() / 2.0).abs() < 1e-14);
        let waiting = Mixture { parts: &parts, extra: 0 };
        assert_eq!((waiting.mean(), waiting.quantile(0.9)), (0.0, Some(0.0)));
    }

    #[test]
    fn one_server_has_exponential_delays() {
        // M/M/1 at load 0.8: the response time is exponential of rate 0.2, the wait that with probability 0.8.
        let ahead: Vec<f64> = (0..170).map(|k| 0.2 * 0.8_f64.powi(k)).collect();
        let parts = [Part { rate: 1.0, ahead }];
        let response = Mixture { parts: &parts, extra: 1 };
        let waiting = Mixture { parts: &parts, extra: 0 };
        assert!((response.mean() - 5.0).abs() < 1e-12 && (response.variance() - 25.0).abs() < 1e-11);
        for time in [0.3_f64, 4.0, 30.0] {
            let exact = (-0.2 * time).exp();
            assert!((response.survival(time) - exact).abs() < 1e-14);
            assert!((waiting.survival(time) - 0.8 * exact).abs() < 1e-14);
        }
        assert!((response.quantile(0.99).expect("below 1") - 5.0 * 100.0_f64.ln()).abs() < 1e-10);
    }
}

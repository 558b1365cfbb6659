//! Response times in slotted time: how many slots a server needs until it has offered as many services.

/// Jobs at servers of one rate.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// `services[s]`: probability that a server offers s services in a slot.
    pub(super) services: Vec<f64>,
    /// `ahead[k]`: fraction of all jobs that have k jobs ahead of them.
    pub(super) ahead: Vec<f64>,
}

/// Probabilities below this are left out.
const NEGLIGIBLE: f64 = 1e-15;

/// The most slots that a response may take.
const MOST_SLOTS: usize = 1_000_000;

/// `survival[t]`: the probability that a response takes more than t slots. A job with k ahead leaves in the first slot
/// by whose end k + 1 services were offered, that of its arrival included; `none` if that takes too long to be listed.
pub(super) fn survival(parts: &[Part]) -> Option<Vec<f64>> {
    let weight: f64 = parts.iter().flat_map(|part| &part.ahead).sum();
    let mut total: Vec<f64> = Vec::new();
    for part in parts {
        // still[k]: the probability that k + 1 services need more than t slots.
        let mut still = vec![1.0; part.ahead.len()];
        for slot in 0..=MOST_SLOTS {
            let left = part.ahead.iter().zip(&still).map(|(weight, still)| weight * still).sum::<f64>() / weight;
            if total.len() <= slot {
                total.push(0.0);
            }
            total[slot] += left;
            if left < NEGLIGIBLE {
                break;
            }
            if slot == MOST_SLOTS {
                return None;
            }
            for k in (0..still.len()).rev() {
                // Fewer than k + 1 services in this slot leave the rest to those that follow.
                let offered = part.services.iter().take(k + 1).enumerate();
                still[k] = offered.map(|(services, probability)| probability * still[k - services]).sum();
            }
        }
    }
    Some(total)
}

/// Mean of the response time, `sum over t of P(T > t)`.
pub(super) fn mean(survival: &[f64]) -> f64 {
    survival.iter().sum()
}

/// Variance of the response time.
pub(super) fn variance(survival: &[f64]) -> f64 {
    let mean = mean(survival);
    let tail = |t: usize| survival.get(t).copied().unwrap_or(0.0);
    (1..=survival.len()).map(|t| (tail(t - 1) - tail(t)) * (t as f64 - mean).powi(2)).sum()
}

/// The least number of slots within which a fraction q of the responses end.
pub(super) fn quantile(survival: &[f64], q: f64) -> Option<f64> {
    if !(0.0..1.0).contains(&q) {
        return None;
    }
    survival.iter().position(|&longer| longer <= 1.0 - q).map(|slots| slots as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bernoulli_services_give_negative_binomial_responses() {
        // The third of three jobs at a server that offers one service with probability 0.4.
        let parts = [Part { services: vec![0.6, 0.4], ahead: vec![0.0, 0.0, 1.0] }];
        let survival = survival(&parts).expect("short");
        assert!((mean(&survival) - 3.0 / 0.4).abs() < 1e-11);
        assert!((variance(&survival) - 3.0 * 0.6 / 0.16).abs() < 1e-10);
        assert_eq!(survival[2], 1.0);
        assert!((survival[3] - (1.0 - 0.064)).abs() < 1e-15);
        assert_eq!(quantile(&survival, 0.06), Some(3.0));
    }

    #[test]
    fn geometric_services_in_a_slot() {
        // P(S >= 1) = 1/2: the first job is served in its slot with probability 1/2.
        let services: Vec<f64> = (1..60).map(|k| 0.5_f64.powi(k)).collect();
        let survival = survival(&[Part { services, ahead: vec![1.0] }]).expect("short");
        assert!((mean(&survival) - 2.0).abs() < 1e-12);
    }
}

//! G(s), the probability that a job joins a server of at least k jobs, as a sum of powers of s.

/// Coefficients and exponents.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Polynomial(Vec<(f64, f64)>);

impl Polynomial {
    /// The parts of `G_N = G + G_1 / N + G_2 / N^2 + ...` for samples (probability, d, with replacement).
    ///
    /// With replacement `G_N = s^d`. Without, `G_N` is the product of `(s - i/N) / (1 - i/N)` over `i < d`; with
    /// `a = d(d-1)/2` and `b = (d-1)d(2d-1)/6`, its logarithm gives `G_1 = a (s^d - s^(d-1))` and
    /// `G_2 = (a^2/2)(s^d - 2 s^(d-1) + s^(d-2)) + (b/2)(s^d - s^(d-2))`.
    pub(super) fn of_samples(samples: &[(f64, u64, bool)]) -> [Self; 3] {
        let mut parts = [Self::default(), Self::default(), Self::default()];
        for &(part, d, replacement) in samples.iter().filter(|sample| sample.0 > 0.0) {
            let d = d as f64;
            parts[0].0.push((part, d));
            if replacement || d < 2.0 {
                continue;
            }
            let a = part * d * (d - 1.0) / 2.0;
            parts[1].0.extend([(a, d), (-a, d - 1.0)]);
            let (a, b) = (a * d * (d - 1.0) / 4.0, part * (d - 1.0) * d * (2.0 * d - 1.0) / 12.0);
            parts[2].0.extend([(a + b, d), (-2.0 * a, d - 1.0), (a - b, d - 2.0)]);
        }
        parts
    }

    /// The derivative of this order at s.
    pub(super) fn at(&self, s: f64, order: u32) -> f64 {
        let term = |&(coefficient, exponent): &(f64, f64)| {
            let factor: f64 = (0..order).map(|i| exponent - f64::from(i)).product();
            if factor == 0.0 { 0.0 } else { coefficient * factor * s.powf(exponent - f64::from(order)) }
        };
        self.0.iter().map(term).sum()
    }
}

//! Elimination by Grassmann, Taksar and Heyman: the stationary law of a small chain without a subtraction.

/// The stationary law of the chain with these rates (`rates[i * size + j]` from i to j, the diagonal unused), to full
/// relative precision (Grassmann, Taksar and Heyman 1985). The chain must be irreducible. Costs little where few
/// rates are positive near the diagonal.
pub(super) fn stationary(size: usize, mut rates: Vec<f64>) -> Vec<f64> {
    let mut leaving = vec![0.0; size];
    let mut columns = Vec::new();
    for k in (1..size).rev() {
        columns.clear();
        columns.extend((0..k).filter(|&j| rates[k * size + j] > 0.0));
        leaving[k] = columns.iter().map(|&j| rates[k * size + j]).sum();
        for i in 0..k {
            let into = rates[i * size + k];
            if into > 0.0 && leaving[k] > 0.0 {
                for &j in columns.iter().filter(|&&j| j != i) {
                    rates[i * size + j] += into * rates[k * size + j] / leaving[k];
                }
            }
        }
    }
    let mut law = vec![0.0; size];
    law[0] = 1.0;
    let mut total = 1.0;
    for k in 1..size {
        let into: f64 = (0..k).map(|i| law[i] * rates[i * size + k]).sum();
        law[k] = if leaving[k] > 0.0 { into / leaving[k] } else { 0.0 };
        total += law[k];
    }
    law.iter_mut().for_each(|p| *p /= total);
    law
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_birth_and_death_chain_is_solved_to_the_last_digits() {
        let size = 60;
        let mut rates = vec![0.0; size * size];
        for k in 1..size {
            rates[(k - 1) * size + k] = 0.1;
            rates[k * size + k - 1] = 1.0;
        }
        let law = stationary(size, rates);
        for (k, &p) in (0_i32..).zip(&law) {
            let exact = 0.9 * 0.1_f64.powi(k);
            assert!((p / exact - 1.0).abs() < 1e-13, "{k}: {p}, exact {exact}");
        }
    }

    #[test]
    fn jumps_in_both_directions_balance() {
        let rates = vec![0.0, 1.0, 2.0, 3.0, 0.0, 0.5, 0.0, 4.0, 0.0];
        let law = stationary(3, rates.clone());
        for j in 0..3 {
            let into: f64 = (0..3).filter(|&i| i != j).map(|i| law[i] * rates[i * 3 + j]).sum();
            let out: f64 = (0..3).filter(|&i| i != j).map(|i| law[j] * rates[j * 3 + i]).sum();
            assert!((into - out).abs() < 1e-15);
        }
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    }
}

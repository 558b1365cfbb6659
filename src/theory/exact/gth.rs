//! Elimination by Grassmann, Taksar and Heyman: the stationary law of a small chain without a subtraction.

/// A chain on `0..size` that moves by at most `reach` at a time, but for jumps to 0.
#[derive(Clone, Debug)]
pub(super) struct Band {
    size: usize,
    reach: usize,
    /// The rate from i to j at `i * width + j + reach - i`.
    rates: Vec<f64>,
    /// The rate from each state to 0.
    home: Vec<f64>,
}

impl Band {
    /// A chain without transitions.
    pub(super) fn new(size: usize, reach: usize) -> Self {
        Self { size, reach, rates: vec![0.0; size * (2 * reach + 1)], home: vec![0.0; size] }
    }

    fn place(&self, from: usize, to: usize) -> usize {
        from * (2 * self.reach + 1) + to + self.reach - from
    }

    /// Adds a transition; one to another state than 0 must be within reach.
    pub(super) fn add(&mut self, from: usize, to: usize, rate: f64) {
        if to == 0 {
            self.home[from] += rate;
        } else {
            let place = self.place(from, to);
            self.rates[place] += rate;
        }
    }

    /// The stationary law of the chain, which must be irreducible, to full relative precision (Grassmann, Taksar and
    /// Heyman 1985): states are taken out from the last on, and their flow is given to those that they lead to.
    pub(super) fn stationary(mut self) -> Vec<f64> {
        let mut leaving = vec![0.0; self.size];
        for k in (1..self.size).rev() {
            let near = k.saturating_sub(self.reach).max(1)..k;
            leaving[k] = self.home[k] + near.clone().map(|j| self.rates[self.place(k, j)]).sum::<f64>();
            if leaving[k] == 0.0 {
                continue;
            }
            for i in k.saturating_sub(self.reach)..k {
                let part = self.rates[self.place(i, k)] / leaving[k];
                if part > 0.0 {
                    self.home[i] += part * self.home[k];
                    for j in near.clone().filter(|&j| j != i) {
                        let place = self.place(i, j);
                        self.rates[place] += part * self.rates[self.place(k, j)];
                    }
                }
            }
        }
        let mut law = vec![0.0; self.size];
        law[0] = 1.0;
        for k in 1..self.size {
            let into: f64 = (k.saturating_sub(self.reach)..k).map(|i| law[i] * self.rates[self.place(i, k)]).sum();
            law[k] = if leaving[k] > 0.0 { into / leaving[k] } else { 0.0 };
        }
        let total: f64 = law.iter().sum();
        law.iter_mut().for_each(|p| *p /= total);
        law
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_birth_and_death_chain_is_solved_to_the_last_digits() {
        let mut band = Band::new(60, 1);
        for k in 1..60 {
            band.add(k - 1, k, 0.1);
            band.add(k, k - 1, 1.0);
        }
        for (k, &p) in (0_i32..).zip(&band.stationary()) {
            let exact = 0.9 * 0.1_f64.powi(k);
            assert!((p / exact - 1.0).abs() < 1e-13, "{k}: {p}, exact {exact}");
        }
    }

    #[test]
    fn jumps_in_both_directions_balance() {
        let rates = [[0.0, 1.0, 2.0, 0.0], [3.0, 0.0, 0.5, 1.5], [0.0, 4.0, 0.0, 0.2], [0.7, 0.1, 0.3, 0.0]];
        let mut band = Band::new(4, 2);
        for (i, row) in rates.iter().enumerate() {
            row.iter().enumerate().filter(|(_, rate)| **rate > 0.0).for_each(|(j, &rate)| band.add(i, j, rate));
        }
        let law = band.stationary();
        for j in 0..4 {
            let into: f64 = (0..4).map(|i| law[i] * rates[i][j]).sum();
            let out: f64 = (0..4).map(|i| law[j] * rates[j][i]).sum();
            assert!((into - out).abs() < 1e-15, "{law:?}");
        }
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    }
}

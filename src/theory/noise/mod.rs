//! Fluctuations about the mean-field limit, and what they do to means: corrections of order 1 / N and 1 / N^2.

mod expansion;
mod polynomial;
mod tensor;

use super::NEGLIGIBLE;
use crate::model::System;
use crate::policy::{Dispatch, LevelLaw, Policy};
use expansion::Expansion;
use polynomial::Polynomial;

/// The expansion of the stationary occupancy in 1 / N, for d choices and mixtures of them on exact information, with
/// servers of one rate and without limited buffers:
///
/// `E s_k = s*_k + V_k / N + A_k / N^2 + O(1/N^3)` and `Cov(s_j, s_k) = W_jk / N + O(1/N^2)`.
///
/// W solves the Lyapunov equation `A W + W A^T + B = 0`, with A the Jacobian of the drift f at the fixed point, and B =
/// sum over transitions of (jump)(jump)^T times rate; V solves `A V + (1/2) D^2 f : W + f_1 = 0`, where `f_1 / N` is
/// what sampling without replacement changes in the drift (Gast and Van Houdt 2017). A_k, and the second order of the
/// covariance, follow from the moments up to the fourth (Gast, Bortolussi, Tribastone 2019).
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// s*_k.
    pub fixed_point: Vec<f64>,
    /// W, by rows.
    pub covariance: Vec<Vec<f64>>,
    /// V_k.
    pub first: Vec<f64>,
    /// A_k, the correction of order 1 / N^2.
    pub second: Option<Vec<f64>>,
    /// The correction of order 1 / N^2 of `E |s_k - s*_k|^2`, whose leading term is W_kk / N.
    pub second_square: Option<Vec<f64>>,
    /// Largest entry of `A W + W A^T + B`, relative to the largest of B.
    pub residual: f64,
    servers: f64,
}

/// Levels up to which the equations are solved: the cost grows with the third power, that of the second order with the
/// fourth.
const MOST_LEVELS: usize = 120;
const MOST_FOR_SECOND: usize = 24;

/// Negligible levels that are kept.
const BEYOND: usize = 3;

impl Noise {
    /// The expansion for a system under a policy.
    ///
    /// # Errors
    /// Why it is not known.
    pub fn new(system: &System, policy: &Policy) -> Result<Self, String> {
        if !system.is_memoryless() {
            return Err("arrivals and sizes are not Poisson and exponential".into());
        }
        if system.buffer.is_some() {
            return Err("the expansion is worked out for unlimited buffers".into());
        }
        if !(system.load() > 0.0 && system.load() < 1.0) {
            return Err("the expansion needs a load between 0 and 1".into());
        }
        if !system.servers.are_homogeneous() {
            return Err("the expansion is worked out for servers of one rate".into());
        }
        if !policy.information.is_exact() {
            return Err("the expansion is worked out for exact information".into());
        }
        let law = LevelLaw::for_the_limit(&policy.dispatch, &system.servers)?;
        let idle = matches!(
            policy.dispatch,
            Dispatch::IdleFirst(_)
                | Dispatch::Shortest(_)
                | Dispatch::ShortestDelay(_)
                | Dispatch::ShortestNormalized(_)
        );
        if idle {
            return Ok(Self::idle_always_found(system));
        }
        let samples = law.uniform_samples().ok_or("the law of the level joined is not smooth, or has no expansion")?;
        Self::of_samples(system.load(), system.servers.len() as f64, &samples)
    }

    /// While an idle server is found each job starts at once: the number of busy servers is that of M/M/infinity, of
    /// variance rho N, and no other level is reached; the rest is smaller than any power of 1 / N.
    fn idle_always_found(system: &System) -> Self {
        Self {
            fixed_point: vec![system.load()],
            covariance: vec![vec![system.load()]],
            first: vec![0.0],
            second: Some(vec![0.0]),
            second_square: Some(vec![0.0]),
            residual: 0.0,
            servers: system.servers.len() as f64,
        }
    }

    /// For samples (probability, d, with replacement) at a load below 1; rates are 1.
    fn of_samples(load: f64, servers: f64, samples: &[(f64, u64, bool)]) -> Result<Self, String> {
        let [leading, first, second] = Polynomial::of_samples(samples);
        let mut fixed_point = Vec::new();
        let mut level = load;
        while level > NEGLIGIBLE {
            if fixed_point.len() == MOST_LEVELS {
                return Err(format!("more than {MOST_LEVELS} levels would have to be kept"));
            }
            fixed_point.push(level);
            level = load * leading.at(level, 0);
        }
        // The noise of the last level moves the means of those beyond, which without it would be negligible.
        for _ in 0..BEYOND {
            fixed_point.push(level);
            level = load * leading.at(level, 0);
        }
        let expansion = Expansion::new(load, fixed_point, leading, first, second);
        let covariance = expansion.covariance();
        let residual = expansion.residual(&covariance);
        let first = expansion.first(&covariance).ok_or("the Jacobian is singular")?;
        let deep = expansion.levels() > MOST_FOR_SECOND;
        let second = if deep { None } else { expansion.second(&covariance, &first) };
        let n = expansion.levels();
        let (mut second, second_square) = second.unzip();
        // What comes goes: the first level has no correction, and what is left there is rounding.
        let mut first = first.as_slice().to_vec();
        first[0] = 0.0;
        if let Some(second) = &mut second {
            second[0] = 0.0;
        }
        Ok(Self {
            covariance: (0..n).map(|i| (0..n).map(|j| covariance[(i, j)]).collect()).collect(),
            fixed_point: expansion.into_fixed_point(),
            first,
            second,
            second_square,
            residual,
            servers,
        })
    }

    /// trace(W), the limit of `N E sum_k |s_k - s*_k|^2`.
    pub fn trace(&self) -> f64 {
        (0..self.covariance.len()).map(|k| self.covariance[k][k]).sum()
    }

    /// `N E sum_k |s_k - s*_k|^2` up to its terms of order 1 / N, or trace(W) alone where those are not known.
    pub fn mean_square_error(&self) -> f64 {
        let second: f64 = self.second_square.iter().flatten().sum();
        self.trace() + second / self.servers
    }

    /// The refined fractions s_1, s_2, ...: with the corrections of order 1 / N.
    pub fn tail(&self) -> Vec<f64> {
        self.fixed_point.iter().zip(&self.first).map(|(s, v)| s + v / self.servers).collect()
    }

    /// Mean jobs per server with corrections up to an order in 1 / N: 0, 1 or 2.
    pub fn mean_jobs(&self, order: u32) -> Option<f64> {
        let plain: f64 = self.fixed_point.iter().sum();
        let first: f64 = self.first.iter().sum();
        match order {
            0 => Some(plain),
            1 => Some(plain + first / self.servers),
            _ => {
                let second: f64 = self.second.as_ref()?.iter().sum();
                Some(plain + first / self.servers + second / self.servers.powi(2))
            }
        }
    }

    /// Whether the corrections of order 1 / N are worth having: there are any, they add a third to the mean number of
    /// jobs at most, and leave the fractions between 0 and 1 and in order.
    pub fn is_trustworthy(&self) -> bool {
        let moved: f64 = self.first.iter().sum::<f64>() / self.servers;
        let plain: f64 = self.fixed_point.iter().sum();
        let tail = self.tail();
        self.fixed_point.len() > 1
            && moved.abs() < plain / 3.0
            && tail.iter().all(|s| (-1e-15..=1.0).contains(s))
            && tail.is_sorted_by(|a, b| *a >= *b - 1e-15)
    }
}

#[cfg(test)]
mod tests;

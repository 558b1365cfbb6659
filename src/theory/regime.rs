//! Many-server regimes: how the load grows with the number of servers, and what is known of d choices there.

use std::fmt;

/// The regime of `lambda_sum = N - beta N^(1 - gamma)`, by gamma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// gamma = 0: the load stays below 1.
    MeanField,
    /// 0 < gamma < 1/2.
    SubHalfinWhitt,
    /// gamma = 1/2.
    HalfinWhitt,
    /// 1/2 < gamma < 1.
    SuperHalfinWhitt,
    /// gamma = 1.
    NonDegenerateSlowdown,
    /// gamma > 1; as gamma grows, classical heavy traffic.
    SuperSlowdown,
}

impl Regime {
    /// The regime of an exponent of at least 0.
    pub fn of(gamma: f64) -> Self {
        match gamma {
            0.0 => Self::MeanField,
            gamma if gamma < 0.5 => Self::SubHalfinWhitt,
            0.5 => Self::HalfinWhitt,
            gamma if gamma < 1.0 => Self::SuperHalfinWhitt,
            1.0 => Self::NonDegenerateSlowdown,
            _ => Self::SuperSlowdown,
        }
    }

    /// What the literature says of join the shortest queue in the regime, as N grows.
    pub fn shortest_queue(self) -> &'static str {
        match self {
            Self::MeanField | Self::SubHalfinWhitt => "JSQ: queues of 0 and 1, the delay vanishes",
            Self::HalfinWhitt | Self::SuperHalfinWhitt => "JSQ: a vanishing part of the jobs has a delay that does not",
            Self::NonDegenerateSlowdown => "JSQ: the delay is finite and not 0",
            Self::SuperSlowdown => "JSQ: queues grow without limit, as in classical heavy traffic from gamma = 2 on",
        }
    }
}

impl fmt::Display for Regime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MeanField => "mean field",
            Self::SubHalfinWhitt => "sub-Halfin-Whitt",
            Self::HalfinWhitt => "Halfin-Whitt",
            Self::SuperHalfinWhitt => "super-Halfin-Whitt",
            Self::NonDegenerateSlowdown => "non-degenerate slowdown",
            Self::SuperSlowdown => "super slowdown",
        })
    }
}

/// d choices below the Halfin-Whitt regime: `lambda_sum = N - N^(1 - gamma)` with 0 < gamma < 1/2 (the paper on power of
/// d in the sub-Halfin-Whitt regime). Most queues hold m jobs when `d^m = 2 m N^gamma log d`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubHalfinWhitt {
    /// Number of servers N.
    pub servers: f64,
    /// The exponent gamma.
    pub gamma: f64,
}

impl SubHalfinWhitt {
    /// The d for which most queues hold m jobs: the larger solution of `d^m = 2 m N^gamma log d`.
    ///
    /// With x = log d the equation is `m x = log x + log(2 m N^gamma)`. The difference of its sides is least at x = 1 / m,
    /// and the larger solution lies beyond.
    ///
    /// # Errors
    /// If there is none, or it is more than N.
    pub fn choices(&self, m: u32) -> Result<f64, String> {
        if m == 0 {
            return Err("queues of 0 jobs are no aim: m is at least 1".into());
        }
        let m = f64::from(m);
        let constant = (2.0 * m).ln() + self.gamma * self.servers.ln();
        let excess = |x: f64| m * x - x.ln() - constant;
        let (mut low, mut high) = (1.0 / m, 2.0 / m);
        if excess(low) > 0.0 {
            return Err(format!("d^{m} = 2 * {m} N^gamma log d has no solution at N = {}", self.servers));
        }
        while excess(high) < 0.0 {
            high *= 2.0;
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if excess(middle) < 0.0 { low = middle } else { high = middle }
        }
        let d = (0.5 * (low + high)).exp();
        if d > self.servers {
            return Err(format!("d would be {d:.1}, more than the {} servers", self.servers));
        }
        Ok(d)
    }

    /// The m that belongs to a d above 1, in general not a whole number: `m = gamma log N / log d + log(2 m log d) / log d`.
    ///
    /// As for d, the larger of the two solutions; none if there is none.
    pub fn length(&self, d: f64) -> Option<f64> {
        if d <= 1.0 {
            return None;
        }
        let x = d.ln();
        // g(m) = m x - log(2 m x) - gamma log N, least at m = 1 / x.
        let excess = |m: f64| m * x - (2.0 * m * x).ln() - self.gamma * self.servers.ln();
        let (mut low, mut high) = (1.0 / x, 2.0 / x);
        if excess(low) > 0.0 {
            return None;
        }
        while excess(high) < 0.0 {
            high *= 2.0;
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if excess(middle) < 0.0 { low = middle } else { high = middle }
        }
        Some(0.5 * (low + high))
    }

    /// The predicted fractions S_i / N of servers with at least i jobs, i = 1 to m, to leading order:
    /// `1 - 2 m log d / d^(m - i + 1)`; at the d of [`SubHalfinWhitt::choices`] the same as `1 - N^(-gamma) d^(i - 1)`.
    /// Beyond m the fraction vanishes. At a small N a value may be far off, even below 0: then N is too small.
    pub fn prediction(&self, m: u32, d: f64) -> Vec<f64> {
        let rows = 1..=m;
        rows.map(|i| 1.0 - 2.0 * f64::from(m) * d.ln() / d.powi((m - i + 1) as i32)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regimes_by_exponent() {
        for (gamma, name) in [
            (0.0, "mean field"),
            (0.4, "sub-Halfin-Whitt"),
            (0.5, "Halfin-Whitt"),
            (0.7, "super-Halfin-Whitt"),
            (1.0, "non-degenerate slowdown"),
            (3.0, "super slowdown"),
        ] {
            assert_eq!(Regime::of(gamma).to_string(), name);
        }
    }

    #[test]
    fn d_and_m_belong_together() {
        for (servers, gamma, m) in [(1e4, 0.4, 1), (1e4, 0.4, 2), (1e6, 0.4, 3), (1e9, 0.2, 2)] {
            let regime = SubHalfinWhitt { servers, gamma };
            let d = regime.choices(m).expect("a solution");
            let m = f64::from(m);
            assert!((d.powf(m) / (2.0 * m * servers.powf(gamma) * d.ln()) - 1.0).abs() < 1e-9);
            assert!((regime.length(d).expect("a solution") - m).abs() < 1e-9);
        }
    }

    #[test]
    fn where_there_is_no_solution() {
        assert!(SubHalfinWhitt { servers: 2.0, gamma: 0.1 }.choices(1).is_err());
        assert!(SubHalfinWhitt { servers: 1000.0, gamma: 0.4 }.choices(0).is_err());
        assert!(
            SubHalfinWhitt { servers: 15.0, gamma: 0.4 }.choices(1).expect_err("too few").contains("more than the 15")
        );
        assert_eq!(SubHalfinWhitt { servers: 100.0, gamma: 0.4 }.length(1.0), None);
    }
}

//! Dispatchers: each receives its share of the arrivals.

use super::number::Fault;
use crate::random::Stream;

/// The dispatchers `0..M` and the share `p_m` of the arrivals that reaches each.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatchers {
    shares: Vec<f64>,
    /// `cumulative[m]` = sum of the shares of dispatchers `0..=m`; empty when the shares are equal.
    cumulative: Vec<f64>,
}

impl Dispatchers {
    /// `count` dispatchers with equal shares.
    ///
    /// # Errors
    /// If `count` is 0.
    pub fn equal(count: u32) -> Result<Self, Fault> {
        if count == 0 {
            return Err(Fault::new("there must be at least one dispatcher", "write for example 1"));
        }
        Ok(Self { shares: vec![1.0 / f64::from(count); count as usize], cumulative: Vec::new() })
    }

    /// Dispatchers with the given shares, which are at least 0 and sum to 1.
    ///
    /// # Errors
    /// If there is none, a share is negative or not finite, or the sum differs from 1 by more than 1e-9.
    pub fn with_shares(shares: Vec<f64>) -> Result<Self, Fault> {
        if shares.is_empty() {
            return Err(Fault::new("there must be at least one share", "write for example [0.5, 0.5]"));
        }
        if let Some(i) = shares.iter().position(|s| !(s.is_finite() && *s >= 0.0)) {
            return Err(Fault::at(format!("[{i}]"), "must be a finite number of at least 0", "write for example 0.5"));
        }
        let total: f64 = shares.iter().sum();
        if (total - 1.0).abs() > 1e-9 {
            let remedy = if total > 0.0 {
                format!("divide each share by {total}")
            } else {
                "write for example [0.5, 0.5]".into()
            };
            return Err(Fault::new(format!("shares must sum to 1; these sum to {total}"), remedy));
        }
        let cumulative = shares
            .iter()
            .scan(0.0, |sum, share| {
                *sum += share / total;
                Some(*sum)
            })
            .collect();
        Ok(Self { shares, cumulative })
    }

    /// The shares `p_m`.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// The number of dispatchers M.
    #[expect(clippy::len_without_is_empty, reason = "there is always a dispatcher")]
    pub fn len(&self) -> u32 {
        self.shares.len() as u32
    }

    /// Draws the dispatcher that an arrival reaches; one dispatcher needs no draw.
    #[inline(always)]
    pub fn draw(&self, stream: &mut Stream) -> u32 {
        match self.shares.len() {
            1 => 0,
            dispatchers if self.cumulative.is_empty() => stream.below(dispatchers as u64) as u32,
            _ => self.draw_share(stream),
        }
    }

    fn draw_share(&self, stream: &mut Stream) -> u32 {
        let u = stream.uniform();
        let drawn = self.cumulative.partition_point(|&sum| sum <= u);
        // The last sum may round to just under 1; the number drawn above it belongs to the last dispatcher with a
        // positive share.
        if drawn < self.shares.len() {
            drawn as u32
        } else {
            self.shares.iter().rposition(|&share| share > 0.0).unwrap_or(0) as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Component;

    #[test]
    fn a_share_of_zero_is_never_drawn() {
        let dispatchers = Dispatchers::with_shares(vec![0.0, 0.5, 0.5, 0.0]).expect("shares sum to 1");
        let mut stream = Stream::new(3, 0, Component::Dispatchers);
        let mut counts = [0_u32; 4];
        for _ in 0..100_000 {
            counts[dispatchers.draw(&mut stream) as usize] += 1;
        }
        assert_eq!((counts[0], counts[3]), (0, 0));
        // Standard deviation of the count is 158: |z| < 4.
        assert!(counts[1].abs_diff(50_000) < 632, "{counts:?}");
    }

    #[test]
    fn bad_shares_are_refused() {
        for bad in [
            vec![],
            vec![0.0, 0.0],
            vec![f64::INFINITY, 1.0],
            vec![1e308, 1e308],
            vec![-0.5, 1.5],
            vec![0.5, 0.4],
            vec![f64::NAN, 1.0],
        ] {
            assert!(Dispatchers::with_shares(bad.clone()).is_err(), "{bad:?}");
        }
    }
}

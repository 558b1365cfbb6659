//! Walker's alias table: a discrete law drawn with one random number and one look-up.

use crate::random::Stream;

/// A discrete law on `0..len` (Walker 1977, tables by Vose 1991).
#[derive(Clone, Debug, PartialEq)]
pub struct Alias {
    columns: Vec<Column>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Column {
    /// The column is kept if the fraction of the draw lies below this, in units of 2^-64.
    keep: u64,
    /// What comes out else.
    other: u32,
}

impl Alias {
    /// The law with these weights, which are finite, at least 0 and not all 0.
    pub fn new(weights: &[f64]) -> Self {
        let columns = weights.len();
        let total: f64 = weights.iter().sum();
        let mut scaled: Vec<f64> = weights.iter().map(|weight| weight / total * columns as f64).collect();
        let mut other: Vec<u32> = (0..columns as u32).collect();
        let mut keep = vec![u64::MAX; columns];
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..columns).partition(|&i| scaled[i] < 1.0);
        while let (Some(&low), Some(&high)) = (small.last(), large.last()) {
            small.pop();
            keep[low] = (scaled[low] * 2_f64.powi(64)) as u64;
            other[low] = high as u32;
            scaled[high] -= 1.0 - scaled[low];
            if scaled[high] < 1.0 {
                large.pop();
                small.push(high);
            }
        }
        // What rounding leaves over is full, but a weight of 0 must never come out.
        for i in small {
            if weights[i] == 0.0 {
                keep[i] = 0;
                other[i] = weights.iter().position(|&weight| weight > 0.0).unwrap_or(0) as u32;
            }
        }
        Self { columns: keep.into_iter().zip(other).map(|(keep, other)| Column { keep, other }).collect() }
    }

    /// Draws from the law.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> u32 {
        // The upper half of the product is a column, the lower half a fraction that is independent of it but for
        // 2^-64 times the number of columns.
        let product = u128::from(stream.bits()) * self.columns.len() as u128;
        let column = (product >> 64) as usize;
        let Column { keep, other } = self.columns[column];
        // Which of the two nobody can foretell, so it is taken without a branch.
        let kept = u32::from((product as u64) < keep).wrapping_neg();
        column as u32 & kept | other & !kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Component;

    /// Chi-square with 3 degrees of freedom: 21.1 is exceeded with probability 1e-4. A weight of 0 never comes out.
    #[test]
    fn draws_follow_the_weights() {
        let weights = [0.0, 1.0, 2.5, 0.5, 4.0, 0.0];
        let alias = Alias::new(&weights);
        let mut stream = Stream::new(8, 0, Component::Dispatch);
        let draws = 800_000;
        let mut counts = [0_u32; 6];
        for _ in 0..draws {
            counts[alias.draw(&mut stream) as usize] += 1;
        }
        assert_eq!((counts[0], counts[5]), (0, 0));
        let chi_square: f64 = (1..5)
            .map(|i| {
                let expected = f64::from(draws) * weights[i] / 8.0;
                (f64::from(counts[i]) - expected).powi(2) / expected
            })
            .sum();
        assert!(chi_square < 21.1, "{chi_square}");
    }
}

//! The state at time 0.

use crate::random::Stream;

/// How many jobs the servers hold at time 0.
///
/// Dispatchers know the initial lengths: their estimates start out true.
#[derive(Clone, Debug, PartialEq)]
pub enum Initial {
    /// No job anywhere.
    Empty,
    /// The same number of jobs at every server.
    Length(u32),
    /// Fractions of servers with at least k jobs, k = 1, 2, ...: `N s_k` servers, rounded to the nearest whole
    /// number, hold at least k jobs; which servers is drawn.
    Tail(Vec<f64>),
}

impl Initial {
    /// The initial length of each of `n` servers.
    pub fn lengths(&self, n: u32, stream: &mut Stream) -> Vec<u32> {
        match self {
            Self::Empty => vec![0; n as usize],
            Self::Length(length) => vec![*length; n as usize],
            Self::Tail(tail) => {
                let mut lengths = vec![0; n as usize];
                for fraction in tail {
                    let servers = (fraction * f64::from(n)).round() as usize;
                    lengths[..servers.min(n as usize)].iter_mut().for_each(|length| *length += 1);
                }
                for i in (1..lengths.len()).rev() {
                    lengths.swap(i, stream.below(i as u64 + 1) as usize);
                }
                lengths
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Component;

    #[test]
    fn a_tail_gives_its_rounded_counts() {
        let mut stream = Stream::new(1, 0, Component::Initial);
        let lengths = Initial::Tail(vec![0.9, 0.25, 0.04]).lengths(100, &mut stream);
        let at_least = |k| lengths.iter().filter(|&&length| length >= k).count();
        assert_eq!((at_least(1), at_least(2), at_least(3), at_least(4)), (90, 25, 4, 0));
        assert!(!lengths.is_sorted_by(|a, b| a >= b), "positions must be drawn");
    }
}

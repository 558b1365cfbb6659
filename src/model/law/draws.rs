//! Draws from one law, made ahead.

use super::Law;
use crate::random::Stream;
use std::borrow::Cow;

/// Draws made at a time.
const BLOCK: usize = 64;

/// Draws from a law one after the other, with a stream of their own.
///
/// They are made in blocks, which takes less time than one by one, and are the same.
#[derive(Clone, Debug)]
pub struct Draws<'a> {
    law: Cow<'a, Law>,
    stream: Stream,
    block: [f64; BLOCK],
    /// The first of the block that has not been taken.
    next: usize,
}

impl<'a> Draws<'a> {
    /// Draws from a law with the numbers of a stream.
    pub fn new(law: Cow<'a, Law>, stream: Stream) -> Self {
        Self { law, stream, block: [0.0; BLOCK], next: BLOCK }
    }

    /// The next draw.
    #[inline(always)]
    #[expect(clippy::should_implement_trait, reason = "there is always a next one")]
    pub fn next(&mut self) -> f64 {
        if self.next >= BLOCK {
            self.draw();
        }
        let drawn = self.block[self.next];
        self.next += 1;
        drawn
    }

    #[inline(never)]
    fn draw(&mut self) {
        self.law.fill(&mut self.stream, &mut self.block);
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Component;

    #[test]
    fn blocks_hold_what_is_drawn_one_by_one() {
        let law = Law::standard_exponential();
        let mut stream = Stream::new(1, 0, Component::Sizes);
        let mut draws = Draws::new(Cow::Borrowed(&law), stream.clone());
        for _ in 0..3 * BLOCK + 1 {
            assert_eq!(draws.next(), law.sample(&mut stream));
        }
    }
}

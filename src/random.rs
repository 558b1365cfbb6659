//! One named stream per component and replication, derived from one seed.
//!
//! All streams are windows of one xoshiro256++ sequence of period 2^256 - 1 (Blackman and Vigna, 2021). The seed
//! picks the starting point; replication `r` starts `r * 2^192` steps further on, and component `c` of that
//! replication another `c * 2^128` steps. With at most 2^64 replications and 2^64 components, two streams of one
//! seed overlap only after one of them has drawn 2^128 numbers, which no machine will do.
//!
//! Because each component draws from a stream of its own, two policies run with one seed meet the same arrivals and
//! the same job sizes (common random numbers).

use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1, Poisson, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a stream of random numbers is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// Times between arrivals, sizes of batches and changes of phase.
    Arrivals,
    /// Which dispatcher an arrival reaches.
    Dispatchers,
    /// Job sizes, drawn when the job arrives.
    Sizes,
    /// Choices of the dispatching strategy, ties included.
    Dispatch,
    /// Who is asked or told, and whether an update happens.
    Information,
    /// How long messages take.
    Delays,
    /// Which messages are lost.
    Losses,
    /// Jobs and positions in the initial state.
    Initial,
    /// How much happens within a stretch of real time, where an engine moves in equal steps.
    Gaps,
    /// When and which of the messages arrives that take exponential times, where an engine does not draw these.
    Flights,
    /// Whether a server reports that has completed a job, and to whom.
    Reports,
}

/// The number of components.
const COMPONENTS: usize = Component::Reports as usize + 1;

/// The streams of one replication.
#[derive(Clone, Debug)]
pub struct Streams([Stream; COMPONENTS]);

impl Streams {
    /// The streams of replication `replication` in an experiment with this `seed`.
    pub fn new(seed: u64, replication: u64) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        // A long jump is 2^192 steps. Any number of them at once takes as long as some hundreds one by one.
        if replication < 256 {
            (0..replication).for_each(|_| generator.long_jump());
        } else {
            generator.jump_ce(replication, 192);
        }
        Self(std::array::from_fn(|_| {
            let stream = Stream(generator.clone());
            generator.jump();
            stream
        }))
    }

    /// The stream of a component; whoever takes it twice draws the same numbers twice.
    pub fn take(&self, component: Component) -> Stream {
        self.0[component as usize].clone()
    }
}

/// A stream of random numbers: xoshiro256++ with the few draws the simulator needs.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `component` in replication `replication` of an experiment with this `seed`.
    pub fn new(seed: u64, replication: u64, component: Component) -> Self {
        Streams::new(seed, replication).take(component)
    }

    /// A stream whose first bits are given, and which goes on with zeros, or else with ones but for one bit in a row.
    #[cfg(test)]
    pub(crate) fn starting_with(bits: u64, then_zeros: bool) -> Self {
        // The output is rotl(s0 + s3, 23) + s0, and of the next state s0' = s0 ^ s3 ^ s1 and s3' = rotl(s3 ^ s1, 45).
        let last = bits.rotate_right(23);
        let state = [0, if then_zeros { last } else { !last }, 1, last];
        let bytes: Vec<u8> = state.iter().flat_map(|word| word.to_le_bytes()).collect();
        Self(Xoshiro256PlusPlus::from_seed(bytes.try_into().expect("32 bytes")))
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number uniform on the 2^53 equally spaced values of `[0, 1)`.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        unit_interval(self.bits())
    }

    /// An integer uniform on `0..n`, exactly (Lemire 2019: multiply, and reject the few values that would bias).
    ///
    /// `n` must be positive.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0, "an integer below zero cannot be drawn");
        let mut product = u128::from(self.bits()) * u128::from(n);
        if (product as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u64) < threshold {
                product = u128::from(self.bits()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// Two independent integers, uniform on `0..first` and on `0..second`, exactly and from one random number
    /// (Brackett-Rozinsky and Lemire 2024: what is left below the first product is multiplied again).
    ///
    /// Both must be positive, and their product below 2^64.
    #[inline]
    pub fn below_both(&mut self, first: u64, second: u64) -> (u64, u64) {
        let bound = first.checked_mul(second).expect("a caller keeps the product below 2^64");
        debug_assert!(bound > 0, "an integer below zero cannot be drawn");
        let split = |bits: u64| {
            let product = u128::from(bits) * u128::from(first);
            let again = u128::from(product as u64) * u128::from(second);
            ((product >> 64) as u64, (again >> 64) as u64, again as u64)
        };
        let (mut one, mut other, mut rest) = split(self.bits());
        if rest < bound {
            let threshold = bound.wrapping_neg() % bound;
            while rest < threshold {
                (one, other, rest) = split(self.bits());
            }
        }
        (one, other)
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// An exponential number of mean 1, always finite (ziggurat; Doornik 2005).
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        loop {
            let x: f64 = Exp1.sample(&mut self.0);
            // The tail of the ziggurat takes the logarithm of a number that is zero once in 2^53 draws.
            if x.is_finite() {
                return x;
            }
        }
    }

    /// A normal number of mean 0 and variance 1, always finite and within 14 of 0 (ziggurat; Doornik 2005).
    #[inline]
    pub fn normal(&mut self) -> f64 {
        // The tail takes logarithms of numbers of at least 2^-53 only, so nothing needs to be thrown away.
        StandardNormal.sample(&mut self.0)
    }

    /// A Poisson number; 0 if the mean is not above 0.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        Poisson::new(mean).map_or(0, |law| law.sample(&mut self.0) as u64)
    }
}

/// An integer uniform on `0..n` and a number uniform on `[0, 1)` from one random number: what is left below the product with
/// `n`, which is positive, is the second. No probability is off by more than n / 2^64.
#[inline(always)]
pub fn split(bits: u64, n: u32) -> (u32, f64) {
    let product = u128::from(bits) * u128::from(n);
    ((product >> 64) as u32, unit_interval(product as u64))
}

/// A stream of which the next numbers can be seen before they are drawn.
#[derive(Clone, Debug)]
pub struct Foreseen {
    stream: Stream,
    /// Numbers seen, of which so many were drawn since.
    seen: Vec<u64>,
    drawn: usize,
}

impl Foreseen {
    /// Of which nothing was seen yet.
    pub fn new(stream: Stream) -> Self {
        Self { stream, seen: Vec::new(), drawn: 0 }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        match self.seen.get(self.drawn) {
            Some(&seen) => {
                self.drawn += 1;
                seen
            }
            None => self.stream.bits(),
        }
    }

    /// The numbers that will be drawn next, at least so many.
    pub fn see(&mut self, numbers: usize) -> &[u64] {
        self.seen.drain(..self.drawn);
        self.drawn = 0;
        while self.seen.len() < numbers {
            self.seen.push(self.stream.bits());
        }
        &self.seen
    }
}

/// Maps 64 random bits to `[0, 1)`: the upper 53 bits, so that neither 1 nor a rounded neighbour can come out.
#[inline]
fn unit_interval(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_interval_excludes_one_and_includes_zero() {
        assert_eq!(unit_interval(0), 0.0);
        assert!(unit_interval(u64::MAX) < 1.0);
    }

    #[test]
    fn streams_differ_by_component_and_replication_and_repeat_by_seed() {
        let first = |seed, replication, component| Stream::new(seed, replication, component).bits();
        let mut seen = std::collections::BTreeSet::new();
        for replication in 0..8 {
            for component in [Component::Arrivals, Component::Sizes, Component::Initial] {
                assert!(seen.insert(first(1, replication, component)));
                assert_eq!(first(1, replication, component), first(1, replication, component));
            }
        }
        assert!(seen.insert(first(2, 0, Component::Arrivals)));
    }

    #[test]
    fn replication_streams_are_long_jumps_of_the_first() {
        let mut by_hand = Xoshiro256PlusPlus::seed_from_u64(7);
        by_hand.long_jump();
        by_hand.long_jump();
        by_hand.long_jump();
        by_hand.jump();
        by_hand.jump();
        let mut stream = Stream::new(7, 3, Component::Sizes);
        assert_eq!(stream.bits(), by_hand.next_u64());
        // Far replications are reached by another way, which must meet the first.
        let mut by_hand = Xoshiro256PlusPlus::seed_from_u64(7);
        (0..300).for_each(|_| by_hand.long_jump());
        assert_eq!(Stream::new(7, 300, Component::Arrivals).bits(), by_hand.next_u64());
    }

    /// The streams of all components of some replications, as 64-bit words.
    fn words(seed: u64, replications: u64, draws: usize) -> Vec<Vec<u64>> {
        let streams = (0..replications).flat_map(|replication| Streams::new(seed, replication).0);
        streams.map(|mut stream| (0..draws).map(|_| stream.bits()).collect()).collect()
    }

    #[test]
    fn streams_can_start_at_either_end() {
        for bits in [0, 1, u64::MAX, 1 << 63] {
            let mut stream = Stream::starting_with(bits, true);
            assert_eq!((stream.bits(), stream.bits()), (bits, 0));
            let mut stream = Stream::starting_with(bits, false);
            assert_eq!(stream.bits(), bits);
            assert!(stream.uniform() > 1.0 - 1e-10);
        }
    }

    /// No two streams are correlated, at any shift of up to 3 draws: with 55 streams there are 1485 pairs and 7 shifts, so
    /// |z| < 6 fails without cause once in 10^5 choices of the seed.
    #[test]
    fn streams_of_replications_and_components_are_not_correlated() {
        const DRAWS: usize = 4096;
        let centred = |word: &u64| (unit_interval(*word) - 0.5) * 12_f64.sqrt();
        let streams: Vec<Vec<f64>> =
            words(1, 5, DRAWS).iter().map(|words| words.iter().map(centred).collect()).collect();
        for (i, one) in streams.iter().enumerate() {
            for other in &streams[..i] {
                for shift in -3_i32..=3 {
                    let (a, b) = (&one[shift.max(0) as usize..], &other[(-shift).max(0) as usize..]);
                    let z = a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>() / (a.len().min(b.len()) as f64).sqrt();
                    assert!(z.abs() < 6.0, "stream {i}, shift {shift}: z = {z}");
                }
            }
        }
    }

    /// First draws are as good as later ones, over seeds, replications and components: chi-square over 64 cells of
    /// the first draw and over 16 x 16 of the first two, each from seeds 0, 1, 2, ... and from one seed.
    #[test]
    fn first_draws_are_uniform() {
        let from_seeds: Vec<Vec<u64>> = (0..2000).flat_map(|seed| words(seed, 1, 2)).collect();
        for streams in [from_seeds, words(3, 2000, 2)] {
            let chi_square = |cells: usize, cell: &dyn Fn(&[u64]) -> u64| {
                let mut counts = vec![0_u32; cells];
                streams.iter().for_each(|words| counts[cell(words) as usize] += 1);
                let expected = streams.len() as f64 / cells as f64;
                counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum::<f64>()
            };
            // Chi-square has mean n and variance 2 n, for n degrees of freedom; 5 standard deviations.
            let bound = |cells: f64| cells - 1.0 + 5.0 * (2.0 * (cells - 1.0)).sqrt();
            let first = chi_square(64, &|words| words[0] >> 58);
            let low = chi_square(64, &|words| words[0] & 63);
            let pairs = chi_square(256, &|words| words[0] >> 60 << 4 | words[1] >> 60);
            assert!(first < bound(64.0) && low < bound(64.0) && pairs < bound(256.0), "{first} {low} {pairs}");
        }
    }

    #[test]
    fn below_is_uniform() {
        // Chi-square with 6 degrees of freedom: 27.9 is exceeded with probability 1e-4.
        let mut stream = Stream::new(1, 0, Component::Dispatch);
        let mut counts = [0_u64; 7];
        let draws = 700_000;
        for _ in 0..draws {
            counts[stream.below(7) as usize] += 1;
        }
        let expected = f64::from(draws) / 7.0;
        let chi_square: f64 = counts.iter().map(|&c| (c as f64 - expected).powi(2) / expected).sum();
        assert!(chi_square < 27.9, "chi-square {chi_square}");
        assert_eq!(stream.below(1), 0);
    }

    /// Chi-square of the values, each with a number below 0.3 or not, with 13 degrees of freedom: 40.9 is exceeded with
    /// probability 1e-4.
    #[test]
    fn both_parts_of_a_number_are_uniform() {
        let mut stream = Stream::new(7, 0, Component::Reports);
        let mut counts = [[0_u32; 2]; 7];
        let draws = 700_000;
        for _ in 0..draws {
            let (value, rest) = split(stream.bits(), 7);
            counts[value as usize][usize::from(rest < 0.3)] += 1;
        }
        let expected = [0.7, 0.3].map(|part| part * f64::from(draws) / 7.0);
        let terms = counts.iter().flat_map(|counts| counts.iter().zip(expected));
        let chi_square: f64 = terms.map(|(&count, expected)| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!(chi_square < 40.9, "{counts:?}");
        assert_eq!([0, u64::MAX].map(|bits| split(bits, 1)), [(0, 0.0), (0, 1.0 - f64::EPSILON / 2.0)]);
    }

    #[test]
    fn numbers_seen_before_are_drawn_in_turn() {
        let (mut plain, stream) = (Stream::new(8, 0, Component::Reports), Stream::new(8, 0, Component::Reports));
        let mut foreseen = Foreseen::new(stream);
        for draws in [3, 1, 40, 0, 7] {
            let seen = foreseen.see(20).to_vec();
            let drawn: Vec<u64> = (0..draws).map(|_| foreseen.bits()).collect();
            assert!(seen.len() >= 20 && seen.iter().zip(&drawn).all(|(seen, drawn)| seen == drawn));
            assert_eq!(drawn, (0..draws).map(|_| plain.bits()).collect::<Vec<_>>());
        }
    }

    /// Chi-square of all pairs: with 34 degrees of freedom 74 is exceeded with probability 1e-4, and with 2^32 - 1 and 3
    /// values the low half of the first goes with no value of the second in particular.
    #[test]
    fn below_both_is_uniform_and_independent() {
        let mut stream = Stream::new(4, 0, Component::Dispatch);
        let chi_square = |counts: &[u32]| {
            let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
            counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum::<f64>()
        };
        let mut counts = [0; 35];
        (0..350_000).for_each(|_| {
            let (one, other) = stream.below_both(5, 7);
            counts[(one * 7 + other) as usize] += 1;
        });
        assert!(chi_square(&counts) < 74.0, "{counts:?}");
        let mut counts = [0; 6];
        (0..60_000).for_each(|_| {
            let (one, other) = stream.below_both(u64::from(u32::MAX), 3);
            counts[(one % 2 * 3 + other) as usize] += 1;
        });
        // With 5 degrees of freedom 25.7 is exceeded with probability 1e-4.
        assert!(chi_square(&counts) < 25.7, "{counts:?}");
    }

    #[test]
    fn exponential_has_mean_and_variance_one() {
        let mut stream = Stream::new(2, 0, Component::Sizes);
        let n = 1_000_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let x = stream.exponential();
            assert!(x >= 0.0 && x.is_finite());
            sum += x;
            squares += x * x;
        }
        let n = f64::from(n);
        // Standard errors: 1/sqrt(n) for the mean, sqrt(20/n) for the second moment; |z| < 4.
        assert!((sum / n - 1.0).abs() < 4.0 / n.sqrt());
        assert!((squares / n - 2.0).abs() < 4.0 * (20.0 / n).sqrt());
    }

    #[test]
    fn normal_has_the_moments_of_the_normal_law() {
        let mut stream = Stream::new(2, 0, Component::Sizes);
        let n = 1_000_000;
        let mut sums = [0.0; 4];
        for _ in 0..n {
            let x = stream.normal();
            assert!(x.abs() < 14.0);
            (1..).zip(&mut sums).for_each(|(power, sum)| *sum += x.powi(power));
        }
        let n = f64::from(n);
        // The moments 0, 1, 0, 3 with the variances 1, 2, 15, 96 of a term: |z| < 4.
        for ((sum, moment), variance) in sums.iter().zip([0.0, 1.0, 0.0, 3.0]).zip([1.0_f64, 2.0, 15.0, 96.0]) {
            assert!((sum / n - moment).abs() < 4.0 * (variance / n).sqrt(), "{moment}: {}", sum / n);
        }
    }
}

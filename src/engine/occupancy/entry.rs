//! Where an arrival joins: the class and the length of its server, drawn by the law of its level.

use super::counts::Counts;
use crate::model::Servers;
use crate::policy::level_law::LevelLaw;
use crate::policy::{Dispatch, Pairs};
use crate::random::Stream;

/// Draws where arrivals join.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    law: LevelLaw,
    way: Way,
}

/// How the draw is made.
#[derive(Clone, Debug)]
enum Way {
    /// The shortest of a few servers of one class, drawn uniformly: with their ranks, the longest being 0, it is the one of
    /// the largest rank. Parts of the arrivals, with the number of servers and whether one may be drawn twice.
    Ranks { servers: u64, parts: Vec<(f64, usize, bool)> },
    /// The probability of a level and above depends on its count alone, in one class: the law is inverted.
    Tail,
    /// By the law of all levels of all classes.
    Law,
}

/// More servers than this are not drawn one by one.
const FEW: u64 = 4;

impl Entry {
    /// # Errors
    /// Why the strategy has no law of levels.
    pub(super) fn new(dispatch: &Dispatch, servers: &Servers) -> Result<Self, &'static str> {
        let law = LevelLaw::new(dispatch, servers)?;
        let one_class = servers.classes().len() == 1;
        let few = law.uniform_samples().filter(|parts| parts.iter().all(|&(_, d, _)| d <= FEW));
        let way = match few {
            Some(parts) if one_class => {
                let parts = parts.into_iter().filter(|&(part, ..)| part > 0.0);
                let parts = parts.map(|(part, d, replacement)| (part, d as usize, replacement)).collect();
                Way::Ranks { servers: servers.len(), parts }
            }
            _ if one_class && law.tail_of_count(0).is_some() => Way::Tail,
            _ => Way::Law,
        };
        Ok(Self { law, way })
    }

    /// Whether a draw does without the law of all levels.
    pub(super) fn is_quick(&self) -> bool {
        !matches!(self.way, Way::Law)
    }

    /// If the server is the one of the larger of two ranks drawn uniformly: what draws them.
    pub(super) fn pairs(&self) -> Option<Pairs> {
        match &self.way {
            Way::Ranks { servers, parts } if *servers < 1 << 32 => match parts[..] {
                [(_, 2, replacement)] => Some(Pairs { servers: *servers, replacement }),
                _ => None,
            },
            _ => None,
        }
    }

    /// The rank of the server that an arrival joins, the longest being 0, if ranks are all that is drawn.
    #[inline(always)]
    pub(super) fn rank(&self, stream: &mut Stream) -> Option<u64> {
        let Way::Ranks { servers, parts } = &self.way else { return None };
        let (d, replacement) = match &parts[..] {
            [(_, d, replacement)] => (*d, *replacement),
            parts => part(parts, stream),
        };
        Some(largest_rank(*servers, d, replacement, stream))
    }

    /// Whether ranks are all that is drawn.
    pub(super) fn is_by_rank(&self) -> bool {
        matches!(self.way, Way::Ranks { .. })
    }

    /// The class and the length of the server that an arrival joins.
    #[inline]
    pub(super) fn draw(&self, counts: &Counts, stream: &mut Stream) -> (usize, usize) {
        if let Some(rank) = self.rank(stream) {
            return (0, counts.length(0, rank));
        }
        match &self.way {
            Way::Tail => {
                let u = stream.uniform();
                let above = |count: u64| self.law.tail_of_count(count).is_some_and(|tail| tail > u);
                (0, counts.levels(0).partition_point(|&count| above(count)))
            }
            Way::Ranks { .. } | Way::Law => self.draw_by_law(counts, stream),
        }
    }

    fn draw_by_law(&self, counts: &Counts, stream: &mut Stream) -> (usize, usize) {
        let law = self.law.of_counts(counts.all());
        let mut target = stream.uniform() * law.iter().flatten().sum::<f64>();
        let mut drawn = (0, 0);
        for (class, law) in law.iter().enumerate() {
            for (length, &probability) in law.iter().enumerate() {
                // Rounding may leave a target beyond the last, and little where nobody is.
                let at_least = &counts.all()[class];
                if probability > 0.0 && at_least[length] > at_least.get(length + 1).copied().unwrap_or(0) {
                    drawn = (class, length);
                    if target < probability {
                        return drawn;
                    }
                    target -= probability;
                }
            }
        }
        drawn
    }
}

fn part(parts: &[(f64, usize, bool)], stream: &mut Stream) -> (usize, bool) {
    let mut target = stream.uniform();
    let mut drawn = (1, true);
    for &(part, d, replacement) in parts {
        drawn = (d, replacement);
        if target < part {
            break;
        }
        target -= part;
    }
    drawn
}

/// The largest of d ranks, drawn uniformly.
#[inline]
fn largest_rank(servers: u64, d: usize, replacement: bool, stream: &mut Stream) -> u64 {
    if d == 2 && servers < 1 << 32 {
        let (one, other) = Pairs { servers, replacement }.draw(stream);
        return u64::from(one.max(other));
    }
    let first = stream.below(servers);
    if replacement {
        return (1..d).fold(first, |largest, _| largest.max(stream.below(servers)));
    }
    let mut drawn = [first; FEW as usize];
    for i in 1..d {
        drawn[i] = loop {
            let next = stream.below(servers);
            if !drawn[..i].contains(&next) {
                break next;
            }
        };
    }
    drawn[..d].iter().copied().max().unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Component;

    const DRAWS: u32 = 40_000;

    /// Two choices are told as pairs as long as servers have 32 bits, whether one may be drawn twice or not.
    #[test]
    fn two_choices_are_pairs() {
        let entry = |dispatch: &str, servers: u64| {
            let dispatch = serde_json::from_str(dispatch).expect("a strategy");
            Entry::new(&dispatch, &Servers::homogeneous(servers).expect("servers")).expect("a law of levels")
        };
        for replacement in [false, true] {
            let two = format!("{{\"power_of_d\": {{\"d\": 2, \"replacement\": {replacement}}}}}");
            let pairs = entry(&two, 100).pairs().expect("two choices");
            assert_eq!((pairs.servers, pairs.replacement), (100, replacement));
            assert!(entry(&two, (1 << 32) - 1).pairs().is_some());
            assert!(entry(&two, 1 << 32).pairs().is_none());
        }
        assert!(entry("{\"power_of_d\": {\"d\": 3}}", 100).pairs().is_none());
    }

    #[track_caller]
    fn assert_frequency(count: u32, probability: f64, case: &str) {
        let mean = f64::from(DRAWS) * probability;
        // Where the probability is 0 or 1 there is no deviation either.
        let allowed = 4.0 * (mean * (1.0 - probability)).sqrt() + 1e-6;
        assert!((f64::from(count) - mean).abs() < allowed, "{case}: {count}, {mean} ± {allowed} expected");
    }

    /// All of d ranks are below m with probability `(m / n)^d` if ranks may be drawn twice, else `C(m, d) / C(n, d)`. A
    /// right draw fails for one seed in 300: 48 scores beyond four deviations.
    #[test]
    fn the_largest_of_some_ranks_has_its_law() {
        let mut stream = Stream::new(9, 0, Component::Dispatch);
        let n = 7_u64;
        for (d, replacement) in (1..=FEW).flat_map(|d| [(d, false), (d, true)]) {
            let mut below = vec![0; n as usize];
            for _ in 0..DRAWS {
                let largest = largest_rank(n, d as usize, replacement, &mut stream);
                below.iter_mut().skip(largest as usize + 1).for_each(|count| *count += 1);
            }
            for m in 1..n {
                let factor = |i: u64| if replacement { (m, n) } else { (m.saturating_sub(i), n - i) };
                let ratio = |(few, all): (u64, u64)| few as f64 / all as f64;
                let probability: f64 = (0..d).map(|i| ratio(factor(i))).product();
                assert_frequency(below[m as usize], probability, &format!("{d} {replacement} below {m}"));
            }
        }
    }

    /// A right draw fails for one seed in 5,000.
    #[test]
    fn parts_are_drawn_in_proportion() {
        let mut stream = Stream::new(10, 0, Component::Dispatch);
        let parts = [(0.2, 1, true), (0.5, 2, false), (0.3, 3, true)];
        let drawn: Vec<_> = (0..DRAWS).map(|_| part(&parts, &mut stream)).collect();
        for (probability, d, replacement) in parts {
            let count = drawn.iter().filter(|&&one| one == (d, replacement)).count() as u32;
            assert_frequency(count, probability, &format!("{d}"));
        }
    }
}

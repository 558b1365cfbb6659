//! How many servers hold how many jobs, by class.

use crate::engine::tally::Event;

/// The counts of all classes.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// `at_least[class][k]`: servers of a class with at least k jobs, k = 0, 1, ...; all lists are of one length, and
    /// the last count is 0 everywhere.
    at_least: Vec<Vec<u64>>,
}

/// So many levels are compared without looking whether it is still needed: few queues are longer, and a branch that
/// cannot be foretold costs more.
pub(super) const AT_ONCE: usize = 8;

/// Servers are few if they are less than one in so many.
const FEW: u64 = 100;

impl Counts {
    /// The number of servers of each class, and how many of each hold at least 1, 2, ... jobs.
    pub(super) fn new(servers: &[u64], levels: &[Vec<u64>]) -> Self {
        let longest = levels.iter().map(Vec::len).max().unwrap_or(0);
        let length = (longest + 2).max(AT_ONCE + 2);
        let at_least = servers.iter().zip(levels).map(|(&servers, levels)| {
            let mut counts = vec![servers];
            counts.extend(levels);
            counts.resize(length, 0);
            counts
        });
        Self { at_least: at_least.collect() }
    }

    /// `at_least[class][k]`.
    #[inline]
    pub(super) fn all(&self) -> &[Vec<u64>] {
        &self.at_least
    }

    /// How many servers of a class hold at least k jobs, k = 1, 2, ..., and then 0.
    #[inline]
    pub(super) fn levels(&self, class: usize) -> &[u64] {
        &self.at_least[class][1..]
    }

    /// The length of the server of a class that has this rank, the longest being 0.
    #[inline]
    pub(super) fn length(&self, class: usize, rank: u64) -> usize {
        let levels = self.levels(class);
        let (first, deeper) = levels.split_at(AT_ONCE);
        let mut length = first.iter().map(|&count| usize::from(count > rank)).sum();
        if length == AT_ONCE {
            length += deeper.partition_point(|&count| count > rank);
        }
        length
    }

    /// A server of a class that holds `length` jobs gets one more.
    #[inline]
    pub(super) fn raise(&mut self, class: usize, length: usize) {
        self.at_least[class][length + 1] += 1;
        if length + 2 == self.at_least[class].len() {
            self.at_least.iter_mut().for_each(|counts| counts.push(0));
        }
    }

    /// A server of a class that holds `length` jobs, at least one, loses one.
    #[inline]
    pub(super) fn lower(&mut self, class: usize, length: usize) {
        self.at_least[class][length] -= 1;
        if length + 2 == self.at_least[class].len() && length > AT_ONCE {
            self.shrink();
        }
    }

    /// Drops levels that nobody holds any more.
    #[cold]
    fn shrink(&mut self) {
        let empty = |counts: &Vec<u64>| counts.len() > AT_ONCE + 2 && counts[counts.len() - 2] == 0;
        while self.at_least.iter().all(empty) {
            self.at_least.iter_mut().for_each(|counts| counts.truncate(counts.len() - 1));
        }
    }
}

impl Counts {
    /// The length of the server of a single class that has this rank, if it is longer than the first levels tell.
    #[cold]
    pub(super) fn length_of_long(&self, rank: u64) -> usize {
        AT_ONCE + self.at_least[0][AT_ONCE + 1..].partition_point(|&count| count > rank)
    }

    /// A strike meets the server of a single class that has this rank, if it is longer than the first levels tell: what
    /// happens, and whether a job leaves the last of the first levels, which is not counted here.
    #[cold]
    #[inline(never)]
    pub(super) fn meet_long(&mut self, rank: u32, arrives: bool, buffer: u32) -> (Event, bool) {
        let length = self.length_of_long(u64::from(rank));
        let found = length as u32;
        if !arrives {
            if length > AT_ONCE {
                self.lower(0, length);
            }
            (Event::of_strike(found, found - 1, 0), length == AT_ONCE)
        } else if found < buffer {
            self.raise(0, length);
            (Event::of_strike(found, found, 1), false)
        } else {
            (Event::lost(found), false)
        }
    }

    /// Whether at most few servers of a single class are longer than the first levels tell.
    pub(super) fn are_near(&self) -> bool {
        self.levels(0)[AT_ONCE - 1] <= self.at_least[0][0] / FEW
    }

    /// The first levels of a single class, if they fit.
    pub(super) fn near(&self) -> Option<Near> {
        let servers = i32::try_from(self.at_least[0][0]).ok()?;
        let level = |k: usize| self.at_least[0][k + 1] as i32;
        (servers < i32::MAX).then(|| Near { at_least: std::array::from_fn(level) })
    }

    /// The first levels have moved on.
    pub(super) fn take(&mut self, near: [i32; AT_ONCE]) {
        for (count, near) in self.at_least[0][1..].iter_mut().zip(near) {
            *count = near as u64;
        }
    }
}

/// The first levels of a class of fewer than 2^31 servers, as they are kept in a loop: they are compared and changed all at
/// once, so that none is read just after another was written beside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    /// Servers with at least 1, 2, ... jobs.
    at_least: [i32; AT_ONCE],
}

/// One in one place, by place.
const STEP: [[i32; AT_ONCE]; AT_ONCE] = {
    let mut step = [[0; AT_ONCE]; AT_ONCE];
    let mut place = 0;
    while place < AT_ONCE {
        step[place][place] = 1;
        place += 1;
    }
    step
};

impl Near {
    /// The servers with at least 1, 2, ... jobs.
    pub(super) fn levels(self) -> [i32; AT_ONCE] {
        self.at_least
    }

    /// The length of the server that has this rank, the longest being 0; none if it is longer than what is kept here.
    #[inline(always)]
    pub(super) fn length(&self, rank: i32) -> Option<usize> {
        let length: i32 = self.at_least.iter().map(|&count| i32::from(count > rank)).sum();
        let length = length as usize;
        (length < AT_ONCE).then_some(length)
    }

    /// A server that holds `length` jobs gets one more.
    #[inline(always)]
    pub(super) fn raise(&mut self, length: usize) {
        for (count, step) in self.at_least.iter_mut().zip(STEP[length]) {
            *count += step;
        }
    }

    /// A server that holds `length` jobs, at least one, loses one.
    #[inline(always)]
    pub(super) fn lower(&mut self, length: usize) {
        for (count, step) in self.at_least.iter_mut().zip(STEP[length - 1]) {
            *count -= step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    /// Levels go when nobody holds them any more, and not before.
    #[test]
    fn the_longest_queue_keeps_its_level() {
        let mut counts = Counts::new(&[2], &[vec![2; 12]]);
        counts.lower(0, 12);
        assert_eq!([0, 1].map(|rank| counts.length(0, rank)), [12, 11]);
        counts.raise(0, 11);
        assert_eq!([0, 1].map(|rank| counts.length(0, rank)), [12, 12]);
        let levels = counts.all()[0].len();
        counts.lower(0, 12);
        counts.lower(0, 12);
        assert_eq!([0, 1].map(|rank| counts.length(0, rank)), [11, 11]);
        assert_eq!(counts.all()[0].len(), levels - 1);
    }

    #[test]
    fn first_levels_are_near_as_long_as_they_fit() {
        let near = |servers: u64| Counts::new(&[servers], &[vec![3, 1]]).near();
        let levels = near(100).expect("few servers");
        assert_eq!([0, 1, 2, 3].map(|rank| levels.length(rank)), [2, 1, 1, 0].map(Some));
        assert!(near(i32::MAX as u64 - 1).is_some());
        assert!(near(i32::MAX as u64).is_none() && near(1 << 40).is_none());
    }

    /// A random walk of two classes beside plain lists of lengths, from short queues to long ones and back.
    #[test]
    fn agrees_with_plain_lists() {
        let mut stream = Stream::new(8, 0, Component::Sizes);
        let mut lengths = [vec![0_usize; 5], vec![0; 3]];
        let mut counts = Counts::new(&[5, 3], &[vec![], vec![]]);
        for step in 0..20_000 {
            let class = stream.below(2) as usize;
            let rank = stream.below(lengths[class].len() as u64);
            let length = counts.length(class, rank);
            let mut sorted = lengths[class].clone();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            assert_eq!(length, sorted[rank as usize]);
            let server = lengths[class].iter().position(|&other| other == length).expect("one of this length");
            if length > 0 && stream.chance(if step < 10_000 { 0.4 } else { 0.7 }) {
                counts.lower(class, length);
                lengths[class][server] -= 1;
            } else {
                counts.raise(class, length);
                lengths[class][server] += 1;
            }
            for (class, lengths) in lengths.iter().enumerate() {
                let at_least = counts.all()[class].iter().enumerate();
                assert!(at_least.into_iter().all(|(k, &n)| n == lengths.iter().filter(|&&l| l >= k).count() as u64));
                assert_eq!(counts.all()[class].last(), Some(&0));
            }
        }
    }
}

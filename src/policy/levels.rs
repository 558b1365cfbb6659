//! Servers sorted by length, so that the shortest are at hand.

use std::cmp::Ordering;
use std::ops::Range;

/// A group of servers kept sorted by length.
///
/// `order` is a permutation of the group in which lengths do not decrease; `start[i]` is the first position whose
/// length is at least `floor + i`. A change by one swaps two entries and moves one boundary, so a change costs
/// O(|change|) and the shortest servers are a prefix: a uniformly random one of them takes one draw.
#[derive(Clone, Debug)]
pub struct Levels {
    /// Number of the first server of the group; members are consecutive.
    first: u32,
    /// Members, counted from `first`, by increasing length.
    order: Vec<u32>,
    places: Places,
    /// The smallest length in the group.
    base: u32,
    /// The length that the first start belongs to, at most `base`: starts up to that of `base` are 0.
    floor: u32,
    /// The last is that of the longest length in the group.
    start: Vec<u32>,
}

/// Where each member stands in the order, in the lower bits of a word; its length is in the other bits if it fits.
///
/// A length that does not fit is found by the position. What does fit need not be searched, and a word is near at once.
#[derive(Clone, Debug)]
struct Places {
    words: Vec<u32>,
    position_bits: u32,
    /// The bits of a position, and the length from which on none fits.
    positions: u32,
    beyond: u32,
}

impl Places {
    /// For so many members, whose positions take so many bits, all at position 0.
    fn new(members: u32, position_bits: u32) -> Self {
        let [positions, beyond] =
            [1_u64 << position_bits, 1 << (u32::BITS - position_bits)].map(|end| (end - 1) as u32);
        Self { words: vec![0; members as usize], position_bits, positions, beyond }
    }

    #[inline(always)]
    fn write(&mut self, member: u32, position: u32, length: u32) {
        let length = u64::from(length.min(self.beyond));
        self.words[member as usize] = (length << self.position_bits) as u32 | position;
    }

    #[inline(always)]
    fn position(&self, member: u32) -> u32 {
        self.words[member as usize] & self.positions
    }

    #[inline(always)]
    fn length(&self, member: u32) -> Option<u32> {
        let length = (u64::from(self.words[member as usize]) >> self.position_bits) as u32;
        (length != self.beyond).then_some(length)
    }
}

/// So many starts of 0 may stand before that of the smallest length, besides as many as there are others.
const SPARE: usize = 64;

/// Among so many starts a rank is looked for by comparing them all.
const FEW: usize = 16;

impl Levels {
    /// The group of servers `first..first + lengths.len()` with the given lengths; there must be at least one.
    pub fn new(first: u32, lengths: &[u32]) -> Self {
        let mut order: Vec<u32> = (0..lengths.len() as u32).collect();
        order.sort_by_key(|&member| lengths[member as usize]);
        let members = order.len() as u32;
        let mut places = Places::new(members, u32::BITS - (members - 1).leading_zeros());
        for (position, &member) in (0_u32..).zip(&order) {
            places.write(member, position, lengths[member as usize]);
        }
        let sorted = |at: usize| lengths[order[at] as usize];
        let (base, top) = (sorted(0), sorted(order.len() - 1));
        let start =
            (base..=top).map(|length| order.partition_point(|&m| lengths[m as usize] < length) as u32).collect();
        Self { first, order, places, base, floor: base, start }
    }

    /// The smallest length in the group.
    #[inline]
    pub fn min(&self) -> u32 {
        self.base
    }

    /// How many servers of the group have the smallest length.
    #[inline]
    pub fn count_min(&self) -> u32 {
        self.end((self.base - self.floor) as usize)
    }

    /// How many servers of the group have at most this length.
    #[inline]
    pub fn count_at_most(&self, length: u32) -> u32 {
        if length < self.base { 0 } else { self.end((length - self.floor) as usize) }
    }

    /// Number of the first server of the group.
    #[inline]
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// How many servers the group has.
    pub(super) fn servers(&self) -> u32 {
        self.order.len() as u32
    }

    /// The length at one server of the group.
    #[inline(always)]
    pub(super) fn length(&self, server: u32) -> u32 {
        let member = server - self.first;
        self.places.length(member).unwrap_or_else(|| self.length_of(member))
    }

    /// The length of a member by its position, in O(log(longest - shortest)).
    #[cold]
    fn length_of(&self, member: u32) -> u32 {
        self.floor + self.bucket(self.places.position(member)) as u32
    }

    /// The server at a rank (from 0) by increasing length; ranks among equal lengths are arbitrary.
    #[inline]
    pub fn at(&self, rank: u32) -> u32 {
        self.first + self.order[rank as usize]
    }

    /// The ranks (from 0) of all servers as long as the one at `rank`, in O(log(longest - shortest)).
    #[inline]
    pub fn ranks_equal_to(&self, rank: u32) -> Range<u32> {
        let bucket = self.bucket(rank);
        self.start[bucket]..self.end(bucket)
    }

    /// The bucket of the server at a rank.
    #[inline]
    fn bucket(&self, rank: u32) -> usize {
        // Lengths that no server has start where the next length does: the last start not beyond the rank is its own.
        let base = (self.base - self.floor) as usize;
        if rank < self.end(base) {
            // The shortest are who is asked about most.
            return base;
        }
        let starts = &self.start[base..];
        let up_to = if starts.len() <= FEW {
            // All at once, which is quicker than to bisect.
            starts.iter().map(|&start| usize::from(start <= rank)).sum()
        } else {
            starts.partition_point(|&start| start <= rank)
        };
        base + up_to - 1
    }

    /// Sets the length at `server`, and returns the one before.
    #[inline(always)]
    pub(super) fn set(&mut self, server: u32, new: u32) -> u32 {
        let (member, old) = (server - self.first, self.length(server));
        match new.cmp(&old) {
            Ordering::Less => self.lower(member, old, new),
            Ordering::Equal => {}
            Ordering::Greater => self.raise(member, old, new),
        }
        old
    }

    /// One of the shortest, the one at this rank (from 0), gets one job more: which it is.
    #[inline(always)]
    pub(super) fn add_to_shortest(&mut self, rank: u32) -> u32 {
        let next = (self.base - self.floor) as usize + 1;
        if next == self.start.len() {
            self.start.push(self.order.len() as u32);
        }
        let start = &mut self.start[next];
        *start -= 1;
        let (target, member) = (*start, self.order[rank as usize]);
        self.swap(member, rank, target, self.base);
        self.places.write(member, target, self.base + 1);
        if target == 0 {
            self.rise();
        }
        self.first + member
    }

    /// One past the last position of bucket `i`, which holds length `floor + i`.
    #[inline]
    fn end(&self, i: usize) -> u32 {
        self.start.get(i + 1).copied().unwrap_or(self.order.len() as u32)
    }

    fn raise(&mut self, member: u32, old: u32, new: u32) {
        let (from, to) = ((old - self.floor) as usize, (new - self.floor) as usize);
        if to >= self.start.len() {
            self.start.resize(to + 1, self.order.len() as u32);
        }
        let mut position = self.places.position(member);
        for bucket in from + 1..=to {
            self.start[bucket] -= 1;
            position = self.swap(member, position, self.start[bucket], self.floor + bucket as u32 - 1);
        }
        self.places.write(member, position, new);
        if self.start[from + 1] == 0 && old == self.base {
            self.rise();
        }
    }

    /// Nobody is at the smallest length any more.
    fn rise(&mut self) {
        let mut empty = (self.base - self.floor) as usize;
        // Mostly the next length is somebody's.
        while self.start.get(empty + 1) == Some(&0) {
            empty += 1;
        }
        self.base = self.floor + empty as u32;
        if empty > SPARE + self.start.len() / 2 {
            self.start.drain(..empty);
            self.floor = self.base;
        }
    }

    fn lower(&mut self, member: u32, old: u32, new: u32) {
        if new < self.floor {
            let missing = (self.floor - new) as usize;
            self.start.splice(..0, std::iter::repeat_n(0, missing));
            self.floor = new;
        }
        self.base = self.base.min(new);
        let (from, to) = ((old - self.floor) as usize, (new - self.floor) as usize);
        let mut position = self.places.position(member);
        for bucket in (to + 1..=from).rev() {
            position = self.swap(member, position, self.start[bucket], self.floor + bucket as u32);
            self.start[bucket] += 1;
        }
        self.places.write(member, position, new);
        while self.start.last() == Some(&(self.order.len() as u32)) {
            self.start.pop();
        }
    }

    /// A member at a position and whoever stands at another, who has this length, change places; where the member stands is
    /// left to be written. Returns the target.
    #[inline(always)]
    fn swap(&mut self, member: u32, position: u32, target: u32, length: u32) -> u32 {
        let other = self.order[target as usize];
        self.order[position as usize] = other;
        self.places.write(other, position, length);
        self.order[target as usize] = member;
        target
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Component, Stream};

    /// Ten thousand random changes, small and large: every query agrees with a plain scan after each, whether lengths fit
    /// beside positions or not.
    #[test]
    fn agrees_with_a_plain_scan() {
        for position_bits in [3, 28, 31, 32] {
            follow(position_bits);
        }
    }

    fn follow(position_bits: u32) {
        let mut stream = Stream::new(5, 0, Component::Information);
        let mut lengths = vec![3, 0, 7, 7, 2, 0, 1];
        let mut levels = Levels::new(10, &lengths);
        assert_eq!(levels.places.position_bits, 3);
        levels.places = Places::new(7, position_bits);
        for (position, &member) in (0..).zip(&levels.order) {
            levels.places.write(member, position, lengths[member as usize]);
        }
        for step in 0..10_000 {
            if step % 7 == 0 {
                let shortest = levels.at(stream.below(u64::from(levels.count_min())) as u32);
                let rank = levels.places.position(shortest - 10);
                assert_eq!(levels.add_to_shortest(rank), shortest);
                lengths[shortest as usize - 10] += 1;
            }
            let member = stream.below(lengths.len() as u64) as usize;
            let old = lengths[member];
            // At last the lengths rise together, beyond what is spared below them.
            let new = if step > 8_000 {
                old + stream.below(3) as u32
            } else if step % 5 == 0 {
                stream.below(40) as u32
            } else if stream.chance(0.5) {
                old + 1
            } else {
                old.saturating_sub(1)
            };
            lengths[member] = new;
            assert_eq!(levels.set(10 + member as u32, new), old);
            let min = *lengths.iter().min().expect("not empty");
            assert_eq!(levels.min(), min);
            assert_eq!(levels.count_min() as usize, lengths.iter().filter(|&&l| l == min).count());
            let top = lengths.iter().max().expect("not empty") + 5;
            for length in (0..45).chain(top - 10..top) {
                let count = lengths.iter().filter(|&&l| l <= length).count();
                assert_eq!(levels.count_at_most(length) as usize, count);
            }
            let by_rank: Vec<u32> = (0..7).map(|rank| lengths[(levels.at(rank) - 10) as usize]).collect();
            assert!(by_rank.is_sorted());
            for (server, &length) in (10..).zip(&lengths) {
                assert_eq!(levels.length(server), length);
            }
            for (rank, length) in (0..).zip(&by_rank) {
                let first = by_rank.partition_point(|l| l < length) as u32;
                let end = by_rank.partition_point(|l| l <= length) as u32;
                assert_eq!(levels.ranks_equal_to(rank), first..end);
            }
        }
    }
}

//! Events of one kind that wait for their time.

use crate::engine::key::Key;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Events in a binary heap, first to happen first.
#[derive(Debug)]
pub(super) struct Pending<T>(BinaryHeap<Entry<T>>);

#[derive(Debug)]
struct Entry<T> {
    key: Key,
    event: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    /// The heap gives its largest entry: that is the earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl<T> Pending<T> {
    pub(super) fn new() -> Self {
        Self(BinaryHeap::new())
    }

    pub(super) fn push(&mut self, key: Key, event: T) {
        self.0.push(Entry { key, event });
    }

    #[inline]
    pub(super) fn first(&self) -> Option<Key> {
        self.0.peek().map(|entry| entry.key)
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        self.0.pop().map(|entry| entry.event)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn sequences(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|entry| entry.key.sequence)
    }

    pub(super) fn renumber(&mut self, renumbered: impl Fn(u64) -> u64) {
        self.0 = std::mem::take(&mut self.0)
            .into_iter()
            .map(|entry| Entry { key: Key { sequence: renumbered(entry.key.sequence), ..entry.key }, ..entry })
            .collect();
    }
}

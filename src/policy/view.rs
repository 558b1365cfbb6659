//! What a strategy looks at: a length per server, true or estimated, and the order it needs.

use super::levels::Levels;
use crate::model::Servers;

/// The order in which a strategy needs the lengths of its view kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It looks at no length.
    Nothing,
    /// It looks lengths up by server.
    Lengths,
    /// It asks for the shortest of all servers.
    Sorted,
    /// It asks for the shortest within each class.
    SortedByClass,
}

/// A length per server, with whatever order the strategy needs.
///
/// The true queue lengths and every dispatcher's estimates are views, so a strategy acts on both by the same code.
/// The truth keeps a plain array of the lengths, 4 bytes per server, beside the order, 8 bytes. Estimates, of which there
/// are M x N, keep one of the two only: an order tells the lengths too.
#[derive(Clone, Debug)]
pub struct View {
    /// By server; empty where the groups alone tell the lengths.
    lengths: Vec<u32>,
    total: u64,
    groups: Vec<Levels>,
}

impl View {
    /// The true lengths, one per server, ordered as needed.
    pub fn truth(lengths: Vec<u32>, need: Need, servers: &Servers) -> Self {
        let groups = match need {
            Need::Nothing | Need::Lengths => Vec::new(),
            Need::Sorted => vec![Levels::new(0, &lengths)],
            Need::SortedByClass => servers
                .classes()
                .iter()
                .scan(0_usize, |first, class| {
                    let from = *first;
                    *first += class.count as usize;
                    Some(Levels::new(from as u32, &lengths[from..*first]))
                })
                .collect(),
        };
        Self { total: lengths.iter().map(|&length| u64::from(length)).sum(), lengths, groups }
    }

    /// Estimates that start at the given lengths, one per server, ordered as needed.
    pub fn estimates(lengths: &[u32], need: Need, servers: &Servers) -> Self {
        let view = Self::truth(lengths.to_vec(), need, servers);
        if view.groups.is_empty() { view } else { Self { lengths: Vec::new(), ..view } }
    }

    /// The true lengths, by server; empty for estimates that are kept in order.
    #[inline]
    pub(crate) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// The lengths of all servers, in order of the servers.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let servers = if self.lengths.is_empty() {
            self.groups.iter().map(Levels::servers).sum()
        } else {
            self.lengths.len() as u32
        };
        (0..servers).map(|server| self.length(server))
    }

    /// The length at one server.
    #[inline(always)]
    pub fn length(&self, server: u32) -> u32 {
        match self.lengths.get(server as usize) {
            Some(&length) => length,
            None => self.groups[self.group_of(server)].length(server),
        }
    }

    /// The sum of all lengths.
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// All servers sorted by length; for strategies that asked for [`Need::Sorted`].
    #[inline]
    pub fn sorted(&self) -> &Levels {
        &self.groups[0]
    }

    /// The servers of each class sorted by length; for strategies that asked for [`Need::SortedByClass`].
    #[inline]
    pub fn sorted_by_class(&self) -> &[Levels] {
        &self.groups
    }

    /// Lets something change the lengths themselves, of a view that keeps no order: it returns by how much their sum changed.
    pub(crate) fn change_all(&mut self, change: impl FnOnce(&mut [u32]) -> i64) {
        debug_assert!(self.groups.is_empty(), "an order would not hear of it");
        self.total = self.total.wrapping_add_signed(change(&mut self.lengths));
    }

    /// Sets the length at a server and returns the one before.
    #[inline(always)]
    pub fn set(&mut self, server: u32, length: u32) -> u32 {
        let old = match &mut self.groups[..] {
            [] => self.lengths[server as usize],
            [all] => all.set(server, length),
            _ => {
                let group = self.group_of(server);
                self.groups[group].set(server, length)
            }
        };
        if let Some(kept) = self.lengths.get_mut(server as usize) {
            *kept = length;
        }
        self.total = self.total - u64::from(old) + u64::from(length);
        old
    }

    /// Adds jobs at a server and returns the length before; `None`, with nothing changed, if the length would overflow.
    #[inline]
    pub fn add(&mut self, server: u32, jobs: u32) -> Option<u32> {
        let length = self.length(server).checked_add(jobs)?;
        Some(self.set(server, length))
    }

    /// Of the shortest of all servers, the one at this rank (from 0) gets one job more: which it is; for views sorted
    /// by length. `Err`, with nothing changed, if its length would overflow.
    #[inline(always)]
    pub(super) fn add_to_shortest(&mut self, rank: u32) -> Result<u32, u32> {
        let all = &mut self.groups[0];
        if all.min() == u32::MAX {
            return Err(all.at(rank));
        }
        self.total += 1;
        let server = all.add_to_shortest(rank);
        if let Some(kept) = self.lengths.get_mut(server as usize) {
            *kept += 1;
        }
        Ok(server)
    }

    /// Sets the length at a server, which is `old` now.
    #[inline(always)]
    pub(crate) fn replace(&mut self, server: u32, old: u32, new: u32) {
        debug_assert_eq!(self.length(server), old, "server {server}");
        if self.groups.is_empty() {
            self.lengths[server as usize] = new;
            self.total = self.total - u64::from(old) + u64::from(new);
        } else {
            self.set_in_order(server, new);
        }
    }

    #[inline(never)]
    fn set_in_order(&mut self, server: u32, length: u32) {
        self.set(server, length);
    }

    #[inline]
    fn group_of(&self, server: u32) -> usize {
        if self.groups.len() == 1 { 0 } else { self.groups.partition_point(|group| group.first() <= server) - 1 }
    }
}

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
#[derive(Clone, Debug)]
pub struct View {
    lengths: Vec<u32>,
    total: u64,
    groups: Vec<Levels>,
}

impl View {
    /// A view with the given lengths, one per server, ordered as needed.
    pub fn new(lengths: Vec<u32>, need: Need, servers: &Servers) -> Self {
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

    /// The lengths, by server.
    #[inline]
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// The length at one server.
    #[inline]
    pub fn length(&self, server: u32) -> u32 {
        self.lengths[server as usize]
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

    /// Sets the length at a server, which is of class `class`.
    #[inline]
    pub fn set(&mut self, server: u32, class: u32, length: u32) {
        let old = std::mem::replace(&mut self.lengths[server as usize], length);
        self.total = self.total - u64::from(old) + u64::from(length);
        match self.groups.len() {
            0 => {}
            1 => self.groups[0].change(server, old, length),
            _ => self.groups[class as usize].change(server, old, length),
        }
    }
}

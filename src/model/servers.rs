//! Servers: FIFO queues in classes of equal rate.

use super::number::Fault;

/// A class of servers of equal rate.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerClass {
    /// The name in results.
    pub name: String,
    /// How many servers.
    pub count: u64,
    /// Jobs of size 1 completed per unit of time.
    pub rate: f64,
}

/// All servers, numbered `0..len`, class after class.
#[derive(Clone, Debug, PartialEq)]
pub struct Servers {
    classes: Vec<ServerClass>,
    /// One past the last server of each class.
    ends: Vec<u64>,
    len: u64,
}

impl Servers {
    /// The most servers: 2^40.
    pub const MOST: u64 = 1 << 40;

    /// The most servers that can have a number each.
    pub const MOST_NUMBERED: u64 = u32::MAX as u64 - 1;

    /// Servers in the given classes.
    ///
    /// # Errors
    /// If there is no server, more than [`Servers::MOST`], an empty class, a rate that is not finite and above 0, or
    /// a name twice.
    pub fn new(classes: Vec<ServerClass>) -> Result<Self, Fault> {
        let total = classes.iter().fold(0, |sum: u64, class| sum.saturating_add(class.count));
        if total == 0 {
            return Err(Fault::new("there must be at least one server", "write for example servers: 10"));
        }
        if total > Self::MOST {
            return Err(Fault::new(
                format!("there are more than the {} servers that an engine can hold", Self::MOST),
                "use fewer servers",
            ));
        }
        let mut names = std::collections::BTreeSet::new();
        for (i, class) in classes.iter().enumerate() {
            if class.count == 0 {
                return Err(Fault::at(
                    format!("[{i}].count"),
                    "must be a whole number of at least 1",
                    "drop the class",
                ));
            }
            if !(class.rate.is_finite() && class.rate > 0.0) {
                return Err(Fault::at(format!("[{i}].rate"), "must be a finite number above 0", "write for example 1"));
            }
            if !names.insert(class.name.as_str()) {
                return Err(Fault::at(format!("[{i}].name"), "class names must differ", "choose another name"));
            }
        }
        if !classes.iter().map(|class| class.count as f64 * class.rate).sum::<f64>().is_finite() {
            return Err(Fault::new("the rates of all servers must have a finite sum", "use smaller rates"));
        }
        let ends = classes.iter().scan(0, |end, class| {
            *end += class.count;
            Some(*end)
        });
        Ok(Self { ends: ends.collect(), classes, len: total })
    }

    /// `count` servers of rate 1 in one class.
    ///
    /// # Errors
    /// As [`Servers::new`].
    pub fn homogeneous(count: u64) -> Result<Self, Fault> {
        Self::new(vec![ServerClass { name: "all".into(), count, rate: 1.0 }])
    }

    /// The classes in order.
    pub fn classes(&self) -> &[ServerClass] {
        &self.classes
    }

    /// The number of servers N.
    #[expect(clippy::len_without_is_empty, reason = "there is always a server")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The number of servers where each has a number of its own, which is one of 32 bits.
    ///
    /// # Panics
    /// If there are more than [`Servers::MOST_NUMBERED`]: nothing that looks at them one by one is made for so many.
    pub fn numbered(&self) -> u32 {
        u32::try_from(self.len).expect("servers that are too many to be numbered are not looked at one by one")
    }

    /// The class of a server.
    #[inline]
    pub fn class_of(&self, server: u32) -> u32 {
        if self.ends.len() == 1 { 0 } else { self.ends.partition_point(|&end| end <= u64::from(server)) as u32 }
    }

    /// The rate `mu_n` of a server.
    #[inline]
    pub fn rate(&self, server: u32) -> f64 {
        self.classes[self.class_of(server) as usize].rate
    }

    /// `mu_sum`, the rate of all servers together.
    pub fn total_rate(&self) -> f64 {
        self.classes.iter().map(|class| class.count as f64 * class.rate).sum()
    }

    /// The largest rate of a server.
    pub fn largest_rate(&self) -> f64 {
        self.classes.iter().map(|class| class.rate).fold(0.0, f64::max)
    }

    /// Whether all servers have one rate.
    pub fn are_homogeneous(&self) -> bool {
        self.classes.iter().all(|class| class.rate == self.classes[0].rate)
    }
}

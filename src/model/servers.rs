//! Servers: FIFO queues in classes of equal rate.

use super::number::Fault;

/// A class of servers of equal rate.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerClass {
    /// The name in results.
    pub name: String,
    /// How many servers.
    pub count: u32,
    /// Jobs of size 1 completed per unit of time.
    pub rate: f64,
}

/// More servers than this have no list of their classes.
const MOST_LISTED: u64 = 1 << 28;

/// All servers, numbered `0..len`, class after class.
#[derive(Clone, Debug, PartialEq)]
pub struct Servers {
    classes: Vec<ServerClass>,
    /// Class of each server; empty when there is one class, or so many servers that none is kept by itself, to spare
    /// the look-up its memory.
    class_of: Vec<u32>,
    len: u32,
}

impl Servers {
    /// Servers in the given classes.
    ///
    /// # Errors
    /// If there is no server, more than `u32::MAX - 1`, an empty class, a rate that is not finite and above 0, or
    /// a name twice.
    pub fn new(classes: Vec<ServerClass>) -> Result<Self, Fault> {
        let total: u64 = classes.iter().map(|class| u64::from(class.count)).sum();
        if total == 0 {
            return Err(Fault::new("there must be at least one server", "write for example servers: 10"));
        }
        if total >= u64::from(u32::MAX) {
            return Err(Fault::new(
                format!("the event engine keeps every server in memory and holds at most {}", u32::MAX - 1),
                "use fewer servers",
            ));
        }
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
            if classes[..i].iter().any(|other| other.name == class.name) {
                return Err(Fault::at(format!("[{i}].name"), "class names must differ", "choose another name"));
            }
        }
        if !classes.iter().map(|class| f64::from(class.count) * class.rate).sum::<f64>().is_finite() {
            return Err(Fault::new("the rates of all servers must have a finite sum", "use smaller rates"));
        }
        let class_of = if classes.len() == 1 || total > MOST_LISTED {
            Vec::new()
        } else {
            (0_u32..).zip(&classes).flat_map(|(i, class)| std::iter::repeat_n(i, class.count as usize)).collect()
        };
        Ok(Self { classes, class_of, len: total as u32 })
    }

    /// `count` servers of rate 1 in one class.
    ///
    /// # Errors
    /// As [`Servers::new`].
    pub fn homogeneous(count: u32) -> Result<Self, Fault> {
        Self::new(vec![ServerClass { name: "all".into(), count, rate: 1.0 }])
    }

    /// The classes in order.
    pub fn classes(&self) -> &[ServerClass] {
        &self.classes
    }

    /// The number of servers N.
    #[expect(clippy::len_without_is_empty, reason = "there is always a server")]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// The class of a server.
    #[inline]
    pub fn class_of(&self, server: u32) -> u32 {
        if !self.class_of.is_empty() {
            return self.class_of[server as usize];
        }
        if self.classes.len() == 1 { 0 } else { self.search_class(server) }
    }

    /// The class of a server, in O(number of classes).
    #[cold]
    fn search_class(&self, server: u32) -> u32 {
        let mut end = 0;
        let ends = self.classes.iter().map(|class| {
            end += class.count;
            end
        });
        ends.take_while(|&end| end <= server).count() as u32
    }

    /// The rate `mu_n` of a server.
    #[inline]
    pub fn rate(&self, server: u32) -> f64 {
        self.classes[self.class_of(server) as usize].rate
    }

    /// `mu_sum`, the rate of all servers together.
    pub fn total_rate(&self) -> f64 {
        self.classes.iter().map(|class| f64::from(class.count) * class.rate).sum()
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

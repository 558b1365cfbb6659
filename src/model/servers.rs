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

/// All servers, numbered `0..len`, class after class.
#[derive(Clone, Debug, PartialEq)]
pub struct Servers {
    classes: Vec<ServerClass>,
    /// One past the last server of each class.
    ends: Vec<u32>,
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
                format!("there are more than the {} servers that an engine can hold", u32::MAX - 1),
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
        if !classes.iter().map(|class| f64::from(class.count) * class.rate).sum::<f64>().is_finite() {
            return Err(Fault::new("the rates of all servers must have a finite sum", "use smaller rates"));
        }
        let ends = classes.iter().scan(0, |end, class| {
            *end += class.count;
            Some(*end)
        });
        Ok(Self { ends: ends.collect(), classes, len: total as u32 })
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
        if self.ends.len() == 1 { 0 } else { self.ends.partition_point(|&end| end <= server) as u32 }
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

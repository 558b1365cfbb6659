//! How time passes: engines that move a system along, and the observer they report to.

pub mod event;
mod observer;

pub use event::EventEngine;
pub use observer::{Blocked, Dispatched, Joined, LengthChange, MessageKind, Observer, Snapshot, Unobserved};

use std::fmt;

/// Where an engine stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It ran out of its allowance of events before the time asked for.
    Paused,
    /// It has reached the time asked for: every event before it has happened.
    Reached,
}

/// Why an engine cannot go on; the run is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EngineError {
    /// A queue or an estimate would exceed `u32::MAX` jobs.
    LengthOverflow {
        /// When.
        time: f64,
        /// At which server.
        server: u32,
    },
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LengthOverflow { time, server } => {
                write!(f, "at time {time} a length at server {server} would exceed {} jobs", u32::MAX)
            }
        }
    }
}

impl std::error::Error for EngineError {}

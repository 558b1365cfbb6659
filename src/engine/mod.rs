//! How time passes: engines that move a system along, and the observer they report to.

mod ahead;
mod beliefs;
mod both;
pub mod clock;
pub mod event;
mod key;
mod messages;
mod observer;
pub mod occupancy;
mod odds;
mod pending;
pub mod slotted;
mod tally;
mod ticker;

pub use both::Both;
pub use clock::ClockEngine;
pub use event::EventEngine;
pub use observer::{
    Admitted, Batch, Blocked, Dispatched, Joined, Left, LengthChange, MessageKind, Observer, Slot, Snapshot, Unobserved,
};
pub use occupancy::{LANES, OccupancyEngine};
pub use slotted::SlottedEngine;
pub use tally::{BURST_SIZES, Bursts, RANKS, Ranks, Tally, Wanted};
pub use ticker::Holding;

use crate::model::arrivals::TraceError;
use std::fmt;

/// Where an engine stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It ran out of its allowance of events before the time asked for.
    Paused,
    /// It has reached the time asked for: every event before it has happened.
    Reached,
}

/// A replication that can be moved along in time.
pub trait Engine {
    /// Runs until every event before `end` has happened, or about `events` of them have.
    ///
    /// # Errors
    /// If the run cannot go on.
    fn run_until<O: Observer>(&mut self, end: f64, events: u64, observer: &mut O) -> Result<Progress, EngineError>;

    /// The present time.
    fn now(&self) -> f64;

    /// The present state.
    fn snapshot(&self) -> Snapshot<'_>;

    /// Ends the measuring window now: tells the observer what is still to come of the jobs inside, and closes it.
    fn close<O: Observer>(&mut self, observer: &mut O);
}

/// Why an engine cannot go on; the run is lost.
#[derive(Clone, Debug, PartialEq)]
pub enum EngineError {
    /// A queue or an estimate would exceed `u32::MAX` jobs.
    LengthOverflow {
        /// When.
        time: f64,
        /// At which server.
        server: u32,
    },
    /// A law cannot have the mean that is asked for.
    Law(String),
    /// The file of a trace can no longer be read as it could when the scenario was.
    Trace(Box<TraceError>),
}

impl From<Box<TraceError>> for EngineError {
    fn from(error: Box<TraceError>) -> Self {
        Self::Trace(error)
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LengthOverflow { time, server } => {
                write!(f, "at time {time} a length at server {server} would exceed {} jobs", u32::MAX)
            }
            Self::Law(rule) => f.write_str(rule),
            Self::Trace(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EngineError {}

//! What an engine reports while it runs.

use super::tally::Tally;
use crate::policy::View;

/// Jobs have been given to a server, whether they will be let in or not.
#[derive(Clone, Copy, Debug)]
pub struct Dispatched {
    /// When.
    pub time: f64,
    /// Which dispatcher chose.
    pub dispatcher: u32,
    /// The server chosen.
    pub server: u32,
    /// Jobs at that server just before, or at the start of the slot, the one in service included.
    pub found: u32,
    /// How many: 1 in continuous time.
    pub jobs: u32,
}

/// A job has joined a queue; as queues are FIFO its delays are known.
#[derive(Clone, Copy, Debug)]
pub struct Joined {
    /// When.
    pub time: f64,
    /// Class of the server.
    pub class: u32,
    /// Jobs found at the server, the one in service included.
    pub found: u32,
    /// Time it waited at its dispatcher for answers about the queues.
    pub queried: f64,
    /// Time until its service starts.
    pub wait: f64,
    /// Time in service.
    pub service: f64,
}

impl Joined {
    /// Time from its arrival until it leaves.
    #[inline]
    pub fn response(&self) -> f64 {
        self.queried + self.wait + self.service
    }
}

/// A job has joined a first-come first-served queue whose services are exponential: what is told of its delays is
/// their law. Its service starts after an Erlang time of `found` stages and takes an exponential time.
#[derive(Clone, Copy, Debug)]
pub struct Admitted {
    /// When.
    pub time: f64,
    /// Class of the server.
    pub class: u32,
    /// Jobs found at the server, the one in service included.
    pub found: u32,
}

/// Jobs were lost at a full buffer.
#[derive(Clone, Copy, Debug)]
pub struct Blocked {
    /// When.
    pub time: f64,
    /// How many: 1 in continuous time.
    pub jobs: u32,
}

/// A slot begins.
#[derive(Clone, Copy, Debug)]
pub struct Slot<'a> {
    /// Its number.
    pub slot: u64,
    /// Jobs at each server.
    pub lengths: &'a [u32],
}

/// Jobs have joined a queue in a slot; how long they stay is not known yet.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// The slot.
    pub slot: u64,
    /// Jobs at the server at the start of the slot.
    pub found: u32,
    /// How many jobs joined.
    pub jobs: u32,
}

/// Jobs that arrived in one slot have left in another, or the same.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// Their slot of arrival; `None` if they were there from the start.
    pub arrived: Option<u64>,
    /// Their slot of departure.
    pub departed: u64,
    /// Class of the server.
    pub class: u32,
    /// How many.
    pub jobs: u32,
}

/// The length of a queue has changed by one.
#[derive(Clone, Copy, Debug)]
pub struct LengthChange {
    /// When.
    pub time: f64,
    /// The server.
    pub server: u32,
    /// Its class.
    pub class: u32,
    /// The length before.
    pub old: u32,
    /// The length after: one more or one less.
    pub new: u32,
}

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Questions and answers of a strategy with exact information.
    Exact,
    /// Questions and answers of push updates.
    Push,
    /// Reports at completions.
    Pull,
    /// Reports of servers that became idle.
    OnIdle,
    /// Reports from time to time.
    Periodic,
}

impl MessageKind {
    /// Every kind, in the order of their discriminants.
    pub const ALL: [Self; 5] = [Self::Exact, Self::Push, Self::Pull, Self::OnIdle, Self::Periodic];

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Push => "push",
            Self::Pull => "pull",
            Self::OnIdle => "on_idle",
            Self::Periodic => "periodic",
        }
    }
}

/// The state of a system at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// The moment.
    pub time: f64,
    /// Jobs at each server; empty where only counts of servers are kept.
    pub lengths: &'a [u32],
    /// `counts[class][k]`, where only these are kept: servers of a class with at least k jobs, k = 0, 1, ...
    pub counts: &'a [Vec<u64>],
    /// Whether dispatchers act on estimates of their own.
    pub local: bool,
    /// The estimates of each dispatcher, or one picture that all share; empty when information is exact, or no
    /// strategy or update looks at them.
    pub estimates: &'a [View],
    /// Sum over the jobs at servers of the time until each leaves; `None` if that is not drawn before it happens.
    pub remaining_time: Option<f64>,
    /// Jobs that wait at their dispatchers for answers about the queues.
    pub at_dispatchers: u64,
    /// Whether time passes in slots.
    pub slotted: bool,
}

/// What an engine tells; a probe takes what it wants and never influences the run.
///
/// Within one event the order is: dispatch, then the change of length, then estimates and messages.
pub trait Observer {
    /// Where an engine may count by itself instead of telling every event, if all that is wanted is what it counts. An
    /// engine that does so tells nothing else until the window closes.
    fn tally(&mut self) -> Option<&mut Tally> {
        None
    }
    /// The measuring window closes.
    fn close(&mut self, _: &Snapshot<'_>) {}
    /// A job has arrived where jobs wait for answers, before it does; one that asks nobody is given to a server at once.
    fn queried(&mut self, _time: f64) {}
    /// A job was given to a server.
    fn dispatched(&mut self, _: &Dispatched) {}
    /// A job joined a queue.
    fn joined(&mut self, _: &Joined) {}
    /// A job joined a queue, with delays that are known by law only.
    fn admitted(&mut self, _: &Admitted) {}
    /// A job was lost.
    fn blocked(&mut self, _: &Blocked) {}
    /// A queue grew by a job that joined or shrank by one that left.
    fn length_changed(&mut self, _: &LengthChange) {}
    /// In slotted time: a slot begins.
    fn slot(&mut self, _: &Slot<'_>) {}
    /// In slotted time: jobs joined a queue.
    fn batch(&mut self, _: &Batch) {}
    /// In slotted time: jobs left.
    fn left(&mut self, _: &Left) {}
    /// In slotted time, when the window closes: jobs that arrived in a slot are still inside.
    fn stayed(&mut self, _arrived: Option<u64>, _jobs: u32) {}
    /// In slotted time, after the window has closed: jobs that were still inside leave.
    fn left_later(&mut self, _: &Left) {}
    /// In slotted time: a queue has another length at the end of a slot.
    fn length_moved(&mut self, _time: f64, _server: u32, _old: u32, _new: u32) {}
    /// In slotted time: services offered in a slot that no job took.
    fn unused(&mut self, _services: u64) {}
    /// Messages were sent.
    fn sent(&mut self, _: MessageKind, _count: u64) {}
    /// A dispatcher has heard from a server by a message sent at `sent_at`.
    fn refreshed(&mut self, _time: f64, _dispatcher: u32, _server: u32, _sent_at: f64) {}
    /// A dispatcher's estimate of a server went from `old` to `new`.
    fn estimate_changed(&mut self, _time: f64, _dispatcher: u32, _server: u32, _old: u32, _new: u32) {}
}

/// An observer that looks away, for the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}

//! What an engine reports while it runs.

use crate::policy::View;

/// A job has been given to a server, whether it will be let in or not.
#[derive(Clone, Copy, Debug)]
pub struct Dispatched {
    /// When.
    pub time: f64,
    /// Which dispatcher chose.
    pub dispatcher: u32,
    /// The server chosen.
    pub server: u32,
    /// Jobs at that server just before, the one in service included.
    pub found: u32,
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
    /// Time until its service starts.
    pub wait: f64,
    /// Time until it leaves: waiting and service.
    pub response: f64,
}

/// A job was lost at a full buffer.
#[derive(Clone, Copy, Debug)]
pub struct Blocked {
    /// When.
    pub time: f64,
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
}

impl MessageKind {
    /// Every kind, in the order of their discriminants.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Push, Self::Pull, Self::OnIdle];

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Push => "push",
            Self::Pull => "pull",
            Self::OnIdle => "on_idle",
        }
    }
}

/// The state of a system at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// The moment.
    pub time: f64,
    /// Jobs at each server.
    pub lengths: &'a [u32],
    /// Whether dispatchers act on estimates of their own.
    pub local: bool,
    /// The estimates of each dispatcher; empty when information is exact, or no strategy or update looks at them.
    pub estimates: &'a [View],
    /// Sum over the jobs present of the time until each leaves.
    pub remaining_time: f64,
}

/// What an engine tells; a probe takes what it wants and never influences the run.
///
/// Within one event the order is: dispatch, then the change of length, then estimates and messages.
pub trait Observer {
    /// The measuring window closes.
    fn close(&mut self, _: &Snapshot<'_>) {}
    /// A job was given to a server.
    fn dispatched(&mut self, _: &Dispatched) {}
    /// A job joined a queue.
    fn joined(&mut self, _: &Joined) {}
    /// A job was lost.
    fn blocked(&mut self, _: &Blocked) {}
    /// A queue grew by a job that joined or shrank by one that left.
    fn length_changed(&mut self, _: &LengthChange) {}
    /// Messages were sent.
    fn sent(&mut self, _: MessageKind, _count: u64) {}
    /// A dispatcher's estimate of a server went from `old` to `new`.
    fn estimate_changed(&mut self, _time: f64, _dispatcher: u32, _server: u32, _old: u32, _new: u32) {}
}

/// An observer that looks away, for the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}

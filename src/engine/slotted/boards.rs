//! Periodic reports at the ends of slots.

use crate::engine::beliefs::Beliefs;
use crate::policy::information::Phase;

/// When servers report to all dispatchers.
pub(super) enum Boards {
    /// Never.
    Never,
    /// All in the same slots; when the next report is due.
    Common(f64),
    /// Each server in slots of its own; when the next report of each is due.
    Own(Vec<f64>),
}

impl Boards {
    pub(super) fn new(beliefs: &mut Beliefs, servers: u32) -> Self {
        match beliefs.periodic().map(|periodic| periodic.phase) {
            None => Self::Never,
            // A period of 1 means a report at the end of every slot, the first of which is slot 0.
            Some(Phase::Common) => Self::Common(beliefs.draw_period() - 1.0),
            Some(Phase::Own) => Self::Own((0..servers).map(|_| beliefs.draw_phase()).collect()),
        }
    }

    /// The servers that report at the end of a slot; several reports in one slot are one.
    pub(super) fn due(&mut self, slot: f64, servers: u32, beliefs: &mut Beliefs, due: &mut Vec<u32>) {
        due.clear();
        let mut falls_due = |next: &mut f64| {
            let falls = *next <= slot;
            while *next <= slot {
                *next += beliefs.draw_period();
            }
            falls
        };
        match self {
            Self::Never => {}
            Self::Common(next) => {
                if falls_due(next) {
                    due.extend(0..servers);
                }
            }
            Self::Own(next) => due.extend((0..servers).zip(next).filter_map(|(n, next)| falls_due(next).then_some(n))),
        }
    }
}

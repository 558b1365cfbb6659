//! Two observers of one run.

use super::observer::{
    Admitted, Batch, Blocked, Dispatched, Joined, Left, LengthChange, MessageKind, Observer, Slot, Snapshot,
};

/// Tells two observers what happens.
#[derive(Debug)]
pub struct Both<'a, A, B>(pub &'a mut A, pub &'a mut B);

macro_rules! tell {
    ($($method:ident($($name:ident: $kind:ty),*);)*) => {
        $(#[inline]
        fn $method(&mut self, $($name: $kind),*) {
            self.0.$method($($name),*);
            self.1.$method($($name),*);
        })*
    };
}

impl<A: Observer, B: Observer> Observer for Both<'_, A, B> {
    tell! {
        close(snapshot: &Snapshot<'_>);
        queried(time: f64);
        dispatched(dispatched: &Dispatched);
        joined(joined: &Joined);
        admitted(admitted: &Admitted);
        blocked(blocked: &Blocked);
        length_changed(change: &LengthChange);
        slot(slot: &Slot<'_>);
        batch(batch: &Batch);
        left(left: &Left);
        stayed(arrived: Option<u64>, jobs: u32);
        left_later(left: &Left);
        length_moved(time: f64, server: u32, old: u32, new: u32);
        unused(services: u64);
        sent(kind: MessageKind, count: u64);
        refreshed(time: f64, dispatcher: u32, server: u32, sent_at: f64);
        estimate_changed(time: f64, dispatcher: u32, server: u32, old: u32, new: u32);
    }
}

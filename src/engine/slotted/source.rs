//! How the jobs of a slot come to the dispatchers.

use crate::model::slots::{Counts, Slots, Split};
use crate::model::{Fault, System};
use crate::random::Stream;

/// The arrivals of a slot.
pub(super) enum Source {
    /// Each dispatcher draws its own number.
    Own(Vec<Counts>),
    /// One total, of which each job draws its dispatcher.
    Total(Counts),
}

impl Source {
    pub(super) fn new(system: &System, slots: &Slots) -> Result<Self, Fault> {
        let rate = system.arrivals.rate;
        // A Poisson total split by the shares is as many independent Poisson numbers.
        if slots.split == Split::Independent || slots.arrivals.is_poisson() {
            let shares = system.dispatchers.shares();
            let own: Result<Vec<_>, _> = shares.iter().map(|share| slots.arrivals.with_mean(share * rate)).collect();
            return own.map(Self::Own);
        }
        slots.arrivals.with_mean(rate).map(Self::Total)
    }

    /// Draws how many jobs each dispatcher receives; all are 0 before.
    #[inline]
    pub(super) fn draw(&self, received: &mut [u32], system: &System, arrivals: &mut Stream, shares: &mut Stream) {
        match self {
            Self::Own(laws) => {
                for (received, law) in received.iter_mut().zip(laws) {
                    *received = law.draw(arrivals);
                }
            }
            Self::Total(law) => {
                for _ in 0..law.draw(arrivals) {
                    received[system.dispatchers.draw(shares) as usize] += 1;
                }
            }
        }
    }
}

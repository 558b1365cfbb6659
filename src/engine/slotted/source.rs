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
        // A Poisson total split by the shares is as many independent Poisson numbers: what is fewer draws.
        let few = f64::from(system.dispatchers.len()) <= rate;
        if slots.split == Split::Independent && !slots.arrivals.is_poisson() || slots.arrivals.is_poisson() && few {
            let shares = system.dispatchers.shares();
            let own: Result<Vec<_>, _> = shares.iter().map(|share| slots.arrivals.with_mean(share * rate)).collect();
            return own.map(Self::Own);
        }
        slots.arrivals.with_mean(rate).map(Self::Total)
    }

    /// Draws how many jobs each dispatcher receives; all are 0 before. Lists in `reached` those that receive any, in their
    /// order. With a total, the cost depends on the number of jobs and not on that of dispatchers.
    #[inline]
    pub(super) fn draw(
        &self,
        received: &mut [u32],
        reached: &mut Vec<u32>,
        system: &System,
        arrivals: &mut Stream,
        shares: &mut Stream,
    ) {
        reached.clear();
        match self {
            Self::Own(laws) => {
                for (dispatcher, (received, law)) in (0_u32..).zip(received.iter_mut().zip(laws)) {
                    *received = law.draw(arrivals);
                    if *received > 0 {
                        reached.push(dispatcher);
                    }
                }
            }
            Self::Total(law) => {
                for _ in 0..law.draw(arrivals) {
                    let dispatcher = system.dispatchers.draw(shares);
                    let received = &mut received[dispatcher as usize];
                    if *received == 0 {
                        reached.push(dispatcher);
                    }
                    *received += 1;
                }
                reached.sort_unstable();
            }
        }
    }
}

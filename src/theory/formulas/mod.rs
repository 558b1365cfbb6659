//! Formulas of classical queues, which bound or equal what is simulated.

mod halfin_whitt;
mod mg1;
mod mmn;

pub use halfin_whitt::HalfinWhitt;
pub use mg1::MG1;
pub use mmn::MMN;

//! The cluster, its jobs and its clock: servers, arrivals, service, dispatchers, time.

mod alias;
pub mod arrivals;
mod dispatchers;
mod initial;
pub mod law;
pub mod number;
mod servers;
pub mod slots;
mod sum;
mod system;
mod time_histogram;

pub use alias::Alias;
pub use arrivals::Arrivals;
pub use dispatchers::Dispatchers;
pub use initial::Initial;
pub use law::Law;
pub use number::{Count, Fault, NonNegative, Positive, Probability};
pub use servers::{ServerClass, Servers};
pub use slots::{CountLaw, Counts, Slots, Split};
pub use sum::{Sum, TwoSums};
pub use system::{System, Window};
pub use time_histogram::{TimeHistogram, Total};

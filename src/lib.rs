//! Exact simulation of load balancing with stale information, and the limits it should match.
//!
//! Jobs arrive at M dispatchers and are sent to N servers with queues. Which policy keeps delays low when dispatchers
//! know queue lengths late, rarely or wrongly? A scenario is a YAML text; a run gives estimates with intervals:
//!
//! ```
//! use herdsim::experiment::{self, Unwatched};
//! use herdsim::measure::Metric;
//! use herdsim::scenario::Plan;
//! use std::num::NonZeroUsize;
//!
//! let yaml = "
//! servers: 10
//! load: 0.7
//! policy: {dispatch: {power_of_d: {d: 2}}}
//! run: {warmup: 100, time: 1000, replications: 4}
//! ";
//! let plan = Plan::read(yaml, "example", "example", &[])?;
//! let results = experiment::run(&plan, NonZeroUsize::MIN, &Unwatched)?;
//! let response = results.estimate(Metric::ResponseTimeMean, "").expect("jobs have arrived");
//! assert!(response.low < response.estimate && response.estimate < response.high);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The [`guide`] goes on from there: stale information, sweeps, policies and probes of your own. Each module uses only
//! those before it:
//!
//! | module | what it holds |
//! |---|---|
//! | [`random`] | one named stream of random numbers per component and replication |
//! | [`model`] | servers, jobs, dispatchers, arrivals, laws |
//! | [`policy`] | strategies that choose on a view, and how views are kept |
//! | [`engine`] | how time passes, and the observer it reports to |
//! | [`measure`] | probes, and the record of a replication |
//! | [`stats`] | estimates and intervals; knows nothing of queues |
//! | [`theory`] | limits and formulas; never sees an engine |
//! | [`scenario`] | the file a person writes, resolved into a plan |
//! | [`output`] | results and their files |
//! | [`experiment`] | replications on all cores, gathered in order |
//! | [`cli`] | the commands |

pub mod guide {
    #![doc = include_str!("guide.md")]
    //! ```text
    #![doc = include_str!("policy/dispatch/shortest.rs")]
    //! ```
}

pub mod cli;
pub mod engine;
pub mod experiment;
pub mod measure;
pub mod model;
pub mod output;
pub mod policy;
pub mod random;
pub mod scenario;
pub mod stats;
pub mod theory;

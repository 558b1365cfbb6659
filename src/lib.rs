//! Exact simulation of load balancing with stale information, and the limits it should match.

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

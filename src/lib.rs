//! Exact simulation of load balancing with stale information, and the limits it should match.

pub mod engine;
pub mod measure;
pub mod model;
pub mod policy;
pub mod random;

//! The file a person writes: parse, override, resolve, explain what is wrong and where.

mod decode;
mod error;
mod file;
mod plan;
mod schema;
mod tree;

pub use error::{Mark, ScenarioError};
pub use file::{
    ArrivalsSpec, ClassSpec, DispatchersSpec, InitialSpec, ManyServer, PolicySpec, RunSpec, Scenario, ServersSpec,
    Shares,
};
pub use plan::Plan;
pub use schema::schema;
pub use tree::Node;

/// The scenario that runs when none is named: the supermarket model with 1,000 servers.
pub const DEFAULT: &str = include_str!("../../scenarios/supermarket.yaml");

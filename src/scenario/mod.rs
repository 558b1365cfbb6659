//! The file a person writes: parse, override, resolve, explain what is wrong and where.

mod arrivals;
mod auto;
mod course;
mod decode;
mod engine;
mod error;
mod file;
mod length;
mod memory;
mod plan;
mod plot;
mod quick;
mod resolve;
mod scaling;
mod schema;
mod study;
mod sweep;
mod tree;

pub use arrivals::{ArrivalsSpec, BatchPoissonSpec, BatchSizeSpec, GeometricSpec, MarkovModulatedSpec, TraceSpec};
pub use auto::{Auto, Precision};
pub use engine::{EngineChoice, EngineKind};
pub use error::{Mark, ScenarioError};
pub use file::{
    ClassSpec, Clock, DispatchersSpec, EngineSpec, InitialSpec, IntervalSpec, ManyServer, PerProbe, PolicySpec,
    RunSpec, Scenario, ServersSpec, Shares,
};
pub use length::{Choose, Goal};
pub use plan::Plan;
pub use plot::{FigureName, OfMetric, Wanted};
pub use quick::QuickSpec;
pub use scaling::{Quantity, Reference};
pub use schema::schema;
pub use study::{Changes, Point, Study};
pub use sweep::{Axis, Kind, Label, SweepSpec};
pub use tree::Node;

/// The scenario that runs when none is named: the supermarket model with 1,000 servers.
pub const DEFAULT: &str = include_str!("../../scenarios/supermarket.yaml");

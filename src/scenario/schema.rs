//! A JSON Schema of scenarios, for completion in editors.

use super::file::Scenario;
use schemars::Schema;

/// The JSON Schema of a scenario file.
pub fn schema() -> Schema {
    schemars::schema_for!(Scenario)
}

//! `herdsim schema`: the JSON Schema of scenarios.

use super::{Failure, print};
use crate::scenario::schema;

pub(super) fn execute() -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(&schema()).map_err(|error| Failure::Outside(error.to_string()))?;
    print(&format!("{text}\n"))
}

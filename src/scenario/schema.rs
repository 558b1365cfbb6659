//! A JSON Schema of scenarios, for completion in editors.

use super::file::Scenario;
use schemars::Schema;

/// The JSON Schema of a scenario file.
pub fn schema() -> Schema {
    let mut schema = schemars::schema_for!(Scenario);
    // The policies that are compared take the place of the policy.
    if let Some(required) = schema.get_mut("required").and_then(|required| required.as_array_mut()) {
        required.retain(|key| key != "policy");
    }
    let either = serde_json::json!([{ "required": ["policy"] }, { "required": ["compare"] }]);
    schema.insert("anyOf".to_owned(), either);
    schema
}

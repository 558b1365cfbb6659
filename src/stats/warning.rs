//! Doubts about a result.

use serde::{Deserialize, Serialize};

/// A doubt about a result, shown in the terminal and kept with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A short name that does not change.
    pub code: String,
    /// What is doubtful, and what to do about it.
    pub message: String,
}

impl Warning {
    /// A warning.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }
}

//! What is wrong with a scenario: where, which value, which rule, how to mend it.

use std::fmt;
use std::sync::Arc;

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The file, or the command-line option.
    pub origin: Arc<str>,
    /// The line, from 1; 0 where there are no lines.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.origin),
            line => write!(f, "{}:{line}:{}", self.origin, self.column),
        }
    }
}

/// A scenario that cannot be run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// Where the value was written.
    pub mark: Mark,
    /// Its path from the root of the scenario, such as `policy.dispatch.power_of_d.d`; empty for the whole file.
    pub path: String,
    /// The value as written, unless it is a list or a map.
    pub value: Option<String>,
    /// The rule that was broken.
    pub rule: String,
    /// How to mend it.
    pub remedy: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.mark)?;
        match (&self.path[..], &self.value) {
            ("", None) => {}
            ("", Some(value)) => write!(f, "`{value}`: ")?,
            (path, None) => write!(f, "{path}: ")?,
            (path, Some(value)) => write!(f, "{path}: `{value}`: ")?,
        }
        write!(f, "{}", self.rule)?;
        if !self.remedy.is_empty() {
            write!(f, "\n  help: {}", self.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}

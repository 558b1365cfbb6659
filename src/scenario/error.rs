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
        write!(f, "{}: ", shown(&self.mark.to_string(), LONGEST))?;
        if !self.path.is_empty() {
            write!(f, "{}: ", shown(&self.path, LONGEST_PATH))?;
        }
        if let Some(value) = &self.value {
            write!(f, "`{}`: ", shown(value, LONGEST_PATH))?;
        }
        write!(f, "{}", shown(&self.rule, LONGEST))?;
        if !self.remedy.is_empty() {
            write!(f, "\n  help: {}", shown(&self.remedy, LONGEST))?;
        }
        Ok(())
    }
}

/// The most characters of a part of a message, and of a path or a value in it.
const LONGEST: usize = 600;
const LONGEST_PATH: usize = 150;

/// What a terminal can show of a text of the scenario: keys can be megabytes long, and hold codes that clear the screen.
fn shown(text: &str, longest: usize) -> String {
    let mut shown = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == longest {
            return shown + "...";
        }
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

impl std::error::Error for ScenarioError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_short_and_clear_no_screen() {
        let long = "\u{1b}[2J".to_owned() + &"x".repeat(1_000_000);
        let error = ScenarioError {
            mark: Mark { origin: long.as_str().into(), line: 1, column: 1 },
            path: long.clone(),
            value: Some(long.clone()),
            rule: long.clone(),
            remedy: long,
        };
        let message = error.to_string();
        assert!(message.len() < 2500, "{} bytes", message.len());
        assert!(message.lines().count() == 2 && !message.contains('\u{1b}'), "{message}");
    }
}

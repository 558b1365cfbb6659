//! Why a system has no exact solution here.

use std::fmt;

/// Why a system has no exact solution here; the text says it in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSolved {
    /// It has no steady state, or none that is the same from every start.
    NoSteadyState(String),
    /// It is not a Markov chain on the states that this solver knows.
    NotCovered(String),
    /// It has too many states that matter.
    TooLarge(String),
}

impl NotSolved {
    pub(super) fn no_steady_state(why: impl Into<String>) -> Self {
        Self::NoSteadyState(why.into())
    }

    pub(super) fn not_covered(why: impl Into<String>) -> Self {
        Self::NotCovered(why.into())
    }

    pub(super) fn too_large(why: impl Into<String>) -> Self {
        Self::TooLarge(why.into())
    }
}

impl fmt::Display for NotSolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSteadyState(why) => write!(f, "there is no steady state: {why}"),
            Self::NotCovered(why) => write!(f, "not solved exactly: {why}"),
            Self::TooLarge(why) => write!(f, "too large to be solved exactly: {why}"),
        }
    }
}

impl std::error::Error for NotSolved {}

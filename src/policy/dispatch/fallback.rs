//! Where a job goes when no server qualifies.

use super::weighted_random;
use crate::model::Servers;
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a job goes when no server qualifies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// Any server, uniformly.
    #[default]
    Random,
    /// A server in proportion to its rate.
    WeightedRandom,
}

/// The fallback made ready.
#[derive(Clone, Debug)]
pub(super) enum Anyone {
    /// One of so many servers.
    Uniform(u32),
    /// In proportion to the rates.
    ByRate(weighted_random::Ready),
}

impl Fallback {
    pub(super) fn prepare(self, servers: &Servers) -> Anyone {
        match self {
            Self::Random => Anyone::Uniform(servers.numbered()),
            Self::WeightedRandom => Anyone::ByRate(weighted_random::Ready::new(servers)),
        }
    }
}

impl Anyone {
    #[inline]
    pub(super) fn draw(&self, stream: &mut Stream) -> u32 {
        match self {
            Self::Uniform(servers) => stream.below(u64::from(*servers)) as u32,
            Self::ByRate(weighted) => weighted.draw(stream),
        }
    }
}

//! Weighted join the shortest queue: `argmin v_n / mu_n`, ties uniformly.

use super::shortest_delay::Ready;
use super::Strategy;
use crate::model::{Dispatchers, Servers};
use crate::policy::view::Need;
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The smallest `length / rate` in view, ties uniformly; idle servers tie whatever their rates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortestNormalized {}

impl Strategy for ShortestNormalized {
    type Chooser = Ready;

    fn need(&self, _: &Servers) -> Need {
        Need::SortedByClass
    }

    fn prepare(&self, servers: &Servers, _: &Dispatchers, _: &mut Stream) -> Ready {
        Ready::new(servers, 0)
    }
}

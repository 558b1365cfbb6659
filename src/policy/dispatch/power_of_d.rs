//! Power of d choices: the shortest of d sampled servers, ties uniformly (Mitzenmacher; Vvedenskaya et al.).

use super::{Choose, Strategy};
use crate::model::{Count, Dispatchers, Fault, Servers};
use crate::policy::sample::Sampler;
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shortest of d sampled servers, ties uniformly (JSQ(d); on local estimates L-Pod).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerOfD {
    /// The number of servers sampled.
    pub d: Count,
    /// Whether a server may be sampled twice.
    #[serde(default)]
    pub replacement: bool,
}

/// The largest d: more samples per job than this take for ever.
const MOST: u64 = 1_000_000;

/// How the servers are sampled.
#[derive(Clone, Debug)]
pub(crate) enum Ready {
    /// Distinct servers.
    Distinct(Sampler),
    /// Each sample on its own.
    Independent {
        /// The number of samples.
        d: u64,
        /// The number of servers.
        servers: u64,
    },
}

impl Strategy for PowerOfD {
    type Chooser = Ready;

    fn need(&self, _: &Servers) -> Need {
        Need::Lengths
    }

    fn lengths_asked(&self, _: &Servers) -> u64 {
        self.d.get()
    }

    fn validate(&self, servers: &Servers) -> Result<(), Fault> {
        if self.d.get() > MOST {
            return Err(Fault::at("d", format!("d must be at most {MOST}"), "use fewer choices, or shortest"));
        }
        if !self.replacement && self.d.get() > u64::from(servers.len()) {
            let n = servers.len();
            return Err(Fault::at(
                "d",
                format!("d distinct servers cannot be sampled from {n}"),
                format!("use d of at most {n}, or replacement: true"),
            ));
        }
        Ok(())
    }

    fn prepare(&self, servers: &Servers, _: &Dispatchers, _: &mut Stream) -> Ready {
        if self.replacement {
            Ready::Independent { d: self.d.get(), servers: u64::from(servers.len()) }
        } else {
            Ready::Distinct(Sampler::new(self.d.get() as u32, servers.len()))
        }
    }
}

impl Choose for Ready {
    /// The first of the shortest: as samples come in random order, ties are broken uniformly.
    #[inline]
    fn choose(&mut self, _: u32, view: &View, stream: &mut Stream) -> u32 {
        match self {
            Self::Independent { d, servers } => {
                let mut best = stream.below(*servers) as u32;
                for _ in 1..*d {
                    let next = stream.below(*servers) as u32;
                    if view.length(next) < view.length(best) {
                        best = next;
                    }
                }
                best
            }
            Self::Distinct(sampler) => {
                let (&first, others) = sampler.draw(stream).split_first().expect("d is at least 1");
                others.iter().fold(first, |best, &next| if view.length(next) < view.length(best) { next } else { best })
            }
        }
    }
}

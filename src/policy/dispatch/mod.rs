//! Who gets the job: one file per strategy, each choosing on a view.

use super::sample::Pairs;
use super::view::{Need, View};
use crate::model::{Dispatchers, Fault, Servers};
use crate::random::Stream;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A strategy as a scenario configures it.
trait Strategy {
    /// The same made ready for one system, with whatever it remembers between choices.
    type Chooser: Choose;

    /// The order it needs of its view.
    fn need(&self, servers: &Servers) -> Need;

    /// How many lengths it asks for per job, at most, when information is exact.
    fn lengths_asked(&self, servers: &Servers) -> u64 {
        match self.need(servers) {
            Need::Nothing => 0,
            Need::Lengths | Need::Sorted | Need::SortedByClass => servers.len(),
        }
    }

    /// Checks the configuration against the servers; fault paths are relative to the strategy.
    fn validate(&self, _: &Servers) -> Result<(), Fault> {
        Ok(())
    }

    /// Whether it spreads the jobs of a slot over several servers, which has a meaning in slotted time only.
    fn splits_batches(&self) -> bool {
        false
    }

    /// Makes it ready.
    fn prepare(&self, servers: &Servers, dispatchers: &Dispatchers, stream: &mut Stream) -> Self::Chooser;
}

/// A strategy made ready.
pub(crate) trait Choose {
    /// The server that gets the job that has reached `dispatcher`.
    fn choose(&mut self, dispatcher: u32, view: &View, stream: &mut Stream) -> u32;

    /// The same, and the job is counted in the view. `Err`, with nothing counted, if the length would overflow.
    #[inline]
    fn choose_and_count(&mut self, dispatcher: u32, view: &mut View, stream: &mut Stream) -> Result<u32, u32> {
        let server = self.choose(dispatcher, view, stream);
        view.add(server, 1).map(|_| server).ok_or(server)
    }

    /// The servers that get the jobs that have reached `dispatcher` in a slot, and how many each; all go to one,
    /// unless the strategy splits batches.
    fn split(&mut self, dispatcher: u32, jobs: u32, view: &View, stream: &mut Stream, shares: &mut Vec<(u32, u32)>) {
        shares.push((self.choose(dispatcher, view, stream), jobs));
    }

    /// How many of the lengths that the strategy asks for at most the last choice did without.
    fn spared(&self) -> u64 {
        0
    }

    /// If the choice is the shorter of two servers drawn uniformly, the first of equals: what draws them.
    fn pairs(&self) -> Option<Pairs> {
        None
    }
}

/// Something done with a strategy whose type is known where it is done: in a loop that a look at which strategy it is would
/// slow down.
pub(crate) trait WithStrategy {
    /// What comes of it.
    type Outcome;
    /// Does it.
    fn run(self, strategy: &mut impl Choose) -> Self::Outcome;
}

mod fallback;
#[cfg(test)]
mod probe;
mod weighting;

pub use fallback::Fallback;
pub(crate) use shortest_delay::is_equal;
pub use weighting::Weighting;

macro_rules! strategies {
    ($($(#[$doc:meta])* $variant:ident, $module:ident, $summary:literal;)*) => {
        $(mod $module;)*
        $(pub use $module::$variant;)*

        /// A dispatching strategy.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Dispatch {
            $($(#[$doc])* $variant($variant),)*
        }

        /// A strategy made ready for one system: it chooses servers and keeps its own memory.
        #[derive(Clone, Debug)]
        pub struct Chooser(Ready);

        #[derive(Clone, Debug)]
        enum Ready {
            $($variant(<$variant as Strategy>::Chooser),)*
        }

        impl JsonSchema for Dispatch {
            fn schema_name() -> Cow<'static, str> {
                "Dispatch".into()
            }

            /// A strategy is a map with its tag as the key; one whose settings all have defaults, the tag alone.
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let mut forms = Vec::new();
                $(
                    let tag = stringify!($module);
                    if serde_json::from_str::<$variant>("{}").is_ok() {
                        forms.push(json_schema!({ "const": tag, "description": $summary }));
                    }
                    forms.push(json_schema!({
                        "type": "object",
                        "description": $summary,
                        "properties": { tag: generator.subschema_for::<$variant>() },
                        "required": [tag],
                        "additionalProperties": false
                    }));
                )*
                json_schema!({ "description": "Who gets a job.", "anyOf": forms })
            }
        }

        impl Dispatch {
            /// Every strategy: its tag in a scenario and a line about it.
            pub const CATALOGUE: &'static [(&'static str, &'static str)] = &[$((stringify!($module), $summary),)*];

            /// The tag in a scenario.
            pub fn tag(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => stringify!($module),)*
                }
            }

            /// The order the strategy needs of its view.
            pub fn need(&self, servers: &Servers) -> Need {
                match self {
                    $(Self::$variant(strategy) => strategy.need(servers),)*
                }
            }

            /// How many lengths the strategy asks for per job, at most, when information is exact.
            pub fn lengths_asked(&self, servers: &Servers) -> u64 {
                match self {
                    $(Self::$variant(strategy) => strategy.lengths_asked(servers),)*
                }
            }

            /// Whether the strategy spreads the jobs of a slot over several servers: for slotted time only.
            pub fn splits_batches(&self) -> bool {
                match self {
                    $(Self::$variant(strategy) => strategy.splits_batches(),)*
                }
            }

            /// Checks the strategy against the servers.
            ///
            /// # Errors
            /// The broken rule, with the path of its key below `dispatch`.
            pub fn validate(&self, servers: &Servers) -> Result<(), Fault> {
                let checked = match self {
                    $(Self::$variant(strategy) => strategy.validate(servers),)*
                };
                checked.map_err(|fault| Fault { path: format!("{}.{}", self.tag(), fault.path), ..fault })
            }

            /// Makes the strategy ready for a system; `stream` serves random starts.
            pub fn prepare(&self, servers: &Servers, dispatchers: &Dispatchers, stream: &mut Stream) -> Chooser {
                Chooser(match self {
                    $(Self::$variant(s) => Ready::$variant(s.prepare(servers, dispatchers, stream)),)*
                })
            }
        }

        impl Chooser {
            /// Does something with the strategy itself.
            pub(crate) fn with<T: WithStrategy>(&mut self, task: T) -> T::Outcome {
                match &mut self.0 {
                    $(Ready::$variant(chooser) => task.run(chooser),)*
                }
            }

            /// The server that gets the job that has reached `dispatcher`, chosen on `view`.
            #[inline]
            pub fn choose(&mut self, dispatcher: u32, view: &View, stream: &mut Stream) -> u32 {
                match &mut self.0 {
                    $(Ready::$variant(chooser) => chooser.choose(dispatcher, view, stream),)*
                }
            }

            /// How many of the lengths that the strategy asks for at most the last choice did without.
            #[inline]
            pub fn spared(&self) -> u64 {
                match &self.0 {
                    $(Ready::$variant(chooser) => chooser.spared(),)*
                }
            }

            /// If the choice is the shorter of two servers drawn uniformly, the first of equals: what draws them.
            pub(crate) fn pairs(&self) -> Option<Pairs> {
                match &self.0 {
                    $(Ready::$variant(chooser) => chooser.pairs(),)*
                }
            }

            /// Adds to `shares` the servers that get the jobs which have reached `dispatcher` in a slot, and how many
            /// each.
            pub fn split(
                &mut self,
                dispatcher: u32,
                jobs: u32,
                view: &View,
                stream: &mut Stream,
                shares: &mut Vec<(u32, u32)>,
            ) {
                match &mut self.0 {
                    $(Ready::$variant(chooser) => chooser.split(dispatcher, jobs, view, stream, shares),)*
                }
            }
        }
    };
}

strategies! {
    /// Any server, uniformly.
    Random, random, "any server, uniformly";
    /// A server in proportion to its rate.
    WeightedRandom, weighted_random, "a server in proportion to its rate";
    /// Each dispatcher goes round the servers from a random start.
    RoundRobin, round_robin, "each dispatcher goes round the servers from a random start";
    /// The shortest queue, ties uniformly (JSQ; on local estimates L-JSQ).
    Shortest, shortest, "the shortest queue in view, ties uniformly (JSQ)";
    /// The shortest expected delay, `(length + 1) / rate`, ties uniformly (SED).
    ShortestDelay, shortest_delay, "the smallest (length + 1) / rate in view, ties uniformly (SED)";
    /// The shortest queue in units of the rate, `length / rate`, ties uniformly.
    ShortestNormalized, shortest_normalized, "the smallest length / rate in view, ties uniformly (weighted JSQ)";
    /// Among the servers whose length does not exceed the average (JBA).
    BelowAverage, below_average, "a server not longer than the average in view, by rate or {weighting: uniform} (JBA)";
    /// Among the servers whose length does not exceed a threshold, else any (JBT).
    BelowThreshold, below_threshold, "a server of length at most r in view, else any: {r: 2, weighting: rate} (JBT)";
    /// The shortest of d sampled servers, ties uniformly (JSQ(d), the supermarket model).
    PowerOfD, power_of_d, "the shortest of d sampled servers: {d: 2, replacement: false} (JSQ(d))";
    /// The shortest of d sampled servers and of those remembered from the last choice, ties uniformly.
    BestOfMemory, best_of_memory, "the shortest of d sampled and some remembered servers: {d: 2, memory: 1}";
    /// With probability beta the shorter of two sampled servers, else any.
    OnePlusBeta, one_plus_beta, "the shorter of two sampled servers with probability beta, else any: {beta: 0.5}";
    /// An idle server if one is known, else a random one (JIQ).
    IdleFirst, idle_first, "an idle server if one is in view, else {fallback: random | weighted_random} (JIQ)";
    /// The server of a rank drawn by its weight, the shortest having rank 1.
    Ranked, ranked, "the server of rank r in view, 1 the shortest, with probability w_r: {weights: [0.7, 0.3]}";
    /// Spreads the jobs of a slot so as to level the view (tidal water filling); for slotted time.
    Tidal, tidal, "spreads the jobs of a slot so as to level the view (water filling); for clock: slotted";
}

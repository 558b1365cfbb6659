//! Policies: a dispatching strategy acting on information, exact or local and outdated.

pub mod dispatch;
pub mod information;
pub mod level_law;
mod levels;
mod sample;
mod view;

pub use dispatch::Dispatch;
pub use information::Information;
pub use level_law::LevelLaw;
pub use levels::Levels;
pub(crate) use sample::Pairs;
pub use sample::Sampler;
pub use view::{Need, View};

use crate::model::{Fault, Servers, System};

/// A policy: who gets the job, on what information.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The dispatching strategy.
    pub dispatch: Dispatch,
    /// How the view it acts on is kept.
    pub information: Information,
    /// Whether a dispatcher adds each job it sends to its own estimate of that server (the LSQ convention). Exact
    /// information has no estimates and ignores it.
    pub count_own_jobs: bool,
    /// Messages counted per question to a server: 2 for question and answer, or 1.
    pub per_probe: u64,
}

impl Policy {
    /// Whether it is drawn for each job how many lengths are asked for.
    pub fn asks_at_random(&self) -> bool {
        let between = |beta: f64| beta > 0.0 && beta < 1.0;
        matches!(self.information, Information::Exact(_))
            && matches!(&self.dispatch, Dispatch::OnePlusBeta(choice) if between(choice.beta.get()))
    }

    /// Messages that go with each job, where they are the same for all.
    pub fn messages_per_choice(&self, servers: &Servers) -> Option<u64> {
        match &self.information {
            Information::Exact(_) if self.asks_at_random() => None,
            Information::Exact(_) => Some(self.per_probe * self.dispatch.lengths_asked(servers)),
            Information::Delayed(_) | Information::None => Some(0),
            Information::Rules(_) => None,
        }
    }

    /// Checks the policy against the system it is to serve.
    ///
    /// # Errors
    /// The broken rule, with the path of its key below `policy`.
    pub fn validate(&self, system: &System) -> Result<(), Fault> {
        let below = |prefix: &str, fault: Fault| Fault {
            path: format!("{prefix}.{}", fault.path).trim_end_matches('.').to_owned(),
            ..fault
        };
        self.dispatch.validate(&system.servers).map_err(|fault| below("dispatch", fault))?;
        self.information.validate(&system.servers, self.count_own_jobs).map_err(|fault| below("information", fault))
    }
}

//! Messages sent per unit of time, or per slot, given the queues.

use crate::model::System;
use crate::policy::information::Rules;
use crate::policy::{Information, Policy};

/// How many messages a policy sends.
#[derive(Clone, Debug)]
pub(super) struct Messages {
    rules: Rules,
    /// Per job, or in slots per dispatcher that has jobs.
    asked: f64,
    /// Per push that happens.
    pushed: f64,
    servers: f64,
    dispatchers: f64,
}

impl Messages {
    pub(super) fn new(system: &System, policy: &Policy) -> Self {
        let rules = policy.information.rules();
        let per_probe = policy.per_probe as f64;
        let asked = match &policy.information {
            Information::Exact(_) => per_probe * policy.dispatch.lengths_asked(&system.servers) as f64,
            _ => 0.0,
        };
        Self {
            asked,
            pushed: rules.push.as_ref().map_or(0.0, |push| per_probe * push.d.get() as f64),
            rules,
            servers: system.servers.len() as f64,
            dispatchers: f64::from(system.dispatchers.len()),
        }
    }

    /// When a dispatcher has sent jobs.
    pub(super) fn per_choice(&self) -> f64 {
        let push = self.rules.push.as_ref().map_or(0.0, |push| push.probability.get());
        self.asked + push * self.pushed
    }

    /// When a server has completed work and now holds no job, or some.
    pub(super) fn per_completion(&self, now_idle: bool) -> f64 {
        match (&self.rules.pull, &self.rules.on_idle, now_idle) {
            (Some(_), _, true) | (None, Some(_), true) => 1.0,
            (Some(pull), _, false) => pull.probability.get(),
            (None, _, _) => 0.0,
        }
    }

    /// Periodic reports, per unit of time.
    pub(super) fn periodic(&self) -> f64 {
        self.rules.periodic.as_ref().map_or(0.0, |periodic| self.servers * self.dispatchers / periodic.period.mean())
    }
}

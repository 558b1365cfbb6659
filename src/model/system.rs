//! The whole system: servers, dispatchers, arrivals, service, buffers, start.

use super::{Arrivals, Dispatchers, Initial, Law, Servers};
use serde::{Deserialize, Serialize};

/// What is simulated, apart from the policy.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// The servers.
    pub servers: Servers,
    /// The dispatchers.
    pub dispatchers: Dispatchers,
    /// The stream of arrivals.
    pub arrivals: Arrivals,
    /// Law of a job's size, of mean 1; a job of size S takes `S / mu_n` at server n.
    pub service: Law,
    /// Largest number of jobs at a server, the one in service included; `None` is unlimited.
    pub buffer: Option<u32>,
    /// The state at time 0.
    pub initial: Initial,
}

impl System {
    /// The load `rho`: work that arrives per unit of time, over what all servers can do; `lambda_sum / mu_sum` when
    /// sizes have mean 1, as they have unless a trace brings its own.
    pub fn load(&self) -> f64 {
        self.arrivals.work_rate() / self.servers.total_rate()
    }

    /// Whether arrivals are Poisson and sizes exponential, so that the queue lengths are a Markov chain.
    pub fn is_memoryless(&self) -> bool {
        self.arrivals.are_poisson() && self.service == Law::standard_exponential()
    }
}

/// The measuring window `[open, close)`; an event at `close` itself is outside.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// When measuring starts: the end of the warm-up.
    pub open: f64,
    /// When it ends.
    pub close: f64,
}

impl Window {
    /// The length of the window.
    pub fn length(&self) -> f64 {
        self.close - self.open
    }
}

//! What figures scale metrics by, and the lines of papers they show them beside.

use super::decode::suggestion;
use super::plan::Plan;
use crate::model::Fault;

/// A number that a scenario has, by which a metric is multiplied or against which it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Total service rate minus total arrival rate.
    Epsilon,
    /// 1 - load.
    Slack,
    /// The number of servers N.
    Servers,
    /// The total arrival rate.
    ArrivalRate,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Epsilon, Self::Slack, Self::Servers, Self::ArrivalRate];

    /// The name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Self::Epsilon => "epsilon",
            Self::Slack => "slack",
            Self::Servers => "servers",
            Self::ArrivalRate => "arrival_rate",
        }
    }

    /// What it is, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Epsilon => "service rate - arrival rate",
            Self::Slack => "1 - load",
            Self::Servers => "number of servers",
            Self::ArrivalRate => "arrival rate",
        }
    }

    /// Its value in a scenario.
    pub fn of(self, plan: &Plan) -> f64 {
        let system = &plan.system;
        match self {
            Self::Epsilon => system.servers.total_rate() - system.arrivals.rate,
            Self::Slack => 1.0 - system.load(),
            Self::Servers => system.servers.len() as f64,
            Self::ArrivalRate => system.arrivals.rate,
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|quantity| quantity.name() == name)
    }

    pub(super) fn read(name: &str) -> Result<Self, Fault> {
        let names = Self::ALL.map(Self::name);
        Self::named(name).ok_or_else(|| unknown(name, "quantity to multiply by", &names))
    }
}

/// A line that a paper gives, to be drawn beside what is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// zeta / 2, the limit of epsilon E[sum Q] in slotted time.
    HeavyTraffic,
    /// (log N)^3 (log log N)^2, the growth that bounds N E sum |s - s*|^2, through the first value.
    ConvergenceRate,
    /// 1 - N^(-gamma) d^(k - 1), the fraction of servers with at least k jobs below the Halfin-Whitt regime.
    SubHalfinWhitt,
}

impl Reference {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::HeavyTraffic, Self::ConvergenceRate, Self::SubHalfinWhitt];

    /// The name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Self::HeavyTraffic => "heavy_traffic",
            Self::ConvergenceRate => "convergence_rate",
            Self::SubHalfinWhitt => "sub_halfin_whitt",
        }
    }

    pub(super) fn read(name: &str) -> Result<Self, Fault> {
        let found = Self::ALL.into_iter().find(|reference| reference.name() == name);
        found.ok_or_else(|| unknown(name, "line of a paper", &Self::ALL.map(Self::name)))
    }
}

fn unknown(name: &str, what: &str, known: &[&str]) -> Fault {
    let remedy = match suggestion(name, known) {
        meant if meant.starts_with("did you mean") => meant,
        _ => format!("write {}", known.join(", ")),
    };
    Fault::new(format!("`{name}` is no {what}"), remedy)
}

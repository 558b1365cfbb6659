//! Lines that the papers give, drawn beside what is simulated.

use crate::policy::Dispatch;
use crate::scenario::{Plan, Quantity, Reference};
use crate::theory::HeavyTraffic;

/// What the line is called.
pub(super) fn label(reference: Reference) -> &'static str {
    match reference {
        Reference::HeavyTraffic => "zeta / 2, the limit",
        Reference::ConvergenceRate => "growth as (log N)^3 (log log N)^2",
        Reference::SubHalfinWhitt => "1 - N^(-gamma) d^(k-1)",
    }
}

/// Whether the line has its height from the first simulated value, for only its growth is known.
pub(super) fn is_growth(reference: Reference) -> bool {
    reference == Reference::ConvergenceRate
}

/// Whether it is the same for all lines of the figure.
pub(super) fn is_common(reference: Reference) -> bool {
    reference != Reference::SubHalfinWhitt
}

/// Its value for a scenario and the key of the metric; none where it says nothing.
pub(super) fn value(reference: Reference, plan: &Plan, key: &str) -> Option<f64> {
    let value = match reference {
        Reference::HeavyTraffic => HeavyTraffic::new(&plan.system, plan.slots.as_ref()?).limit(),
        Reference::ConvergenceRate => {
            let log = Quantity::Servers.of(plan).ln();
            log.powi(3) * log.ln().powi(2)
        }
        Reference::SubHalfinWhitt => {
            let regime = plan.scenario.many_server.as_ref()?;
            let Dispatch::PowerOfD(choices) = &plan.policy.dispatch else { return None };
            let (k, d) = (key.parse::<i32>().ok()?, choices.d.get() as f64);
            1.0 - regime.beta.get() * Quantity::Servers.of(plan).powf(-regime.gamma.get()) * d.powi(k - 1)
        }
    };
    (value.is_finite() && value > 0.0).then_some(value)
}

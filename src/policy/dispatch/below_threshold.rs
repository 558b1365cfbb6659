//! Join below threshold: among `{n : v_n <= r}`, in proportion to the rate or uniformly; when there is none, any.

use super::fallback::{Anyone, Fallback};
use super::weighting::{NotLonger, Weighting};
use super::{Choose, Strategy};
use crate::model::{Dispatchers, Servers};
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A server whose length in view does not exceed a threshold, else any (JBT; on local estimates L-JBT).
///
/// By default both draws are in proportion to the rates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BelowThreshold {
    /// The largest length that qualifies; at 0 only idle servers do.
    pub r: u32,
    /// How the servers that qualify are weighed; by default in proportion to their rates.
    pub weighting: Weighting,
    /// Where a job goes when no server qualifies; by default to any in proportion to its rate.
    pub fallback: Fallback,
}

impl Default for BelowThreshold {
    fn default() -> Self {
        Self { r: 2, weighting: Weighting::Rate, fallback: Fallback::WeightedRandom }
    }
}

/// Both draws made ready.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    r: u32,
    not_longer: NotLonger,
    fallback: Anyone,
}

impl Strategy for BelowThreshold {
    type Chooser = Ready;

    fn need(&self, servers: &Servers) -> Need {
        self.weighting.need(servers)
    }

    fn prepare(&self, servers: &Servers, _: &Dispatchers, _: &mut Stream) -> Ready {
        Ready {
            r: self.r,
            not_longer: NotLonger::new(self.weighting, servers),
            fallback: self.fallback.prepare(servers),
        }
    }
}

impl Choose for Ready {
    #[inline]
    fn choose(&mut self, _: u32, view: &View, stream: &mut Stream) -> u32 {
        self.not_longer.draw(self.r, view, stream).unwrap_or_else(|| self.fallback.draw(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::super::probe::{assert_choices, classes};
    use super::*;
    use crate::policy::Dispatch;

    fn threshold(r: u32, weighting: Weighting, fallback: Fallback) -> Dispatch {
        Dispatch::BelowThreshold(BelowThreshold { r, weighting, fallback })
    }

    #[test]
    fn weighs_those_that_qualify() {
        let (servers, lengths) = (classes(&[(2, 1.0), (3, 4.0)]), [2, 3, 2, 9, 0]);
        let by_rate = threshold(2, Weighting::Rate, Fallback::Random);
        assert_choices(&by_rate, &servers, &lengths, &[1.0 / 9.0, 0.0, 4.0 / 9.0, 0.0, 4.0 / 9.0]);
        let uniform = threshold(2, Weighting::Uniform, Fallback::WeightedRandom);
        assert_choices(&uniform, &servers, &lengths, &[1.0 / 3.0, 0.0, 1.0 / 3.0, 0.0, 1.0 / 3.0]);
        // In one class weights are alike; in view of a class with none that qualifies, the other gets all.
        let alike = threshold(1, Weighting::Rate, Fallback::Random);
        assert_choices(&alike, &classes(&[(4, 3.0)]), &[1, 2, 0, 1], &[1.0 / 3.0, 0.0, 1.0 / 3.0, 1.0 / 3.0]);
        assert_choices(&alike, &servers, &[1, 0, 2, 2, 2], &[0.5, 0.5, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn falls_back_when_none_qualifies() {
        let (servers, lengths) = (classes(&[(2, 1.0), (3, 4.0)]), [1, 3, 2, 9, 1]);
        for weighting in [Weighting::Rate, Weighting::Uniform] {
            let anyone = threshold(0, weighting, Fallback::Random);
            assert_choices(&anyone, &servers, &lengths, &[0.2; 5]);
            let by_rate = threshold(0, weighting, Fallback::WeightedRandom);
            assert_choices(&by_rate, &servers, &lengths, &[1.0 / 14.0, 1.0 / 14.0, 2.0 / 7.0, 2.0 / 7.0, 2.0 / 7.0]);
        }
    }

    #[test]
    fn weighs_by_rate_unless_told_otherwise() {
        let read: BelowThreshold = serde_json::from_str("{}").expect("all settings have defaults");
        assert_eq!(
            (read.r, read.weighting, read.fallback),
            (2, Weighting::Rate, Fallback::WeightedRandom)
        );
        for bad in [r#"{"r": -1}"#, r#"{"r": 1.5}"#, r#"{"fallback": "shortest"}"#, r#"{"threshold": 1}"#] {
            assert!(serde_json::from_str::<BelowThreshold>(bad).is_err(), "{bad}");
        }
    }
}

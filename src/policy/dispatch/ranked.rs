//! Ranked: the server of rank r by increasing length gets the job with probability `w_r` (a dispatching preference).

use super::{Choose, Strategy};
use crate::model::{Dispatchers, Fault, NonNegative, Servers};
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rank drawn by its weight gets the job; rank 1 is the shortest server in view.
///
/// Servers of equal length share their ranks: each is as likely as the others to have any of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ranked {
    /// The probability of each rank, from the shortest on; they sum to 1. Ranks beyond the list have probability 0.
    pub weights: Vec<NonNegative>,
}

/// How far the sum of the weights may be off 1 by rounding.
const TOLERANCE: f64 = 1e-9;

/// The summed weight up to and including each rank, ending with the last that has any.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    cumulative: Vec<f64>,
}

impl Ranked {
    fn sum(&self) -> f64 {
        self.weights.iter().map(|weight| weight.get()).sum()
    }
}

impl Strategy for Ranked {
    type Chooser = Ready;

    fn need(&self, _: &Servers) -> Need {
        Need::Sorted
    }

    fn validate(&self, servers: &Servers) -> Result<(), Fault> {
        let (ranks, n) = (self.weights.len(), servers.len());
        if ranks as u64 > n {
            let rule = format!("there are {ranks} weights, but only {n} servers to rank");
            return Err(Fault::at("weights", rule, format!("write at most {n} weights")));
        }
        let sum = self.sum();
        if sum == 0.0 {
            let remedy = "give at least one rank a weight, for example [0.7, 0.3]";
            return Err(Fault::at("weights", "weights must not all be 0", remedy));
        }
        if !sum.is_finite() {
            return Err(Fault::at("weights", "weights must have a finite sum", "use weights that sum to 1"));
        }
        if (sum - 1.0).abs() > TOLERANCE {
            let rule = format!("weights must sum to 1; these sum to {sum}");
            return Err(Fault::at("weights", rule, format!("divide each weight by {sum}")));
        }
        Ok(())
    }

    fn prepare(&self, _: &Servers, _: &Dispatchers, _: &mut Stream) -> Ready {
        let total = self.sum();
        let ranks = self.weights.iter().rposition(|weight| weight.get() > 0.0).map_or(0, |last| last + 1);
        let mut sum = 0.0;
        let summed = self.weights[..ranks].iter().map(|weight| {
            sum += weight.get() / total;
            sum
        });
        Ready { cumulative: summed.collect() }
    }
}

impl Ready {
    /// A rank, from 0, in O(log(number of weights)); a single one takes no draw.
    #[inline]
    fn draw_rank(&self, stream: &mut Stream) -> u32 {
        let last = self.cumulative.len() - 1;
        if last == 0 {
            return 0;
        }
        let u = stream.uniform();
        // The last sum may round to just under 1: what is drawn above it belongs to the last rank.
        self.cumulative.partition_point(|&sum| sum <= u).min(last) as u32
    }
}

impl Choose for Ready {
    #[inline]
    fn choose(&mut self, _: u32, view: &View, stream: &mut Stream) -> u32 {
        let servers = view.sorted();
        let equal = servers.ranks_equal_to(self.draw_rank(stream));
        servers.at(equal.start + stream.below(u64::from(equal.end - equal.start)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::super::probe::{assert_choices, classes};
    use super::*;
    use crate::policy::Dispatch;

    fn ranked(weights: &[f64]) -> Dispatch {
        let weights = weights.iter().map(|&weight| NonNegative::new(weight).expect("a weight")).collect();
        Dispatch::Ranked(Ranked { weights })
    }

    #[test]
    fn each_rank_has_its_weight() {
        let servers = classes(&[(4, 1.0)]);
        assert_choices(&ranked(&[0.4, 0.3, 0.2, 0.1]), &servers, &[5, 0, 9, 3], &[0.2, 0.4, 0.1, 0.3]);
        // Ranks without weight get nothing, wherever they are.
        assert_choices(&ranked(&[0.0, 0.5, 0.5, 0.0]), &servers, &[5, 0, 9, 3], &[0.5, 0.0, 0.0, 0.5]);
        assert_choices(&ranked(&[0.0, 1.0]), &servers, &[5, 0, 9, 3], &[0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn equal_servers_share_their_ranks() {
        let servers = classes(&[(2, 1.0), (3, 2.0)]);
        // Ranks 1 and 2 belong to servers 1 and 4, rank 3 to server 0, ranks 4 and 5 to servers 2 and 3.
        let expected = [0.2, 0.25, 0.15, 0.15, 0.25];
        assert_choices(&ranked(&[0.4, 0.1, 0.2, 0.3]), &servers, &[3, 1, 8, 8, 1], &expected);
        assert_choices(&ranked(&[1.0]), &servers, &[3, 1, 8, 8, 1], &[0.0, 0.5, 0.0, 0.0, 0.5]);
        assert_choices(&ranked(&[0.9, 0.1]), &servers, &[2; 5], &[0.2; 5]);
    }

    #[test]
    fn bad_weights_are_refused() {
        let servers = classes(&[(3, 1.0)]);
        for (bad, rule, remedy) in [
            (&[][..], "all be 0", "at least one"),
            (&[0.0, 0.0], "all be 0", "at least one"),
            (&[1e308, 1e308], "finite sum", "sum to 1"),
            (&[0.5, 0.25], "sum to 0.75", "divide each weight by 0.75"),
            (&[2.0, 1.0, 1.0], "sum to 4", "divide each weight by 4"),
            (&[0.25; 4], "only 3 servers", "at most 3"),
        ] {
            let fault = ranked(bad).validate(&servers).expect_err("bad weights");
            assert_eq!(fault.path, "ranked.weights");
            assert!(fault.rule.contains(rule) && fault.remedy.contains(remedy), "{bad:?}: {fault}");
        }
        assert!(ranked(&[0.1; 10]).validate(&classes(&[(10, 1.0)])).is_ok(), "ten tenths do not sum to 1 exactly");
        for bad in [r#"{"weights": [-0.5, 1.5]}"#, r#"{"weights": [1e999]}"#, "{}"] {
            assert!(serde_json::from_str::<Ranked>(bad).is_err(), "{bad}");
        }
    }
}

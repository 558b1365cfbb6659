//! The (1 + beta) choice: two choices with probability beta, else one (Mitzenmacher 2001; Peres, Talwar, Wieder 2010).

use super::{Choose, Strategy};
use crate::model::{Dispatchers, Fault, Probability, Servers};
use crate::policy::sample::Sampler;
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// With probability beta the shorter of two distinct sampled servers, ties uniformly; else any server, uniformly.
///
/// Exact information counts the two lengths asked for by the jobs that have two choices; the others ask nothing and wait
/// for no answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OnePlusBeta {
    /// The probability of two choices.
    pub beta: Probability,
}

impl Default for OnePlusBeta {
    fn default() -> Self {
        Self { beta: Probability::new(0.5).expect("a half is a probability") }
    }
}

/// The probability, and the samples.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    beta: f64,
    servers: u64,
    /// None at beta 0, which needs no second server.
    pairs: Option<Sampler>,
    /// Whether the last choice was between two.
    compared: bool,
}

impl Strategy for OnePlusBeta {
    type Chooser = Ready;

    fn need(&self, _: &Servers) -> Need {
        if self.beta.get() > 0.0 { Need::Lengths } else { Need::Nothing }
    }

    fn lengths_asked(&self, _: &Servers) -> u64 {
        if self.beta.get() > 0.0 { 2 } else { 0 }
    }

    fn validate(&self, servers: &Servers) -> Result<(), Fault> {
        if self.beta.get() > 0.0 && servers.len() < 2 {
            let rule = "two distinct servers cannot be sampled from 1";
            return Err(Fault::at("beta", rule, "use at least 2 servers, or beta: 0"));
        }
        Ok(())
    }

    fn prepare(&self, servers: &Servers, _: &Dispatchers, _: &mut Stream) -> Ready {
        let beta = self.beta.get();
        let pairs = (beta > 0.0).then(|| Sampler::new(2, servers.numbered()));
        Ready { beta, servers: servers.len(), pairs, compared: false }
    }
}

impl Choose for Ready {
    #[inline]
    fn choose(&mut self, _: u32, view: &View, stream: &mut Stream) -> u32 {
        // Certain outcomes take no draw.
        self.compared = self.beta == 1.0 || self.pairs.is_some() && stream.chance(self.beta);
        match &mut self.pairs {
            Some(pairs) if self.compared => {
                let pair = pairs.draw(stream);
                // A pair comes in random order: taking its first server breaks ties uniformly.
                if view.length(pair[1]) < view.length(pair[0]) { pair[1] } else { pair[0] }
            }
            _ => stream.below(self.servers) as u32,
        }
    }

    fn spared(&self) -> u64 {
        if self.compared { 0 } else { 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::probe::{assert_choices, classes};
    use super::*;
    use crate::policy::Dispatch;
    use crate::random::Component;

    fn beta(beta: f64) -> Dispatch {
        Dispatch::OnePlusBeta(OnePlusBeta { beta: Probability::new(beta).expect("a probability") })
    }

    #[test]
    fn mixes_one_choice_and_two() {
        let servers = classes(&[(4, 1.0)]);
        // Of the 6 pairs each of the two shortest wins 2 and shares one; the third wins 1.
        let (lengths, two) = ([1, 1, 3, 7], [2.5 / 6.0, 2.5 / 6.0, 1.0 / 6.0, 0.0]);
        for probability in [0.0, 0.3, 1.0] {
            let expected = two.map(|share| probability * share + (1.0 - probability) / 4.0);
            assert_choices(&beta(probability), &servers, &lengths, &expected);
        }
    }

    #[test]
    fn counts_what_it_asks() {
        let servers = classes(&[(4, 1.0)]);
        let mut stream = Stream::new(7, 0, Component::Dispatch);
        let dispatch = beta(0.25);
        let view = View::truth(vec![0; 4], Need::Lengths, &servers);
        let mut chooser = dispatch.prepare(&servers, &Dispatchers::equal(1).expect("one"), &mut stream);
        let asked: u64 = (0..10_000)
            .map(|_| {
                chooser.choose(0, &view, &mut stream);
                dispatch.lengths_asked(&servers) - chooser.spared()
            })
            .sum();
        // Twice a binomial: 5,000 with standard deviation 86.6.
        assert!((asked as f64 - 5000.0).abs() < 4.0 * 86.6, "{asked}");
    }

    #[test]
    fn one_server_leaves_no_pair() {
        let fault = beta(0.5).validate(&classes(&[(1, 1.0)])).expect_err("there is no second server");
        assert_eq!(fault.path, "one_plus_beta.beta");
        assert!(beta(0.0).validate(&classes(&[(1, 1.0)])).is_ok());
        for bad in [r#"{"beta": -0.1}"#, r#"{"beta": 1.1}"#, r#"{"beta": "all"}"#] {
            assert!(serde_json::from_str::<OnePlusBeta>(bad).is_err(), "{bad}");
        }
    }
}

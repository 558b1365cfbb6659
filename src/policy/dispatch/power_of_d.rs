//! Power of d choices: the shortest of d sampled servers, ties uniformly (Mitzenmacher; Vvedenskaya et al.).

use super::weighting::Weighting;
use super::{Choose, Strategy, weighted_random};
use crate::model::{Count, Dispatchers, Fault, Servers};
use crate::policy::sample::{Pairs, RateSampler, Sampler, any_shortest};
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shortest of d sampled servers, ties uniformly (JSQ(d); on local estimates L-Pod).
///
/// Servers are sampled uniformly, or in proportion to their rates: with replacement each time among all, without
/// among those left. Ties are broken uniformly among the samples, whatever the rates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerOfD {
    /// The number of servers sampled.
    pub d: Count,
    /// Whether a server may be sampled twice.
    #[serde(default)]
    pub replacement: bool,
    /// How servers are weighed when they are sampled.
    #[serde(default = "uniform")]
    pub weighting: Weighting,
}

/// All servers alike, which is the default here.
fn uniform() -> Weighting {
    Weighting::Uniform
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
    /// Distinct servers by their rates.
    DistinctByRate(RateSampler),
    /// Each sample on its own, by the rates.
    IndependentByRate {
        /// The number of samples.
        d: u64,
        /// The draw of each.
        servers: weighted_random::Ready,
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
        if !self.replacement && self.d.get() > servers.len() {
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
        // Of equal rates, sampling by rate is sampling uniformly.
        if self.weighting == Weighting::Rate && !servers.are_homogeneous() {
            if self.replacement {
                Ready::IndependentByRate { d: self.d.get(), servers: weighted_random::Ready::new(servers) }
            } else {
                Ready::DistinctByRate(RateSampler::new(self.d.get() as u32, servers))
            }
        } else if self.replacement {
            Ready::Independent { d: self.d.get(), servers: servers.len() }
        } else {
            Ready::Distinct(Sampler::new(self.d.get() as u32, servers.numbered()))
        }
    }
}

impl Choose for Ready {
    #[inline(always)]
    fn choose(&mut self, _: u32, view: &View, stream: &mut Stream) -> u32 {
        match self {
            Self::Independent { d: 2, servers } => {
                let pair = Pairs { servers: *servers, replacement: true }.draw(stream);
                Pairs::shorter(pair, |server| view.length(server))
            }
            Self::Independent { d, servers } => first_shortest(*d, view, std::iter::repeat_with(|| stream.below(*servers) as u32)),
            Self::IndependentByRate { d, servers } => first_shortest(*d, view, std::iter::repeat_with(|| servers.draw(stream))),
            Self::Distinct(sampler) => {
                let sample = sampler.draw(stream);
                first_shortest(sample.len() as u64, view, sample.iter().copied())
            }
            Self::DistinctByRate(sampler) => any_shortest(sampler.draw(stream), view, stream),
        }
    }

    fn pairs(&self) -> Option<Pairs> {
        match self {
            Self::Independent { d: 2, servers } => Some(Pairs { servers: *servers, replacement: true }),
            Self::Distinct(sampler) => sampler.pairs(),
            _ => None,
        }
    }
}

/// The first of the shortest of d samples: when any order of them is as likely as another, ties are broken uniformly.
#[inline]
fn first_shortest(d: u64, view: &View, samples: impl Iterator<Item = u32>) -> u32 {
    let samples = samples.take(d as usize).map(|server| (view.length(server), server));
    // As good as a coin: taken without a branch.
    let shortest = samples.reduce(|shortest, next| if next.0 < shortest.0 { next } else { shortest });
    shortest.map_or(0, |(_, server)| server)
}

#[cfg(test)]
mod tests {
    use super::super::probe::{assert_choices, classes};
    use super::*;
    use crate::policy::Dispatch;

    fn power(d: u64, replacement: bool, weighting: Weighting) -> Dispatch {
        Dispatch::PowerOfD(PowerOfD { d: Count::new(d).expect("at least 1"), replacement, weighting })
    }

    #[test]
    fn samples_uniformly() {
        let (servers, lengths) = (classes(&[(2, 1.0), (2, 4.0)]), [1, 1, 3, 7]);
        let distinct = power(2, false, Weighting::Uniform);
        assert_choices(&distinct, &servers, &lengths, &[2.5 / 6.0, 2.5 / 6.0, 1.0 / 6.0, 0.0]);
        // Of the 16 ordered pairs, both among the two longest in 4: server 3 gets its own.
        let independent = power(2, true, Weighting::Uniform);
        assert_choices(&independent, &servers, &lengths, &[0.375, 0.375, 3.0 / 16.0, 1.0 / 16.0]);
    }

    /// Rates 1, 1, 4, 4 of which 0 and 2 tie, then 1, then 3.
    #[test]
    fn samples_by_rate() {
        let (servers, lengths) = (classes(&[(2, 1.0), (2, 4.0)]), [1, 3, 1, 7]);
        let shares = [0.1, 0.1, 0.4, 0.4];
        let mut independent = [0.0; 4];
        let mut distinct = [0.0; 4];
        for first in 0..4 {
            for second in 0..4 {
                let both = shares[first] * shares[second];
                for server in [first, second] {
                    let other = first + second - server;
                    let wins = match lengths[server].cmp(&lengths[other]) {
                        std::cmp::Ordering::Less => 1.0,
                        std::cmp::Ordering::Equal => 0.5,
                        std::cmp::Ordering::Greater => 0.0,
                    };
                    independent[server] += both * wins;
                    if first != second {
                        distinct[server] += both / (1.0 - shares[first]) * wins;
                    }
                }
            }
        }
        assert_choices(&power(2, true, Weighting::Rate), &servers, &lengths, &independent);
        assert_choices(&power(2, false, Weighting::Rate), &servers, &lengths, &distinct);
        assert_choices(&power(4, false, Weighting::Rate), &servers, &lengths, &[0.5, 0.0, 0.5, 0.0]);
        assert_choices(&power(1, false, Weighting::Rate), &servers, &lengths, &shares);
    }

    #[test]
    fn equal_rates_are_sampled_uniformly() {
        let lengths = [1, 1, 3, 7];
        for servers in [classes(&[(4, 2.0)]), classes(&[(1, 2.0), (3, 2.0)])] {
            let distinct = power(2, false, Weighting::Rate);
            assert_choices(&distinct, &servers, &lengths, &[2.5 / 6.0, 2.5 / 6.0, 1.0 / 6.0, 0.0]);
        }
    }

    #[test]
    fn too_many_are_refused() {
        let servers = classes(&[(2, 1.0), (1, 4.0)]);
        for weighting in [Weighting::Uniform, Weighting::Rate] {
            let fault = power(4, false, weighting).validate(&servers).expect_err("there are 3 servers");
            assert_eq!(fault.path, "power_of_d.d");
            assert!(power(4, true, weighting).validate(&servers).is_ok());
        }
        let read: PowerOfD = serde_json::from_str(r#"{"d": 2}"#).expect("the rest has defaults");
        assert_eq!(read.weighting, Weighting::Uniform);
        for bad in [r#"{"d": 0}"#, "{}", r#"{"d": 2, "weighting": "length"}"#] {
            assert!(serde_json::from_str::<PowerOfD>(bad).is_err(), "{bad}");
        }
    }
}

//! Join below average: among `{n : v_n <= mean(v)}`, in proportion to the rate or uniformly.

use super::weighting::{NotLonger, Weighting};
use super::{Choose, Strategy};
use crate::model::{Dispatchers, Servers};
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A server whose length in view does not exceed the average in view (JBA; on local estimates L-JBA).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BelowAverage {
    /// How the servers that qualify are weighed.
    pub weighting: Weighting,
}

/// The draw among those that qualify, and the number of servers.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    servers: u64,
    not_longer: NotLonger,
}

impl Strategy for BelowAverage {
    type Chooser = Ready;

    fn need(&self, servers: &Servers) -> Need {
        self.weighting.need(servers)
    }

    fn prepare(&self, servers: &Servers, _: &Dispatchers, _: &mut Stream) -> Ready {
        Ready { servers: servers.len(), not_longer: NotLonger::new(self.weighting, servers) }
    }
}

impl Choose for Ready {
    #[inline]
    fn choose(&mut self, _: u32, view: &View, stream: &mut Stream) -> u32 {
        // Lengths are whole, so the largest that does not exceed the mean is its whole part.
        let average = (view.total() / self.servers) as u32;
        self.not_longer.draw(average, view, stream).expect("the shortest server is not longer than the average")
    }
}

#[cfg(test)]
mod tests {
    use super::super::probe::{assert_choices, classes};
    use super::*;
    use crate::policy::Dispatch;

    #[test]
    fn weighs_those_that_qualify() {
        // The mean is 2: the servers 0, 2, 3 and 4 qualify.
        let (servers, lengths) = (classes(&[(2, 1.0), (3, 4.0)]), [2, 6, 0, 1, 1]);
        let by_rate = Dispatch::BelowAverage(BelowAverage::default());
        assert_choices(&by_rate, &servers, &lengths, &[1.0 / 13.0, 0.0, 4.0 / 13.0, 4.0 / 13.0, 4.0 / 13.0]);
        let uniform = Dispatch::BelowAverage(BelowAverage { weighting: Weighting::Uniform });
        assert_choices(&uniform, &servers, &lengths, &[0.25, 0.0, 0.25, 0.25, 0.25]);
    }
}

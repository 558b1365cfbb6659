//! Power of d with memory: the shortest of d sampled servers and those remembered (Shah and Prabhakar 2002).

use super::{Choose, Strategy};
use crate::model::{Count, Dispatchers, Fault, Servers};
use crate::policy::sample::{Sampler, any_shortest};
use crate::policy::view::{Need, View};
use crate::random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shortest of d sampled servers and of the best that the dispatcher remembers from its last choice.
///
/// For each job a dispatcher samples d distinct servers of all, and looks at them and at the servers it remembers,
/// each once. The job goes to the shortest in view at that moment, ties uniformly. Of the servers looked at, the
/// dispatcher then remembers the `memory` shortest, the length of the one chosen counting the job just sent (in slotted
/// time, all of the slot), ties
/// uniformly; it forgets all others. It starts with nothing remembered.
///
/// It remembers which servers these are, not how long they were. Exact information counts `d + memory` lengths asked
/// for per job, also while fewer are remembered or when one remembered is sampled again.
///
/// Anselmi and Dufour (2020) study a rule of the same name that remembers the lengths last seen of all servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BestOfMemory {
    /// The number of servers sampled.
    pub d: Count,
    /// The number of servers remembered by each dispatcher.
    pub memory: Count,
}

impl Default for BestOfMemory {
    fn default() -> Self {
        let count = |n| Count::new(n).expect("the defaults below are at least 1");
        Self { d: count(2), memory: count(1) }
    }
}

/// The samples, and what each dispatcher remembers.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    sampler: Sampler,
    memory: usize,
    /// By dispatcher.
    remembered: Vec<Vec<u32>>,
    /// The servers looked at for a job, and the same as (length, random bits, server) for what to remember; both kept
    /// to spare allocations.
    looked_at: Vec<u32>,
    candidates: Vec<(u32, u64, u32)>,
}

impl Strategy for BestOfMemory {
    type Chooser = Ready;

    fn need(&self, _: &Servers) -> Need {
        Need::Lengths
    }

    fn lengths_asked(&self, _: &Servers) -> u64 {
        self.d.get() + self.memory.get()
    }

    fn validate(&self, servers: &Servers) -> Result<(), Fault> {
        let n = servers.len();
        for (key, count, what) in [("d", self.d, "sampled"), ("memory", self.memory, "remembered")] {
            if count.get() > n {
                let rule = format!("{key} distinct servers cannot be {what} of {n}");
                return Err(Fault::at(key, rule, format!("use {key} of at most {n}")));
            }
        }
        Ok(())
    }

    fn prepare(&self, servers: &Servers, dispatchers: &Dispatchers, _: &mut Stream) -> Ready {
        Ready {
            sampler: Sampler::new(self.d.get() as u32, servers.numbered()),
            memory: self.memory.get() as usize,
            remembered: vec![Vec::new(); dispatchers.len() as usize],
            looked_at: Vec::new(),
            candidates: Vec::new(),
        }
    }
}

impl Ready {
    /// The server that gets these jobs.
    #[inline]
    fn send(&mut self, dispatcher: u32, jobs: u32, view: &View, stream: &mut Stream) -> u32 {
        self.look(dispatcher, stream);
        let chosen = any_shortest(&self.looked_at, view, stream);
        self.remember(dispatcher, chosen, jobs, view, stream);
        chosen
    }

    /// Looks at a new sample and at what is remembered, each server once.
    #[inline]
    fn look(&mut self, dispatcher: u32, stream: &mut Stream) {
        let sample = self.sampler.draw(stream);
        let others = self.remembered[dispatcher as usize].iter().filter(|server| !sample.contains(server));
        self.looked_at.clear();
        self.looked_at.extend(sample.iter().chain(others));
    }

    /// Remembers the shortest of the servers looked at when `chosen` has so many jobs more, ties uniformly.
    #[inline]
    fn remember(&mut self, dispatcher: u32, chosen: u32, jobs: u32, view: &View, stream: &mut Stream) {
        self.candidates.clear();
        // Ties have bits of their own: by those of the choice the server chosen would win or lose them.
        self.candidates.extend(self.looked_at.iter().map(|&server| {
            let sent = if server == chosen { jobs } else { 0 };
            (view.length(server).saturating_add(sent), stream.bits(), server)
        }));
        self.candidates.sort_unstable();
        let remembered = &mut self.remembered[dispatcher as usize];
        remembered.clear();
        remembered.extend(self.candidates.iter().take(self.memory).map(|&(_, _, server)| server));
    }
}

impl Choose for Ready {
    #[inline]
    fn choose(&mut self, dispatcher: u32, view: &View, stream: &mut Stream) -> u32 {
        self.send(dispatcher, 1, view, stream)
    }

    fn split(&mut self, dispatcher: u32, jobs: u32, view: &View, stream: &mut Stream, shares: &mut Vec<(u32, u32)>) {
        shares.push((self.send(dispatcher, jobs, view, stream), jobs));
    }
}

#[cfg(test)]
mod tests {
    use super::super::probe::{assert_choices, assert_frequencies, classes};
    use super::*;
    use crate::policy::Dispatch;
    use crate::random::Component;

    fn best_of_memory(d: u64, memory: u64) -> BestOfMemory {
        let count = |n| Count::new(n).expect("the defaults below are at least 1");
        BestOfMemory { d: count(d), memory: count(memory) }
    }

    fn view(lengths: &[u32]) -> View {
        View::truth(lengths.to_vec(), Need::Lengths, &classes(&[(lengths.len() as u64, 1.0)]))
    }

    /// A chooser for 2 dispatchers of which the first remembers these servers.
    fn remembering(strategy: &BestOfMemory, servers: u32, remembered: &[u32]) -> Ready {
        let dispatchers = Dispatchers::equal(2).expect("2 dispatchers");
        let mut stream = Stream::new(0, 0, Component::Initial);
        let mut ready = strategy.prepare(&classes(&[(u64::from(servers), 1.0)]), &dispatchers, &mut stream);
        ready.remembered[0] = remembered.to_vec();
        ready
    }

    #[test]
    fn without_a_memory_yet_it_is_power_of_d() {
        let servers = classes(&[(4, 1.0)]);
        let strategy = Dispatch::BestOfMemory(best_of_memory(2, 1));
        // Each choice is made ready afresh.
        assert_choices(&strategy, &servers, &[1, 1, 3, 7], &[2.5 / 6.0, 2.5 / 6.0, 1.0 / 6.0, 0.0]);
    }

    #[test]
    fn chooses_the_shortest_of_sample_and_memory() {
        // Server 2 is remembered. One sample of 5: 0 is shorter, 1 and 3 tie with it, 4 is longer, 2 is itself.
        let ready = remembering(&best_of_memory(1, 1), 5, &[2]);
        let view = view(&[0, 1, 1, 1, 2]);
        assert_frequencies(&[0.2, 0.1, 0.6, 0.1, 0.0], |stream| ready.clone().choose(0, &view, stream));
        // The other dispatcher remembers nothing.
        assert_frequencies(&[0.2; 5], |stream| ready.clone().choose(1, &view, stream));
        // Two remembered that tie, and one sample: all three tie (2 of 5 samples add a server, 3 do not).
        let ready = remembering(&best_of_memory(1, 2), 5, &[1, 3]);
        let third = 1.0 / 15.0;
        let both = 1.0 / 5.0 + third;
        assert_frequencies(&[0.2, both, third, both, 0.2], |stream| {
            ready.clone().choose(0, &self::view(&[0, 1, 1, 1, 0]), stream)
        });
    }

    #[test]
    fn remembers_the_best_after_the_job_was_sent() {
        // All servers are sampled: what is remembered depends on the lengths only.
        for (lengths, memory, expected) in [
            (&[0, 5, 9][..], 1, &[1.0, 0.0, 0.0][..]),
            (&[0, 0, 9], 1, &[0.5, 0.5, 0.0]),
            // With the job sent, the shortest ties with the next ones.
            (&[0, 1, 9], 1, &[0.5, 0.5, 0.0]),
            (&[0, 1, 1], 1, &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]),
            // The one left at 0 comes first, then one of two of length 1: the one chosen, or server 2.
            (&[0, 0, 1], 2, &[0.75, 0.75, 0.5]),
        ] {
            let ready = remembering(&best_of_memory(3, memory), 3, &[]);
            let view = view(lengths);
            // Which of the remembered is looked at is drawn, so that the frequencies are those of one draw.
            let share: Vec<f64> = expected.iter().map(|probability| probability / memory as f64).collect();
            assert_frequencies(&share, |stream| {
                let mut ready = ready.clone();
                ready.choose(0, &view, stream);
                assert_eq!(ready.remembered[0].len() as u64, memory);
                assert!(ready.remembered[1].is_empty());
                ready.remembered[0][stream.below(memory) as usize]
            });
        }
    }

    #[test]
    fn more_than_all_servers_are_refused() {
        let servers = classes(&[(3, 1.0)]);
        for (d, memory, path) in [(4, 1, "best_of_memory.d"), (3, 4, "best_of_memory.memory")] {
            let fault = Dispatch::BestOfMemory(best_of_memory(d, memory)).validate(&servers).expect_err("too many");
            assert_eq!(fault.path, path);
        }
        assert!(best_of_memory(3, 3).validate(&servers).is_ok());
        assert_eq!(best_of_memory(3, 2).lengths_asked(&servers), 5);
        for bad in [r#"{"d": 0}"#, r#"{"memory": 0}"#, r#"{"memory": -1}"#] {
            assert!(serde_json::from_str::<BestOfMemory>(bad).is_err(), "{bad}");
        }
    }
}

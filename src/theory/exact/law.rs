//! What is added up over the states of a stationary law.

/// Sums over states and jobs, each with its probability.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// `lengths[n][k]`: probability that server n holds k jobs. Servers that are alike may have changed places.
    pub(super) lengths: Vec<Vec<f64>>,
    /// `total[k]`: probability of k jobs in all.
    pub(super) total: Vec<f64>,
    /// `longer[k]`: mean of the square of the number of servers with more than k jobs.
    pub(super) longer: Vec<f64>,
    /// Mean of the sum of squares of the distances of the queues from their mean.
    pub(super) imbalance: f64,
    /// Mean of the longest queue minus the shortest.
    pub(super) range: f64,
    /// Mean over pairs of |estimate - length| and of estimate - length, if estimates are kept in full.
    pub(super) estimates: Option<(f64, f64)>,
    /// Jobs by the lengths found at the server they joined, `found[n][k]`; fractions of those that arrive when
    /// divided by `arrived`.
    pub(super) found: Vec<Vec<f64>>,
    /// Jobs by the jobs ahead of them at the server they joined, those that came just before them included.
    pub(super) ahead: Vec<Vec<f64>>,
    /// Jobs that arrive, per job or per slot, and those of them that are lost.
    pub(super) arrived: f64,
    pub(super) blocked: f64,
    /// Sum over jobs of the length of the chosen queue minus that of the shortest, and over jobs that found the
    /// shortest.
    pub(super) regret: f64,
    pub(super) shortest: f64,
    /// Messages, per job or per slot.
    pub(super) messages: f64,
}

/// Adds to a place of a list that grows.
fn add(list: &mut Vec<f64>, place: usize, weight: f64) {
    if list.len() <= place {
        list.resize(place + 1, 0.0);
    }
    list[place] += weight;
}

/// Jobs that a dispatcher gives to a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'a> {
    pub(super) server: usize,
    /// Jobs ahead of the first.
    pub(super) ahead: u16,
    /// How many, and how many of them there is room for.
    pub(super) jobs: u16,
    pub(super) admitted: u16,
    /// The queues as they were before any job of the moment, if that is known.
    pub(super) queues: Option<&'a [u16]>,
}

impl Tally {
    /// A state with its queues.
    pub(super) fn add_state(&mut self, weight: f64, queues: &[u16]) {
        self.lengths.resize_with(queues.len(), Vec::new);
        let mut jobs = 0;
        let mut squares = 0.0;
        for (n, &length) in queues.iter().enumerate() {
            add(&mut self.lengths[n], usize::from(length), weight);
            jobs += usize::from(length);
            squares += f64::from(length).powi(2);
        }
        add(&mut self.total, jobs, weight);
        let longest = queues.iter().copied().max().unwrap_or(0);
        let shortest = queues.iter().copied().min().unwrap_or(0);
        for level in 0..longest {
            let count = queues.iter().filter(|&&length| length > level).count() as f64;
            add(&mut self.longer, usize::from(level), weight * count * count);
        }
        self.imbalance += weight * (squares - (jobs as f64).powi(2) / queues.len() as f64);
        self.range += weight * f64::from(longest - shortest);
    }

    /// The estimates of a dispatcher; the weights of all dispatchers sum to that of the state.
    pub(super) fn add_estimates(&mut self, weight: f64, queues: &[u16], estimates: &[u16]) {
        for (&length, &estimate) in queues.iter().zip(estimates) {
            let error = f64::from(estimate) - f64::from(length);
            let (distance, bias) = self.estimates.get_or_insert((0.0, 0.0));
            *distance += weight * error.abs() / queues.len() as f64;
            *bias += weight * error / queues.len() as f64;
        }
    }

    /// Jobs arrive together and go to one server.
    pub(super) fn add_jobs(&mut self, weight: f64, given: Given<'_>) {
        let Given { server, ahead, jobs, admitted, queues } = given;
        self.found.resize_with(self.found.len().max(server + 1), Vec::new);
        self.ahead.resize_with(self.ahead.len().max(server + 1), Vec::new);
        self.arrived += weight * f64::from(jobs);
        self.blocked += weight * f64::from(jobs - admitted);
        for job in 0..admitted {
            add(&mut self.ahead[server], usize::from(ahead + job), weight);
        }
        if let Some(queues) = queues {
            if admitted > 0 {
                add(&mut self.found[server], usize::from(queues[server]), weight * f64::from(admitted));
            }
            let shortest = queues.iter().copied().min().unwrap_or(0);
            self.regret += weight * f64::from(jobs) * f64::from(queues[server] - shortest);
            if queues[server] == shortest {
                self.shortest += weight * f64::from(jobs);
            }
        }
    }
}

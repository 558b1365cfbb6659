//! M/M/N: one queue before N servers (Erlang 1917). No policy for parallel servers has fewer jobs.

/// One queue, first come first served, before `servers` servers of equal `rate`, with Poisson arrivals.
///
/// No policy that sends the same jobs to as many separate queues has a smaller mean number of jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MMN {
    servers: f64,
    /// Load per server.
    load: f64,
    rate: f64,
    /// Erlang's C.
    waits: f64,
}

impl MMN {
    /// The queue at a load above 0 and below 1.
    ///
    /// Erlang's B is summed as `1 / B = sum over k of N! / ((N - k)! a^k)` from its largest terms on, with a the
    /// offered work; it takes as many terms as count, of the order of sqrt(N) in heavy traffic.
    pub fn new(servers: u64, load: f64, rate: f64) -> Option<Self> {
        if servers == 0 || !(load > 0.0 && load < 1.0) {
            return None;
        }
        let n = servers as f64;
        let blocked = Self::erlang_b(servers, load * n);
        let waits = blocked / (1.0 - load * (1.0 - blocked));
        Some(Self { servers: n, load, rate, waits })
    }

    /// Erlang's B: the fraction of jobs lost when there is no room to wait, at `offered` = arrival rate / rate.
    pub fn erlang_b(servers: u64, offered: f64) -> f64 {
        let n = servers as f64;
        let (mut sum, mut term, mut k) = (1.0, 1.0, 0.0);
        while k < n {
            term *= (n - k) / offered;
            sum += term;
            k += 1.0;
            // The factors fall: from here on the terms are less than a geometric series.
            let ratio = (n - k) / offered;
            if ratio < 1.0 && term * ratio / (1.0 - ratio) < 1e-17 * sum {
                break;
            }
            if sum.is_infinite() {
                return 0.0;
            }
        }
        1.0 / sum
    }

    /// Erlang's C: the probability that all servers are busy when a job comes.
    pub fn waiting_probability(&self) -> f64 {
        self.waits
    }

    /// Mean time in the queue, `C / (N mu - lambda)`.
    pub fn waiting_time(&self) -> f64 {
        self.waits / self.spare()
    }

    /// What the servers can do beyond what comes.
    fn spare(&self) -> f64 {
        self.servers * self.rate * (1.0 - self.load)
    }

    /// `P(wait > t) = C exp(-(N mu - lambda) t)`.
    pub fn waiting_survival(&self, time: f64) -> f64 {
        self.waits * (-self.spare() * time).exp()
    }

    /// Mean time from arrival to departure.
    pub fn response_time(&self) -> f64 {
        self.waiting_time() + 1.0 / self.rate
    }

    /// Mean number of jobs, waiting and in service.
    pub fn jobs(&self) -> f64 {
        self.servers * self.load + self.waits * self.load / (1.0 - self.load)
    }

    /// Variance of the number of jobs.
    ///
    /// By conditioning on whether all servers are busy (probability C by PASTA): then the number is N plus a geometric
    /// one; else the lower part of a Poisson law, whose first two factorial moments follow from those of the busy ones:
    /// `E[b] = a` and `E[b (b - 1)] = a E[b] - a N P(b = N)` with b = min(jobs, N), by the balance of levels.
    pub fn jobs_variance(&self) -> f64 {
        let (n, rho, c) = (self.servers, self.load, self.waits);
        let offered = n * rho;
        // sum over k of lambda p_k min(k, N) [k < N] = sum of mu k p_k (k - 1) for k <= N, plus nothing above.
        let busy_not_full = offered - n * c;
        // E[b(b-1)] over jobs < N and the state N alone: a * E[b; b < N], then the rest of the full states.
        let full_alone = c * (1.0 - rho);
        let squares_to_n = offered * busy_not_full;
        let factorial = squares_to_n + (c - full_alone) * n * (n - 1.0);
        let waiting = rho / (1.0 - rho);
        let waiting_square = rho * (1.0 + rho) / (1.0 - rho).powi(2);
        let square = factorial + offered + 2.0 * n * c * waiting + c * waiting_square;
        square - self.jobs().powi(2)
    }

    /// `P(T > t)` of the response time.
    pub fn response_survival(&self, time: f64) -> f64 {
        let (spare, mu) = (self.spare(), self.rate);
        let service = (-mu * time).exp();
        if (spare - mu).abs() < 1e-9 * mu {
            return service * (1.0 + self.waits * mu * time);
        }
        // exp(-mu t) (1 - C) + C P(wait + service > t).
        let both = (spare * service - mu * (-spare * time).exp()) / (spare - mu);
        service * (1.0 - self.waits) + self.waits * both
    }

    /// The time that a part q of the jobs does not exceed, for q from 0 and below 1.
    pub fn response_quantile(&self, q: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0 / self.rate);
        while self.response_survival(high) > 1.0 - q {
            high *= 2.0;
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if self.response_survival(middle) > 1.0 - q { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_is_mm1() {
        let queue = MMN::new(1, 0.8, 2.0).expect("stable");
        assert!((queue.waiting_probability() - 0.8).abs() < 1e-14);
        assert!((queue.response_time() - 2.5).abs() < 1e-13);
        assert!((queue.jobs() - 4.0).abs() < 1e-12 && (queue.jobs_variance() - 20.0).abs() < 1e-10);
        assert!((queue.response_survival(3.0) - (-1.2_f64).exp()).abs() < 1e-13);
    }

    #[test]
    fn erlang_b_of_the_tables() {
        // Five servers, three erlangs.
        assert!((MMN::erlang_b(5, 3.0) - 0.110_054).abs() < 1e-6);
        assert!(MMN::new(5, 1.0, 1.0).is_none() && MMN::new(0, 0.5, 1.0).is_none());
    }

    /// Far from heavy traffic nobody waits; near it the answer is that of Halfin and Whitt, for as many servers as can be.
    #[test]
    fn very_many_servers_take_no_time() {
        assert_eq!(MMN::new(1_000_000_000, 0.5, 1.0).map(|queue| queue.waiting_probability()), Some(0.0));
        let n = 4_000_000_000_u64;
        let queue = MMN::new(n, 1.0 - 1.0 / (n as f64).sqrt(), 1.0).expect("stable");
        assert!((queue.waiting_probability() - 0.223_361_27).abs() < 1e-5);
    }
}

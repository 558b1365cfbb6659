//! The books: identities that hold on every sample path.

use serde::{Deserialize, Serialize};

/// Counts and integrals of one replication that must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Balance {
    /// Jobs in the system when the window opened.
    pub inside_at_open: u64,
    /// Jobs that arrived in the window.
    pub arrived: u64,
    /// Jobs lost at a full buffer in the window.
    pub blocked: u64,
    /// Jobs that left after service in the window.
    pub completed: u64,
    /// Jobs in the system when the window closed.
    pub inside_at_close: u64,
    /// Integral over the window of the number of jobs in the system, from the queue lengths.
    pub integral: f64,
    /// The same from the jobs: the time that each spent inside the window, summed.
    pub time_of_jobs: f64,
}

impl Balance {
    /// Whether every job is accounted for: inside + arrived = completed + blocked + inside.
    pub fn counts_agree(&self) -> bool {
        self.inside_at_open + self.arrived == self.completed + self.blocked + self.inside_at_close
    }

    /// Relative difference of the two integrals (Little's law on the sample path).
    pub fn relative_gap(&self) -> f64 {
        let scale = self.integral.abs().max(self.time_of_jobs.abs());
        if scale == 0.0 { 0.0 } else { (self.integral - self.time_of_jobs).abs() / scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn books() -> Balance {
        let (integral, time_of_jobs) = (30.0, 40.0);
        Balance { inside_at_open: 3, arrived: 10, blocked: 2, completed: 7, inside_at_close: 4, integral, time_of_jobs }
    }

    #[test]
    fn every_job_is_somewhere() {
        assert!(books().counts_agree());
        for wrong in [
            Balance { inside_at_open: 4, ..books() },
            Balance { arrived: 9, ..books() },
            Balance { blocked: 1, ..books() },
            Balance { completed: 8, ..books() },
            Balance { inside_at_close: 5, ..books() },
        ] {
            assert!(!wrong.counts_agree(), "{wrong:?}");
        }
    }

    #[test]
    fn the_gap_is_relative_to_the_larger_integral() {
        assert_eq!(books().relative_gap(), 0.25);
        assert_eq!(Balance { integral: 40.0, time_of_jobs: 30.0, ..books() }.relative_gap(), 0.25);
        assert_eq!(Balance { integral: 0.0, time_of_jobs: 0.0, ..books() }.relative_gap(), 0.0);
    }
}

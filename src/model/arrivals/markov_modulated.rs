//! Markov-modulated Poisson arrivals: a Markov chain moves between phases, each with an arrival rate of its own.
//!
//! Simulated exactly: in phase i the next thing happens after an exponential time of rate `lambda_i + q_i`, and is an
//! arrival with probability `lambda_i / (lambda_i + q_i)`, else a change of phase.

use super::{Next, Reaches};
use crate::model::number::Fault;
use crate::random::Stream;

/// Poisson with a rate that follows a Markov chain.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkovModulated {
    /// The arrival rate of each phase, in units of the stationary mean.
    rates: Vec<f64>,
    /// `switching[i][j]`: rate of changes from phase i to j, per unit of time.
    switching: Vec<Vec<f64>>,
    /// Sum of each row.
    leaving: Vec<f64>,
    /// The stationary law of the phase.
    stationary: Vec<f64>,
}

impl MarkovModulated {
    /// Phases with these arrival rates, relative to each other, and rates of change from row to column.
    ///
    /// # Errors
    /// If there is no phase, a number is negative or not finite, no arrival rate is positive, the matrix is not
    /// square or has an entry on its diagonal, or some phase cannot be reached from another.
    pub fn new(rates: &[f64], switching: &[Vec<f64>]) -> Result<Self, Fault> {
        check_rates(rates)?;
        check_switching(switching, rates.len())?;
        let stationary = stationary_law(switching);
        let leaving: Vec<f64> = switching.iter().map(|row| row.iter().sum()).collect();
        // Rates are relative: measured in the largest, no product can overflow.
        let largest = rates.iter().copied().fold(0.0, f64::max);
        let mean: f64 = rates.iter().zip(&stationary).map(|(rate, weight)| rate / largest * weight).sum();
        let rates: Vec<f64> = rates.iter().map(|rate| rate / largest / mean).collect();
        let numbers = || stationary.iter().chain(&leaving).chain(&rates);
        if !(stationary.iter().all(|&weight| weight > 0.0) && numbers().all(|number| number.is_finite())) {
            return Err(Fault::new(
                "the rates lie too far apart, or are too large, for floating-point numbers",
                "use switching and arrival rates of similar size",
            ));
        }
        Ok(Self { rates, switching: switching.to_vec(), leaving, stationary })
    }

    /// The stationary law of the phase.
    pub fn stationary(&self) -> &[f64] {
        &self.stationary
    }

    /// The largest rate at which a phase ends or brings arrivals, when `rate` is the mean arrival rate.
    pub(super) fn fastest_rate(&self, rate: f64) -> f64 {
        self.rates.iter().zip(&self.leaving).map(|(relative, leaving)| relative * rate + leaving).fold(rate, f64::max)
    }
}

fn check_rates(rates: &[f64]) -> Result<(), Fault> {
    if let Some(i) = rates.iter().position(|rate| !(rate.is_finite() && *rate >= 0.0)) {
        return Err(Fault::at(format!("rates[{i}]"), "must be a finite number of at least 0", "write for example 0.5"));
    }
    if rates.iter().all(|&rate| rate == 0.0) {
        return Err(Fault::at("rates", "must hold at least one rate above 0", "write for example [2, 0.5]"));
    }
    Ok(())
}

fn check_switching(switching: &[Vec<f64>], phases: usize) -> Result<(), Fault> {
    let square = format!("must have {phases} rows of {phases} numbers each, one per phase in `rates`");
    if switching.len() != phases {
        let rule = format!("{square}, but has {} rows", switching.len());
        return Err(Fault::at("switching", rule, "write for example [[0, 1], [1, 0]] for two phases"));
    }
    for (i, row) in switching.iter().enumerate() {
        if row.len() != phases {
            let rule = format!("the matrix {square}, but this row has {}", row.len());
            return Err(Fault::at(format!("switching[{i}]"), rule, "write a 0 where no change happens"));
        }
        if let Some(j) = row.iter().position(|rate| !(rate.is_finite() && *rate >= 0.0)) {
            let path = format!("switching[{i}][{j}]");
            return Err(Fault::at(path, "must be a finite number of at least 0", "write for example 0.5"));
        }
        if row[i] != 0.0 {
            let rule = "the diagonal must be 0: a phase does not change into itself";
            return Err(Fault::at(format!("switching[{i}][{i}]"), rule, "write 0"));
        }
    }
    let backward = |from: usize, to: usize| switching[to][from];
    for (reached, rule) in [
        (reached(phases, |from, to| switching[from][to]), "cannot be reached from phase 0"),
        (reached(phases, backward), "cannot reach phase 0"),
    ] {
        if let Some(phase) = reached.iter().position(|&reached| !reached) {
            let rule = format!("every phase must be reachable from every other, but phase {phase} (from 0) {rule}");
            return Err(Fault::at("switching", rule, "add a positive rate, or leave the phase out"));
        }
    }
    Ok(())
}

/// Which phases can be reached from phase 0 along positive rates.
fn reached(phases: usize, rate: impl Fn(usize, usize) -> f64) -> Vec<bool> {
    let mut reached = vec![false; phases];
    let mut open = vec![0];
    while let Some(from) = open.pop() {
        if !std::mem::replace(&mut reached[from], true) {
            open.extend((0..phases).filter(|&to| rate(from, to) > 0.0));
        }
    }
    reached
}

/// The stationary law of an irreducible chain, by state reduction (Grassmann, Taksar and Heyman 1985): without a
/// subtraction, so that every probability is right to nearly all digits.
fn stationary_law(switching: &[Vec<f64>]) -> Vec<f64> {
    let n = switching.len();
    let mut rates = switching.to_vec();
    // Fold the last phase into those before it: who enters it leaves it for j with probability rates[last][j] / sum.
    for last in (1..n).rev() {
        let (before, from_last) = rates.split_at_mut(last);
        let sum: f64 = from_last[0][..last].iter().sum();
        for row in before {
            let entering = row[last] / sum;
            row[last] = entering;
            for (rate, exit) in row[..last].iter_mut().zip(&from_last[0][..last]) {
                *rate += entering * exit;
            }
        }
    }
    let mut law = vec![1.0; n];
    for phase in 1..n {
        law[phase] = (0..phase).map(|before| law[before] * rates[before][phase]).sum();
    }
    let total: f64 = law.iter().sum();
    law.iter().map(|weight| weight / total).collect()
}

/// Draws an index with probability proportional to its weight; `u` is uniform below the sum of the weights.
fn pick(weights: &[f64], mut u: f64) -> usize {
    for (i, &weight) in weights.iter().enumerate() {
        if u < weight {
            return i;
        }
        u -= weight;
    }
    // Rounding may leave `u` just above the sum.
    weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
}

/// The process as it runs.
pub(super) struct Phases<'a> {
    process: &'a MarkovModulated,
    /// The mean arrival rate.
    rate: f64,
    phase: usize,
}

impl<'a> Phases<'a> {
    pub(super) fn new(process: &'a MarkovModulated, rate: f64, stream: &mut Stream) -> Self {
        let phase = pick(&process.stationary, stream.uniform());
        Self { process, rate, phase }
    }

    /// A change of phase is an event of its own: between two arrivals there may be ever so many.
    #[inline(never)]
    pub(super) fn next(&mut self, now: f64, stream: &mut Stream) -> Next {
        let arriving = self.process.rates[self.phase] * self.rate;
        let total = arriving + self.process.leaving[self.phase];
        let time = now + stream.exponential() / total;
        let u = stream.uniform() * total;
        if u < arriving {
            return Next::job(time);
        }
        let switching = &self.process.switching[self.phase];
        if self.process.leaving[self.phase] > 0.0 {
            self.phase = pick(switching, u - arriving);
        }
        Next { time, reaches: Reaches::Nobody, size: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Component;

    fn chain() -> Vec<Vec<f64>> {
        vec![vec![0.0, 1.0, 0.5], vec![0.25, 0.0, 0.0], vec![0.0, 2.0, 0.0]]
    }

    #[test]
    fn the_stationary_law_balances() {
        let chain = chain();
        let law = stationary_law(&chain);
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        for phase in 0..3 {
            let out = law[phase] * chain[phase].iter().sum::<f64>();
            let into: f64 = (0..3).map(|from| law[from] * chain[from][phase]).sum();
            assert!((out - into).abs() < 1e-15, "{law:?}");
        }
        // Two phases are known in closed form, however far apart.
        let law = stationary_law(&[vec![0.0, 1e-100], vec![1.0, 0.0]]);
        assert_eq!(law, [1.0, 1e-100]);
        assert_eq!(stationary_law(&[vec![0.0]]), [1.0]);
    }

    /// Arrivals, time per phase and the mean rate, over a long run.
    #[test]
    fn the_mean_rate_is_the_one_asked_for() {
        let process = MarkovModulated::new(&[4.0, 0.0, 1.0], &chain()).expect("a process");
        // Independent runs, so that the spread is known.
        let counts: Vec<f64> = (0..200)
            .map(|run| {
                let mut stream = Stream::new(9, run, Component::Arrivals);
                let mut phases = Phases::new(&process, 2.5, &mut stream);
                let (mut now, mut jobs) = (0.0, 0);
                while now < 500.0 {
                    let next = phases.next(now, &mut stream);
                    now = next.time;
                    jobs += u32::from(now < 500.0 && next.reaches == Reaches::Drawn);
                }
                f64::from(jobs)
            })
            .collect();
        let n = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / n;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (n - 1.0);
        assert!((mean - 1250.0).abs() < 4.0 * (variance / n).sqrt(), "{mean}");
        assert!(variance > 2.0 * mean, "rates that vary make counts vary more than Poisson ones: {variance}");
    }

    #[test]
    fn broken_chains_are_refused_where_they_break() {
        let path = |rates: &[f64], switching: &[&[f64]]| {
            let switching: Vec<_> = switching.iter().map(|row| row.to_vec()).collect();
            MarkovModulated::new(rates, &switching).expect_err("it is broken").path
        };
        let two: &[&[f64]] = &[&[0.0, 1.0], &[1.0, 0.0]];
        assert_eq!(path(&[], &[]), "rates");
        assert_eq!(path(&[0.0, 0.0], two), "rates");
        assert_eq!(path(&[1.0, -1.0], two), "rates[1]");
        assert_eq!(path(&[1.0, f64::INFINITY], two), "rates[1]");
        assert_eq!(path(&[1.0], two), "switching");
        assert_eq!(path(&[1.0, 2.0], &[&[0.0, 1.0], &[1.0]]), "switching[1]");
        assert_eq!(path(&[1.0, 2.0], &[&[0.0, 1.0], &[-1.0, 0.0]]), "switching[1][0]");
        assert_eq!(path(&[1.0, 2.0], &[&[0.0, 1.0], &[1.0, 3.0]]), "switching[1][1]");
        assert_eq!(path(&[1.0, 2.0], &[&[0.0, 1.0], &[0.0, 0.0]]), "switching");
        assert_eq!(path(&[1.0, 2.0], &[&[0.0, 0.0], &[1.0, 0.0]]), "switching");
        assert_eq!(path(&[1.0, 2.0], &[&[0.0, f64::MAX], &[f64::MIN_POSITIVE, 0.0]]), "");
    }

    /// One phase is Poisson.
    #[test]
    fn one_phase_is_enough() {
        let process = MarkovModulated::new(&[7.0], &[vec![0.0]]).expect("a process");
        let mut stream = Stream::new(1, 0, Component::Arrivals);
        let mut phases = Phases::new(&process, 2.0, &mut stream);
        assert!((0..1000).all(|_| phases.next(0.0, &mut stream).reaches == Reaches::Drawn));
        assert_eq!(process.fastest_rate(2.0), 2.0);
    }
}

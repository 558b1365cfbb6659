//! Choices that look at nothing: every server is a queue of its own.

use super::law::Tally;
use super::messages::Messages;
use super::not_solved::NotSolved;
use crate::model::{ServerClass, System};

/// Probabilities below this are left out.
const NEGLIGIBLE: f64 = 1e-17;

/// The most lengths that are listed.
const LONGEST: usize = 1_000_000;

/// The law of one server of a class, and the fraction of the jobs that it is sent.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) lengths: Vec<f64>,
    pub(super) share: f64,
}

/// An M/M/1 queue, or M/M/1/b, for each class: `p_k` in proportion to `rho^k`.
///
/// # Errors
/// If a server is overloaded and its buffer unlimited, or its queue too long to be listed.
pub(super) fn queues(system: &System, shares: &[f64]) -> Result<Vec<Queue>, NotSolved> {
    let law = |(class, &share): (&ServerClass, &f64)| {
        let load = share * system.arrivals.rate / class.rate;
        let longest = system.buffer.map_or(usize::MAX, |buffer| buffer as usize);
        if load >= 1.0 && system.buffer.is_none() {
            let why = format!("a server of rate {} is sent {} jobs per unit of time", class.rate, load * class.rate);
            return Err(NotSolved::no_steady_state(why));
        }
        let matter = if load < 1.0 { (NEGLIGIBLE.ln() / load.ln()).ceil() as usize } else { usize::MAX };
        let last = longest.min(matter);
        if last > LONGEST {
            return Err(NotSolved::too_large(format!("queues of more than {LONGEST} jobs matter")));
        }
        // Powers of the smaller of rho and 1 / rho, so that none overflows.
        let power = |k: usize| if load <= 1.0 { load.powf(k as f64) } else { load.powf(k as f64 - last as f64) };
        let mut lengths: Vec<f64> = (0..=last).map(power).collect();
        let total: f64 = lengths.iter().rev().sum();
        lengths.iter_mut().for_each(|p| *p /= total);
        Ok(Queue { lengths, share })
    };
    system.servers.classes().iter().zip(shares).map(law).collect()
}

/// What independent queues have together.
pub(super) fn together(system: &System, queues: &[Queue], messages: &Messages) -> Tally {
    let classes = system.servers.classes();
    let counted = || queues.iter().zip(classes).map(|(queue, class)| (queue, class.count as f64));
    let levels = queues.iter().map(|queue| queue.lengths.len()).max().unwrap_or(0);
    let mut tally = Tally { arrived: 1.0, messages: messages.per_choice(), ..Tally::default() };
    let mut tails: Vec<f64> = vec![0.0; queues.len()];
    let mut longer = vec![0.0; levels.saturating_sub(1)];
    for level in (0..longer.len()).rev() {
        let (mut mean, mut variance) = (0.0, 0.0);
        for (i, (queue, count)) in counted().enumerate() {
            tails[i] += queue.lengths.get(level + 1).copied().unwrap_or(0.0);
            mean += count * tails[i];
            variance += count * tails[i] * (1.0 - tails[i]);
        }
        longer[level] = variance + mean * mean;
    }
    tally.longer = longer;
    let rate = system.arrivals.rate;
    for ((queue, count), class) in counted().zip(classes) {
        let full = system.buffer.and_then(|buffer| queue.lengths.get(buffer as usize)).copied().unwrap_or(0.0);
        tally.blocked += count * queue.share * full;
        let one = queue.lengths.get(1).copied().unwrap_or(0.0);
        let more: f64 = queue.lengths.iter().skip(2).sum();
        let reports = one * messages.per_completion(true) + more * messages.per_completion(false);
        tally.messages += count * class.rate * reports / rate;
    }
    tally.messages += messages.periodic() / rate;
    tally
}

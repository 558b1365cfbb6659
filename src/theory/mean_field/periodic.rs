//! Periodic updates of a common board, in the limit (Mitzenmacher 2000: the old-information model).

use super::MeanField;
use crate::model::{Law, System, law::Constant};
use crate::policy::information::{Periodic, Phase};
use crate::policy::{LevelLaw, Policy};

/// How little the start of a phase may change from one to the next.
const SETTLED: f64 = 1e-14;

/// The most work: multiplications, about a second.
const MOST_WORK: f64 = 2e8;

/// During a phase of length T a server with i jobs on the board gets jobs at the constant rate
/// `lambda q_i / p_i`, with p the law of the lengths at the start of the phase and q the law of the level joined; it is
/// an M/M/1 queue in between. The start of a phase is iterated until it repeats; values are averages over a phase.
pub(super) fn find(system: &System, policy: &Policy, board: &Periodic) -> Result<MeanField, String> {
    let Law::Constant(Constant(period)) = &board.period else {
        return Err("a board that is renewed at random times has no limit that stands still".into());
    };
    if board.phase == Phase::Own {
        return Err("no limit is worked out for servers that report at phases of their own".into());
    }
    if !board.delay.is_zero() || board.loss.get() > 0.0 {
        return Err("no limit is worked out for reports that are late or lost".into());
    }
    if policy.count_own_jobs {
        return Err("no limit is worked out for boards to which each dispatcher adds its own jobs".into());
    }
    if !system.servers.are_homogeneous() || system.buffer.is_some() {
        return Err(
            "the limit of periodic updates is worked out for servers of one rate without limited buffers".into()
        );
    }
    let law = LevelLaw::for_the_limit(&policy.dispatch, &system.servers)?;
    let rate = system.servers.classes()[0].rate;
    let load = system.load();
    let period = period.get() * rate;
    let mut levels = 32;
    loop {
        let phase = Phases { law: &law, load, period, levels, classes: system.servers.classes().len() };
        if let Some(tail) = phase.settle()? {
            let tails = vec![(tail, None); system.servers.classes().len()];
            return Ok(MeanField::from_tails(system, tails, false, "old information (Mitzenmacher 2000)"));
        }
        levels *= 2;
        if levels > 1024 {
            return Err("queues grow too long between updates to be followed".into());
        }
    }
}

struct Phases<'a> {
    law: &'a LevelLaw,
    load: f64,
    /// In services.
    period: f64,
    levels: usize,
    classes: usize,
}

impl Phases<'_> {
    /// The tail averaged over a phase; none when more levels are needed.
    fn settle(&self) -> Result<Option<Vec<f64>>, String> {
        let mut start = vec![0.0; self.levels + 1];
        start[0] = 1.0;
        let mut work = 0.0;
        loop {
            let (end, average, cost) = self.phase(&start);
            work += cost;
            if work > MOST_WORK {
                return Err("phases settle too slowly to be followed, or not at all".into());
            }
            // Mass at the end of the list has fallen out of it, or will.
            if end[self.levels] > 1e-14 {
                return Ok(None);
            }
            let moved = end.iter().zip(&start).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            start = end;
            if moved < SETTLED {
                let mut beyond = 0.0;
                let mut tail: Vec<f64> = average
                    .iter()
                    .rev()
                    .map(|mass| {
                        beyond += mass;
                        beyond
                    })
                    .collect();
                tail.pop();
                tail.reverse();
                return Ok(Some(tail));
            }
        }
    }

    /// The law of lengths at the end of a phase, the average over it, and the work it took.
    fn phase(&self, start: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
        let n = self.levels;
        let mut at_least = vec![0.0; n + 2];
        for k in (0..=n).rev() {
            at_least[k] = at_least[k + 1] + start[k];
        }
        at_least[0] = 1.0;
        // Classes of one rate are one; the law spreads over them in proportion.
        let shares = vec![at_least.iter().map(|s| s / self.classes as f64).collect::<Vec<f64>>(); self.classes];
        let joins = self.law.in_the_limit(&shares, self.load);
        let (mut end, mut average, mut work) = (vec![0.0; n + 1], vec![0.0; n + 1], 0.0);
        for i in 0..=n {
            if start[i] < 1e-18 {
                end[i] += start[i];
                average[i] += start[i];
                continue;
            }
            let joined: f64 = joins.iter().map(|law| law[i]).sum();
            work += self.queue(i, start[i], self.load * joined / start[i], &mut end, &mut average);
        }
        (end, average, work)
    }

    /// Adds an M/M/1 queue of this rate of arrivals from `i` jobs with this mass, by uniformization.
    fn queue(&self, i: usize, mass: f64, births: f64, end: &mut [f64], average: &mut [f64]) -> f64 {
        let n = self.levels;
        // Steps of at most 30 events keep the weights of the Poisson law from underflowing.
        let pieces = ((births + 1.0) * self.period / 30.0).ceil().max(1.0);
        let events = (births + 1.0) * self.period / pieces;
        let up = births / (births + 1.0);
        let (mut stepped, mut next, mut law) = (vec![0.0; n + 1], vec![0.0; n + 1], vec![0.0; n + 1]);
        law[i] = mass;
        let (mut low, mut high) = (i, i);
        let mut work = 0.0;
        for _ in 0..pieces as u64 {
            std::mem::swap(&mut stepped, &mut law);
            law.fill(0.0);
            let mut weight = (-events).exp();
            // The time spent with j events done, over the whole, is P(more than j events) / events.
            let mut more = 1.0 - weight;
            let mut j = 0.0;
            loop {
                for k in low..=high {
                    law[k] += weight * stepped[k];
                    average[k] += more / events * stepped[k] / pieces;
                }
                work += (high - low + 8) as f64;
                j += 1.0;
                weight *= events / j;
                more = (more - weight).max(0.0);
                if (j > events && weight < 1e-18) || work > MOST_WORK {
                    break;
                }
                let (below, above) = (low.saturating_sub(1), (high + 1).min(n));
                next[below..=above].fill(0.0);
                for k in low..=high {
                    next[(k + 1).min(n)] += up * stepped[k];
                    next[k.saturating_sub(1)] += (1.0 - up) * stepped[k];
                }
                (low, high) = (below, above);
                std::mem::swap(&mut stepped, &mut next);
            }
        }
        for k in 0..=n {
            end[k] += law[k];
        }
        work
    }
}

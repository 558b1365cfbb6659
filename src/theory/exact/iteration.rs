//! The stationary law of a sparse chain: Gauss-Seidel sweeps with aggregation by the number of jobs.

use super::gth::Band;

/// A chain with rates, seen from the states that are entered.
#[derive(Debug)]
pub(super) struct Matrix {
    /// Those who enter state i are at `first[i]..first[i + 1]`.
    first: Vec<usize>,
    from: Vec<u32>,
    rates: Vec<f64>,
    /// The rate at which each state is left.
    leaving: Vec<f64>,
    /// The states in groups, in several ways that take turns.
    partitions: Vec<Partition>,
    /// Whether sweeps go one way only, along the phases of a slot.
    one_way: bool,
}

/// States in groups whose members differ in detail only.
#[derive(Debug)]
pub(super) struct Partition {
    /// The group of each state, counted from 0.
    group: Vec<u32>,
    groups: usize,
    /// How far a transition leads from group to group, but for those to group 0.
    reach: usize,
}

impl Partition {
    /// States of equal value are in one group.
    pub(super) fn by(values: &[usize]) -> Self {
        let mut levels = values.to_vec();
        levels.sort_unstable();
        levels.dedup();
        let group = values.iter().map(|value| levels.partition_point(|other| other < value) as u32).collect();
        Self { group, groups: levels.len(), reach: 1 }
    }
}

impl Matrix {
    /// The chain with these transitions (from, to, rate); states are swept in order.
    pub(super) fn new(
        mut partitions: Vec<Partition>,
        one_way: bool,
        transitions: impl Iterator<Item = (u32, u32, f64)> + Clone,
    ) -> Self {
        let states = partitions.first().map_or(0, |partition| partition.group.len());
        let mut leaving = vec![0.0; states];
        let mut first = vec![0_usize; states + 1];
        for (from, to, rate) in transitions.clone() {
            leaving[from as usize] += rate;
            for Partition { group, reach, .. } in &mut partitions {
                let (here, there) = (group[from as usize], group[to as usize]);
                if there > 0 {
                    *reach = (*reach).max(here.abs_diff(there) as usize);
                }
            }
            first[to as usize + 1] += 1;
        }
        for i in 0..states {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let mut from = vec![0; first[states]];
        let mut rates = vec![0.0; first[states]];
        for (source, to, rate) in transitions {
            let place = &mut next[to as usize];
            from[*place] = source;
            rates[*place] = rate;
            *place += 1;
        }
        Self { first, from, rates, leaving, partitions, one_way }
    }

    /// Betters the law until the flow that does not balance, per unit of time, is at most `tolerance`, it betters no
    /// more, or `cycles` are over; tells that flow and the cycles used.
    pub(super) fn improve(&self, law: &mut [f64], tolerance: f64, cycles: usize) -> (f64, usize) {
        let mut best = f64::INFINITY;
        let mut stalled = 0;
        let mut residual = f64::INFINITY;
        let mut used = 0;
        while used < cycles {
            self.aggregate(&self.partitions[used % self.partitions.len()], law);
            used += 1;
            self.sweep(law);
            residual = self.residual(law);
            if residual <= tolerance {
                break;
            }
            if residual < 0.9 * best {
                best = residual;
                stalled = 0;
            } else {
                stalled += 1;
            }
            // Rounding sets a floor of some 1e-16 of the whole flow.
            if stalled >= 20 {
                break;
            }
        }
        (residual, used)
    }

    /// A state by itself is never left; every other leads back to the start.
    fn balance(&self, law: &mut [f64], state: usize) {
        if self.leaving[state] > 0.0 {
            law[state] = self.enter(law, state) / self.leaving[state];
        }
    }

    fn enter(&self, law: &[f64], state: usize) -> f64 {
        let places = self.first[state]..self.first[state + 1];
        let from = &self.from[places.clone()];
        from.iter().zip(&self.rates[places]).map(|(&source, rate)| law[source as usize] * rate).sum()
    }

    fn sweep(&self, law: &mut [f64]) {
        let states = self.leaving.len();
        for i in 0..states {
            self.balance(law, i);
        }
        if !self.one_way {
            for i in (0..states).rev() {
                self.balance(law, i);
            }
        }
        normalize(law);
    }

    /// Gives each group the weight that the chain of groups has, as the states within stand to each other (Takahashi
    /// 1975; Koury, McAllister and Stewart 1984).
    fn aggregate(&self, partition: &Partition, law: &mut [f64]) {
        let (group_of, groups) = (&partition.group, partition.groups);
        let mut weights = vec![0.0; groups];
        for (i, &group) in group_of.iter().enumerate() {
            weights[group as usize] += law[i];
        }
        let mut band = Band::new(groups, partition.reach);
        for (i, &group) in group_of.iter().enumerate() {
            for place in self.first[i]..self.first[i + 1] {
                let source = self.from[place] as usize;
                let other = group_of[source] as usize;
                if other != group as usize && law[source] > 0.0 {
                    band.add(other, group as usize, law[source] * self.rates[place] / weights[other]);
                }
            }
        }
        let balanced = band.stationary();
        for (i, &group) in group_of.iter().enumerate() {
            let weight = weights[group as usize];
            if weight > 0.0 {
                law[i] *= balanced[group as usize] / weight;
            }
        }
    }

    /// Half the sum of what does not balance, per unit of time.
    fn residual(&self, law: &[f64]) -> f64 {
        (0..law.len()).map(|i| (self.enter(law, i) - law[i] * self.leaving[i]).abs()).sum::<f64>() / 2.0
    }
}

fn normalize(law: &mut [f64]) {
    let total: f64 = law.iter().sum();
    law.iter_mut().for_each(|p| *p /= total);
}

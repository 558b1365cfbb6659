//! Greedy strategies on true lengths: one below a bound if there is one, or one of least cost.

use super::{MeanField, birth_death};
use crate::model::System;
use crate::policy::Dispatch;
use crate::policy::dispatch::Weighting;

/// Levels that are tried for the average of below_average.
const DEEPEST: usize = 200;

pub(super) fn find(system: &System, dispatch: &Dispatch) -> Result<MeanField, String> {
    let full = system.load() >= 1.0;
    if full {
        // Only with limited buffers; at or above capacity no server that qualifies waits for a job.
        let shortest = matches!(dispatch, Dispatch::Shortest(_)) && system.servers.are_homogeneous();
        let buffer = system.buffer.unwrap_or(1) as usize;
        if !shortest || system.load() == 1.0 {
            return Err("no limit is worked out for greedy strategies at a load of 1 or more".into());
        }
        let tails = vec![(vec![1.0; buffer], None); system.servers.classes().len()];
        return Ok(MeanField::from_tails(system, tails, false, "all buffers are full"));
    }
    match dispatch {
        Dispatch::IdleFirst(_) | Dispatch::Shortest(_) | Dispatch::ShortestNormalized(_) => {
            let source = "an idle server is always found (Lu et al. 2011; Mukherjee et al. 2018)";
            Ok(below(system, 0, false, source))
        }
        Dispatch::BelowThreshold(threshold) => {
            let r = threshold.r as usize;
            if system.buffer.is_some_and(|buffer| buffer as usize <= r) {
                return Err("the buffer is not above the threshold".into());
            }
            let by_rate = threshold.weighting == Weighting::Rate;
            Ok(below(system, r, by_rate, "a server below the threshold is always found: birth and death up to r + 1"))
        }
        Dispatch::BelowAverage(below_average) => average(system, below_average.weighting == Weighting::Rate),
        Dispatch::ShortestDelay(_) if system.servers.are_homogeneous() => {
            Ok(below(system, 0, false, "an idle server is always found"))
        }
        Dispatch::ShortestDelay(_) => shortest_delay(system),
        _ => Err("no limit is known for this strategy".into()),
    }
}

/// Servers of at most r jobs get all jobs, alike or by rate: each is a birth and death process up to r + 1 jobs, with
/// the rate of births that makes all of them together take all jobs.
fn below(system: &System, r: usize, by_rate: bool, source: &'static str) -> MeanField {
    let tails = below_tails(system, r, by_rate).into_iter().map(|tail| (tail, None)).collect();
    MeanField::from_tails(system, tails, false, source)
}

fn below_tails(system: &System, r: usize, by_rate: bool) -> Vec<Vec<f64>> {
    let servers = &system.servers;
    let rate_of_all = servers.total_rate();
    let tails = |births: f64| -> Vec<Vec<f64>> {
        let ratio = |rate: f64| if by_rate { births } else { births / rate };
        servers.classes().iter().map(|class| birth_death::constant_births(ratio(class.rate), r + 1)).collect()
    };
    let done = |births: f64| -> f64 {
        let parts = servers.classes().iter().zip(tails(births));
        parts.map(|(class, tail)| class.count as f64 * class.rate * tail.first().copied().unwrap_or(0.0)).sum()
    };
    let wanted = system.load() * rate_of_all;
    let (mut low, mut high) = (0.0, servers.largest_rate().max(1.0));
    while done(high) < wanted {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if done(middle) < wanted { low = middle } else { high = middle }
    }
    tails(0.5 * (low + high))
}

/// Below average: with b the whole part of the mean length, as below a threshold of b. Of several b that are consistent
/// with the mean that they give, a system stays near the one that it starts from, for long.
fn average(system: &System, by_rate: bool) -> Result<MeanField, String> {
    let servers = &system.servers;
    let mean = |tails: &[Vec<f64>]| -> f64 {
        let parts = servers.classes().iter().zip(tails);
        parts.map(|(class, tail)| class.count as f64 * tail.iter().sum::<f64>()).sum::<f64>() / servers.len() as f64
    };
    let deepest = system.buffer.map_or(DEEPEST, |buffer| DEEPEST.min(buffer as usize - 1));
    let mut found = Vec::new();
    for b in 0..=deepest {
        let mean = mean(&below_tails(system, b, by_rate));
        if mean.floor() == b as f64 {
            found.push(mean);
        } else if mean < b as f64 {
            break;
        }
    }
    if found.len() > 1 {
        let means: Vec<String> = found.iter().take(4).map(|mean| format!("{mean:.4}")).collect();
        return Err(format!(
            "there are {} fixed points, with mean lengths {}{}, and where a large system is depends on its start",
            found.len(),
            means.join(", "),
            if found.len() > 4 { ", ..." } else { "" }
        ));
    }
    Ok(below(system, 0, by_rate, "an idle server or one below average is always found"))
}

/// The least (length + 1) / rate: classes fill from the fastest on. At the class that is partly busy an idle server
/// costs 1 / mu*; faster classes hold as many jobs as keep the cost of one more from being less, and those for which it
/// is the same share what comes.
fn shortest_delay(system: &System) -> Result<MeanField, String> {
    let classes = system.servers.classes();
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by(|&a, &b| classes[b].rate.total_cmp(&classes[a].rate));
    let mut left = system.arrivals.rate;
    let mut partly = None;
    for group in order.chunk_by(|&a, &b| classes[a].rate == classes[b].rate) {
        let rate = classes[group[0]].rate;
        let capacity: f64 = group.iter().map(|&class| classes[class].count as f64 * rate).sum();
        if left < capacity {
            partly = Some((rate, left / capacity));
            break;
        }
        left -= capacity;
    }
    let Some((slow, busy)) = partly else {
        return Err("all servers are busy".into());
    };
    if busy == 0.0 {
        return Err("the faster classes are busy and the slower ones idle, without a rate to tell by how much".into());
    }
    // Jobs per server that qualifies, at any of the lengths of this cost.
    let births = slow * busy / (1.0 - busy);
    let tails = classes.iter().map(|class| {
        if class.rate < slow {
            return (Vec::new(), Some(0.0));
        }
        let mut held = 0;
        while (held as f64 + 1.0) / class.rate < 1.0 / slow {
            held += 1;
        }
        let mut tail = vec![1.0; held];
        if (held as f64 + 1.0) / class.rate == 1.0 / slow {
            tail.push(births / (births + class.rate));
        }
        (tail, None)
    });
    let tails: Vec<_> = tails.collect();
    if system.buffer.is_some_and(|buffer| tails.iter().any(|(tail, _)| tail.len() > buffer as usize)) {
        return Err("fast servers would hold more than their buffers".into());
    }
    Ok(MeanField::from_tails(system, tails, false, "classes fill by their delay, the fastest first"))
}

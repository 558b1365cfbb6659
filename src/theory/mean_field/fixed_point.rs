//! Which limit a system and a policy have, and the reasons where none is known.

use super::{LEVELS, MeanField, NEGLIGIBLE, birth_death, greedy, newton, periodic};
use crate::model::System;
use crate::policy::information::Information;
use crate::policy::{Dispatch, LevelLaw, Policy};
use crate::theory::Overload;

pub(super) fn find(system: &System, policy: &Policy) -> Result<MeanField, String> {
    if !system.is_memoryless() {
        return Err("arrivals and sizes are not Poisson and exponential".into());
    }
    let load = system.load();
    if load == 0.0 {
        return Err("no jobs arrive".into());
    }
    if load >= 1.0 && system.buffer.is_none() {
        return Err(format!("at a load of {load} there is no steady state"));
    }
    let waits = matches!(&policy.information, Information::Exact(exact) if !exact.query_delay.is_zero());
    if waits && policy.dispatch.lengths_asked(&system.servers) > 0 {
        return Err("jobs wait for answers before they join".into());
    }
    if let Some(found) = independent_queues(system, policy) {
        return found;
    }
    if system.buffer.is_none()
        && let Some(overload) = Overload::new(system, &policy.dispatch)
    {
        return Err(format!("there is no steady state: {overload}"));
    }
    if is_fresh(system, policy) {
        return on_exact_information(system, &policy.dispatch);
    }
    let Information::Rules(rules) = &policy.information else {
        return Err("no limit is known for views of the past or estimates that nothing refreshes".into());
    };
    match &rules.periodic {
        Some(board) if rules.push.is_none() && rules.pull.is_none() && rules.on_idle.is_none() => {
            periodic::find(system, policy, board)
        }
        _ => Err(no_limit_of_estimates(policy)),
    }
}

/// Whether the dispatchers know the true lengths. One that hears at once of every completion knows them; and of several
/// with equal shares, each knows enough idle servers.
fn is_fresh(system: &System, policy: &Policy) -> bool {
    if policy.information.is_exact() {
        return true;
    }
    let Information::Rules(rules) = &policy.information else { return false };
    let every = rules.pull.as_ref().is_some_and(|rule| rule.probability.get() == 1.0);
    let shares = system.dispatchers.shares();
    let hears = hears_of_idle(policy) && policy.count_own_jobs && system.buffer.is_none();
    if matches!(policy.dispatch, Dispatch::IdleFirst(_)) {
        // The lists of idle servers grow with N, and as much is taken from each as comes: they run empty ever more rarely
        // (Lu et al. 2011, with the number of servers per dispatcher growing).
        return hears && shares.iter().all(|share| (share - shares[0]).abs() < 1e-12);
    }
    hears && every && shares.len() == 1 && LevelLaw::for_the_limit(&policy.dispatch, &system.servers).is_ok()
}

/// Whether every server that becomes idle tells a dispatcher at once, and nothing else is told that may be late.
fn hears_of_idle(policy: &Policy) -> bool {
    let Information::Rules(rules) = &policy.information else { return false };
    let prompt = |law: &crate::model::Law, loss: f64| law.is_zero() && loss == 0.0;
    let on_idle = rules.on_idle.as_ref().map(|rule| prompt(&rule.delay, rule.loss.get()));
    let pull = rules.pull.as_ref().map(|rule| prompt(&rule.delay, rule.loss.get()));
    let others = rules.push.is_some() || rules.periodic.is_some();
    !others && on_idle.or(pull).unwrap_or(false)
}

fn no_limit_of_estimates(policy: &Policy) -> String {
    if matches!(policy.dispatch, Dispatch::IdleFirst(_)) {
        "idle servers are not told of at once and surely, or to dispatchers that take unequal shares".into()
    } else {
        "no limit is known for local estimates".into()
    }
}

/// Random routing: independent M/M/1 queues, of which each class has its own load. So is one server.
fn independent_queues(system: &System, policy: &Policy) -> Option<Result<MeanField, String>> {
    let servers = &system.servers;
    let n = servers.len() as f64;
    let (weighted, blind) = match &policy.dispatch {
        Dispatch::WeightedRandom(_) => (true, true),
        Dispatch::Random(_) => (false, true),
        Dispatch::PowerOfD(power) if power.d.get() == 1 => {
            (power.weighting == crate::policy::dispatch::Weighting::Rate, true)
        }
        Dispatch::OnePlusBeta(choices) if choices.beta.get() == 0.0 => (false, true),
        _ => (false, servers.len() == 1),
    };
    if !blind {
        return None;
    }
    let loads = servers.classes().iter().map(|class| {
        let share = if weighted { class.rate / servers.total_rate() } else { 1.0 / n };
        share * system.arrivals.rate / class.rate
    });
    let loads: Vec<f64> = loads.collect();
    if system.buffer.is_none()
        && let Some(load) = loads.iter().find(|&&load| load >= 1.0)
    {
        return Some(Err(format!("there is no steady state: some servers have the load {load}")));
    }
    let tails = loads.iter().map(|&load| birth_death::mm1(load, system.buffer)).collect();
    Some(Ok(MeanField::from_tails(system, tails, true, "independent M/M/1 queues")))
}

/// Strategies on the true lengths.
pub(super) fn on_exact_information(system: &System, dispatch: &Dispatch) -> Result<MeanField, String> {
    let law = LevelLaw::for_the_limit(dispatch, &system.servers)?;
    match dispatch {
        Dispatch::PowerOfD(_) | Dispatch::OnePlusBeta(_) | Dispatch::Ranked(_) => {
            if !system.servers.are_homogeneous() {
                let tails = newton::solve(system, &law)?.into_iter().map(|tail| (tail, None)).collect();
                let source = "zero of the mean-field drift, by Newton's method";
                return Ok(MeanField::from_tails(system, tails, false, source));
            }
            let rate = system.servers.classes()[0].rate;
            let per_server = system.arrivals.rate / system.servers.len() as f64 / rate;
            let joins = |s: f64| law.tail(s).unwrap_or(s);
            let tail = match system.buffer {
                None => unlimited(per_server, joins)?,
                Some(buffer) => limited(per_server, buffer, joins),
            };
            let tails = vec![(tail, None); system.servers.classes().len()];
            let source = match dispatch {
                Dispatch::PowerOfD(_) => "s_{k+1} = rho s_k^d (Vvedenskaya et al. 1996; Mitzenmacher 1996)",
                _ => "s_{k+1} = rho G(s_k), balance of each level",
            };
            Ok(MeanField::from_tails(system, tails, false, source))
        }
        _ => greedy::find(system, dispatch),
    }
}

/// `s_{k+1} = rho G(s_k)` from s_0 = 1.
fn unlimited(load: f64, joins: impl Fn(f64) -> f64) -> Result<Vec<f64>, String> {
    let mut tail = Vec::new();
    let mut level = load * joins(1.0);
    while level > NEGLIGIBLE {
        if tail.len() >= LEVELS {
            return Err(format!("more than {LEVELS} levels are reached"));
        }
        tail.push(level);
        level = load * joins(level);
    }
    Ok(tail)
}

/// With room for b jobs `s_{k+1} = rho (G(s_k) - G(s_b))` for k < b; G(s_b), the part that is lost, by bisection.
fn limited(load: f64, buffer: u32, joins: impl Fn(f64) -> f64) -> Vec<f64> {
    let levels = (buffer as usize).min(LEVELS);
    let tail_for = |lost: f64| {
        let mut tail = vec![1.0];
        while tail.len() <= levels {
            let before = tail[tail.len() - 1];
            let next = (load * (joins(before) - lost)).max(0.0);
            tail.push(next.min(1.0));
        }
        tail
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if joins(tail_for(middle)[levels]) > middle { low = middle } else { high = middle }
    }
    let mut tail = tail_for(0.5 * (low + high));
    tail.remove(0);
    tail
}

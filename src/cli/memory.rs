//! Whether a run fits into the memory of this machine, before it starts: the system would end it without a word.

use super::Failure;
use crate::scenario::Study;
use std::fs;
use std::num::NonZeroUsize;

const GIB: f64 = (1_u64 << 30) as f64;

/// How many threads run cells: as many as wanted, or as there are cores and memory for.
///
/// # Errors
/// If not even that fits.
pub(super) fn threads(study: &Study, wanted: Option<NonZeroUsize>) -> Result<NonZeroUsize, Failure> {
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    fitting(study, wanted, cores, available())
}

fn fitting(
    study: &Study,
    wanted: Option<NonZeroUsize>,
    cores: NonZeroUsize,
    available: Option<f64>,
) -> Result<NonZeroUsize, Failure> {
    let threads = wanted.unwrap_or(cores);
    let largest = study.points.iter().max_by(|a, b| a.plan.memory().total_cmp(&b.plan.memory()));
    let (Some(largest), Some(available)) = (largest, available) else { return Ok(threads) };
    let one = largest.plan.memory();
    let cells: u64 = study.points.iter().map(|point| point.plan.replications).fold(0, u64::saturating_add);
    let at_once = (threads.get() as f64).min(cells as f64);
    if one * at_once <= available {
        return Ok(threads);
    }
    let fit = NonZeroUsize::new((available / one) as usize);
    match fit {
        Some(fit) if wanted.is_none() => {
            tracing::warn!("there is memory for {fit} of {at_once} replications at once: {fit} threads are used");
            Ok(fit)
        }
        Some(fit) => Err(Failure::Input(format!(
            "--threads {threads}: {at_once} replications at once would take about {:.1} GiB, and {:.1} GiB are free\n  \
             help: write --threads {fit}",
            one * at_once / GIB,
            available / GIB
        ))),
        None => Err(Failure::Input(format!(
            "one replication would take about {:.1} GiB, and {:.1} GiB are free on this machine\n  help: {}",
            one / GIB,
            available / GIB,
            largest.plan.with_less_memory()
        ))),
    }
}

/// How many bytes this process can have, where the system tells: what is free, within the bounds of its group and its own.
fn available() -> Option<f64> {
    let group = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = group.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/").trim_end_matches('/').to_owned();
    let bytes = |file: String| fs::read_to_string(file).ok()?.trim().parse::<f64>().ok();
    let of_group = |folder: String| {
        let most = bytes(format!("{folder}/memory.max"))?;
        Some((most - bytes(format!("{folder}/memory.current")).unwrap_or(0.0)).max(0.0))
    };
    let free = fs::read_to_string("/proc/meminfo").ok().and_then(|text| free_memory(&text));
    let own = fs::read_to_string("/proc/self/limits").ok().and_then(|text| address_space(&text));
    let group = of_group(format!("/sys/fs/cgroup{group}"));
    [free, own, group].into_iter().flatten().reduce(f64::min)
}

/// From `/proc/meminfo`.
fn free_memory(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024.0)
}

/// From `/proc/self/limits`; no limit is no number.
fn address_space(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Plan;

    #[test]
    fn the_system_is_understood() {
        assert_eq!(free_memory("MemTotal:  9 kB\nMemAvailable:   24000 kB\n"), Some(24_576_000.0));
        assert_eq!(free_memory("something else"), None);
        assert_eq!(address_space("Limit  Soft Hard Units\nMax address space   1000 unlimited bytes\n"), Some(1000.0));
        assert_eq!(address_space("Max address space         unlimited            unlimited            bytes"), None);
    }

    #[test]
    fn what_does_not_fit_is_told_with_the_figure() {
        let text = "servers: 1e6\nload: 0.5\nengine: event\npolicy: {dispatch: {power_of_d: {d: 2}}}\n\
                    run: {warmup: 1, time: 2, replications: 4}\n";
        let plan = Plan::read(text, "text", "test", &[]).unwrap_or_else(|error| panic!("{error}"));
        let one = plan.memory();
        let study = Study::single(plan);
        let number = |n| NonZeroUsize::new(n).expect("above 0");
        let fit = |wanted: Option<usize>, memory: f64| {
            fitting(&study, wanted.map(number), number(8), Some(memory)).map(NonZeroUsize::get)
        };
        // No more than four replications run at once.
        assert_eq!(fit(None, 4.1 * one).expect("all fit"), 8);
        assert_eq!(fit(None, 2.5 * one).expect("two fit"), 2);
        let message = fit(Some(3), 2.5 * one).expect_err("three do not").to_string();
        assert!(message.contains("--threads 2"), "{message}");
        let message = fit(None, 0.5 * one).expect_err("none fits").to_string();
        assert!(message.contains("GiB") && message.contains("engine: "), "{message}");
        assert_eq!(fitting(&study, None, number(8), None).expect("nothing is known").get(), 8);
    }
}

//! Progress on a terminal or in a log, and the ear for Ctrl-C and other requests to end.

use crate::experiment::{self, Monitor};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Steps of the bar per cell.
const STEPS: f64 = 1e6;

/// A log gets a line no more often than this.
const INTERVAL: Duration = Duration::from_secs(10);

/// Shows progress and stops the run at Ctrl-C.
pub(super) struct Progress {
    bar: ProgressBar,
    /// Millionths of cells done in this run.
    done: AtomicU64,
    /// Millionths of cells that were there before.
    before: u64,
    /// When a line was written last, where there is no terminal.
    line: Option<Mutex<Instant>>,
    started: Instant,
    stop: Arc<AtomicBool>,
}

impl Progress {
    /// A bar for the cells that are wanted: lines where standard error is no terminal, nothing if `quiet` is set.
    pub(super) fn new(now: experiment::Progress, quiet: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        let steps = |cells: u64| cells.saturating_mul(STEPS as u64);
        let bar = if terminal && !quiet { ProgressBar::new(steps(now.wanted)) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent:>3} %  {eta} left  {msg}") {
            bar.set_style(style);
        }
        bar.set_position(steps(now.done));
        bar.reset_eta();
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        // The first Ctrl-C or SIGTERM stops the run in good order, the second at once.
        let listening = ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
        if let Err(error) = listening {
            tracing::warn!(%error, "Ctrl-C will end the run without its tables; finished cells are kept");
        }
        let started = Instant::now();
        let line = (!terminal && !quiet).then(|| Mutex::new(started));
        Self { bar, done: AtomicU64::new(0), before: steps(now.done), line, started, stop }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Whether Ctrl-C was pressed.
    pub(super) fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Monitor for Progress {
    fn advanced(&self, fraction: f64) {
        let step = (fraction * STEPS) as u64;
        let done = self.done.fetch_add(step, Ordering::Relaxed) + step;
        self.bar.set_position(self.before + done);
    }

    fn finished(&self, now: experiment::Progress) {
        // A precision may have asked for more cells.
        self.bar.set_length(now.wanted.saturating_mul(STEPS as u64));
        let widest = now.widest.map_or(String::new(), |width| format!("widest interval +-{:.2} %", 100.0 * width));
        if let Some(line) = &self.line {
            let mut last = line.lock().unwrap_or_else(PoisonError::into_inner);
            if last.elapsed() >= INTERVAL {
                *last = Instant::now();
                let percent = 100 * now.done / now.wanted.max(1);
                let seconds = self.started.elapsed().as_secs();
                let text = format!("{} of {} cells ({percent} %), {seconds} s, {widest}", now.done, now.wanted);
                // The run goes on if nobody listens.
                let _ = writeln!(io::stderr(), "{}", text.trim_end_matches(", "));
            }
        }
        self.bar.set_message(widest);
    }

    fn stopped(&self) -> bool {
        self.interrupted()
    }
}

//! A progress bar on a terminal, and the ear for Ctrl-C and other requests to end.

use crate::experiment::Monitor;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Steps of the bar per replication.
const STEPS: f64 = 1e6;

/// Shows progress and stops the run at Ctrl-C.
pub(super) struct Progress {
    bar: ProgressBar,
    /// Millionths of replications done.
    done: AtomicU64,
    stop: Arc<AtomicBool>,
}

impl Progress {
    /// A bar for so many replications; hidden when standard error is no terminal or `quiet` is set.
    pub(super) fn new(replications: u64, quiet: bool) -> Self {
        let visible = !quiet && std::io::stderr().is_terminal();
        let bar =
            if visible { ProgressBar::new(replications.saturating_mul(STEPS as u64)) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent:>3} %  {eta} left") {
            bar.set_style(style);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        // The first Ctrl-C or SIGTERM stops the run in good order, the second at once.
        let listening = ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
        if let Err(error) = listening {
            tracing::warn!(%error, "Ctrl-C will end the run without saving");
        }
        Self { bar, done: AtomicU64::new(0), stop }
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
        self.bar.set_position(done);
    }

    fn stopped(&self) -> bool {
        self.interrupted()
    }
}

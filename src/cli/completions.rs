//! `herdsim completions`: what a shell completes with.

use super::{Arguments, Failure, print};
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Arguments of `herdsim completions`.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "herdsim", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}

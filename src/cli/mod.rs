//! The command line: one file per subcommand.

mod check;
mod compare;
mod completions;
mod explain;
mod finished;
mod list;
mod load;
mod man;
mod memory;
mod merge;
mod plot;
mod progress;
mod report;
mod run;
mod schema;
mod shard;
mod table;
mod tables;
mod theory;

use clap::{ArgAction, Parser, Subcommand};
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// Exact simulation of load balancing with stale information.
#[derive(Debug, Parser)]
#[command(name = "herdsim", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Log more to standard error: -v what is done, -vv each replication (RUST_LOG refines it).
    #[arg(short, long, action = ArgAction::Count, global = true)]
    verbose: u8,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a scenario and write its results.
    Run(run::Run),
    /// Run policies on the same arrivals and job sizes, and tell their differences.
    Compare(compare::Compare),
    /// Bring together the cells of shares that were run apart, and write the tables.
    Merge(merge::Merge),
    /// Make figures of results.
    Plot(plot::Plot),
    /// Print a scenario with all defaults filled in, and what is wrong with it, without running it.
    Check(check::Check),
    /// Print all that theory says of a scenario, without running it.
    Theory(theory::Theory),
    /// Print the JSON Schema of scenarios, for completion in editors.
    Schema,
    /// Print every strategy, information rule, law, metric and figure with a line each.
    List,
    /// Say what a metric, a column or a warning means: its unit, its equation, its key.
    Explain(explain::Explain),
    /// Make one HTML file of the results in a directory, to be read in any browser.
    Report(report::Report),
    /// Print completions for a shell.
    Completions(completions::Completions),
    /// Print the manual page, or write those of all commands.
    Man(man::Man),
}

/// How a command ended, other than well.
#[derive(Debug)]
enum Failure {
    /// The input cannot be used: exit code 2.
    Input(String),
    /// Something outside failed, such as a full disk: exit code 1.
    Outside(String),
    /// It was interrupted, after saving what was finished: exit code 130.
    Interrupted,
    /// Whoever read our output has enough.
    ClosedPipe,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Outside(error.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(message) | Self::Outside(message) => f.write_str(message),
            Self::Interrupted => f.write_str("interrupted; what is finished is kept: go on with --resume"),
            Self::ClosedPipe => f.write_str("the output was closed"),
        }
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // Help and version are output like any other, which may find its disk full.
        Err(told) if !told.use_stderr() => return ended(print_help(&told)),
        Err(told) => told.exit(),
    };
    start_log(arguments.verbose);
    let outcome = match arguments.command {
        Command::Run(run) => run.execute(),
        Command::Compare(compare) => compare.execute(),
        Command::Merge(merge) => merge.execute(),
        Command::Plot(plot) => plot.execute(),
        Command::Check(check) => check.execute(),
        Command::Theory(theory) => theory.execute(),
        Command::Schema => schema::execute(),
        Command::List => list::execute(),
        Command::Explain(explain) => explain.execute(),
        Command::Report(report) => report.execute(),
        Command::Completions(completions) => completions.execute(),
        Command::Man(man) => man.execute(),
    };
    ended(outcome)
}

fn print_help(told: &clap::Error) -> Result<(), Failure> {
    if io::stdout().is_terminal() { told.print().map_err(Failure::from) } else { print(&told.render().to_string()) }
}

/// The exit code of this process, with a word on standard error if there is something to say.
fn ended(outcome: Result<(), Failure>) -> ExitCode {
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    // Nothing can be done about a standard error that is gone too.
    match failure {
        Failure::ClosedPipe => return ExitCode::SUCCESS,
        _ => drop(writeln!(io::stderr(), "error: {failure}")),
    }
    ExitCode::from(match failure {
        Failure::Input(_) => 2,
        Failure::Interrupted => 130,
        Failure::Outside(_) | Failure::ClosedPipe => 1,
    })
}

fn start_log(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_target(false)
        .init();
}

/// Writes text to standard output.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => Failure::Outside(format!("standard output: {error}")),
    })
}

//! Arrivals: when jobs come, over all dispatchers. One file per process.

mod batch_poisson;
mod markov_modulated;
mod poisson;
mod trace;

pub use batch_poisson::{BatchPoisson, BatchSize};
pub use markov_modulated::MarkovModulated;
pub use trace::{Bounds, Trace, TraceError};

use super::law::{Draws, Law};
use crate::random::Stream;
use batch_poisson::Batches;
use markov_modulated::Phases;
use std::borrow::Cow;
use trace::Lines;

/// The stream of arrivals.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrivals {
    /// `lambda_sum`, jobs per unit of time over all dispatchers, on average; 0 means that no job ever arrives.
    pub rate: f64,
    /// How they come.
    pub process: Process,
}

/// How jobs come.
#[derive(Clone, Debug, PartialEq)]
pub enum Process {
    /// Poisson.
    Poisson,
    /// Independent times between arrivals with this law, in units of their mean, hence itself of mean 1.
    Renewal(Law),
    /// Poisson batches.
    BatchPoisson(BatchPoisson),
    /// Poisson with a rate that follows a Markov chain.
    MarkovModulated(MarkovModulated),
    /// Read from a file.
    Trace(Trace),
}

impl Arrivals {
    /// Every process: its tag in a scenario and a line about it.
    pub const CATALOGUE: &'static [(&'static str, &'static str)] = &[
        ("poisson", "Poisson (the default)"),
        ("renewal", "{renewal: LAW}: independent times between arrivals, of mean 1 in units of their mean"),
        ("batch_poisson", "{batch_poisson: {size: {constant: 3}}} or {geometric: {mean: 3}}: Poisson batches"),
        ("markov_modulated", "{markov_modulated: {rates: [2, 0.5], switching: [[0, 1], [1, 0]]}}: rates by phase"),
        ("trace", "{trace: {file: arrivals.csv}}: columns time and, if wanted, size and dispatcher"),
    ];

    /// Poisson arrivals of the given total rate.
    pub fn poisson(rate: f64) -> Self {
        Self { rate, process: Process::Poisson }
    }

    /// Whether arrivals are Poisson.
    pub fn are_poisson(&self) -> bool {
        match &self.process {
            Process::Poisson => true,
            Process::Renewal(law) => *law == Law::standard_exponential(),
            _ => false,
        }
    }

    /// Work per unit of time, in the time that a server of rate 1 takes for it. Only a trace brings sizes of its own.
    pub fn work_rate(&self) -> f64 {
        match &self.process {
            Process::Trace(trace) => self.rate * trace.mean_size(),
            _ => self.rate,
        }
    }

    /// The fastest that anything happens in the process, per unit of time.
    pub fn fastest_rate(&self) -> f64 {
        match &self.process {
            Process::MarkovModulated(process) => process.fastest_rate(self.rate),
            _ => self.rate,
        }
    }

    /// The process as it runs from time 0, with random numbers from this stream.
    ///
    /// # Errors
    /// If it is a trace whose file can no longer be read.
    pub fn start(&self, mut stream: Stream) -> Result<Source<'_>, Box<TraceError>> {
        let rate = self.rate;
        let course = match &self.process {
            Process::Trace(trace) => Course::Trace(Box::new(trace.read()?)),
            _ if rate == 0.0 => Course::Nothing,
            Process::Poisson => Course::Renewal(Draws::new(Cow::Owned(poisson::gap()), stream)),
            Process::Renewal(law) => Course::Renewal(Draws::new(Cow::Borrowed(law), stream)),
            Process::BatchPoisson(process) => Course::BatchPoisson(Batches::new(process, rate), stream),
            Process::MarkovModulated(process) => {
                let phases = Phases::new(process, rate, &mut stream);
                Course::MarkovModulated(phases, stream)
            }
        };
        Ok(Source { rate, course })
    }
}

/// What the process does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Next {
    /// When; infinity if nothing more happens.
    pub time: f64,
    /// Whom the job reaches.
    pub reaches: Reaches,
    /// The size of the job, if the process tells it.
    pub size: Option<f64>,
}

/// Whom an arriving job reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaches {
    /// A dispatcher drawn by the shares.
    Drawn,
    /// The dispatcher that the job before it has reached.
    Same,
    /// This dispatcher.
    Dispatcher(u32),
    /// Nobody: the process has only moved on, and no job arrives.
    Nobody,
}

impl Next {
    /// Nothing happens any more.
    pub const NEVER: Self = Self { time: f64::INFINITY, reaches: Reaches::Nobody, size: None };

    /// A job at a dispatcher that is drawn by the shares.
    #[inline]
    fn job(time: f64) -> Self {
        Self { time, reaches: Reaches::Drawn, size: None }
    }
}

/// A process that runs.
pub struct Source<'a> {
    rate: f64,
    course: Course<'a>,
}

/// What a running process has to remember.
#[expect(clippy::large_enum_variant, reason = "there is one in a run, and the largest is the usual one")]
enum Course<'a> {
    Nothing,
    /// The times between arrivals, in units of their mean.
    Renewal(Draws<'a>),
    BatchPoisson(Batches<'a>, Stream),
    MarkovModulated(Phases<'a>, Stream),
    Trace(Box<Lines>),
}

impl Source<'_> {
    /// What happens next, if the last thing happened `now`.
    ///
    /// # Errors
    /// If it is a trace whose file can no longer be read.
    #[inline(always)]
    pub fn next(&mut self, now: f64) -> Result<Next, Box<TraceError>> {
        Ok(match &mut self.course {
            Course::Nothing => Next::NEVER,
            Course::Renewal(gaps) => Next::job(now + gaps.next() / self.rate),
            Course::BatchPoisson(batches, stream) => batches.next(now, stream),
            Course::MarkovModulated(phases, stream) => phases.next(now, stream),
            Course::Trace(lines) => lines.next_arrival()?,
        })
    }
}

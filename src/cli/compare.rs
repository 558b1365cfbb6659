//! `herdsim compare`: policies beside each other on the same arrivals and job sizes.

use super::Failure;
use super::load::Source;
use super::run::Options;
use clap::Args;

/// Arguments of `herdsim compare`.
#[derive(Debug, Args)]
pub(super) struct Compare {
    #[command(flatten)]
    source: Source,
    /// A policy, for example --policy 'JSQ(2)={dispatch: {power_of_d: {d: 2}}}'; the first is the baseline. Without any,
    /// the scenario names them under `compare`.
    #[arg(short, long = "policy", value_name = "NAME={...}")]
    policies: Vec<String>,
    #[command(flatten)]
    options: Options,
}

impl Compare {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let study = self.source.study_comparing(&self.policies)?;
        if study.policies < 2 {
            let message = "there are no policies to compare\n  help: write compare: [{dispatch: ...}, {dispatch: ...}] in \
                           the scenario, or use --policy twice or more";
            return Err(Failure::Input(message.to_owned()));
        }
        self.options.execute(&study, self.source.file())
    }
}

//! What has been run already: the cells in results directories, with their study.

use super::Failure;
use crate::output::{Cells, Directory};
use crate::scenario::{Changes, Study};
use std::path::PathBuf;

/// The cells in these directories, which are of one experiment, and its study.
pub(super) fn collect(folders: &[PathBuf]) -> Result<(Study, Cells), Failure> {
    let cells = Directory::collect(folders)?;
    let version = env!("CARGO_PKG_VERSION");
    let origin = cells.origin();
    if origin.version != version {
        let message = format!("the cells were made by version {} of herdsim, this is {version}", origin.version);
        return Err(Failure::Input(message));
    }
    let study = Study::read(&origin.scenario, "the scenario of the cells", "scenario", Changes::default())
        .map_err(|errors| Failure::Input(errors[0].to_string()))?;
    Ok((study, cells))
}

//! Results directories as they are read back: the study whose cells they hold.

use super::Failure;
use crate::output::{Cells, Directory};
use crate::scenario::{Changes, Study};
use std::path::PathBuf;

/// The experiment that the cells of some directories are of.
pub(super) fn read(folders: &[PathBuf]) -> Result<(Study, Cells), Failure> {
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

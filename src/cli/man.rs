//! `herdsim man`: manual pages.

use super::{Arguments, Failure, print};
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;
use std::fs;
use std::path::{Path, PathBuf};

/// Arguments of `herdsim man`.
#[derive(Debug, Args)]
pub(super) struct Man {
    /// Write a page for each command to this directory, herdsim.1, herdsim-run.1, ..., instead of printing the first.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Man {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let mut command = Arguments::command();
        command.build();
        match &self.output {
            None => print(&String::from_utf8_lossy(&page(&command, "herdsim")?)),
            Some(folder) => {
                let told = |path: &Path, error| Failure::Outside(format!("{}: {error}", path.display()));
                fs::create_dir_all(folder).map_err(|error| told(folder, error))?;
                let mut pages = vec![("herdsim".to_owned(), command.clone())];
                let below = command.get_subcommands().filter(|below| below.get_name() != "help");
                pages.extend(below.map(|below| (format!("herdsim-{}", below.get_name()), below.clone())));
                for (name, command) in &pages {
                    let path = folder.join(format!("{name}.1"));
                    fs::write(&path, page(command, name)?).map_err(|error| told(&path, error))?;
                }
                print(&format!("{} pages are in {}\n", pages.len(), folder.display()))
            }
        }
    }
}

/// The page of a command under a name.
fn page(command: &Command, name: &str) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    Page::new(command.clone().display_name(name.to_owned())).title(name.to_uppercase()).render(&mut text)?;
    Ok(text)
}

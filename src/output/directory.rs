//! The results directory: claimed before the run, with the cells that it holds already.

use super::cells::{Cells, CellsError, Origin};
use super::manifest::MANIFEST;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder with the finished cells.
const CELLS: &str = "cells";

/// How the file names of cells end.
const ENDING: &str = "cells";

/// What may be in a directory that is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nothing; for a share of an experiment, other shares of it.
    Fresh,
    /// Results, which are replaced, and what else is among them.
    Replace,
    /// Cells of the same experiment, which count.
    Resume,
}

/// Why a directory cannot be had.
#[derive(Debug)]
pub enum DirectoryError {
    /// It is not for this run: it holds something else, or another run has it.
    Taken(String),
    /// It cannot be read or written to.
    Io(io::Error),
}

/// A directory for the results of a run. Its file of cells is locked while the cells live.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    /// The file of cells that is this run's own.
    own: PathBuf,
    /// The folders that had to be made for it, the innermost first.
    made: Vec<PathBuf>,
}

impl Directory {
    /// Claims a directory for share `share` (from 0) of `shares` of an experiment, and opens its cells.
    ///
    /// That files can be written there shows now, not after an hour's run. Of runs that start here at once, one gets
    /// the directory.
    ///
    /// # Errors
    /// If it holds what the claim does not allow, cells of another experiment, is no directory, or cannot be made or
    /// written to.
    pub fn claim(
        path: &Path,
        claim: Claim,
        (share, shares): (u64, u64),
        origin: Origin,
    ) -> Result<(Self, Cells), DirectoryError> {
        let told =
            |error: io::Error| DirectoryError::Io(io::Error::new(error.kind(), format!("{}: {error}", path.display())));
        let not_a_directory =
            |what: &str| DirectoryError::Taken(format!("{}: {what} is not a directory", path.display()));
        match path.try_exists() {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(not_a_directory("part of the path"));
            }
            Err(error) => return Err(told(error)),
            Ok(there) if there && !path.is_dir() => return Err(not_a_directory("what is there")),
            Ok(_) => {}
        }
        let cells = path.join(CELLS);
        let own = cells.join(format!("{}-of-{shares}.{ENDING}", share + 1));
        check_content(path, claim, shares, &own)?;
        if claim != Claim::Replace {
            // Before anything is made: what is there must be of the same experiment.
            cell_files(path).or_else(none_if_missing).map_err(told)?.iter().try_for_each(|file| origin.check(file))?;
        }
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let made = cells.ancestors().take_while(missing).map(Path::to_owned).collect();
        let directory = Self { path: path.to_owned(), own: own.clone(), made };
        let opened = fs::create_dir_all(&cells).map_err(told).and_then(|()| directory.open(claim, shares, origin));
        match opened {
            Ok(cells) => Ok((directory, cells)),
            Err(error) => {
                let _ = directory.made.iter().try_for_each(fs::remove_dir);
                Err(error)
            }
        }
    }

    fn open(&self, claim: Claim, shares: u64, origin: Origin) -> Result<Cells, DirectoryError> {
        let mut cells = Cells::none(origin);
        match claim {
            Claim::Resume => {
                cells.append_to(&self.own)?;
                self.clear(shares)?;
                // A single run goes on with what shares have done.
                let others = if shares == 1 { cell_files(&self.path)? } else { Vec::new() };
                others.iter().filter(|file| **file != self.own).try_for_each(|file| cells.read_from(file))?;
            }
            Claim::Replace => {
                cells.start(&self.own)?;
                let others = if shares == 1 { cell_files(&self.path)? } else { Vec::new() };
                others.iter().filter(|file| **file != self.own).try_for_each(fs::remove_file)?;
                self.clear(shares)?;
            }
            Claim::Fresh => {
                if self.own.try_exists()? {
                    return Err(DirectoryError::Taken(format!("{}: another run writes there", self.path.display())));
                }
                cells.start(&self.own)?;
            }
        }
        Ok(cells)
    }

    /// Removes what a killed run was writing; other shares may be writing at this moment.
    fn clear(&self, shares: u64) -> io::Result<()> {
        if shares > 1 {
            let own = self.own.with_extension("partial");
            return if own.try_exists()? { fs::remove_file(own) } else { Ok(()) };
        }
        remove_unfinished(&self.path)?;
        remove_unfinished(&self.path.join(CELLS))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the cells in order: their file does not tell which was finished first.
    ///
    /// # Errors
    /// If it cannot be written; then it stays as it was.
    pub fn tidy(&self, cells: &Cells) -> io::Result<()> {
        cells.write_in_order(&self.own)
    }

    /// Gives the directory up: what this run made goes, unless there is a finished cell.
    pub fn abandon(&self, cells: &Cells) {
        if cells.is_empty() {
            // A folder stays if something is in it after all.
            let _ = fs::remove_file(&self.own).and_then(|()| self.made.iter().try_for_each(fs::remove_dir));
        }
    }

    /// All cells of the given directories, for reading; the experiment is that of the first file.
    ///
    /// # Errors
    /// If there are none, or some are of another experiment.
    pub fn collect(folders: &[PathBuf]) -> Result<Cells, DirectoryError> {
        let mut files = Vec::new();
        for folder in folders {
            // What is named on the command line and not there is for its writer to mend.
            let here =
                cell_files(folder).map_err(|error| DirectoryError::Taken(format!("{}: {error}", folder.display())))?;
            if here.is_empty() {
                return Err(DirectoryError::Taken(format!("{}: holds no finished cells", folder.display())));
            }
            files.extend(here);
        }
        let Some(first) = files.first() else {
            return Err(DirectoryError::Taken("no directory is named".to_owned()));
        };
        let mut cells = Cells::none(Cells::origin_of(first)?);
        files.iter().try_for_each(|file| cells.read_from(file))?;
        Ok(cells)
    }
}

impl std::fmt::Display for DirectoryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Taken(message) => f.write_str(message),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DirectoryError {}

impl From<io::Error> for DirectoryError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<CellsError> for DirectoryError {
    fn from(error: CellsError) -> Self {
        match error {
            CellsError::Foreign(message) | CellsError::Busy(message) => Self::Taken(message),
            CellsError::Io(error) => Self::Io(error),
        }
    }
}

/// Refuses a directory with something in it that the claim does not allow.
fn check_content(path: &Path, claim: Claim, shares: u64, own: &Path) -> Result<(), DirectoryError> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let names: Vec<_> = entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
    if names.is_empty() {
        return Ok(());
    }
    let taken = |what: &str| Err(DirectoryError::Taken(format!("{}: {what}", path.display())));
    let has_cells = !cell_files(path)?.is_empty();
    // A run that was stopped at once may have left the folder of cells empty.
    if !has_cells && names == [OsStr::new(CELLS)] && path.join(CELLS).is_dir() {
        return Ok(());
    }
    let has_results = path.join(CELLS).is_dir() || path.join(MANIFEST).is_file();
    match claim {
        Claim::Replace if has_results => Ok(()),
        Claim::Replace => taken("is not empty and holds no results that --force could replace; choose another with -o"),
        Claim::Resume if has_cells => Ok(()),
        Claim::Resume => taken("is not empty and holds no finished cells to go on from; choose another with -o"),
        Claim::Fresh if shares > 1 && has_cells && names.len() == 1 && !own.exists() => Ok(()),
        Claim::Fresh if has_cells => {
            taken("holds finished cells; go on with --resume, replace them with --force, or choose another with -o")
        }
        Claim::Fresh if has_results => taken("holds results; replace them with --force, or choose another with -o"),
        Claim::Fresh => taken("exists and is not empty; choose another with -o"),
    }
}

/// No files, where there is no folder yet.
fn none_if_missing(error: io::Error) -> io::Result<Vec<PathBuf>> {
    if error.kind() == io::ErrorKind::NotFound { Ok(Vec::new()) } else { Err(error) }
}

/// The files of cells below a directory, in order.
fn cell_files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(path.join(CELLS)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_dir() => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files: Vec<_> = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.retain(|file| file.extension() == Some(OsStr::new(ENDING)));
    files.sort();
    Ok(files)
}

/// Removes files that were not completed.
pub(super) fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let file = entry?.path();
        if file.extension() == Some(OsStr::new("partial")) {
            fs::remove_file(file)?;
        }
    }
    Ok(())
}

/// A file name that every system accepts, made from a scenario's name: letters, digits, `-`, `_` and `.`, at most 80
/// characters. A name that had to be changed gets a number made from the original, so that two names do not meet.
pub fn portable_name(name: &str) -> String {
    const LIMIT: usize = 80;
    let portable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut result = String::new();
    for c in name.trim().chars() {
        if (portable(c) && (c != '-' || !result.is_empty())) || (c == '.' && !result.is_empty()) {
            result.push(c);
        } else if !result.is_empty() && !result.ends_with('-') {
            result.push('-');
        }
    }
    let result = result.trim_end_matches(['-', '.']);
    // Spaces are the one change that everybody expects and that needs no number.
    let device =
        ["con", "prn", "aux", "nul"].contains(&result.split('.').next().unwrap_or_default().to_lowercase().as_str());
    if !result.is_empty() && !device && result.len() <= LIMIT && name.trim().replace(' ', "-") == result {
        return result.to_owned();
    }
    // FNV-1a over the original name.
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let kept = result.get(..result.len().min(LIMIT - 9)).unwrap_or_default();
    let kept = if kept.is_empty() || device { "scenario" } else { kept };
    format!("{kept}-{:08x}", hash as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_portable_short_and_distinct() {
        assert_eq!(portable_name("supermarket"), "supermarket");
        assert_eq!(portable_name("two words"), "two-words");
        let odd = ["a/b", "a:b", "../x", "", ".", "caf\u{e9}", "a\nb", "<b>", "CON?", &"x".repeat(300)];
        let names: std::collections::BTreeSet<String> = odd.iter().map(|name| portable_name(name)).collect();
        assert_eq!(names.len(), odd.len());
        for name in names {
            assert!(!name.is_empty() && name.len() <= 80 && !name.starts_with('.'), "{name}");
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)), "{name}");
        }
    }
}

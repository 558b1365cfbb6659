//! The results directory: claimed before the run, filled after it.

use super::format::Format;
use super::hgrm::{percentile_name, write_percentiles};
use super::hlog::ResponseLog;
use super::manifest;
use super::results::Results;
use super::table::TABLES;
use super::table_writer::TableWriter;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Stands in the directory while a run has it.
const MARKER: &str = ".herdsim-running";

/// A file that is being written.
type Out = BufWriter<File>;

/// A directory for results that can be written to.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    /// The folders that had to be made for it, the innermost first.
    made: Vec<PathBuf>,
}

impl Directory {
    /// Claims a directory: makes it, or takes it if it is empty, or whatever it holds with `force`.
    ///
    /// # Errors
    /// If it holds something and `force` is not set, is no directory, or cannot be made or written to.
    pub fn claim(path: &Path, force: bool) -> io::Result<Self> {
        let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        if path.try_exists().map_err(told)? && !path.is_dir() {
            let kind = io::ErrorKind::NotADirectory;
            return Err(io::Error::new(kind, format!("{}: exists and is not a directory", path.display())));
        }
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let made = path.ancestors().take_while(missing).map(Path::to_owned).collect();
        fs::create_dir_all(path).map_err(told)?;
        let taken = |what: &str| {
            let message = format!("{}: {what}; choose another with -o, or use --force", path.display());
            io::Error::new(io::ErrorKind::AlreadyExists, message)
        };
        // Of runs that start here at once, one makes the marker. It also shows now, not after an hour's run, whether
        // files can be written.
        let marker = path.join(MARKER);
        match File::options().write(true).create(true).truncate(true).create_new(!force).open(&marker) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(taken("another run writes there, or was killed"));
            }
            Err(error) => {
                Self { path: path.to_owned(), made }.abandon();
                return Err(told(error));
            }
        }
        let directory = Self { path: path.to_owned(), made };
        if !force {
            for entry in fs::read_dir(path).map_err(told)? {
                if entry.map_err(told)?.file_name() != MARKER {
                    return Err(taken("exists and is not empty"));
                }
            }
        }
        Ok(directory)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all files of a single point, its tables as CSV. Each appears under its name only when it is complete;
    /// the manifest comes last, so that it vouches for the others.
    ///
    /// # Errors
    /// If a file cannot be written; those written before stay.
    pub fn write(&self, results: &Results) -> io::Result<()> {
        self.file("scenario.yaml", |mut out| {
            out.write_all(results.scenario_yaml.as_bytes())?;
            Ok(out)
        })?;
        for table in &TABLES {
            for &format in Format::ALL {
                let name = table.file_name(format);
                if format != Format::Csv || !(table.is_wanted)(results) {
                    // One that is there is of the results that these replace.
                    remove_if_there(&self.path.join(name))?;
                    continue;
                }
                self.file(&name, |out| {
                    let mut writer = TableWriter::new(table, format, &[], out)?;
                    writer.add(results)?;
                    writer.finish()
                })?;
            }
        }
        self.file(&percentile_name(results.point, false), |mut out| {
            write_percentiles(results, &mut out)?;
            Ok(out)
        })?;
        self.file("response_time.hlog", |out| {
            let mut log = ResponseLog::new(out, false)?;
            log.add(results)?;
            log.finish()
        })?;
        self.file("manifest.json", |mut out| {
            manifest::write(results, &mut out)?;
            Ok(out)
        })
    }

    /// Writes a file under a name of its own, and gives it the right one when it is complete.
    fn file(&self, name: &str, write: impl FnOnce(Out) -> io::Result<Out>) -> io::Result<()> {
        let path = self.path.join(name);
        let unfinished = self.path.join(format!(".{name}.partial"));
        let written = File::create(&unfinished)
            .and_then(|file| write(BufWriter::new(file)))
            .and_then(|out| out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all())
            .and_then(|()| fs::rename(&unfinished, &path));
        written.map_err(|error| {
            let _ = fs::remove_file(&unfinished);
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })
    }

    /// Gives the directory up: if this run made it and nothing is in it, it goes.
    pub fn abandon(&self) {
        let _ = fs::remove_file(self.path.join(MARKER));
        // A folder stays if something is in it after all.
        let _ = self.made.iter().try_for_each(fs::remove_dir);
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.path.join(MARKER));
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())))
        }
        _ => Ok(()),
    }
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

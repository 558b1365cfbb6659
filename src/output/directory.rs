//! The results directory: claimed before the run, filled after it.

use super::FORMATS;
use super::results::Results;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A directory for results that can be written to.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    created: bool,
}

impl Directory {
    /// Claims a directory: makes it, or takes it if it is empty, or whatever it holds with `force`.
    ///
    /// # Errors
    /// If it holds something and `force` is not set, is no directory, or cannot be made or written to.
    pub fn claim(path: &Path, force: bool) -> io::Result<Self> {
        let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let exists = path.try_exists().map_err(told)?;
        if exists {
            if !path.is_dir() {
                let kind = io::ErrorKind::NotADirectory;
                return Err(io::Error::new(kind, format!("{}: exists and is not a directory", path.display())));
            }
            if !force && fs::read_dir(path).map_err(told)?.next().is_some() {
                return Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    format!("{}: exists and is not empty; choose another with -o, or use --force", path.display()),
                ));
            }
        } else {
            fs::create_dir_all(path).map_err(told)?;
        }
        let directory = Self { path: path.to_owned(), created: !exists };
        // Better to find out now than after an hour's run.
        let probe = path.join(".herdsim-probe");
        if let Err(error) = File::create(&probe).and_then(|mut file| file.write_all(b"probe")) {
            let _ = fs::remove_file(&probe);
            directory.abandon();
            return Err(told(error));
        }
        fs::remove_file(&probe).map_err(told)?;
        Ok(directory)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all files. Each appears under its name only when it is complete.
    ///
    /// # Errors
    /// If a file cannot be written; those written before stay.
    pub fn write(&self, results: &Results) -> io::Result<()> {
        for (name, write) in FORMATS {
            let path = self.path.join(name);
            let unfinished = self.path.join(format!(".{name}.partial"));
            let written =
                write_file(&unfinished, |out| write(results, out)).and_then(|()| fs::rename(&unfinished, &path));
            if let Err(error) = written {
                let _ = fs::remove_file(&unfinished);
                return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())));
            }
        }
        Ok(())
    }

    /// Gives the directory up: if this run made it and nothing is in it, it goes.
    pub fn abandon(&self) {
        if self.created {
            // It stays if something is in it after all.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// A file name that every system accepts, made from a scenario's name: letters, digits, `-`, `_` and `.`, at most 80
/// characters. A name that had to be changed gets a number made from the original, so that two names do not meet.
pub fn portable_name(name: &str) -> String {
    const LIMIT: usize = 80;
    let portable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut result = String::new();
    for c in name.trim().chars() {
        if portable(c) || (c == '.' && !result.is_empty()) {
            result.push(c);
        } else if !result.is_empty() && !result.ends_with('-') {
            result.push('-');
        }
    }
    let result = result.trim_end_matches(['-', '.']);
    // Spaces are the one change that everybody expects and that needs no number.
    if !result.is_empty() && result.len() <= LIMIT && name.trim().replace(' ', "-") == result {
        return result.to_owned();
    }
    // FNV-1a over the original name.
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let kept = result.get(..result.len().min(LIMIT - 9)).unwrap_or_default();
    let separator = if kept.is_empty() { "scenario-" } else { "-" };
    format!("{kept}{separator}{:08x}", hash as u32)
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

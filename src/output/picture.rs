//! Figures as files: each appears under its name only when it is complete.

use super::figure::Figure;
use super::svg::svg;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The folder of the figures in a directory of results.
pub const FIGURES: &str = "figures";

/// What a figure is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Vectors, for the web and for editing.
    Svg,
    /// Pixels; with the feature `png`.
    Png,
    /// Vectors, for papers; with the feature `pdf`.
    Pdf,
}

impl PictureFormat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Svg, Self::Png, Self::Pdf];

    /// The name, and the ending of files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// Whether this program was built with it.
    fn is_here(self) -> bool {
        match self {
            Self::Svg => true,
            Self::Png => cfg!(feature = "png"),
            Self::Pdf => cfg!(feature = "pdf"),
        }
    }

    /// A figure in this format.
    ///
    /// # Errors
    /// If there are no fonts to set its text in.
    pub fn bytes(self, figure: &Figure) -> io::Result<Vec<u8>> {
        let text = svg(figure);
        match self {
            Self::Svg => Ok(text.into_bytes()),
            #[cfg(feature = "png")]
            Self::Png => super::png::png(&text),
            #[cfg(feature = "pdf")]
            Self::Pdf => super::pdf::pdf(&text),
            #[cfg(not(all(feature = "png", feature = "pdf")))]
            missing => Err(io::Error::new(io::ErrorKind::Unsupported, told_missing(missing))),
        }
    }
}

fn told_missing(format: PictureFormat) -> String {
    let name = format.name();
    format!("this program was built without {name}; build it with cargo build --release --features {name}")
}

/// A format of pictures that there is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPictureFormat(String);

impl fmt::Display for UnknownPictureFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnknownPictureFormat {}

impl FromStr for PictureFormat {
    type Err = UnknownPictureFormat;

    fn from_str(text: &str) -> Result<Self, UnknownPictureFormat> {
        match Self::ALL.into_iter().find(|format| format.name() == text.trim()) {
            Some(format) if format.is_here() => Ok(format),
            Some(format) => Err(UnknownPictureFormat(told_missing(format))),
            None => Err(UnknownPictureFormat("known are: svg, png, pdf".to_owned())),
        }
    }
}

/// Writes a figure into a folder, which is made if need be, in some formats; gives the files.
///
/// # Errors
/// If a file cannot be written; then it is not there, or is as it was.
pub fn write_figure(folder: &Path, figure: &Figure, formats: &[PictureFormat]) -> io::Result<Vec<PathBuf>> {
    let told = |path: &Path, error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    fs::create_dir_all(folder).map_err(|error| told(folder, error))?;
    let mut files = Vec::new();
    for format in formats {
        let name = format!("{}.{}", figure.name, format.name());
        let (path, unfinished) = (folder.join(&name), folder.join(format!(".{name}.partial")));
        let bytes = format.bytes(figure).map_err(|error| told(&path, error))?;
        let written = File::create(&unfinished)
            .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&unfinished, &path));
        if let Err(error) = written {
            // Nothing is left of it, if that can be had.
            let _ = fs::remove_file(&unfinished);
            return Err(told(&path, error));
        }
        files.push(path);
    }
    Ok(files)
}

/// Removes the figures in a directory of results: they are of results that others replace.
///
/// # Errors
/// If one cannot be removed.
pub(super) fn remove_figures(results: &Path) -> io::Result<()> {
    let folder = results.join(FIGURES);
    if folder.is_symlink() {
        // What is elsewhere belongs to somebody else.
        return Ok(());
    }
    let entries = match fs::read_dir(&folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        let ours =
            |ending: &str| PictureFormat::ALL.iter().any(|format| format.name() == ending) || ending == "partial";
        if path.is_file() && path.extension().and_then(|ending| ending.to_str()).is_some_and(ours) {
            fs::remove_file(path)?;
        }
    }
    // A folder with something else in it stays.
    let _ = fs::remove_dir(folder);
    Ok(())
}

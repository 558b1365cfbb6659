//! The formats that tables are written in.

use std::fmt;
use std::str::FromStr;

/// A format of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Comma-separated values with a line of names (RFC 4180); a missing value is an empty field.
    Csv,
    /// A JSON array of one object per row; a missing value is null.
    Json,
    /// Apache Parquet.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    /// Every format that this build has.
    pub const ALL: &'static [Self] = &[
        Self::Csv,
        Self::Json,
        #[cfg(feature = "parquet")]
        Self::Parquet,
    ];

    /// Its name, which is also how its files end.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no format of this build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFormat(String);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == "parquet" {
            return f.write_str("parquet is not in this build; build it with the feature `parquet`");
        }
        let known: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        write!(f, "`{}` is not a format; use {}", self.0, known.join(", "))
    }
}

impl std::error::Error for UnknownFormat {}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.iter().copied().find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

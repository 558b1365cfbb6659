//! Plain results, and their files: each table is described once and written by every format.

mod axis;
mod cells;
mod column;
mod comparison;
mod csv;
mod directory;
mod estimates;
pub mod figure;
mod files;
mod format;
mod glossary;
mod hgrm;
mod hlog;
mod json;
mod manifest;
mod number;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "pdf")]
mod pdf;
mod picture;
#[cfg(feature = "png")]
mod png;
mod replications;
pub mod report;
mod response_time;
mod results;
mod snapshots;
pub mod svg;
mod table;
mod table_writer;
mod tail_histogram;
mod trajectory;

pub use axis::OfPoint;
pub use cells::{Cell, Cells, CellsError, Origin, Settled};
pub use column::{Field, Value};
pub use directory::{Claim, Directory, DirectoryError, portable_name};
pub use files::{Files, write_results};
pub use format::{Format, UnknownFormat};
pub use glossary::{Sort, Term, terms};
pub use hgrm::{percentile_name, write_percentiles};
pub use hlog::ResponseLog;
pub use manifest::{Doubt, Jobs, MANIFEST, Manifest, Summary};
pub use number::{interval, number};
pub use picture::{FIGURES, PictureFormat, UnknownPictureFormat, write_figure};
pub use results::{Comparison, Curve, Estimate, Mean, Replication, Results, TimeCourse};
pub use table::{COMPARISON, TABLES, Table};
pub use table_writer::TableWriter;

//! The report: what the command writes, and what a browser makes of it.

mod browser;
mod figures;
mod files;

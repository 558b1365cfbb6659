//! SVG as PDF, with its fonts.

use resvg::usvg;
use std::io;
use std::sync::Arc;

/// The document as a page.
pub(super) fn pdf(svg: &str) -> io::Result<Vec<u8>> {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_system_fonts();
    if fonts.is_empty() {
        return Err(io::Error::other("no font is installed to set text in; install one, such as DejaVu Sans"));
    }
    let options = usvg::Options { fontdb: Arc::new(fonts), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options).map_err(io::Error::other)?;
    svg2pdf::to_pdf(&tree, svg2pdf::ConversionOptions::default(), svg2pdf::PageOptions::default())
        .map_err(|error| io::Error::other(error.to_string()))
}

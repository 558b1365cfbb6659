//! SVG as PNG, in twice its size: sharp on paper and on dense screens.

use resvg::{tiny_skia, usvg};
use std::io;
use std::sync::Arc;

/// Pixels per pixel of the SVG.
const ZOOM: f32 = 2.0;

/// The pixels of a document.
pub(super) fn png(svg: &str) -> io::Result<Vec<u8>> {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_system_fonts();
    if fonts.is_empty() {
        return Err(io::Error::other("no font is installed to set text in; install one, such as DejaVu Sans"));
    }
    let options = usvg::Options { fontdb: Arc::new(fonts), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options).map_err(io::Error::other)?;
    let size = tree.size().to_int_size().scale_by(ZOOM).ok_or_else(|| io::Error::other("the picture is too large"))?;
    let mut pixels = tiny_skia::Pixmap::new(size.width(), size.height())
        .ok_or_else(|| io::Error::other("the picture is too large"))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(ZOOM, ZOOM), &mut pixels.as_mut());
    pixels.encode_png().map_err(io::Error::other)
}

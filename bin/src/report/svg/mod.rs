//! Self-contained SVG: it has no script and no font, loads nothing, and is readable on any page.
//!
//! Each picture has its own background, which is light, or dark if the reader prefers it. A renderer without media
//! queries shows the light one. These modules do not know any result.

mod frame;
mod heat;
mod line;
mod style;
mod text;

use core::fmt::{self, Write};

use super::document::Picture;

pub use frame::FramePlace;
pub use style::SHEET;

/// Writes a picture.
///
/// # Errors
///
/// Returns the error of `out`.
pub fn write(out: &mut dyn Write, picture: Picture<'_>, place: FramePlace) -> fmt::Result {
    match picture {
        Picture::Chart(chart) => line::write(out, chart, place),
        Picture::Matrix(matrix) => heat::write(out, matrix, place),
    }
}

#[cfg(test)]
mod tests;

//! Self-contained SVG: no script, no font, nothing fetched, readable on any page.
//!
//! Each picture brings its own ground, light, or dark where the reader prefers it;
//! a renderer that knows no media queries shows the light one. Nothing here knows a
//! result.

mod frame;
mod heat;
mod line;
mod style;
mod text;

use core::fmt::{self, Write};

use super::document::Picture;

pub use frame::Place;
pub use style::SHEET;

/// Writes a picture.
///
/// # Errors
///
/// Where `out` fails.
pub fn write(out: &mut dyn Write, picture: Picture<'_>, place: Place) -> fmt::Result {
    match picture {
        Picture::Chart(chart) => line::write(out, chart, place),
        Picture::Matrix(matrix) => heat::write(out, matrix, place),
    }
}

#[cfg(test)]
mod tests;

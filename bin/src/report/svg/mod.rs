//! Self-contained SVG: it has no script and no font, loads nothing, and is readable on any page.
//!
//! Each picture has its own background, which is light, or dark if the reader prefers it. A renderer without media
//! queries shows the light one. These modules do not depend on any result.

mod frame;
mod heat;
mod line;
mod style;
mod text;

use core::fmt::{self, Write};

use latency_core::text::Text;

use super::document::{Document, PageRole, Picture, Role};
use super::format::{Format, Purpose};

pub use frame::FramePlace;
pub use style::SHEET;

/// The first picture of a result, and nothing else.
pub const SVG: Format = Format {
    name: "svg",
    extension: "svg",
    purpose: Purpose::Picture,
    write: |out, _, describe| {
        // The origin comes after the picture, so that the result is described twice.
        let mut footer = Footer { words: Text::EMPTY, trust: Text::EMPTY };
        describe(&mut footer);
        let Footer { mut words, trust } = footer;
        // Text that does not fit is left out.
        if let Some(level) = level_of(trust.as_str()) {
            let _ = write!(words, "trust: {level} \u{b7} ");
        }
        let _ = write!(words, "latency-bench {}", env!("CARGO_PKG_VERSION"));
        let mut drawing = Drawing { out, place: FramePlace::File(words.as_str()), drawn: None };
        describe(&mut drawing);
        drawing.drawn.unwrap_or(Ok(()))
    },
};

/// Returns the level at the beginning of a statement of trust.
fn level_of(trust: &str) -> Option<&str> {
    trust.split([':', ';', ' ']).next().filter(|level| !level.is_empty())
}

/// The text of the footer.
struct Footer {
    /// The machine and the date.
    words: Text<320>,
    /// The level of the trust in the result, and its reasons.
    trust: Text<96>,
}

impl Document for Footer {
    fn sentence(&mut self, role: Role, words: fmt::Arguments<'_>) {
        match role {
            Role::Page(PageRole::Footer) => self.words = Text::of(words),
            Role::Trust if self.trust.is_empty() => self.trust = Text::of(words),
            _ => {}
        }
    }
}

struct Drawing<'o> {
    out: &'o mut dyn Write,
    place: FramePlace<'o>,
    drawn: Option<fmt::Result>,
}

impl Document for Drawing<'_> {
    fn wants_pictures(&self) -> bool {
        true
    }

    fn picture(&mut self, picture: Picture<'_>) {
        if self.drawn.is_none() {
            self.drawn = Some(write(self.out, picture, self.place));
        }
    }
}

/// Writes a picture.
///
/// # Errors
///
/// Returns the error of `out`.
pub fn write(out: &mut dyn Write, picture: Picture<'_>, place: FramePlace<'_>) -> fmt::Result {
    match picture {
        Picture::Chart(chart) => line::write(out, chart, place),
        Picture::Matrix(matrix) => heat::write(out, matrix, place),
    }
}

#[cfg(test)]
mod tests;

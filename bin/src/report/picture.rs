//! SVG: the first picture of a result, and nothing else of it.

use core::fmt::{self, Write};

use super::document::{Document, Format, Picture};
use super::svg;

/// A self-contained picture.
pub const SVG: Format = Format {
    name: "svg",
    extension: "svg",
    needs_picture: true,
    needs_attributes: false,
    collected: false,
    draws: true,
    write: |out, _, describe| {
        let mut drawing = Drawing { out, drawn: None };
        describe(&mut drawing);
        drawing.drawn.unwrap_or(Ok(()))
    },
};

struct Drawing<'o> {
    out: &'o mut dyn Write,
    drawn: Option<fmt::Result>,
}

impl Document for Drawing<'_> {
    fn picture(&mut self, picture: Picture<'_>) {
        if self.drawn.is_none() {
            self.drawn = Some(svg::write(self.out, picture, svg::Place::File));
        }
    }
}

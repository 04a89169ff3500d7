//! SVG: the first picture of a result, and nothing else.

use core::fmt::{self, Write};

use super::document::{Document, Picture};
use super::format::{Format, Purpose};
use super::svg;

/// A self-contained picture.
pub const SVG: Format = Format {
    name: "svg",
    extension: "svg",
    purpose: Purpose::Picture,
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
    fn wants_pictures(&self) -> bool {
        true
    }

    fn picture(&mut self, picture: Picture<'_>) {
        if self.drawn.is_none() {
            self.drawn = Some(svg::write(self.out, picture, svg::FramePlace::File));
        }
    }
}

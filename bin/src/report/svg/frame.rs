//! The frame of every picture: the element itself, its background, styles, title, subtitle and footer. This module does
//! not depend on any picture.

use core::fmt::{self, Write};
use latency_core::math::ToReal;

use latency_core::decimal::Trimmed;

use super::style;
use super::text::{self, Size};
use crate::report::escape::InMarkup;

/// The place where a picture is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramePlace<'a> {
    /// In a file of its own, with the text of its footer.
    File(&'a str),
    /// In an HTML page that has the style sheet; the number of the picture within the page.
    Page(u32),
}

/// The distance between the lines of a footer.
const FOOTER_LINE: f64 = 15.0;
/// The blank margin around a picture.
pub const EDGE: f64 = 24.0;

/// Returns title and subtitle, each with its class, its size and the distance between its lines.
fn heading<'h>(title: &'h str, subtitle: &'h str) -> [(&'h str, &'static str, Size, f64); 2] {
    [(title, "title", Size::Title, 24.0), (subtitle, "quiet", Size::Small, 17.0)]
}

/// Returns the height of title and subtitle in a picture of this width.
pub fn heading_height(width: f64, title: &str, subtitle: &str) -> f64 {
    let mut height = EDGE;
    for (words, _, size, line) in heading(title, subtitle) {
        height += text::lines(words, size, width - 2.0 * EDGE).count().real() * line;
    }
    height
}

/// Begins a document: writes its background, styles, title and subtitle.
///
/// HTML parsers know the namespace of SVG, so a page does not need its address.
pub fn begin(
    out: &mut dyn Write,
    place: FramePlace<'_>,
    (width, height): (f64, f64),
    title: &str,
    subtitle: &str,
) -> fmt::Result {
    let room = width - 2.0 * EDGE;
    let (namespace, footer) = match place {
        FramePlace::File(footer) => ("xmlns=\"http://www.w3.org/2000/svg\" ", footer),
        FramePlace::Page(_) => ("", ""),
    };
    let footer = || text::lines(footer, Size::Small, room);
    let bottom = height + FOOTER_LINE * footer().count().real();
    write!(
        out,
        "<svg {namespace}class=\"latency-bench\" role=\"img\" width=\"{width:.0}\" height=\"{bottom:.0}\" \
         viewBox=\"0 0 {width:.0} {bottom:.0}\" color=\"#1c2128\""
    )?;
    let name = InMarkup(title);
    match place {
        FramePlace::File(_) => {
            writeln!(out, ">\n<title>{name}</title>\n<style>\n{}</style>", style::SHEET)?;
        }
        FramePlace::Page(number) => writeln!(
            out,
            " id=\"chart-{number}\" aria-labelledby=\"picture-{number}\">\n<title \
             id=\"picture-{number}\">{name}</title>"
        )?,
    }
    writeln!(out, "<rect class=\"page\" width=\"{width:.0}\" height=\"{bottom:.0}\" rx=\"8\"/>")?;
    let mut baseline = height - 12.0;
    for line in footer() {
        baseline += FOOTER_LINE;
        text::text(out, ["foot", "end"], &Trimmed(width - EDGE), baseline, &line)?;
    }
    let mut baseline = EDGE - 6.0;
    for (words, class, size, distance) in heading(title, subtitle) {
        for line in text::lines(words, size, room) {
            baseline += distance;
            text::text(out, [class, ""], &Trimmed(EDGE), baseline, &line)?;
        }
    }
    Ok(())
}

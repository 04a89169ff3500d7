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

/// The distance between the lines of a title; below it, of a subtitle.
const TITLE_LINE: f64 = 24.0;
const SUBTITLE_LINE: f64 = 17.0;
/// The distance between the lines of a footer.
const FOOTER_LINE: f64 = 15.0;
/// The blank margin around a picture.
pub const EDGE: f64 = 24.0;

/// Returns the height of title and subtitle in a picture of this width.
pub fn heading_height(width: f64, title: &str, subtitle: &str) -> f64 {
    let room = width - 2.0 * EDGE;
    let titles = text::lines(title, Size::Title, room).count().real();
    let subtitles = text::lines(subtitle, Size::Small, room).count().real();
    EDGE + titles * TITLE_LINE + subtitles * SUBTITLE_LINE
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
    let right = width - EDGE;
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
    match place {
        FramePlace::File(_) => {
            let (title, sheet) = (InMarkup(&title), style::SHEET);
            writeln!(out, ">\n<title>{title}</title>\n<style>\n{sheet}</style>")?;
        }
        FramePlace::Page(number) => {
            let title = InMarkup(&title);
            writeln!(
                out,
                " id=\"chart-{number}\" aria-labelledby=\"picture-{number}\">\n<title \
                 id=\"picture-{number}\">{title}</title>"
            )?;
        }
    }
    writeln!(out, "<rect class=\"page\" width=\"{width:.0}\" height=\"{bottom:.0}\" rx=\"8\"/>")?;
    for (index, line) in footer().enumerate() {
        let y = height - 12.0 + FOOTER_LINE * (index + 1).real();
        text::text(
            out,
            format_args!("class=\"foot\" text-anchor=\"end\" x=\"{}\" y=\"{:.1}\"", Trimmed(right), y),
            &line,
        )?;
    }
    let mut baseline = EDGE - 6.0;
    for line in text::lines(title, Size::Title, room) {
        baseline += TITLE_LINE;
        text::text(
            out,
            format_args!("class=\"title\" x=\"{}\" y=\"{:.1}\"", Trimmed(EDGE), baseline),
            &line,
        )?;
    }
    for line in text::lines(subtitle, Size::Small, room) {
        baseline += SUBTITLE_LINE;
        text::text(
            out,
            format_args!("class=\"quiet\" x=\"{}\" y=\"{:.1}\"", Trimmed(EDGE), baseline),
            &line,
        )?;
    }
    Ok(())
}

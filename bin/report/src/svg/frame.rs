//! The frame of every picture: the element itself, its background, styles, title, subtitle and footer; and text in SVG:
//! its width, estimated without a font, and its lines. This module does not depend on any picture.

use core::fmt::{self, Display, Write};

use latency_core::{ToReal, Trimmed, math};

use super::style;
use crate::escape::InMarkup;
use crate::figures;

/// The place where a picture is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramePlace<'a> {
    /// In a file of its own, with the text of its footer.
    File(&'a str),
    /// Within a card: the left end, the top, the width and the height into which it is scaled.
    Card([u32; 4]),
    /// In an HTML page that has the style sheet; the number of the picture within the page.
    Page(u32),
}

impl FramePlace<'_> {
    /// Returns the width of a chart and the height of its plot. A page has smaller charts, whose letters are legible where
    /// a phone or a column shrinks them.
    pub fn size(self) -> [f64; 2] {
        match self {
            FramePlace::File(_) => [860.0, 340.0],
            FramePlace::Page(_) => [560.0, 230.0],
            FramePlace::Card(_) => [560.0, 160.0],
        }
    }
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
        height += lines(words, size, width - 2.0 * EDGE).count().real() * line;
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
        FramePlace::Page(_) | FramePlace::Card(_) => ("", ""),
    };
    let footer = || lines(footer, Size::Small, room);
    let bottom = height + FOOTER_LINE * footer().count().real();
    if let FramePlace::Card([x, y, wide, high]) = place {
        write!(out, "<svg x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" ")?;
        write!(out, "viewBox=\"0 0 {width:.0} {bottom:.0}\"")?;
    } else {
        write!(
            out,
            "<svg {namespace}class=\"latency-bench\" role=\"img\" width=\"{width:.0}\" height=\"{bottom:.0}\" \
         viewBox=\"0 0 {width:.0} {bottom:.0}\" color=\"#1c2128\""
        )?;
    }
    let name = InMarkup(title);
    match place {
        FramePlace::File(_) => {
            writeln!(out, ">\n<title>{name}</title>\n<style>\n{}</style>", style::SHEET)?;
        }
        FramePlace::Card(_) => writeln!(out, ">\n<title>{name}</title>")?,
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
        text(out, ["foot", "end"], &Trimmed(width - EDGE), baseline, &line)?;
    }
    let mut baseline = EDGE - 6.0;
    for (words, class, size, distance) in heading(title, subtitle) {
        for line in lines(words, size, room) {
            baseline += distance;
            text(out, [class, ""], &Trimmed(EDGE), baseline, &line)?;
        }
    }
    Ok(())
}

/// The sizes of the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// 17 pixels, semi-bold.
    Title,
    /// 12 pixels.
    Small,
}

impl Size {
    /// Returns the mean width of a character in DejaVu Sans, one of the widest fonts that the style sheet names.
    fn character(self) -> f64 {
        match self {
            Size::Title => 10.6,
            Size::Small => 7.0,
        }
    }
}

/// Returns a place in pixels, as text.
pub fn pixels(place: f64) -> impl Display {
    fmt::from_fn(move |out| write!(out, "{place:.1}"))
}

/// Writes a text element on its own line: its class and its anchor, each unless it is empty, and its place.
pub fn text(
    out: &mut dyn Write,
    look: [&str; 2],
    x: &dyn Display,
    y: f64,
    shown: &dyn Display,
) -> fmt::Result {
    begin_text(out, look)?;
    writeln!(out, " x=\"{x}\" y=\"{y:.1}\">{}</text>", InMarkup(shown))
}

/// Writes a text element that reads upwards around its middle.
pub fn upright(out: &mut dyn Write, class: &str, (x, y): (f64, f64), shown: &dyn Display) -> fmt::Result {
    begin_text(out, [class, "middle"])?;
    write!(out, " x=\"{x:.1}\" y=\"{y:.1}\" transform=\"rotate(-90 {x:.1} {y:.1})\"")?;
    writeln!(out, ">{}</text>", InMarkup(shown))
}

fn begin_text(out: &mut dyn Write, [class, anchor]: [&str; 2]) -> fmt::Result {
    out.write_str("<text")?;
    if !class.is_empty() {
        write!(out, " class=\"{class}\"")?;
    }
    if anchor.is_empty() { Ok(()) } else { write!(out, " text-anchor=\"{anchor}\"") }
}

/// Returns the approximate width of a text, in pixels.
pub fn width(shown: &dyn Display, size: Size) -> f64 {
    figures::width(shown).real() * size.character()
}

/// Returns the lines of a text, broken between words and about `room` pixels wide or less.
pub fn lines(text: &str, size: Size, room: f64) -> impl Iterator<Item = &str> {
    let most = (math::whole(room / size.character()) as usize).max(1);
    let mut rest = text.trim_ascii();
    core::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, after) = rest.split_at_checked(line_end(rest, most)).unwrap_or((rest, ""));
        rest = after.trim_ascii_start();
        Some(line.trim_ascii_end())
    })
}

/// Returns the end of the first line of a text: the last blank within `most` characters that is not before the unit of a
/// number, if one is in their second half, or `most` characters if the first word is longer.
fn line_end(text: &str, most: usize) -> usize {
    let Some((limit, _)) = text.char_indices().nth(most) else { return text.len() };
    let is_blank = |at: &usize| text.as_bytes().get(*at) == Some(&b' ');
    let is_apart = |at: usize| !text.as_bytes().get(at.wrapping_sub(1)).is_some_and(u8::is_ascii_digit);
    (0..=limit).filter(is_blank).max_by_key(|at| (is_apart(*at) && 2 * at >= limit, *at)).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn lines_break_between_words() {
        let broken = |text, room| lines(text, Size::Small, room).collect::<Vec<_>>();
        assert_eq!(broken("one two three", 700.0), ["one two three"]);
        assert_eq!(broken("one two three", 7.0 * 8.0), ["one two", "three"]);
        assert_eq!(broken("one two three", 7.0 * 7.0), ["one two", "three"]);
        assert_eq!(broken("µµµµµµ x", 7.0 * 4.0), ["µµµµ", "µµ x"]);
        assert_eq!(broken("memory 103 ns with", 7.0 * 12.0), ["memory", "103 ns with"]);
        assert_eq!(broken("1 2 3", 7.0 * 3.0), ["1 2", "3"]);
        assert_eq!(broken("  ", 70.0), [""; 0]);
        assert_eq!(broken("ab", -1.0), ["a", "b"]);
    }
}

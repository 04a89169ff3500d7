//! Text in SVG: its width, estimated without a font, and its lines.

use crate::report::escape::InMarkup;
use crate::report::figures;
use core::fmt::{self, Display, Write};
use core::slice;
use latency_core::decimal::Trimmed;
use latency_core::math::{self, ToReal};
use latency_core::packed::Packed;

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

/// The numbers of a template.
struct Filling<'o> {
    out: &'o mut dyn Write,
    numbers: slice::Iter<'o, f64>,
}

impl Write for Filling<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        part.chars().try_for_each(|character| match (character, self.numbers.as_slice()) {
            ('@' | '~', [number, ..]) => {
                self.numbers.next();
                match character {
                    '@' => write!(self.out, "{number:.1}"),
                    _ => write!(self.out, "{}", Trimmed(*number)),
                }
            }
            _ => self.out.write_char(character),
        })
    }
}

/// Writes a template. The next number replaces each `@` (rounded to a tenth of a pixel) and each `~` (exact).
pub fn fill(out: &mut dyn Write, template: Packed, numbers: &[f64]) -> fmt::Result {
    write!(Filling { out, numbers: numbers.iter() }, "{template}")
}

/// Writes a text element on its own line; its attributes are a template.
pub fn text(out: &mut dyn Write, attributes: Packed, numbers: &[f64], shown: &dyn Display) -> fmt::Result {
    out.write_str("<text ")?;
    fill(out, attributes, numbers)?;
    writeln!(out, ">{}</text>", InMarkup(shown))
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

/// Returns the end of the first line of a text: the last blank within `most` characters, or `most` characters if the
/// first word is longer.
fn line_end(text: &str, most: usize) -> usize {
    let Some((limit, _)) = text.char_indices().nth(most) else { return text.len() };
    let blank = text.char_indices().take(most + 1).filter(|(_, character)| *character == ' ').last();
    blank.map_or(limit, |(at, _)| at)
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
        assert_eq!(broken("  ", 70.0), [""; 0]);
        assert_eq!(broken("ab", -1.0), ["a", "b"]);
    }
}

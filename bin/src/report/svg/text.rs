//! Text in SVG: escaped, and as wide as can be told without a font.

use crate::report::figures;
use core::fmt::{self, Display, Write};

/// The sizes of the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// 17 pixels, semi-bold.
    Title,
    /// 12 pixels.
    Small,
}

impl Size {
    /// The mean width of a character. Fonts differ, and DejaVu Sans is among the
    /// widest that the style sheet names.
    fn character(self) -> f64 {
        match self {
            Size::Title => 10.6,
            Size::Small => 7.0,
        }
    }
}

/// About as wide as a text will be, in pixels.
pub fn width(shown: &dyn Display, size: Size) -> f64 {
    figures::width(shown) as f64 * size.character()
}

/// A text in lines of at most about `room` pixels, broken between words.
pub fn lines(text: &str, size: Size, room: f64) -> impl Iterator<Item = &str> {
    let most = ((room / size.character()) as usize).max(1);
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

/// Where the first line of a text ends: at the last blank that `most` characters
/// allow, or within a word that is longer.
fn line_end(text: &str, most: usize) -> usize {
    let Some((limit, _)) = text.char_indices().nth(most) else { return text.len() };
    let blank = text.char_indices().take(most + 1).filter(|(_, character)| *character == ' ').last();
    blank.map_or(limit, |(at, _)| at)
}

/// A value whose text is safe within elements and attributes.
pub struct Escaped<'a, T: ?Sized>(pub &'a T);

impl<T: Display + ?Sized> Display for Escaped<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Escaping<'a, 'b>(&'a mut fmt::Formatter<'b>);
        impl Write for Escaping<'_, '_> {
            fn write_str(&mut self, part: &str) -> fmt::Result {
                part.chars().try_for_each(|character| match character {
                    '&' => self.0.write_str("&amp;"),
                    '<' => self.0.write_str("&lt;"),
                    '>' => self.0.write_str("&gt;"),
                    '"' => self.0.write_str("&quot;"),
                    '\'' => self.0.write_str("&#39;"),
                    // XML 1.0 has no other control characters, not even escaped, and no U+FFFE, U+FFFF.
                    '\t' | '\n' | '\r' => self.0.write_char(' '),
                    '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => self.0.write_char('\u{fffd}'),
                    _ => self.0.write_char(character),
                })
            }
        }
        write!(Escaping(out), "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    #[test]
    fn nothing_of_a_text_is_taken_for_markup() {
        let text = "a<b> & \"c\"='d'\n\u{1b}[1m\u{ffff}µ";
        let escaped = "a&lt;b&gt; &amp; &quot;c&quot;=&#39;d&#39; \u{fffd}[1m\u{fffd}µ";
        assert_eq!(Escaped(text).to_string(), escaped);
    }

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

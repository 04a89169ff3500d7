//! Text within markup: what would end an element, an attribute or the document is escaped.
//!
//! For SVG and HTML alike, both of which an XML parser has to accept. Knows neither of them.

use core::fmt::{self, Display, Write};

use latency_core::text::steers;

/// A value whose text is safe within elements and attributes, on one line.
pub struct Escaped<'a, T: ?Sized>(pub &'a T);

impl<T: Display + ?Sized> Display for Escaped<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(out), "{}", self.0)
    }
}

/// A writer of such text.
pub struct Escaping<'o>(pub &'o mut dyn Write);

impl Write for Escaping<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        part.chars().try_for_each(|character| escape(self.0, character, ' '))
    }
}

/// A writer of such text that keeps its lines.
pub struct EscapingLines<'o>(pub &'o mut dyn Write);

impl Write for EscapingLines<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        part.chars().try_for_each(|character| escape(self.0, character, '\n'))
    }
}

fn escape(out: &mut dyn Write, character: char, line_feed: char) -> fmt::Result {
    let reference = match character {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&#39;",
        '\n' => return out.write_char(line_feed),
        '\t' | '\r' => " ",
        // XML 1.0 has no other control characters, not even escaped, and no U+FFFE, U+FFFF.
        '\u{fffe}' | '\u{ffff}' => "\u{fffd}",
        character if steers(character) => "\u{fffd}",
        _ => return out.write_char(character),
    };
    out.write_str(reference)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

    #[test]
    fn nothing_of_a_text_is_taken_for_markup() {
        let text = "a<b> & \"c\"='d'\n\u{1b}[1m\u{ffff}µ\u{202e}";
        let escaped = "a&lt;b&gt; &amp; &quot;c&quot;=&#39;d&#39; \u{fffd}[1m\u{fffd}µ\u{fffd}";
        assert_eq!(Escaped(text).to_string(), escaped);
    }

    #[test]
    fn lines_are_kept_where_they_mean_something() {
        let mut out = String::new();
        EscapingLines(&mut out).write_str("{\r\n\"a\"\0}").unwrap();
        assert_eq!(out, "{ \n&quot;a&quot;\u{fffd}}");
    }
}

//! Escapes text within a format, so that it cannot end an element, an attribute, a cell or a label.
//!
//! SVG and HTML are escaped alike: an XML parser has to accept both.

use alloc::string::String;
use core::fmt::{self, Display, Write};

use super::lists::joined;
use latency_core::text::steers;

/// A function that writes one character of a text, and escapes it if it would be taken for markup.
type Escape = fn(&mut dyn Write, char) -> fmt::Result;

/// A writer of text that is escaped character by character.
pub struct Escaping<'o>(pub &'o mut dyn Write, pub Escape);

impl Write for Escaping<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        part.chars().try_for_each(|character| (self.1)(self.0, character))
    }
}

/// A value whose text is safe within elements and attributes, on one line.
pub struct InMarkup<T>(pub T);

impl<T: Display> Display for InMarkup<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(out, markup), "{}", self.0)
    }
}

/// Returns a text in the quotes of CSV (RFC 4180).
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", joined("", "\"\"", text.split('"')))
}

/// Returns characters in one line that cannot control a terminal.
pub fn escaped(characters: impl Iterator<Item = char>) -> String {
    let mut text = String::new();
    for character in characters {
        // Writing to a string does not fail.
        let _ = escape(&mut text, character);
    }
    text
}

/// Writes a character in one line that cannot control a terminal: `\n` for a line feed, `\u{1b}` for an escape.
///
/// # Errors
///
/// Returns the error of `out`.
pub fn escape(out: &mut dyn Write, character: char) -> fmt::Result {
    match character {
        '\0' => out.write_str("\\0"),
        '\t' => out.write_str("\\t"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\\' => out.write_str("\\\\"),
        _ if steers(character) => write!(out, "\\u{{{:x}}}", u32::from(character)),
        _ => out.write_char(character),
    }
}

/// Returns a text with a question mark in place of each character that controls a terminal; its lines stay.
pub fn harmless(text: &str) -> String {
    text.chars().map(|of| if of != '\n' && steers(of) { '?' } else { of }).collect()
}

/// Writes a character, escaped for elements and attributes; a line break becomes a space.
pub fn markup(out: &mut dyn Write, character: char) -> fmt::Result {
    markup_lines(out, if character == '\n' { ' ' } else { character })
}

/// Writes a character, escaped for elements and attributes; a line break stays.
pub fn markup_lines(out: &mut dyn Write, character: char) -> fmt::Result {
    let reference = match character {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&#39;",
        '\n' => "\n",
        '\t' | '\r' => " ",
        // XML 1.0 forbids all other control characters, U+FFFE and U+FFFF, even if they are escaped.
        '\u{fffe}' | '\u{ffff}' => "\u{fffd}",
        character if steers(character) => "\u{fffd}",
        _ => return out.write_char(character),
    };
    out.write_str(reference)
}

/// Escapes for the data of a `data:` address within an attribute (RFC 3986, section 2.1).
pub fn address(out: &mut dyn Write, character: char) -> fmt::Result {
    if character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_' | '~' | ',' | ':') {
        return out.write_char(character);
    }
    let mut bytes = [0; 4];
    character.encode_utf8(&mut bytes).bytes().try_for_each(|byte| write!(out, "%{byte:02X}"))
}

/// Escapes for Markdown: the bars of tables, emphasis, and the characters that begin a tag or a link.
pub fn markdown(out: &mut dyn Write, character: char) -> fmt::Result {
    if matches!(character, '|' | '<' | '*' | '_' | '[' | '\\') {
        out.write_char('\\')?;
    }
    out.write_char(character)
}

/// Escapes for the quoted labels of Prometheus' text format.
pub fn label(out: &mut dyn Write, character: char) -> fmt::Result {
    match character {
        '\n' => out.write_str("\\n"),
        '\\' | '"' => write!(out, "\\{character}"),
        // Collectors accept control characters, but a terminal that shows the file would obey them.
        character if steers(character) => out.write_char('?'),
        character => out.write_char(character),
    }
}

/// Escapes for the description of a test point, on one line.
pub fn description(out: &mut dyn Write, character: char) -> fmt::Result {
    match character {
        '#' => out.write_str("\\#"),
        '\n' => out.write_char(' '),
        '"' => out.write_char('"'),
        character => label(out, character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

    #[test]
    fn nothing_of_a_text_is_taken_for_markup() {
        let text = "a<b> & \"c\"='d'\n\u{1b}[1m\u{ffff}µ\u{202e}";
        let escaped = "a&lt;b&gt; &amp; &quot;c&quot;=&#39;d&#39; \u{fffd}[1m\u{fffd}µ\u{fffd}";
        assert_eq!(InMarkup(text).to_string(), escaped);
    }

    #[test]
    fn an_address_keeps_only_safe_characters() {
        let mut out = String::new();
        Escaping(&mut out, address).write_str("a-1.5,\"µ&<\n").unwrap();
        assert_eq!(out, "a-1.5,%22%C2%B5%26%3C%0A");
    }

    #[test]
    fn markup_lines_keeps_line_feeds() {
        let mut out = String::new();
        Escaping(&mut out, markup_lines).write_str("{\r\n\"a\"\0}").unwrap();
        assert_eq!(out, "{ \n&quot;a&quot;\u{fffd}}");
    }
}

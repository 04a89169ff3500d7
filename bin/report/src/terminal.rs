//! The capabilities of a terminal, the escape sequences that use them, and the forms in ASCII of characters beyond it,
//! for streams without UTF-8.
//!
//! The caller asks the system; this module only stores the answer.

use core::fmt::{self, Display, Write};

use super::wrap::{self, Wrap};

/// The terminal that pictures are drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Characters in a line.
    pub columns: usize,
    /// True if it shows characters beyond ASCII.
    pub unicode: bool,
    /// True if it shows 256 colours.
    pub colour: bool,
    /// The reader.
    pub audience: Audience,
}

/// The reader of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A person at a screen: the answer comes first, and details only if they were asked for.
    Person,
    /// A pipe: the lines that programs search for come first.
    Pipe,
    /// A file, which others read later and elsewhere: it has the conditions and the method, too.
    File,
}

impl Terminal {
    /// Writes something in one of the 256 colours, or plainly if the terminal has no colours.
    ///
    /// # Errors
    ///
    /// Returns the error of `out`.
    pub fn paint(self, out: &mut dyn Write, colour: u8, shown: &dyn Display) -> fmt::Result {
        self.styled(out, format_args!("38;5;{colour}"), shown)
    }

    /// Writes something on a coloured background, or plainly if the terminal has no colours.
    ///
    /// # Errors
    ///
    /// Returns the error of `out`.
    pub fn paint_on(self, out: &mut dyn Write, ground: u8, text: u8, shown: &dyn Display) -> fmt::Result {
        self.styled(out, format_args!("48;5;{ground};38;5;{text}"), shown)
    }

    /// Writes something after the escape sequence with these parameters, or plainly if the terminal has no colours.
    fn styled(self, out: &mut dyn Write, style: fmt::Arguments<'_>, shown: &dyn Display) -> fmt::Result {
        if self.colour { write!(out, "\x1b[{style}m{shown}\x1b[0m") } else { write!(out, "{shown}") }
    }

    /// Writes a heading, bold if the terminal has colours, and below it the subtitle, wrapped at blanks.
    ///
    /// # Errors
    ///
    /// Returns the error of `out`.
    pub fn heading(self, out: &mut dyn Write, title: &str, subtitle: &str) -> fmt::Result {
        if !title.is_empty() {
            let wrapped = fmt::from_fn(|out| {
                let mut line = Wrap::new(out, self.columns, 0, 0);
                line.write_str(title)?;
                line.flush()
            });
            self.styled(out, format_args!("1"), &wrapped)?;
            out.write_char('\n')?;
        }
        wrap::line(out, subtitle, self.columns)
    }
}

/// A writer that passes on texts: unchanged if `unicode` is true, otherwise with the characters of this program in
/// ASCII. Names from outside are not changed.
pub struct Ascii<'o> {
    /// The receiver.
    pub out: &'o mut dyn Write,
    /// True if the receiver shows characters beyond ASCII.
    pub unicode: bool,
}

impl Write for Ascii<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.unicode || text.is_ascii() {
            return self.out.write_str(text);
        }
        text.chars().try_for_each(|character| match character {
            '±' => self.out.write_str("+-"),
            '→' => self.out.write_str("->"),
            'µ' => self.out.write_char('u'),
            character => self.out.write_char(character),
        })
    }
}

/// Returns a value as an [`Ascii`] writer passes it on.
pub fn ascii(shown: &dyn Display, unicode: bool) -> impl Display {
    fmt::from_fn(move |out| write!(Ascii { out, unicode }, "{shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

    #[test]
    fn without_colours_there_are_no_escape_sequences() {
        for colour in [true, false] {
            let terminal = Terminal { columns: 80, unicode: true, colour, audience: crate::Audience::Pipe };
            let mut text = String::new();
            terminal.heading(&mut text, "title", "subtitle").unwrap();
            terminal.paint(&mut text, 32, &1).unwrap();
            terminal.paint(&mut text, 166, &2).unwrap();
            terminal.paint_on(&mut text, 230, 16, &3).unwrap();
            assert_eq!(text.contains('\x1b'), colour);
            assert_eq!(text == "title\nsubtitle\n123", !colour);
        }
    }

    #[test]
    fn only_a_stream_without_utf_8_gets_ascii() {
        assert_eq!(ascii(&"±3.4% → 5 µs, Zoë", false).to_string(), "+-3.4% -> 5 us, Zoë");
        assert_eq!(ascii(&"±3.4% → 5 µs", true).to_string(), "±3.4% → 5 µs");
    }
}

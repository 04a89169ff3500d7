//! The capabilities of a terminal, and the escape sequences that use them.
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
    /// True if a person reads it now; false for a file or a pipe.
    pub screen: bool,
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
        match self.colour {
            true => write!(out, "\x1b[{style}m{shown}\x1b[0m"),
            false => write!(out, "{shown}"),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    #[test]
    fn without_colours_there_are_no_escape_sequences() {
        for colour in [true, false] {
            let terminal = Terminal { columns: 80, unicode: true, colour, screen: false };
            let mut text = String::new();
            terminal.heading(&mut text, "title", "subtitle").unwrap();
            terminal.paint(&mut text, 32, &1).unwrap();
            terminal.paint(&mut text, 166, &2).unwrap();
            terminal.paint_on(&mut text, 230, 16, &3).unwrap();
            assert_eq!(text.contains('\x1b'), colour);
            assert_eq!(text == "title\nsubtitle\n123", !colour);
        }
    }
}

//! Wraps text at blanks, so that the end of a line does not cut a word.

use core::fmt::{self, Write};

use latency_core::Text;

/// A writer that begins a new line if the next word would not fit.
pub struct Wrap<'o> {
    out: &'o mut dyn Write,
    /// The maximum number of characters of a line.
    width: usize,
    /// The number of blanks at the beginning of each line but the first.
    indent: usize,
    /// The number of characters on the present line.
    column: usize,
    word: Text<LONGEST_WORD>,
    space: bool,
    /// True within a command, which is not wrapped, so that readers can copy it as one line.
    command: bool,
}

/// The end of the word before a command.
const COMMAND_FOLLOWS: &str = "root:";
/// The maximum length of a word. Longer ones, which only file names can be, are written in pieces.
const LONGEST_WORD: usize = 120;

impl<'o> Wrap<'o> {
    /// Makes a writer of lines with `width` characters or fewer. The first line begins at `column`. Wrapped lines
    /// begin with `indent` blanks; lines after a line feed do not.
    pub const fn new(out: &'o mut dyn Write, width: usize, indent: usize, column: usize) -> Wrap<'o> {
        Wrap { out, width, indent, column, word: Text::EMPTY, space: false, command: false }
    }

    /// Writes the rest, and ends the line.
    ///
    /// # Errors
    ///
    /// Returns the error of `out`.
    pub fn finish(mut self) -> fmt::Result {
        self.flush()?;
        self.out.write_char('\n')
    }

    /// Begins a new line after the words so far.
    ///
    /// # Errors
    ///
    /// Returns the error of `out`.
    pub fn break_line(&mut self) -> fmt::Result {
        self.flush()?;
        self.begin_line()
    }

    fn begin_line(&mut self) -> fmt::Result {
        self.out.write_char('\n')?;
        (0..self.indent).try_for_each(|_| self.out.write_char(' '))?;
        self.column = self.indent;
        self.space = false;
        Ok(())
    }

    /// Writes the last word.
    ///
    /// # Errors
    ///
    /// Returns the error of `out`.
    pub fn flush(&mut self) -> fmt::Result {
        if self.word.is_empty() {
            return Ok(());
        }
        let length = self.word.as_str().chars().count();
        let space = usize::from(self.space);
        let fits = self.column + space + length <= self.width || self.command;
        if !fits && self.column > self.indent {
            self.begin_line()?;
        } else if self.space {
            self.out.write_char(' ')?;
            self.column += 1;
        }
        self.out.write_str(self.word.as_str())?;
        self.column += length;
        self.space = false;
        let begins = self.word.as_str().ends_with(COMMAND_FOLLOWS) && self.width < usize::MAX;
        self.word = Text::EMPTY;
        if begins && !self.command {
            self.begin_line()?;
            self.command = true;
        }
        Ok(())
    }
}

/// Writes a text in lines of at most `width` characters; nothing if it is empty.
///
/// # Errors
///
/// Returns the error of `out`.
pub fn line(out: &mut dyn Write, text: &str, width: usize) -> fmt::Result {
    if text.is_empty() {
        return Ok(());
    }
    let mut wrap = Wrap::new(out, width, 0, 0);
    wrap.write_str(text)?;
    wrap.finish()
}

impl Write for Wrap<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        for character in part.chars() {
            match character {
                ' ' => {
                    self.flush()?;
                    // A command may begin here, with nothing of it on the line yet.
                    self.space = self.column > 0 && !(self.command && self.column == self.indent);
                }
                '\n' => {
                    self.flush()?;
                    self.out.write_char('\n')?;
                    self.column = 0;
                    self.space = false;
                    self.command = false;
                }
                character => {
                    if !self.word.push(character) {
                        self.flush()?;
                        self.word.push(character);
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::String;
    use std::vec::Vec;

    fn wrapped(text: &str, width: usize, indent: usize) -> String {
        let mut out = String::new();
        let mut wrap = Wrap::new(&mut out, width, indent, 0);
        wrap.write_str(text).unwrap();
        wrap.finish().unwrap();
        out
    }

    #[test]
    fn lines_break_at_spaces_and_hang() {
        assert_eq!(wrapped("one two three", 9, 2), "one two\n  three\n");
        assert_eq!(wrapped("a  b", 9, 0), "a b\n");
        assert_eq!(wrapped("first\nsecond", 20, 4), "first\nsecond\n");
        assert_eq!(wrapped("päge µs", 7, 0), "päge µs\n");
        let command = wrapped("no pool of pages; as root: echo 160 > /proc/sys/vm/nr_hugepages", 20, 2);
        assert_eq!(command, "no pool of pages; as\n  root:\n  echo 160 > /proc/sys/vm/nr_hugepages\n");
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_line_is_too_long(
            words in prop::collection::vec("[a-z0-9µ]{1,12}", 0..40), width in 20_usize..60, indent in 0_usize..8
        ) {
            let out = wrapped(&words.join(" "), width, indent);
            prop_assert!(out.lines().all(|line| line.chars().count() <= width));
            prop_assert!(out.lines().all(|line| !line.ends_with(' ')));
            let again: Vec<String> = out.split_whitespace().map(String::from).collect();
            prop_assert_eq!(again, words);
        }
    }
}

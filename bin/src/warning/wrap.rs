//! Messages broken between words, for terminals.

use core::fmt::{self, Write};

use latency_core::text::Text;

/// Longer words, paths for the most part, are written in pieces of this length.
const LONGEST_WORD: usize = 200;
/// The blanks before each line but the first.
const INDENT: usize = 2;

/// A writer that breaks lines at spaces. Without `columns` it changes nothing.
pub struct Wrapped<'o> {
    out: &'o mut dyn Write,
    columns: Option<usize>,
    used: usize,
    word: Text<LONGEST_WORD>,
}

impl<'o> Wrapped<'o> {
    /// Returns a writer of lines of `columns` characters at most, where a word is not longer.
    pub fn new(out: &'o mut dyn Write, columns: Option<usize>) -> Self {
        Wrapped { out, columns, used: 0, word: Text::EMPTY }
    }

    /// Writes the word that has been collected, on the next line where this one has no room for it.
    fn end_word(&mut self, columns: usize) -> fmt::Result {
        if self.word.is_empty() {
            return Ok(());
        }
        let width = self.word.as_str().chars().count();
        if self.used > 0 && self.used + 1 + width > columns {
            write!(self.out, "\n{:INDENT$}", "")?;
            self.used = INDENT;
        } else if self.used > 0 {
            self.out.write_str(" ")?;
            self.used += 1;
        }
        self.out.write_str(self.word.as_str())?;
        self.used += width;
        self.word = Text::EMPTY;
        Ok(())
    }
}

impl Write for Wrapped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let Some(columns) = self.columns else { return self.out.write_str(text) };
        for character in text.chars() {
            match character {
                ' ' => self.end_word(columns)?,
                '\n' => {
                    self.end_word(columns)?;
                    self.out.write_str("\n")?;
                    self.used = 0;
                }
                _ if self.word.push(character) => {}
                _ => {
                    self.end_word(columns)?;
                    self.word.push(character);
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

    fn wrapped(text: &str, columns: Option<usize>) -> String {
        let mut out = String::new();
        writeln!(Wrapped::new(&mut out, columns), "{text}").unwrap();
        out
    }

    #[test]
    fn lines_end_at_spaces_and_go_on_indented() {
        let text = "WARNING: one two three";
        assert_eq!(wrapped(text, Some(12)), "WARNING: one\n  two three\n");
        assert_eq!(wrapped(text, Some(22)), "WARNING: one two three\n");
        assert_eq!(wrapped(text, None), "WARNING: one two three\n");
        assert_eq!(wrapped("a /path/that/is/long b", Some(10)), "a\n  /path/that/is/long\n  b\n");
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_line_too_long(words in proptest::collection::vec("[a-z]{1,9}", 1..40)) {
            let text = words.join(" ");
            let lines = wrapped(&text, Some(20));
            prop_assert!(lines.lines().all(|line| line.len() <= 20), "{lines}");
            prop_assert!(lines.split_whitespace().eq(words.iter().map(String::as_str)), "{lines}");
        }
    }
}

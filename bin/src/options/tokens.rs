//! Splits the command line into options, values and positional arguments.
//!
//! This module contains the syntax of arguments and their form in messages, but not the options. The caller decides
//! whether a value follows `--name`, and then calls [`Tokens::value`].

use core::fmt;
use core::iter::Peekable;

use latency_report::escape::escape;

/// One argument, or an option together with the value after its `=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// `--name`, `--name=value`, `-n`, `-n=value` or `-nvalue`.
    Option {
        /// The typed text up to the value, dashes included.
        name: &'static [u8],
        /// The value after the `=` or after the letter; empty for `--name=`.
        value: Option<&'static [u8]>,
    },
    /// Anything else, and everything after `--`.
    Positional(&'static [u8]),
}

/// The tokens of a command line. The arguments do not include the program's name.
pub struct Tokens<I: Iterator<Item = &'static [u8]>> {
    arguments: Peekable<I>,
    options_ended: bool,
}

impl<I: Iterator<Item = &'static [u8]>> Tokens<I> {
    /// Returns the tokens of `arguments`, which do not include the program's name.
    pub fn new(arguments: I) -> Self {
        Tokens { arguments: arguments.peekable(), options_ended: false }
    }

    /// Returns whether `--` has ended the options.
    pub const fn options_ended(&self) -> bool {
        self.options_ended
    }

    /// Returns the argument after an option that needs one, unless that is an option itself.
    ///
    /// An argument with one dash counts as a value: `-` and `-5` are values, even if they are invalid.
    ///
    /// # Errors
    /// Returns the argument if it is not UTF-8.
    pub fn value(&mut self) -> Result<Option<&'static [u8]>, &'static [u8]> {
        self.arguments.next_if(|argument| !argument.starts_with(b"--")).map(utf8).transpose()
    }
}

impl<I: Iterator<Item = &'static [u8]>> Iterator for Tokens<I> {
    /// A token, or an argument that is not UTF-8. The latter could not be repeated in a JSON result.
    type Item = Result<Token, &'static [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut argument = self.arguments.next()?;
        if argument == b"--" && !self.options_ended {
            self.options_ended = true;
            argument = self.arguments.next()?;
        }
        Some(utf8(argument).map(|argument| match argument {
            _ if self.options_ended => Token::Positional(argument),
            [b'-', letter, value @ ..] if *letter != b'-' && letter.is_ascii() && !value.is_empty() => {
                let name = argument.get(..2).unwrap_or(argument);
                Token::Option { name, value: Some(value.strip_prefix(b"=").unwrap_or(value)) }
            }
            [b'-', _, ..] => {
                let end = argument.iter().position(|byte| *byte == b'=').unwrap_or(argument.len());
                let (name, value) = argument.split_at(end);
                Token::Option { name, value: value.get(1..) }
            }
            _ => Token::Positional(argument),
        }))
    }
}

fn utf8(argument: &[u8]) -> Result<&[u8], &[u8]> {
    core::str::from_utf8(argument).map(|_| argument).map_err(|_| argument)
}

/// Bytes of unknown origin, shown in one line that cannot control a terminal.
///
/// Printable characters do not change. Control characters and invisible ones are shown like `\u{1b}`, and bytes that
/// are not UTF-8 like `\xff`. The text is cut after [`Escaped::LONGEST`] characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Escaped<'a>(pub &'a [u8]);

impl Escaped<'_> {
    /// The maximum number of characters that are shown; an argument may have 128 KiB.
    pub const LONGEST: usize = 200;
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = Self::LONGEST;
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                if left == 0 {
                    return out.write_str("...");
                }
                left -= 1;
                escape(out, character)?;
            }
            for byte in chunk.invalid() {
                if left == 0 {
                    return out.write_str("...");
                }
                left -= 1;
                write!(out, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};
    use std::vec::Vec;

    fn tokens(arguments: &[&'static [u8]]) -> Vec<Result<Token, &'static [u8]>> {
        Tokens::new(arguments.iter().copied()).collect()
    }

    #[test]
    fn options_positionals_and_the_end_of_options() {
        let option = |name, value| Ok(Token::Option { name, value });
        let positional = |text| Ok(Token::Positional(text));
        assert_eq!(
            tokens(&[
                b"curve",
                b"-N0-1",
                b"-o=a",
                b"-oa=b",
                "-é".as_bytes(),
                b"--size=1=2",
                b"--seed=",
                b"-h",
                b"-",
                b"",
                b"--",
                b"--size",
                b"--"
            ]),
            [
                positional(b"curve"),
                option(b"-N", Some(b"0-1")),
                option(b"-o", Some(b"a")),
                option(b"-o", Some(b"a=b")),
                option("-é".as_bytes(), None),
                option(b"--size", Some(b"1=2")),
                option(b"--seed", Some(b"")),
                option(b"-h", None),
                positional(b"-"),
                positional(b""),
                positional(b"--size"),
                positional(b"--"),
            ]
        );
    }

    #[test]
    fn the_next_argument_is_a_value_unless_it_is_an_option() {
        let arguments: [&[u8]; 5] = [b"--size", b"-5", b"--seed", b"--json", b"--cpu"];
        let mut tokens = Tokens::new(arguments.into_iter());
        tokens.next();
        assert_eq!(tokens.value(), Ok(Some(&b"-5"[..])));
        tokens.next();
        assert_eq!(tokens.value(), Ok(None));
        assert_eq!(tokens.next(), Some(Ok(Token::Option { name: b"--json", value: None })));
        tokens.next();
        assert_eq!(tokens.value(), Ok(None));
    }

    #[test]
    fn arguments_that_are_not_utf8_are_refused() {
        assert_eq!(tokens(&[b"a\xff"]), [Err(&b"a\xff"[..])]);
        assert_eq!(Tokens::new([&b"\xc3"[..]].into_iter()).value(), Err(&b"\xc3"[..]));
    }

    #[test]
    fn escaped_text_cannot_control_a_terminal() {
        for (bytes, shown) in [
            (&b"plain 'x' \"y\""[..], "plain 'x' \"y\""),
            (b"\x1b[31m\n\0", "\\u{1b}[31m\\n\\0"),
            ("Größe \u{202e}".as_bytes(), "Größe \\u{202e}"),
            ("C:\\x \u{9b}\u{200b}\t\r".as_bytes(), "C:\\\\x \\u{9b}\\u{200b}\\t\\r"),
            (b"ab\xff\xc3", "ab\\xff\\xc3"),
        ] {
            assert_eq!(Escaped(bytes).to_string(), shown);
        }
        let long: String = "x".repeat(300);
        assert_eq!(Escaped(long.as_bytes()).to_string().len(), Escaped::LONGEST + 3);
    }
}

//! Strings of a document, which are checked once and decoded without a copy.

use core::fmt::{self, Write};

use super::error::{CONTROL, ENCODING, ESCAPE, TRUNCATED};

/// The text between the quotes of a string, with its escapes; both the escapes and the UTF-8 have been checked.
#[derive(Clone, Copy, Debug)]
pub struct Str<'a> {
    raw: &'a str,
    escaped: bool,
}

impl<'a> Str<'a> {
    /// Returns the text, if it has no escape.
    pub fn unescaped(self) -> Option<&'a str> {
        Some(self.raw).filter(|_| !self.escaped)
    }

    /// Returns the decoded characters.
    pub fn chars(self) -> impl Iterator<Item = char> + 'a {
        let mut rest = self.raw;
        core::iter::from_fn(move || {
            let mut characters = rest.chars();
            let first = characters.next()?;
            rest = characters.as_str();
            if first != '\\' {
                return Some(first);
            }
            let (decoded, length) = unescape(rest.as_bytes()).ok()?;
            rest = rest.get(length..)?;
            Some(decoded)
        })
    }

    /// Checks the string that begins at `start`, just after the quote, and
    /// returns it with the offset of its closing quote.
    pub(super) fn scan(input: &'a [u8], start: usize) -> Result<(Self, usize), (usize, &'static str)> {
        let (mut at, mut escaped) = (start, false);
        loop {
            match input.get(at) {
                None => return Err((at, TRUNCATED)),
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    let rest = input.get(at + 1..).unwrap_or_default();
                    let (_, length) = unescape(rest).map_err(|what| (at, what))?;
                    at += 1 + length;
                }
                Some(0..=0x1f) => return Err((at, CONTROL)),
                Some(_) => at += 1,
            }
        }
        match core::str::from_utf8(input.get(start..at).unwrap_or_default()) {
            Ok(raw) => Ok((Self { raw, escaped }, at)),
            Err(error) => Err((start + error.valid_up_to(), ENCODING)),
        }
    }
}

/// Decodes the escape that starts after the backslash, and returns its character and its length without the backslash.
fn unescape(rest: &[u8]) -> Result<(char, usize), &'static str> {
    let decoded = match *rest.first().ok_or(TRUNCATED)? {
        itself @ (b'"' | b'\\' | b'/') => char::from(itself),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let (code, length) = match code_unit(rest.get(1..))? {
                high @ 0xd800..=0xdbff => (0x1_0000 + ((high & 0x3ff) << 10) + low_surrogate(rest)?, 11),
                unit => (unit, 5),
            };
            return Ok((char::from_u32(code).ok_or(ESCAPE)?, length));
        }
        _ => return Err(ESCAPE),
    };
    Ok((decoded, 1))
}

/// Returns the ten bits of the second half of a surrogate pair; its first half is the escape at the start of `rest`.
fn low_surrogate(rest: &[u8]) -> Result<u32, &'static str> {
    match (rest.get(5), rest.get(6)) {
        (Some(b'\\'), Some(b'u')) => match code_unit(rest.get(7..))? {
            low @ 0xdc00..=0xdfff => Ok(low & 0x3ff),
            _ => Err(ESCAPE),
        },
        (None, _) | (Some(b'\\'), None) => Err(TRUNCATED),
        _ => Err(ESCAPE),
    }
}

/// Returns the value of the four hexadecimal digits at the start of `digits`.
fn code_unit(digits: Option<&[u8]>) -> Result<u32, &'static str> {
    let digits = digits.unwrap_or_default();
    let mut value = 0;
    for place in 0..4 {
        let digit = digits.get(place).ok_or(TRUNCATED)?;
        value = value * 16 + char::from(*digit).to_digit(16).ok_or(ESCAPE)?;
    }
    Ok(value)
}

impl PartialEq<&str> for Str<'_> {
    fn eq(&self, other: &&str) -> bool {
        match self.escaped {
            false => self.raw == *other,
            true => self.chars().eq(other.chars()),
        }
    }
}

impl PartialEq for Str<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.chars().eq(other.chars())
    }
}

/// Writes the decoded characters.
impl fmt::Display for Str<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chars().try_for_each(|character| out.write_char(character))
    }
}

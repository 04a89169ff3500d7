//! Strings of a document: checked once, decoded in place.

use core::fmt::{self, Write};

use super::error::Reason;

/// The inside of a string with its escapes; both the escapes and the UTF-8 are known to be valid.
#[derive(Clone, Copy, Debug)]
pub struct Str<'a> {
    raw: &'a str,
    escaped: bool,
}

impl<'a> Str<'a> {
    /// Returns the decoded characters.
    #[must_use]
    pub fn chars(self) -> Chars<'a> {
        Chars { raw: self.raw.chars() }
    }

    #[cold]
    #[inline(never)] // so that the usual path is short
    fn decodes_to(self, other: &str) -> bool {
        self.chars().eq(other.chars())
    }

    /// Checks the string that begins at `start`, just after the quote, and
    /// returns it with the offset of its closing quote.
    pub(super) fn scan(input: &'a [u8], start: usize) -> Result<(Self, usize), (usize, Reason)> {
        let (mut at, mut escaped) = (start, false);
        loop {
            match input.get(at) {
                None => return Err((at, Reason::Truncated)),
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    let rest = input.get(at + 1..).unwrap_or_default();
                    at += 1 + escape_length(rest).map_err(|reason| (at, reason))?;
                }
                Some(0..=0x1f) => return Err((at, Reason::Control)),
                Some(_) => at += 1,
            }
        }
        match core::str::from_utf8(input.get(start..at).unwrap_or_default()) {
            Ok(raw) => Ok((Self { raw, escaped }, at)),
            Err(error) => Err((start + error.valid_up_to(), Reason::Encoding)),
        }
    }
}

/// Returns the length of an escape after its backslash.
fn escape_length(rest: &[u8]) -> Result<usize, Reason> {
    match rest.first() {
        None => Err(Reason::Truncated),
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(1),
        Some(b'u') => match code_unit(rest.get(1..))? {
            0xd800..=0xdbff => {
                let low = match (rest.get(5), rest.get(6)) {
                    (Some(b'\\'), Some(b'u')) => code_unit(rest.get(7..))?,
                    (None, _) | (Some(b'\\'), None) => return Err(Reason::Truncated),
                    _ => return Err(Reason::Escape),
                };
                if matches!(low, 0xdc00..=0xdfff) {
                    Ok(11)
                } else {
                    Err(Reason::Escape)
                }
            }
            0xdc00..=0xdfff => Err(Reason::Escape),
            _ => Ok(5),
        },
        Some(_) => Err(Reason::Escape),
    }
}

/// Returns the four hexadecimal digits at the start of `digits`.
fn code_unit(digits: Option<&[u8]>) -> Result<u32, Reason> {
    let digits = digits.unwrap_or_default();
    let mut value = 0;
    for place in 0..4 {
        let digit = digits.get(place).ok_or(Reason::Truncated)?;
        value = value * 16 + char::from(*digit).to_digit(16).ok_or(Reason::Escape)?;
    }
    Ok(value)
}

impl PartialEq<str> for Str<'_> {
    fn eq(&self, other: &str) -> bool {
        // Hardly any string has an escape, and hardly any two names are as long.
        match self.escaped {
            false => self.raw.len() == other.len() && self.raw == other,
            true => self.decodes_to(other),
        }
    }
}

impl PartialEq<&str> for Str<'_> {
    #[inline(never)] // names of many members are compared
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

/// Compares the decoded characters, however they are escaped.
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

/// The decoded characters of a string.
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    raw: core::str::Chars<'a>,
}

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self.raw.next()? {
            '\\' => self.escaped(),
            plain => Some(plain),
        }
    }
}

impl Chars<'_> {
    fn escaped(&mut self) -> Option<char> {
        Some(match self.raw.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => match self.code_unit()? {
                high @ 0xd800..=0xdbff => {
                    // The backslash and the u of the other half, which are known to be there.
                    self.raw.nth(1)?;
                    let low = self.code_unit()?;
                    char::from_u32(0x1_0000 + ((high & 0x3ff) << 10) + (low & 0x3ff))?
                }
                unit => char::from_u32(unit)?,
            },
            itself => itself,
        })
    }

    fn code_unit(&mut self) -> Option<u32> {
        (0..4).try_fold(0, |value, _| Some(value * 16 + self.raw.next()?.to_digit(16)?))
    }
}

//! A pull parser that reads one JSON document, event by event, from arbitrary bytes. Strings are checked once and
//! decoded without a copy.
//!
//! The reader is strict: everything that RFC 8259 does not allow is an error with its offset, and every call after an
//! error returns the same error.

use core::fmt::{self, Write};

use crate::decimal;

/// One step through a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// `{`
    BeginObject,
    /// `}`
    EndObject,
    /// `[`
    BeginArray,
    /// `]`
    EndArray,
    /// The name of a member; its value is next.
    Key(Str<'a>),
    /// A string that is a value.
    String(Str<'a>),
    /// A number, which is finite.
    Number(f64),
    /// `true` or `false`.
    Bool(bool),
    /// `null`
    Null,
    /// The document is complete and nothing follows it.
    End,
}

/// A reader of one document.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    input: &'a [u8],
    offset: usize,
    depth: usize,
    /// Bit `depth - 1` is set if the open container at this depth is an object.
    objects: u64,
    next: Next,
    failed: Option<Error>,
    /// The offset of the first byte of the last event.
    begun: usize,
}

/// The part of the grammar that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// A value, as the whole document, after a colon or after a comma.
    Value,
    /// The first member of a container, or its end.
    FirstMember,
    /// A comma and another member, or the end of the container or of the document.
    Continuation,
}

impl<'a> Reader<'a> {
    /// Returns a reader at the start of `input`.
    pub const fn new(input: &'a [u8]) -> Self {
        Self { input, offset: 0, depth: 0, objects: 0, next: Next::Value, failed: None, begun: 0 }
    }

    /// Returns the number of bytes that were read.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the offset of the first byte of the last event.
    #[must_use]
    pub const fn begun(&self) -> usize {
        self.begun
    }

    /// Returns the number of open objects and arrays.
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the next event; after the end, each call returns [`Event::End`].
    ///
    /// # Errors
    /// The first defect of the document, which each further call returns again.
    pub fn next_event(&mut self) -> Result<Event<'a>, Error> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let event = self.step();
        self.failed = event.err();
        event
    }

    fn step(&mut self) -> Result<Event<'a>, Error> {
        self.skip_white_space();
        self.begun = self.offset;
        match (self.next, self.peek()) {
            (Next::Value, _) => self.value(),
            (Next::Continuation, None) if self.depth == 0 => Ok(Event::End),
            (Next::Continuation, Some(_)) if self.depth == 0 => Err(self.error(TRAILING)),
            (_, Some(b'}')) if self.in_object() => Ok(self.close(Event::EndObject)),
            (_, Some(b']')) if !self.in_object() => Ok(self.close(Event::EndArray)),
            (Next::FirstMember, _) => self.member(),
            (Next::Continuation, Some(b',')) => {
                self.offset += 1;
                self.skip_white_space();
                self.begun = self.offset;
                self.member()
            }
            (Next::Continuation, _) => Err(self.unexpected()),
        }
    }

    fn member(&mut self) -> Result<Event<'a>, Error> {
        if !self.in_object() {
            return self.value();
        }
        if self.peek() != Some(b'"') {
            return Err(self.unexpected());
        }
        let key = self.scan_string()?;
        self.skip_white_space();
        match self.peek() {
            Some(b':') => self.offset += 1,
            _ => return Err(self.unexpected()),
        }
        self.next = Next::Value;
        Ok(Event::Key(key))
    }

    fn value(&mut self) -> Result<Event<'a>, Error> {
        let event = match self.peek() {
            Some(b'{') => return self.open(true, Event::BeginObject),
            Some(b'[') => return self.open(false, Event::BeginArray),
            Some(b'"') => Event::String(self.scan_string()?),
            Some(b'-' | b'0'..=b'9') => Event::Number(self.scan_number()?),
            Some(b't') => self.literal(b"true", Event::Bool(true))?,
            Some(b'f') => self.literal(b"false", Event::Bool(false))?,
            Some(b'n') => self.literal(b"null", Event::Null)?,
            _ => return Err(self.unexpected()),
        };
        self.next = Next::Continuation;
        Ok(event)
    }

    fn open(&mut self, object: bool, event: Event<'a>) -> Result<Event<'a>, Error> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(DEPTH));
        }
        let bit = 1 << self.depth;
        self.objects = if object { self.objects | bit } else { self.objects & !bit };
        self.depth += 1;
        self.offset += 1;
        self.next = Next::FirstMember;
        Ok(event)
    }

    fn close(&mut self, event: Event<'a>) -> Event<'a> {
        self.depth -= 1;
        self.offset += 1;
        self.next = Next::Continuation;
        event
    }

    fn scan_string(&mut self) -> Result<Str<'a>, Error> {
        let (string, end) =
            Str::scan(self.input, self.offset + 1).map_err(|(offset, what)| Error { offset, what })?;
        self.offset = end + 1;
        Ok(string)
    }

    fn scan_number(&mut self) -> Result<f64, Error> {
        let start = self.offset;
        let rest = self.input.get(start..).unwrap_or_default();
        let length = number_length(rest).map_err(|length| Error {
            offset: start + length,
            what: if length == rest.len() { TRUNCATED } else { NUMBER },
        })?;
        let value = rest.get(..length).and_then(decimal::read).ok_or_else(|| self.error(NUMBER))?;
        if !value.is_finite() {
            return Err(self.error(NUMBER_RANGE));
        }
        self.offset += length;
        Ok(value)
    }

    fn literal(&mut self, word: &'static [u8], event: Event<'a>) -> Result<Event<'a>, Error> {
        let rest = self.input.get(self.offset..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(self.error(if word.starts_with(rest) { TRUNCATED } else { NOT_A_RESULT }));
        }
        self.offset += word.len();
        Ok(event)
    }

    fn skip_white_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.offset += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.input.get(self.offset).copied()
    }

    fn in_object(&self) -> bool {
        self.depth > 0 && self.objects >> (self.depth - 1) & 1 == 1
    }

    /// Returns the error for an unexpected byte here, or for the end of the input.
    fn unexpected(&self) -> Error {
        self.error(if self.peek().is_some() { NOT_A_RESULT } else { TRUNCATED })
    }

    const fn error(&self, what: &'static str) -> Error {
        Error { offset: self.offset, what }
    }
}

/// Returns the length of the number at the start of `text`, or, as an error, the length of the valid part before a
/// defect.
fn number_length(text: &[u8]) -> Result<usize, usize> {
    let at = |place: usize| text.get(place).copied();
    let digits = |start: usize| {
        let rest = text.get(start..).unwrap_or_default();
        match rest.iter().take_while(|byte| byte.is_ascii_digit()).count() {
            0 => Err(start),
            count => Ok(start + count),
        }
    };
    let start = usize::from(at(0) == Some(b'-'));
    let mut end = digits(start)?;
    if at(start) == Some(b'0') && end > start + 1 {
        return Err(start + 1);
    }
    if at(end) == Some(b'.') {
        end = digits(end + 1)?;
    }
    if let Some(b'e' | b'E') = at(end) {
        let sign = usize::from(matches!(at(end + 1), Some(b'+' | b'-')));
        end = digits(end + 1 + sign)?;
    }
    Ok(end)
}

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
        if self.escaped { self.chars().eq(other.chars()) } else { self.raw == *other }
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

/// Maximum depth of nested objects and arrays, for reading and for writing.
///
/// The kinds of the open containers are stored as the bits of one word.
pub const MAX_DEPTH: usize = 64;

/// A defect of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The offset of the byte at which reading stopped.
    pub offset: usize,
    /// The defect, in words for people.
    pub what: &'static str,
}

/// The document ends too early.
const TRUNCATED: &str = "the document is cut off";
/// Something follows the document.
const TRAILING: &str = "text after the end of the document";
/// A byte that the grammar does not allow here, or a value of another kind than in a result.
pub const NOT_A_RESULT: &str = "not JSON, or not a result";
/// A number with a leading zero, a bare point or no digits.
const NUMBER: &str = "malformed number";
/// A number that is not finite in double precision.
const NUMBER_RANGE: &str = "number out of range";
/// A backslash before a character that it cannot escape, or half of a surrogate pair.
const ESCAPE: &str = "invalid escape in a string";
/// A control character that is not escaped.
const CONTROL: &str = "control character in a string";
/// Bytes that are not UTF-8.
const ENCODING: &str = "invalid UTF-8 in a string";
/// More than [`MAX_DEPTH`] nested containers.
const DEPTH: &str = "nested too deep";

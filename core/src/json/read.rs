//! A pull parser that reads one JSON document, event by event, from arbitrary bytes.
//!
//! The reader is strict: everything that RFC 8259 does not allow is an error with its offset, and every call after an
//! error returns the same error.

use super::error::{DEPTH, Error, MAX_DEPTH, NOT_A_RESULT, NUMBER, NUMBER_RANGE, TRAILING, TRUNCATED};
use super::string::Str;
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

//! A pull parser that reads one JSON document, event by event, from arbitrary bytes.
//!
//! The reader is strict: everything that RFC 8259 does not allow is an error with its offset, and every call after an
//! error returns the same error.

use super::error::{Error, MAX_DEPTH, Reason};
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
    /// True if skipped values are not checked.
    hasty: bool,
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
        Self { input, offset: 0, depth: 0, objects: 0, next: Next::Value, failed: None, hasty: false }
    }

    /// Returns a reader that looks only at brackets, quotes and commas when it skips members: this is several times
    /// as fast, but does not detect errors in skipped members.
    pub const fn hasty(input: &'a [u8]) -> Self {
        Self { hasty: true, ..Self::new(input) }
    }

    /// Returns the number of bytes that were read.
    pub const fn offset(&self) -> usize {
        self.offset
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

    /// Skips the next value of any kind. Does nothing at the end of a container or of the document.
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`].
    pub fn skip_value(&mut self) -> Result<(), Error> {
        if self.hasty && self.next == Next::Value && self.failed.is_none() {
            self.offset = end_of_member(self.input, self.offset);
            self.next = Next::Continuation;
            return Ok(());
        }
        let outside = self.depth;
        loop {
            // An end here is not part of a value, so it is left for the caller.
            let before = self.clone();
            match self.next_event()? {
                Event::EndObject | Event::EndArray if self.depth < outside => {
                    *self = before;
                    return Ok(());
                }
                Event::Key(_) => {}
                _ if self.depth <= outside => return Ok(()),
                _ => {}
            }
        }
    }

    /// Reads the next event, which has to be the beginning of an object.
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`], and an error for any other event.
    pub fn begin_object(&mut self) -> Result<(), Error> {
        self.expect("an object", |event| matches!(event, Event::BeginObject).then_some(()))
    }

    /// Reads the next event, which has to be the beginning of an array.
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`], and an error for any other event.
    pub fn begin_array(&mut self) -> Result<(), Error> {
        self.expect("an array", |event| matches!(event, Event::BeginArray).then_some(()))
    }

    /// Reads the next event, which has to be a number, and returns the number.
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`], and an error for any other event.
    pub fn number(&mut self) -> Result<f64, Error> {
        self.expect("a number", |event| match event {
            Event::Number(number) => Some(number),
            _ => None,
        })
    }

    /// Reads the next event, which has to be a string, and returns the string.
    ///
    /// # Errors
    /// The errors of [`Reader::next_event`], and an error for any other event.
    pub fn string(&mut self) -> Result<Str<'a>, Error> {
        self.expect("a string", |event| match event {
            Event::String(string) => Some(string),
            _ => None,
        })
    }

    fn expect<T>(
        &mut self,
        what: &'static str,
        choose: impl FnOnce(Event<'a>) -> Option<T>,
    ) -> Result<T, Error> {
        self.skip_white_space();
        let start = self.offset;
        let event = self.next_event()?;
        choose(event).ok_or_else(|| self.fail(start, Reason::Expected(what)))
    }

    fn step(&mut self) -> Result<Event<'a>, Error> {
        self.skip_white_space();
        match (self.next, self.peek()) {
            (Next::Value, _) => self.value(),
            (Next::Continuation, None) if self.depth == 0 => Ok(Event::End),
            (Next::Continuation, Some(_)) if self.depth == 0 => Err(self.error(Reason::Trailing)),
            (_, Some(b'}')) if self.in_object() => Ok(self.close(Event::EndObject)),
            (_, Some(b']')) if !self.in_object() => Ok(self.close(Event::EndArray)),
            (Next::FirstMember, _) => self.member("a string or '}'"),
            (Next::Continuation, Some(b',')) => {
                self.offset += 1;
                self.skip_white_space();
                self.member("a string")
            }
            (Next::Continuation, _) => {
                Err(self.expected(if self.in_object() { "',' or '}'" } else { "',' or ']'" }))
            }
        }
    }

    fn member(&mut self, what: &'static str) -> Result<Event<'a>, Error> {
        if !self.in_object() {
            return self.value();
        }
        match self.peek() {
            Some(b'"') => {}
            _ => return Err(self.expected(what)),
        }
        let key = self.scan_string()?;
        self.skip_white_space();
        match self.peek() {
            Some(b':') => self.offset += 1,
            _ => return Err(self.expected("':'")),
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
            _ => return Err(self.expected("a value")),
        };
        self.next = Next::Continuation;
        Ok(event)
    }

    fn open(&mut self, object: bool, event: Event<'a>) -> Result<Event<'a>, Error> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(Reason::Depth));
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
            Str::scan(self.input, self.offset + 1).map_err(|(offset, reason)| Error { offset, reason })?;
        self.offset = end + 1;
        Ok(string)
    }

    fn scan_number(&mut self) -> Result<f64, Error> {
        let start = self.offset;
        let rest = self.input.get(start..).unwrap_or_default();
        let length = number_length(rest).map_err(|length| Error {
            offset: start + length,
            reason: if length == rest.len() { Reason::Truncated } else { Reason::Number },
        })?;
        let value = rest.get(..length).and_then(decimal::read).ok_or_else(|| self.error(Reason::Number))?;
        if !value.is_finite() {
            return Err(self.error(Reason::NumberRange));
        }
        self.offset += length;
        Ok(value)
    }

    fn literal(&mut self, word: &'static [u8], event: Event<'a>) -> Result<Event<'a>, Error> {
        let rest = self.input.get(self.offset..).unwrap_or_default();
        if rest.starts_with(word) {
            self.offset += word.len();
            Ok(event)
        } else if word.starts_with(rest) {
            Err(self.error(Reason::Truncated))
        } else {
            Err(self.error(Reason::Expected("a value")))
        }
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
    fn expected(&self, what: &'static str) -> Error {
        self.error(self.peek().map_or(Reason::Truncated, |_| Reason::Expected(what)))
    }

    const fn error(&self, reason: Reason) -> Error {
        Error { offset: self.offset, reason }
    }

    fn fail(&mut self, offset: usize, reason: Reason) -> Error {
        *self.failed.insert(Error { offset, reason })
    }
}

/// Returns the offset just after the value that begins at `start`: that of the first comma or closing bracket outside
/// the value, or the end of the input.
fn end_of_member(input: &[u8], start: usize) -> usize {
    /// The bytes that have a meaning for this scan; all other bytes are skipped.
    static DECIDES: [bool; 256] = {
        let mut table = [false; 256];
        let mut bytes: &[u8] = b"\",{}[]";
        while let [first, rest @ ..] = bytes {
            table[*first as usize] = true;
            bytes = rest;
        }
        table
    };
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(&byte) = input.get(at) {
        match byte {
            _ if !DECIDES.get(usize::from(byte)).is_some_and(|decides| *decides) => {}
            b'"' => {
                at += 1;
                while let Some(&inside) = input.get(at) {
                    match inside {
                        b'"' => break,
                        b'\\' => at += 1,
                        _ => {}
                    }
                    at += 1;
                }
            }
            b',' if depth == 0 => return at,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return at,
            },
            _ => {}
        }
        at += 1;
    }
    at.min(input.len())
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

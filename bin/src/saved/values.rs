//! Values of a JSON document, and the errors of reading one.
//!
//! This module depends on JSON, but not on results.

use latency_core::json::{Error, Event, Reader, Str};
use latency_core::text::Text;

use crate::options::tokens::escape;

/// An error of the syntax of the document, or of its content.
pub(super) enum Fault {
    Document(Error),
    Meaning(&'static str),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Document(error)
    }
}

impl From<&'static str> for Fault {
    fn from(what: &'static str) -> Self {
        Fault::Meaning(what)
    }
}

/// A function that reads the value of a member with this name.
type Member<'m, 'a> = &'m mut dyn FnMut(&mut Reader<'a>, &str) -> Result<(), Fault>;

/// Calls `member` for every member of the next value, if that is an object. Any other value is skipped.
pub(super) fn members<'a>(reader: &mut Reader<'a>, member: Member<'_, 'a>) -> Result<(), Fault> {
    let before = reader.clone();
    if reader.next_event()? != Event::BeginObject {
        *reader = before;
        return Ok(reader.skip_value()?);
    }
    rest(reader, member)
}

/// Calls `member` for every member of an object, after the start of the object.
pub(super) fn rest<'a>(reader: &mut Reader<'a>, member: Member<'_, 'a>) -> Result<(), Fault> {
    while let Event::Key(key) = reader.next_event()? {
        // Names with escapes are rare, and the expected names are short.
        match key.unescaped() {
            Some(key) => member(reader, key)?,
            None => member(reader, text::<40>(key).as_str())?,
        }
    }
    Ok(())
}

/// Calls `each` for every object of the following array, after the start of the object.
pub(super) fn each_object<'a>(
    reader: &mut Reader<'a>,
    mut each: impl FnMut(&mut Reader<'a>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    reader.begin_array()?;
    loop {
        match reader.next_event()? {
            Event::BeginObject => each(reader)?,
            Event::EndArray => return Ok(()),
            _ => return Err(Fault::Meaning("point is not an object")),
        }
    }
}

/// Reads a number, or null for an unknown one.
pub(super) fn optional(reader: &mut Reader<'_>) -> Result<Option<f64>, Fault> {
    match reader.next_event()? {
        Event::Number(number) => Ok(Some(number)),
        Event::Null => Ok(None),
        _ => Err(Fault::Meaning("not a number")),
    }
}

/// Returns as much of a string as fits, decoded and escaped, so that it cannot control a terminal.
pub(super) fn text<const N: usize>(string: Str<'_>) -> Text<N> {
    let mut text = Text::EMPTY;
    // Text that does not fit is cut.
    let _ = string.chars().try_for_each(|character| escape(&mut text, character));
    text
}

/// Returns the line number of a byte, from 1.
pub fn line_of(text: &[u8], offset: usize) -> u32 {
    let before = text.get(..offset).unwrap_or(text);
    1 + before.iter().filter(|&&byte| byte == b'\n').count() as u32
}

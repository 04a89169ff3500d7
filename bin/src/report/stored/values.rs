//! Reads the values of a document back as those of a result.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use latency_core::json::{Event, Reader, Str};
use latency_core::stats::{Estimate, Interval};

use crate::report::document::{ENDS, Field, Part, Value};
use crate::report::shown::{Shown, ShownPart};

/// Maximum number of different names of members: three times those of this program.
const MOST_FIELDS: usize = 2048;

/// The values of a document, as far as they were read.
pub struct Values<'t> {
    text: &'t [u8],
    /// The rest of the text.
    pub reader: Reader<'t>,
    /// The key of the rows.
    records: &'t str,
    /// The values, and what else was added.
    pub shown: Shown,
    /// The fields that were seen, each once.
    fields: Vec<&'static Field>,
}

impl<'t> Values<'t> {
    /// Returns no values of a document yet.
    pub fn new(text: &'t [u8], records: &'t str) -> Values<'t> {
        Values { text, reader: Reader::new(text), records, shown: Shown::new(), fields: Vec::new() }
    }

    fn next(&mut self) -> Option<Event<'t>> {
        self.reader.next_event().ok()
    }

    /// Returns the field of a key.
    fn field(&mut self, key: &str, has_interval: bool) -> &'static Field {
        let is_own = |field: &&&Field| field.key == key && field.has_interval == has_interval;
        match self.fields.iter().find(is_own) {
            Some(field) => field,
            None => {
                let field = Field::new(String::from(key).leak(), has_interval, "");
                let field: &'static Field = Box::leak(Box::new(field));
                self.fields.push(field);
                field
            }
        }
    }

    /// Reads a member of an object behind its name.
    pub fn member(&mut self, name: Str<'_>) -> Option<()> {
        let key: String = name.chars().collect();
        let field = self.field(&key, false);
        if self.fields.len() > MOST_FIELDS {
            return None;
        }
        match self.next()? {
            Event::BeginObject => self.object(Part::Object(field)),
            Event::BeginArray if key == self.records => self.list(Part::Records(field), field),
            Event::BeginArray => self.list(Part::List(field), field),
            event => {
                self.single(field, event)?;
                self.join();
                Some(())
            }
        }
    }

    /// Reads the members of an object behind its beginning.
    fn object(&mut self, part: Part) -> Option<()> {
        self.shown.begin(part);
        loop {
            match self.next()? {
                Event::Key(name) => self.member(name)?,
                Event::EndObject => break,
                _ => return None,
            }
        }
        self.shown.end();
        Some(())
    }

    /// Reads the items of a list behind its beginning.
    fn list(&mut self, part: Part, field: &'static Field) -> Option<()> {
        self.shown.begin(part);
        loop {
            match self.next()? {
                Event::BeginObject => self.object(Part::Item)?,
                Event::BeginArray => self.list(Part::List(field), field)?,
                Event::EndArray => break,
                event => self.single(field, event)?,
            }
        }
        self.shown.end();
        Some(())
    }

    /// Adds a value that is not a container. Counts have no point, and measured numbers have one.
    fn single(&mut self, field: &'static Field, event: Event<'_>) -> Option<()> {
        let digits = self.text.get(self.reader.begun()..self.reader.offset())?;
        let value = match event {
            Event::Null => Value::None,
            Event::Bool(flag) => Value::Flag(flag),
            Event::Number(number) if digits.contains(&b'.') => Value::Real(number),
            Event::Number(number) => {
                let count = core::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
                count.map_or(Value::Real(number), Value::Count)
            }
            Event::String(text) => Value::Word(text.chars().collect()),
            _ => return None,
        };
        self.shown.value(field, value);
        Some(())
    }

    /// Makes one value of the last three entries if they are a number and both ends of its interval.
    fn join(&mut self) {
        let [.., ShownPart::Value(field, value), ShownPart::Value(low, least), ShownPart::Value(high, most)] =
            self.shown.entries()
        else {
            return;
        };
        let is_end = |end: &Field, ending| end.key.strip_suffix(ending) == Some(field.key);
        if !is_end(low, ENDS[0]) || !is_end(high, ENDS[1]) {
            return;
        }
        let number = |value: &Value| match value {
            Value::Real(number) => Some(*number),
            Value::None => Some(f64::NAN),
            _ => None,
        };
        let (Some(value), Some(low), Some(high)) = (number(value), number(least), number(most)) else {
            return;
        };
        let interval = Some(Interval { low, high }).filter(|ends| !ends.low.is_nan() || !ends.high.is_nan());
        let field = self.field(field.key, true);
        self.shown.remove_last(3);
        self.shown.value(field, Value::Estimate(Estimate { value, interval }));
    }
}

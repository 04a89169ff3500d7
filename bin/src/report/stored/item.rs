//! The values of the member that keeps a result: numbers, texts and lists.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use latency_core::json::{Event, Reader, Writer};
use latency_core::math::{self, ToReal};

use crate::report::figures::{PRECISE, decimals};

/// A value.
#[derive(Debug)]
pub enum Item {
    /// A number; one that is not finite is null.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Item>),
}

impl Item {
    /// No value.
    pub const NOTHING: Item = Item::Number(f64::NAN);

    /// Returns whether it is no value.
    pub const fn is_nothing(&self) -> bool {
        matches!(self, Item::Number(number) if number.is_nan())
    }

    /// Returns the number; NaN for another value.
    pub const fn number(&self) -> f64 {
        match self {
            Item::Number(number) => *number,
            _ => f64::NAN,
        }
    }

    /// Returns the text; an empty one for another value.
    pub fn text(&self) -> &str {
        match self {
            Item::Text(text) => text,
            _ => "",
        }
    }

    /// Returns the items of a list; none of another value.
    pub fn items(&self) -> &[Item] {
        match self {
            Item::List(list) => list,
            _ => &[],
        }
    }

    /// Returns the item at this place of a list; nothing if there is none.
    pub fn at(&self, place: usize) -> &Item {
        self.items().get(place).unwrap_or(&Item::NOTHING)
    }

    /// Writes the value.
    pub fn write(&self, out: &mut Writer<&mut dyn Write>) -> fmt::Result {
        match self {
            Item::Number(number) if math::whole(*number).real() == *number => out.u64(math::whole(*number)),
            Item::Number(number) => out.decimal(*number, decimals(*number, PRECISE)),
            Item::Text(text) => out.string(text),
            Item::List(list) => write_list(out, list),
        }
    }

    /// Reads the value that begins with this event; `None` for an object, and for text that is not JSON.
    pub fn read(reader: &mut Reader<'_>, event: Event<'_>) -> Option<Item> {
        Some(match event {
            Event::Number(number) => Item::Number(number),
            Event::Null => Item::NOTHING,
            Event::String(text) => Item::Text(text.chars().collect()),
            Event::BeginArray => {
                let mut list = Vec::new();
                loop {
                    match reader.next_event().ok()? {
                        Event::EndArray => break Item::List(list),
                        event => list.push(Item::read(reader, event)?),
                    }
                }
            }
            _ => return None,
        })
    }
}

/// Writes a list.
pub fn write_list(out: &mut Writer<&mut dyn Write>, list: &[Item]) -> fmt::Result {
    out.begin_array()?;
    list.iter().try_for_each(|item| item.write(out))?;
    out.end_array()
}

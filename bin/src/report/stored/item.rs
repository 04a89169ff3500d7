//! The values of the member that keeps a result: numbers, texts and lists.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use latency_core::json::{Event, Reader, Writer};
use latency_core::math::{self, ToReal};

use crate::report::chart::vector;
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

/// Makes values of plain types.
macro_rules! from {
    ($($type:ty: $plain:ident => $item:expr;)*) => {$(
        impl From<$type> for Item {
            fn from($plain: $type) -> Item {
                $item
            }
        }
    )*};
}
from! {
    f64: number => Item::Number(number);
    bool: flag => Item::Number(f64::from(u8::from(flag)));
    u32: count => Item::Number(count.into());
    usize: count => Item::Number(count.real());
    &str: text => Item::Text(text.into());
    String: text => Item::Text(text);
    Vec<Item>: list => Item::List(list);
}

/// Returns a list of values.
macro_rules! list {
    ($($item:expr),* $(,)?) => { Item::List(alloc::vec::Vec::from([$(Item::from($item)),*])) };
}
pub(super) use list;

/// Writes a list.
pub fn write_list(out: &mut Writer<&mut dyn Write>, list: &[Item]) -> fmt::Result {
    out.begin_array()?;
    list.iter().try_for_each(|item| item.write(out))?;
    out.end_array()
}

/// Returns the list of some items.
pub fn all(items: &mut dyn Iterator<Item = Item>) -> Item {
    Item::List(vector(items))
}

impl Item {
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
            Event::Null => Item::Number(f64::NAN),
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

    /// Returns the number; NaN for another value.
    pub const fn number(&self) -> f64 {
        match self {
            Item::Number(number) => *number,
            _ => f64::NAN,
        }
    }

    /// Returns the number as a count; 0 for another value.
    pub fn count(&self) -> usize {
        math::whole(self.number()) as usize
    }

    /// Returns the number as an identifier; 0 for another value.
    pub fn id(&self) -> u32 {
        self.count() as u32
    }

    /// Returns the text; an empty one for another value.
    pub fn text(&self) -> &str {
        match self {
            Item::Text(text) => text,
            _ => "",
        }
    }

    /// Returns the text.
    pub fn string(&self) -> String {
        self.text().into()
    }

    /// Returns the text for the rest of the process: results name what is the same in all runs by such texts.
    pub fn word(&self) -> &'static str {
        self.string().leak()
    }

    /// Returns what `read` makes of the items of a list.
    pub fn list<T>(&self, read: &dyn Fn(&Item) -> T) -> Vec<T> {
        vector(&mut self.items().iter().map(read))
    }

    /// Returns the items of a list; none of another value.
    pub fn items(&self) -> &[Item] {
        match self {
            Item::List(list) => list,
            _ => &[],
        }
    }
}

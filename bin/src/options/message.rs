//! Messages: packed texts with values.

use core::fmt::{self, Display, Write};

use latency_core::cpulist::{CpuSet, NodeSet};
use latency_core::decimal::{Decimal, Trimmed};
use latency_core::math::ToReal;
use latency_core::packed::{Packed, PackedPart};
use latency_core::text::plural;
use latency_core::units::{Bytes, CpuId, NodeId, PageSize, Picoseconds};

use super::tokens::Escaped;
use crate::report::figures::Digits;
use crate::sys::errno::Errno;

/// A value in a message.
#[derive(Clone, Copy)]
pub enum Insert<'a> {
    /// Nothing.
    Nothing,
    /// A word or a clause.
    Text(&'a str),
    /// A text that was typed or read, in printable characters.
    Typed(&'a [u8]),
    /// A whole number.
    Number(u64),
    /// A whole number, and the letter of its unit.
    Unit(u64, char),
    /// The ending of the noun for this count.
    Plural(u64),
    /// A number of bytes.
    Size(Bytes),
    /// A latency, in nanoseconds.
    Latency(Picoseconds),
    /// A number with this number of decimals.
    Fixed(f64, u8),
    /// A number with at most this number of decimals, and without zeros at its end.
    Trimmed(f64, u8),
    /// A fraction in percent, with this number of decimals and without its sign.
    Percent(f64, u8),
    /// A number with as many decimals as readers need.
    Digits(f64),
    /// Anything else.
    Shown(&'a dyn Display),
}

impl Display for Insert<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Insert::Nothing => Ok(()),
            Insert::Text(text) => out.write_str(text),
            Insert::Typed(bytes) => Escaped(bytes).fmt(out),
            Insert::Number(number) => number.fmt(out),
            Insert::Unit(number, unit) => write!(out, "{number}{unit}"),
            Insert::Plural(count) => out.write_str(plural(count)),
            Insert::Size(size) => size.fmt(out),
            Insert::Latency(latency) => Digits(latency.0.real() / 1000.0).fmt(out),
            Insert::Fixed(number, places) => write!(out, "{:.*}", places.into(), Decimal(number)),
            Insert::Trimmed(number, places) => write!(out, "{:.*}", places.into(), Trimmed(number)),
            Insert::Percent(number, places) => Insert::Fixed((number * 100.0).abs(), places).fmt(out),
            Insert::Digits(number) => Digits(number).fmt(out),
            Insert::Shown(shown) => shown.fmt(out),
        }
    }
}

macro_rules! inserts {
    ($($from:ty, $value:ident => $insert:expr;)*) => {
        $(impl<'a> From<$from> for Insert<'a> {
            fn from($value: $from) -> Self {
                $insert
            }
        })*
    };
}
inserts! {
    &'a str, text => Insert::Text(text);
    &'a [u8], bytes => Insert::Typed(bytes);
    u64, number => Insert::Number(number);
    usize, number => Insert::Number(number as u64);
    u32, number => Insert::Number(number.into());
    NodeId, node => Insert::Number(node.0.into());
    CpuId, cpu => Insert::Number(cpu.0.into());
    Bytes, size => Insert::Size(size);
    Picoseconds, latency => Insert::Latency(latency);
    PageSize, page => Insert::Size(page.bytes());
    &'a dyn Display, shown => Insert::Shown(shown);
    &'a Errno, errno => Insert::Shown(errno);
    &'a CpuSet, cpus => Insert::Shown(cpus);
    &'a NodeSet, nodes => Insert::Shown(nodes);
}

/// A text with its values.
#[derive(Clone, Copy)]
#[repr(C)] // instructions that set the first fields are short
pub struct Message<'a> {
    /// The text, in one part or more with a line feed between them.
    pub text: Packed,
    /// The values of its inserts, in their order.
    pub inserts: [Insert<'a>; MOST],
}

/// The maximum number of values in a [`Message`].
const MOST: usize = 5;

impl Message<'_> {
    /// Returns the message without characters. A constant would be copied.
    pub const fn new() -> Self {
        Message { text: Packed::EMPTY, inserts: [Insert::Nothing; MOST] }
    }

    /// Writes the part of the text with an index.
    ///
    /// # Errors
    ///
    /// Returns the error of `out`.
    pub fn write_part(&self, out: &mut dyn Write, index: usize) -> fmt::Result {
        write_part(out, self.text.whole().part(b'\n', index), &self.inserts)
    }
}

/// Writes a text with values.
///
/// # Errors
///
/// Returns the error of `out`.
pub fn write(out: &mut dyn Write, text: Packed, inserts: &[Insert<'_>]) -> fmt::Result {
    write_part(out, text.whole(), inserts)
}

/// Writes a part of a text with values.
fn write_part(out: &mut dyn Write, part: PackedPart, inserts: &[Insert<'_>]) -> fmt::Result {
    part.write(out, &mut |out, number| match inserts.get(number - 1) {
        Some(insert) => write!(out, "{insert}"),
        None => Ok(()),
    })
}

/// Makes an [`Insert`] of a value, which is the variable of the same name if there is no other.
macro_rules! insert {
    ($name:ident) => {
        $crate::options::message::Insert::from($name)
    };
    ($name:ident $value:expr) => {
        $crate::options::message::Insert::from($value)
    };
}
pub(crate) use insert;

/// Writes a message: the fact; the remedy; and the names of the inserts, each with its value.
macro_rules! message {
    ($out:expr, $fact:literal $(; $remedy:literal)? $(; $($name:ident $(= $value:expr)?),+)?) => {
        $crate::options::message::write(
            $out,
            latency_core::packed!(concat!($fact $(, "; ", $remedy)?) $($(, $name)+)?),
            &[$($($crate::options::message::insert!($name $($value)?)),+)?],
        )
    };
}
pub(crate) use message;

//! Newtypes for the quantities and identifiers that the whole project uses.
//!
//! A bare `u64` shows neither its quantity nor its unit; these types show both. They do not depend
//! on the machine.

mod pages;

use core::fmt;
use core::num::NonZeroU16;

use crate::math::ToReal;

pub use pages::{PageSize, PageSizes, PageSource, Pages};

/// An amount of memory in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// One binary kilobyte (1024 bytes).
    pub const KIB: Bytes = Bytes(1 << 10);
    /// One binary megabyte.
    pub const MIB: Bytes = Bytes(1 << 20);
    /// One binary gigabyte.
    pub const GIB: Bytes = Bytes(1 << 30);

    /// Returns `count` times this amount, saturating at the largest amount.
    #[must_use]
    pub const fn times(self, count: u64) -> Bytes {
        Bytes(self.0.saturating_mul(count))
    }
}

/// Size of a [`Line`](crate::arch::Line), the unit in which all walks and traffic count; a processor may have longer cache
/// lines.
pub const LINE: Bytes = Bytes(64);

/// The size of a cache line of a machine, which is the unit of its transfers to and from memory: a power of two from
/// [`LINE`] to 2 KiB. The longest known line has 256 bytes (A64FX).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineSize(NonZeroU16);

impl LineSize {
    /// [`LINE`], the size in most processors.
    pub const LEAST: LineSize = LineSize(NonZeroU16::new(LINE.0 as u16).unwrap());

    /// Returns the line of this many bytes; `None` if no line has that size.
    pub const fn of(size: Bytes) -> Option<LineSize> {
        if !size.0.is_power_of_two() || size.0 < LINE.0 || size.0 > 2 << 10 {
            return None;
        }
        match NonZeroU16::new(size.0 as u16) {
            Some(size) => Some(LineSize(size)),
            None => None,
        }
    }

    /// Returns the size.
    pub const fn bytes(self) -> Bytes {
        Bytes(self.0.get() as u64)
    }

    /// Returns the size of this many lines.
    pub const fn times(self, count: u64) -> Bytes {
        self.bytes().times(count)
    }

    /// Returns the number of whole lines of an amount of memory.
    pub const fn within(self, size: Bytes) -> u64 {
        size.0 >> self.0.trailing_zeros()
    }
}

/// Writes the shortest exact form: `64 B`, `48 KiB`, `1.25 MiB`; or a form rounded to three
/// significant digits if every exact form is longer: `1.2 GiB`.
impl fmt::Display for Bytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] =
            [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        let Some((unit, name)) = UNITS.into_iter().find(|(unit, _)| self.0 >= *unit) else {
            return write!(out, "{} B", self.0);
        };
        let (whole, rest) = (self.0 / unit, self.0 % unit);
        let hundredths = whole * 100 + ((rest as u128 * 100 + unit as u128 / 2) / unit as u128) as u64;
        match hundredths {
            h if h % 100 == 0 => write!(out, "{} {name}", h / 100),
            h if h >= 10_000 => write!(out, "{} {name}", (h + 50) / 100),
            h if h >= 1_000 || h % 10 == 0 => {
                write!(out, "{}.{} {name}", (h + 5) / 10 / 10, (h + 5) / 10 % 10)
            }
            h => write!(out, "{}.{:02} {name}", h / 100, h % 100),
        }
    }
}

/// Ticks of the time-stamp counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticks(pub u64);

/// A duration in picoseconds: a nanosecond is too coarse for one L1 hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Picoseconds(pub u64);

/// A frequency in hertz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hertz(pub u64);

impl Hertz {
    /// Returns the frequency in gigahertz.
    pub fn gigahertz(self) -> f64 {
        self.0.real() / 1e9
    }

    /// Returns the frequency in megahertz.
    pub fn megahertz(self) -> f64 {
        self.0.real() / 1e6
    }
}

/// The kernel's number of a NUMA node; ids may have gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl fmt::Display for NodeId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

/// The kernel's number of a logical CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(pub u32);

impl fmt::Display for CpuId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn bytes_are_written_in_the_shortest_exact_form() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1 << 10, "1 KiB"),
            ((1 << 20) - (1 << 10), "1023 KiB"),
            (1 << 20, "1 MiB"),
            (1 << 30, "1 GiB"),
            (1 << 40, "1 TiB"),
            (201 << 19, "101 MiB"),
            (48 << 10, "48 KiB"),
            (5 << 18, "1.25 MiB"),
            (256 << 20, "256 MiB"),
            ((1 << 30) + (1 << 28), "1.25 GiB"),
            ((12 << 30) / 10, "1.2 GiB"),
            (300 * 1000 * 1000, "286 MiB"),
            ((20 << 20) + (1 << 19), "20.5 MiB"),
            (u64::MAX, "16777216 TiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }

    #[test]
    fn frequencies_have_two_units() {
        let frequency = Hertz(2_599_998_000);
        assert_eq!((frequency.megahertz(), frequency.gigahertz()), (2599.998, 2.599_998));
    }
}

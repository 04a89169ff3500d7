//! Names that occur repeatedly. Each is stored once and identified by a number. Their meaning does not matter here.

use crate::sys::errno::Errno;
use crate::sys::table::{List, Table};

/// The maximum number of names.
pub const MOST: usize = 1 << 17;
/// Maximum number of bytes of all names together.
const BYTES: usize = 16 << 20;

/// The number of a name, from 0 in the order of first occurrence.
pub type Name = u32;

/// Names. The unused parts of the tables do not need memory.
pub struct Names {
    bytes: List<u8>,
    /// The start and the end of each name.
    spans: List<[u32; 2]>,
    /// The hash table: numbers of names, from 1; 0 is a free slot.
    places: Table<u32>,
}

impl Names {
    /// Makes an empty table.
    ///
    /// # Errors
    ///
    /// No memory for the tables.
    pub fn new() -> Result<Names, Errno> {
        let (bytes, spans) = (List::new(BYTES)?, List::new(MOST)?);
        Ok(Names { bytes, spans, places: Table::zeroed(2 * MOST)? })
    }

    /// Returns the number of a name; `None` if the table is full.
    pub fn number(&mut self, name: &str) -> Option<Name> {
        let hash = hash(0xcbf2_9ce4_8422_2325, name);
        let mut place = (hash ^ hash >> 32) as usize & (2 * MOST - 1);
        loop {
            match *self.places.get(place)? {
                0 => break,
                known if self.name(known - 1) == name => return Some(known - 1),
                _ => place = (place + 1) & (2 * MOST - 1),
            }
        }
        let (number, start) = (self.spans.len() as u32, self.bytes.len());
        name.bytes().try_for_each(|byte| self.bytes.push(byte))?;
        self.spans.push([start, self.bytes.len()].map(|place| place as u32))?;
        *self.places.get_mut(place)? = number + 1;
        Some(number)
    }

    /// Returns a name by its number.
    #[must_use]
    pub fn name(&self, number: Name) -> &str {
        let [start, end] = self.spans.get(number as usize).copied().unwrap_or_default();
        core::str::from_utf8(self.bytes.get(start as usize..end as usize).unwrap_or_default())
            .unwrap_or_default()
    }
}

/// Returns the hash of a name behind other names with this hash: FNV-1a by G. Fowler, L. C. Noll and K.-P. Vo.
pub fn hash(before: u64, name: &str) -> u64 {
    name.bytes().fold(before, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number() {
        let mut names = Names::new().unwrap();
        let all: std::vec::Vec<_> = (0..3000).map(|number| std::format!("host-{number}")).collect();
        for round in 0..2 {
            for (index, name) in all.iter().enumerate() {
                assert_eq!(names.number(name), Some(index as u32), "{round}");
            }
        }
        assert_eq!(names.name(17), "host-17");
        assert_eq!(names.number("").map(|number| names.name(number).is_empty()), Some(true));
        assert_eq!(names.name(1 << 20), "");
    }

    #[test]
    fn more_names_than_there_is_room_for_are_refused() {
        let mut names = Names::new().unwrap();
        let refused = (0..MOST + 3).filter(|number| names.number(&number.to_string()).is_none()).count();
        assert_eq!(refused, 3);
    }

    use std::string::ToString;
}

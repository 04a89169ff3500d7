//! Directory bits of memory: for each line, true if another node than its own read it last.
//!
//! Some machines keep this bit next to each line (a memory directory). A remote read sets it; the next read
//! by the line's own node has to ask the other node first, is slower once, and clears the bit. The caller
//! decides which reads reach memory.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Base-2 logarithm of the lines whose bits lie in one word.
const WORD_SHIFT: u32 = 6;

/// The bits of all lines.
#[derive(Debug, Default)]
pub struct Readers {
    /// Extra ticks of a read by the line's own node after one by another node.
    ticks: u64,
    /// Words with a set bit, by the number of their first line shifted by [`WORD_SHIFT`].
    words: Mutex<HashMap<u64, u64>>,
}

impl Readers {
    /// Makes memory whose lines no other node has read, with `ticks` extra ticks after one did; 0 disables
    /// the bits.
    #[must_use]
    pub fn new(ticks: u64) -> Self {
        Self { ticks, words: Mutex::default() }
    }

    /// Returns true if the memory has bits.
    #[must_use]
    pub const fn are_kept(&self) -> bool {
        self.ticks > 0
    }

    /// Notes a read of `line` from memory, by its own node or by another one, and returns the extra ticks.
    pub fn read(&self, line: u64, by_own_node: bool) -> u64 {
        if !self.are_kept() {
            return 0;
        }
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let (word, bit) = (line >> WORD_SHIFT, 1 << (line & ((1 << WORD_SHIFT) - 1)));
        if !by_own_node {
            *words.entry(word).or_default() |= bit;
            return 0;
        }
        match words.get_mut(&word) {
            Some(bits) if *bits & bit != 0 => {
                *bits &= !bit;
                self.ticks
            }
            _ => 0,
        }
    }

    /// Clears the bit of `line`, because the whole line was written.
    pub fn forget(&self, line: u64) {
        if self.are_kept() {
            self.read(line, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_node_is_slower_once_after_another_node() {
        let readers = Readers::new(9000);
        assert_eq!([readers.read(5, true), readers.read(5, false), readers.read(5, false)], [0, 0, 0]);
        assert_eq!([readers.read(5, true), readers.read(5, true)], [9000, 0]);
    }

    #[test]
    fn each_line_has_its_own_bit() {
        let readers = Readers::new(9000);
        for line in [0, 63, 64, 1 << 50] {
            readers.read(line, false);
        }
        readers.forget(63);
        let taken = [0, 1, 62, 63, 64, 65, 1 << 50].map(|line| readers.read(line, true));
        assert_eq!(taken, [9000, 0, 0, 0, 9000, 0, 9000]);
    }

    #[test]
    fn memory_without_bits_remembers_nothing() {
        let readers = Readers::default();
        readers.read(1, false);
        readers.forget(2);
        assert_eq!(readers.read(1, true), 0);
        assert!(!readers.are_kept() && readers.words.lock().unwrap().is_empty());
    }
}

//! The timed windows one by one, for a test that knows which lines a window walked over.
//!
//! Nothing here reads a clock.

use std::fmt;

/// The addresses of the hops of a window, and their modelled ticks of translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Virtual address of the first hop.
    pub first: u64,
    /// Virtual address of the last hop.
    pub last: u64,
    /// Lowest virtual address of a hop.
    pub lowest: u64,
    /// Modelled ticks of all hops without translation and pauses.
    pub loads: u64,
    /// Modelled ticks of translation.
    pub translation: u64,
}

impl Default for Walk {
    fn default() -> Self {
        Walk { first: 0, last: 0, lowest: u64::MAX, loads: 0, translation: 0 }
    }
}

impl Walk {
    /// Adds a hop to `address`.
    pub fn hop(&mut self, address: u64, ticks: u64, translation: u64) {
        if self.lowest == u64::MAX {
            self.first = address;
        }
        self.last = address;
        self.lowest = self.lowest.min(address);
        self.loads = self.loads.saturating_add(ticks.saturating_sub(translation));
        self.translation = self.translation.saturating_add(translation);
    }
}

/// Windows of one run, pair of nodes and number of hops, in the order in which they were closed on each CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    lowest: u64,
    windows: Vec<(Walk, i64)>,
}

impl Default for Listed {
    fn default() -> Self {
        Listed { lowest: u64::MAX, windows: Vec::new() }
    }
}

impl Listed {
    /// Adds a window that lasted for `excess` ticks more than modelled.
    pub fn note(&mut self, walk: Walk, excess: i64) {
        self.lowest = self.lowest.min(walk.lowest);
        self.windows.push((walk, excess));
    }

    /// Adds other windows.
    pub fn add(&mut self, more: &Listed) {
        self.lowest = self.lowest.min(more.lowest);
        self.windows.extend_from_slice(&more.windows);
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "lowest {:#x};", self.lowest)?;
        self.windows.iter().try_for_each(|(Walk { first, last, loads, translation, .. }, excess)| {
            write!(out, " {first:#x}:{last:#x}:{loads}:{translation}:{excess}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_listed_with_their_first_and_last_address() {
        let window = |addresses: &[u64]| {
            let mut walk = Walk::default();
            addresses.iter().for_each(|&address| walk.hop(address, 500, 70));
            walk
        };
        let (mut all, mut more) = (Listed::default(), Listed::default());
        all.note(window(&[0x5040, 0x3000, 0x4000]), -12);
        more.note(window(&[0x2fc0, 0x2fc0]), 9);
        all.add(&more);
        assert_eq!(all.to_string(), "lowest 0x2fc0; 0x5040:0x4000:1290:210:-12 0x2fc0:0x2fc0:860:140:9");
    }
}

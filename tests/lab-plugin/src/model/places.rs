//! The nodes of an access, whatever the content of the caches, and the directory bits that memory keeps.

use super::levels::Brought;
use super::{LINE_SHIFT, Machine, locked};
use crate::memory::Pair;

/// Result of an access of a generator in the levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// True if its line comes from memory.
    pub from_memory: bool,
    /// Lines that prefetchers bring from memory because of it.
    pub prefetched: u64,
}

impl Machine {
    /// Returns the nodes of an access by CPU `cpu`; `None` if there is no CPU of this number or no node
    /// claims the address.
    #[must_use]
    pub fn pair(&self, cpu: usize, physical_address: u64) -> Option<Pair> {
        let node = locked(self.cores.get(cpu)?).node;
        self.pairs().get(self.memory.pair(node, physical_address)?).copied()
    }

    /// Loads or stores on CPU `cpu` at `now` without waiting. Returns whether the line comes from memory, and
    /// how many lines prefetchers add. There is no translation, and the access is not counted as a load.
    #[must_use]
    pub fn touch(&self, cpu: usize, physical_address: u64, now: u64) -> Option<Touched> {
        let core = &mut *locked(self.cores.get(cpu)?);
        let line = physical_address >> LINE_SHIFT;
        let pair = self.memory.pair(core.node, physical_address);
        let Brought { found, prefetched } = self.demand(core, line, pair, now);
        let from_memory = found.is_none();
        if from_memory {
            pair.map(|pair| self.read(pair, line));
        }
        Some(Touched { from_memory, prefetched })
    }

    /// Reads `line` from memory between the nodes of this pair. Returns the extra ticks if another node read
    /// it last.
    pub(super) fn read(&self, pair: usize, line: u64) -> u64 {
        self.pairs().get(pair).map_or(0, |pair| self.readers.read(line, pair.from == pair.to))
    }
}

//! Between which nodes an access goes, whatever the caches hold, and what memory remembers of it.

use super::{locked, Machine};
use crate::memory::Pair;

impl Machine {
    /// The nodes between which an access by CPU `cpu` goes; `None` if there is no such CPU or no node claims the
    /// address.
    #[must_use]
    pub fn pair(&self, cpu: usize, physical_address: u64) -> Option<Pair> {
        let node = locked(self.cores.get(cpu)?).node;
        self.pairs().get(self.memory.pair(node, physical_address)?).copied()
    }

    /// Reads `line` from memory between the nodes of this pair: ticks that it takes longer since another node read it last.
    pub(super) fn read(&self, pair: usize, line: u64) -> u64 {
        self.pairs().get(pair).map_or(0, |pair| self.readers.read(line, pair.from == pair.to))
    }
}

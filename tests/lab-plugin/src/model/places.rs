//! Between which nodes an access goes, whatever the caches hold.

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
}

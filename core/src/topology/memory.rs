//! The memory of a node: the free part, and the part that the kernel would give back.
//!
//! A server that has been up for a month has little free memory, and much in cached
//! files, which the kernel drops on demand. So free memory is only a part of the available memory.

use super::files::{self, kilobytes_after, Files};
use super::read::NODES;
use super::{Node, Source, Topology};
use crate::units::{Bytes, NodeId};

impl Topology {
    /// Returns a node with the present state of its memory.
    #[must_use]
    pub fn node_now(&self, files: &impl Files, id: NodeId) -> Option<Node> {
        let mut node = *self.node(id)?;
        let mut buffer = [0; 4 << 10];
        let meminfo = match self.source() {
            Source::Sysfs => files::read(files, format_args!("{NODES}/node{id}/meminfo"), &mut buffer),
            Source::Assumed => files.read("/proc/meminfo", &mut buffer),
        };
        node.read_memory(meminfo.unwrap_or_default());
        Some(node)
    }
}

impl Node {
    /// Reads the amounts from a `meminfo`, of a node or of the machine.
    ///
    /// Recently used files count only in part, since other processes need them again.
    pub(super) fn read_memory(&mut self, meminfo: &[u8]) {
        let amount = |name| kilobytes_after(meminfo, name).unwrap_or_default();
        self.memory_total = amount("MemTotal:");
        self.memory_free = amount("MemFree:");
        let (inactive, active) = (amount("Inactive(file):"), amount("Active(file):"));
        let slabs = amount("SReclaimable:");
        self.memory_reclaimable =
            Bytes([active.0 / 2, slabs.0].into_iter().fold(inactive.0, u64::saturating_add));
    }

    /// Returns the available memory: free, or given back by the kernel; `None` where the kernel does not tell.
    #[must_use]
    pub fn can_give(&self) -> Option<Bytes> {
        let sum = self.memory_free.0.saturating_add(self.memory_reclaimable.0);
        // A node without free memory is full; a node without any memory is not described.
        (self.memory_total.0 > 0).then_some(Bytes(sum))
    }
}

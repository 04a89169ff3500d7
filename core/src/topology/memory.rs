//! The memory of a node: what is free, and what the kernel would give back.
//!
//! A server that has been up for a month has little free memory and much of it in cached
//! files, which the kernel drops for whoever asks. What is free is a part of what can be had.

use super::files::{kilobytes_after, path, Files};
use super::read::NODES;
use super::{Node, Source, Topology};
use crate::units::{Bytes, NodeId};

impl Topology {
    /// Returns a node as it is now: its memory is read anew.
    #[must_use]
    pub fn node_now(&self, files: &impl Files, id: NodeId) -> Option<Node> {
        let mut node = *self.node(id)?;
        let mut buffer = [0; 4 << 10];
        let meminfo = match self.source() {
            Source::Sysfs => files.read(path(format_args!("{NODES}/node{id}/meminfo")).as_str(), &mut buffer),
            Source::Assumed => files.read("/proc/meminfo", &mut buffer),
        };
        node.read_memory(meminfo.unwrap_or_default());
        Some(node)
    }
}

impl Node {
    /// Takes the amounts out of a `meminfo`, of a node or of the machine.
    ///
    /// Files that were used lately are given up only in part, since others come back for them.
    pub(super) fn read_memory(&mut self, meminfo: &[u8]) {
        let amount = |name| kilobytes_after(meminfo, name).unwrap_or_default();
        self.memory_total = amount("MemTotal:");
        self.memory_free = amount("MemFree:");
        let (inactive, active) = (amount("Inactive(file):"), amount("Active(file):"));
        let slabs = amount("SReclaimable:");
        self.memory_reclaimable =
            Bytes([active.0 / 2, slabs.0].into_iter().fold(inactive.0, u64::saturating_add));
    }

    /// Returns what can be had: what is free, and what the kernel would give back; `None` where nobody tells.
    #[must_use]
    pub fn can_give(&self) -> Option<Bytes> {
        let sum = self.memory_free.0.saturating_add(self.memory_reclaimable.0);
        // A node without anything free is full; one without any memory is not described.
        (self.memory_total.0 > 0).then_some(Bytes(sum))
    }
}

//! The uncores that serve the memory of generators: one for each node.

use latency_core::host::Uncore;
use latency_core::topology::Topology;
use latency_core::units::NodeId;

use crate::sys::errno::Errno;
use crate::sys::file::SystemFiles;
use crate::sys::table::Table;

/// The uncores with a clock that can be read.
pub struct Uncores(Table<Option<(NodeId, Uncore)>>);

impl Uncores {
    /// Finds the uncores of some nodes.
    ///
    /// # Errors
    ///
    /// The error of mapping the table.
    pub fn of(topology: &Topology, nodes: impl Iterator<Item = NodeId> + Clone) -> Result<Uncores, Errno> {
        let found = |id| Some((id, Uncore::find(&SystemFiles, &topology.node(id)?.cpus)?));
        let count = nodes.clone().count();
        let mut nodes = nodes.map(found);
        Ok(Uncores(Table::made(count, |_| nodes.next().flatten())?))
    }

    /// Returns the clock of a node's uncore, now; not a number where it cannot be read.
    #[must_use]
    pub fn gigahertz(&self, node: NodeId) -> f64 {
        let own = self.0.iter().flatten().find(|(other, _)| *other == node);
        own.and_then(|(_, uncore)| uncore.gigahertz(&SystemFiles)).unwrap_or(f64::NAN)
    }
}

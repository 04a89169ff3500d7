//! The cost of a line from the place where it was found, for loads of the program and of page walks.

use super::levels::Found;
use super::{Core, Machine, Source};

/// The source of a line, and its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Served {
    /// The source.
    pub source: Source,
    /// Ticks of the load, without translation.
    pub ticks: u64,
    /// True if the load was slower because another node had read the line last.
    pub paid: bool,
}

impl Machine {
    /// Returns the cost of `line`, which was found in a level or not; `pair` are the nodes, if one claims the line.
    /// If it comes from memory, memory notes the read.
    pub(super) fn serve(&self, found: Option<Found>, pair: Option<usize>, line: u64) -> Served {
        let of = |source, ticks| Served { source, ticks, paid: false };
        match (found, pair) {
            (Some(Found::Level(level)), _) => {
                of(Source::Level(level), self.description.levels.get(level).map_or(0, |level| level.ticks))
            }
            (Some(Found::Other(ticks)), _) => of(Source::Other, ticks),
            (None, Some(pair)) => {
                let more = self.read(pair, line);
                let ticks = self.pairs().get(pair).map_or(0, |pair| pair.ticks);
                Served { source: Source::Memory(pair), ticks: ticks.saturating_add(more), paid: more > 0 }
            }
            (None, None) => of(Source::Unclaimed, 0),
        }
    }

    /// Loads a line of a page table on a CPU at `now`, if there are page tables, and returns its ticks. The line goes
    /// through the caches like one of data; prefetchers do not see it.
    pub(super) fn walk(&self, core: &mut Core, line: u64, now: u64) -> u64 {
        let Some(node) = self.description.tables else { return 0 };
        let found = self.fill(core.place, &mut core.levels, line, now);
        let Served { source, ticks, .. } =
            self.serve(found, self.memory.pair_of_nodes(core.node, node), line);
        let counter = match source {
            Source::Level(level) => core.counts.walk_hits.get_mut(level),
            Source::Other => Some(&mut core.counts.walk_other),
            Source::Memory(pair) => core.counts.walk_pairs.get_mut(pair),
            Source::Unclaimed => None,
        };
        if let Some(counter) = counter {
            *counter += 1;
        }
        ticks
    }
}

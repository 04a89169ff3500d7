//! A machine of one CPU that is walked without an emulator: the mean ticks of the loads of any sequence of addresses.
//!
//! Tests give it the sequence of a chain and compare an estimate with the parts of the ticks. Time is the sum of the
//! modelled ticks.

use std::cell::Cell;

use crate::cache::Generator;
use crate::memory::{Latency, Memory, Missing, Region};
use crate::model::{Counts, Description, Machine};

/// Base-2 logarithm of the bytes of each node.
const NODE_SHIFT: u32 = 44;
/// Base-2 logarithm of the bytes of a base page.
const PAGE_SHIFT: u32 = 12;
/// Base-2 logarithm of the frames among which scattered pages are drawn: 1 TiB.
const FRAMES_SHIFT: u32 = 28;

/// The physical places of virtual pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frames {
    /// At their virtual addresses.
    #[default]
    InOrder,
    /// Each base page is anywhere in memory, in places that follow from this seed; two pages may share a frame.
    Scattered(u64),
}

/// Sums over the loads of a walk, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Number of loads.
    pub hops: u64,
    /// Ticks without translation.
    pub loads: u64,
    /// Ticks of translation: TLB misses, and the loads of page walks.
    pub translation: u64,
}

impl Walked {
    /// Returns the mean ticks of a load with its translation; NaN without loads.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean_load() + self.mean_translation()
    }

    /// Returns the mean ticks of a load without translation; NaN without loads.
    #[must_use]
    pub fn mean_load(&self) -> f64 {
        self.loads as f64 / self.hops as f64
    }

    /// Returns the mean ticks of a translation; NaN without loads.
    #[must_use]
    pub fn mean_translation(&self) -> f64 {
        self.translation as f64 / self.hops as f64
    }
}

/// A machine with a CPU on node 0, and the places of its pages.
pub struct Simulated {
    machine: Machine,
    node: u32,
    frames: Frames,
    now: Cell<u64>,
}

impl Simulated {
    /// Makes a machine with empty caches. `latencies` are the ticks of a load from the memory of each node, node 0 first.
    /// Pages are on node 0, in order.
    ///
    /// # Errors
    ///
    /// Without the latency of node 0, or of the node of the page tables.
    pub fn new(description: Description, latencies: &[u64]) -> Result<Self, Missing> {
        let tables = description.tables.into_iter();
        if let Some(to) = tables.chain([0]).find(|&node| latencies.len() <= node as usize) {
            return Err(Missing { from: 0, to });
        }
        let nodes = || (0_u32..).zip(latencies);
        let region = |node: u32| Region { node, start: u64::from(node) << NODE_SHIFT, size: 1 << NODE_SHIFT };
        let regions = nodes().map(|(node, _)| region(node)).collect();
        let latency = |(to, &ticks)| Latency { from: Some(0), to: Some(to), ticks };
        let latencies: Vec<Latency> = nodes().map(latency).collect();
        let machine = Machine::new(description, Memory::new(regions, &latencies, &[0])?, &[0]);
        Ok(Simulated { machine, node: 0, frames: Frames::default(), now: Cell::new(0) })
    }

    /// Puts all pages on `node`, in the order of `frames`.
    #[must_use]
    pub fn placed(self, node: u32, frames: Frames) -> Self {
        Simulated { node, frames, ..self }
    }

    /// Loads from these virtual addresses, one after the other; they are below 2^44.
    pub fn walk(&self, addresses: impl IntoIterator<Item = u64>) -> Walked {
        let mut walked = Walked::default();
        for address in addresses {
            let now = self.now.get();
            // The machine has CPU 0.
            let Some(outcome) = self.machine.load(0, address, self.place(address), now) else { continue };
            self.now.set(now.saturating_add(outcome.ticks).saturating_add(outcome.pause));
            walked.hops += 1;
            walked.loads += outcome.ticks - outcome.translation;
            walked.translation += outcome.translation;
        }
        walked
    }

    /// Returns the counts of all loads so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.machine.counts()
    }

    /// Returns the physical address of a virtual one.
    fn place(&self, address: u64) -> u64 {
        let page = match self.frames {
            Frames::InOrder => address >> PAGE_SHIFT,
            Frames::Scattered(seed) => {
                // A generator for each page gives it the same frame at each load.
                Generator(seed ^ (address >> PAGE_SHIFT).wrapping_mul(0xd134_2543_de82_ef95)).draw()
                    >> (64 - FRAMES_SHIFT)
            }
        };
        u64::from(self.node) << NODE_SHIFT | page << PAGE_SHIFT | address & ((1 << PAGE_SHIFT) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Replacement;
    use crate::model::{Level, Scope};
    use crate::page::{Page, PageRule};
    use crate::tlb::TlbLevel;

    const PAGE: u64 = 1 << PAGE_SHIFT;

    fn description(tables: Option<u32>) -> Description {
        let level = Level {
            sets: 16,
            ways: 4,
            ticks: 50,
            replacement: Replacement::LeastRecentlyUsed,
            scope: Scope::Cpu,
        };
        let tlb = vec![TlbLevel { entries: 8, miss_ticks: 100, ways: 8, only: None }];
        let page = PageRule::Always(Page::Small);
        Description { levels: vec![level], tlb, page, tables, ..Description::default() }
    }

    #[test]
    fn a_walk_has_its_ticks_with_and_without_translation() {
        let machine = Simulated::new(description(Some(1)), &[1000, 3000]).unwrap();
        // A line of each of 64 pages, all in one set. Of the eight lines of the table only the first is in that set, and
        // is evicted in each lap.
        let pages = || (0..64).map(|page| page * PAGE);
        machine.walk(pages());
        let walked = machine.walk(pages());
        assert_eq!((walked.hops, walked.loads), (64, 64 * 1000));
        assert_eq!(walked.mean_load(), 1000.0);
        assert_eq!(walked.mean_translation(), 100.0 + (3000.0 + 63.0 * 50.0) / 64.0);
        assert_eq!(walked.mean(), walked.mean_load() + walked.mean_translation());
        assert_eq!((machine.counts().tlb_misses, machine.counts().loads), (vec![128], 128));
        // The last eight pages are in the TLB.
        assert_eq!(machine.walk((56..64).map(|page| page * PAGE + 64)).translation, 0);
    }

    #[test]
    fn pages_are_on_the_chosen_node_and_scattered_pages_spread_over_all_sets() {
        let machine = || Simulated::new(description(None), &[1000, 3000]).unwrap();
        let remote = machine().placed(1, Frames::InOrder);
        assert_eq!(remote.walk([0, 64, 0]).loads, 3000 + 3000 + 50);
        // 16 lines of 16 pages, of the same place in the page, are in one set.
        let lines = || (0..16).map(|page| page * PAGE);
        let in_order = machine();
        in_order.walk(lines());
        assert_eq!(in_order.walk(lines()).mean_load(), 1000.0);
        let scattered = machine().placed(0, Frames::Scattered(5));
        let place = |page| scattered.place(page * PAGE);
        assert_eq!((place(3), place(3) & (PAGE - 1)), (place(3), 0));
        let mut places: Vec<u64> = (0..1000).map(place).collect();
        places.sort_unstable();
        places.dedup();
        assert!(places.len() > 990 && places[500] > 1 << 38, "{places:?}");
    }

    #[test]
    fn time_is_the_sum_of_the_modelled_ticks() {
        let burst = Some(crate::drift::Burst { every: 10_000, length: 5000, share: 0.5 });
        let description = Description { burst, ..Description::default() };
        let machine = Simulated::new(description, &[1000]).unwrap();
        let loads: Vec<u64> = (0..20).map(|line| machine.walk([line * PAGE]).loads).collect();
        assert!(loads.contains(&1000) && loads.contains(&1500), "{loads:?}");
    }

    #[test]
    fn a_missing_latency_is_named() {
        let missing = |tables, latencies: &[u64]| Simulated::new(description(tables), latencies).err();
        assert_eq!(missing(Some(1), &[1000]), Some(Missing { from: 0, to: 1 }));
        assert_eq!((missing(None, &[]), missing(None, &[9])), (Some(Missing { from: 0, to: 0 }), None));
    }
}

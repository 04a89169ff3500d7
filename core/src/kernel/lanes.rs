//! Kernels that walk several lanes side by side, over nodes that hold addresses.
//!
//! How many loads a processor keeps in flight ([`PARALLEL`]), how far its window
//! reaches past work that waits for them ([`WINDOW`]), and how many instructions
//! fit between two of them ([`Gap`]). Nothing here touches memory.

use crate::arch::{self, LaneRoutine, WINDOW_LANES};

/// The most lanes that a kernel has.
pub const MOST_LANES: usize = 64;

/// A chase loop that makes exactly one dependent load per hop and lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneKernel {
    lanes: usize,
    in_memory: usize,
    work: usize,
    prefetch: bool,
    instructions: usize,
    routine: LaneRoutine,
}

impl LaneKernel {
    /// How many chains it walks side by side.
    #[must_use]
    pub const fn lanes(&self) -> usize {
        self.lanes
    }

    /// How many of their cursors have no register: one load from the first-level cache more for each and hop.
    #[must_use]
    pub const fn in_memory(&self) -> usize {
        self.in_memory
    }

    /// Units of work between the loads: dependent additions of one cycle, the first of which waits for the load.
    #[must_use]
    pub const fn work(&self) -> usize {
        self.work
    }

    /// Whether the next node of a lane is prefetched as soon as its address is known.
    #[must_use]
    pub const fn prefetch(&self) -> bool {
        self.prefetch
    }

    /// How many instructions one hop of all lanes takes, without the loop around it.
    ///
    /// That many lie between a lane's load and its next one. Where the processor
    /// has no room for them, it does not have the loads of all lanes in flight.
    #[must_use]
    pub const fn instructions(&self) -> usize {
        self.instructions
    }

    pub(crate) const fn routine(&self) -> LaneRoutine {
        self.routine
    }
}

/// The kernels without work, by their number of lanes.
pub static PARALLEL: [LaneKernel; arch::PARALLEL_CHASES.len()] = {
    let mut kernels = [plain(arch::PARALLEL_CHASES[0]); arch::PARALLEL_CHASES.len()];
    let mut place = 1;
    while place < kernels.len() {
        kernels[place] = plain(arch::PARALLEL_CHASES[place]);
        place += 1;
    }
    kernels
};

const fn plain((lanes, routine): (usize, LaneRoutine)) -> LaneKernel {
    let in_memory = if lanes > arch::REGISTER_LANES { lanes - arch::REGISTER_LANES_BESIDE_MEMORY } else { 0 };
    // A lane in memory takes a load and a store more.
    LaneKernel { lanes, in_memory, work: 0, prefetch: false, instructions: lanes + 2 * in_memory, routine }
}

/// Sixteen lanes with work: pairs of a kernel that prefetches and one that does not, by the units of work.
pub static WINDOW: [[LaneKernel; 2]; arch::WINDOW_CHASES.len()] = {
    let mut kernels = [window(arch::WINDOW_CHASES[0]); arch::WINDOW_CHASES.len()];
    let mut place = 1;
    while place < kernels.len() {
        kernels[place] = window(arch::WINDOW_CHASES[place]);
        place += 1;
    }
    kernels
};

const fn window((work, without, with): (usize, LaneRoutine, LaneRoutine)) -> [LaneKernel; 2] {
    let instructions = WINDOW_LANES * (arch::WINDOW_OVERHEAD + work);
    let without = LaneKernel {
        lanes: WINDOW_LANES,
        in_memory: 0,
        work,
        prefetch: false,
        instructions,
        routine: without,
    };
    let instructions = instructions + WINDOW_LANES;
    [without, LaneKernel { prefetch: true, instructions, routine: with, ..without }]
}

/// The kernel of [`PARALLEL`] with so many lanes.
#[must_use]
pub fn parallel(lanes: usize) -> Option<&'static LaneKernel> {
    PARALLEL.iter().find(|kernel| kernel.lanes == lanes)
}

/// The kernel of [`WINDOW`] with so many units of work, with a prefetch or without.
#[must_use]
pub fn windowed(work: usize, prefetch: bool) -> Option<&'static LaneKernel> {
    WINDOW.iter().flatten().find(|kernel| kernel.work == work && kernel.prefetch == prefetch)
}

/// Instructions that depend on no load, to put between two of them.
///
/// While a load waits for memory, nothing after it retires, and what has been
/// let in after it holds what it needs. The load behind the fillers starts only
/// if there was enough of that for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filler {
    /// `nop`: needs an entry of the reorder buffer alone. Where several share one
    /// (Zen 4) there may be no limit to be seen within [`Gap::MOST`].
    Nop,
    /// `lea`: also needs an integer register, of which there may be fewer than entries.
    Lea,
    /// `lea`, `cmp` and `paddd` by turns: registers of three kinds, so that the
    /// entries of the reorder buffer run out first.
    Mixed,
}

impl Filler {
    /// Every kind.
    pub const ALL: [Filler; 3] = [Filler::Nop, Filler::Lea, Filler::Mixed];

    /// The name by which it is known.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Filler::Nop => "nop",
            Filler::Lea => "lea",
            Filler::Mixed => "mixed",
        }
    }
}

/// A number of fillers between the loads of two lanes.
///
/// Two misses overlap as long as the processor reaches over the gap between
/// them. A hop of both lanes takes one latency then, and two where it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    filler: Filler,
    fillers: usize,
}

impl Gap {
    /// The lanes that have a gap between their loads.
    pub const LANES: usize = 2;
    /// The most fillers there is room for: more than the largest reorder buffer known, of 576 entries.
    pub const MOST: usize = arch::MOST_FILLERS;
    /// Instructions from one load to the next beside the fillers: two moves, a jump, the loop's two.
    pub const OVERHEAD: usize = 5;

    /// A gap of `fillers` instructions, or `None` beyond [`MOST`](Self::MOST).
    #[must_use]
    pub const fn new(filler: Filler, fillers: usize) -> Option<Gap> {
        if fillers > Gap::MOST {
            return None;
        }
        Some(Gap { filler, fillers })
    }

    /// The kind of instruction.
    #[must_use]
    pub const fn filler(self) -> Filler {
        self.filler
    }

    /// How many there are.
    #[must_use]
    pub const fn fillers(self) -> usize {
        self.fillers
    }

    pub(crate) const fn routine(self) -> LaneRoutine {
        match self.filler {
            Filler::Nop => arch::REACH_NOP_CHASE,
            Filler::Lea => arch::REACH_LEA_CHASE,
            Filler::Mixed => arch::REACH_MIXED_CHASE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_in_ascending_order_and_in_registers_as_far_as_they_go() {
        assert!(PARALLEL.is_sorted_by_key(|kernel| kernel.lanes));
        for kernel in &PARALLEL {
            assert!(kernel.lanes <= MOST_LANES);
            assert_eq!(kernel.in_memory > 0, kernel.lanes > 14);
            assert!(core::ptr::eq(parallel(kernel.lanes).unwrap(), kernel));
        }
        assert!(parallel(5).is_none());
    }

    #[test]
    fn a_unit_of_work_is_one_instruction() {
        for [without, with] in &WINDOW {
            assert_eq!(without.instructions(), 16 * (4 + without.work));
            assert_eq!(with.instructions(), 16 * (5 + without.work));
            assert!(core::ptr::eq(windowed(without.work, false).unwrap(), without));
            assert!(core::ptr::eq(windowed(without.work, true).unwrap(), with));
        }
        assert!(windowed(5, false).is_none());
    }

    #[test]
    fn gaps_have_an_end() {
        for filler in Filler::ALL {
            assert!(Gap::new(filler, Gap::MOST).is_some());
            assert!(Gap::new(filler, Gap::MOST + 1).is_none());
        }
    }
}

//! Kernels that walk several lanes side by side, over nodes that hold addresses.
//!
//! They measure the number of loads that a processor keeps in flight ([`PARALLEL`]), how far its
//! instruction window reaches past work that depends on the loads ([`WINDOW`]), and the number of
//! instructions that fit between two loads in flight ([`Gap`]). Nothing here accesses memory.

use crate::arch::{self, LaneRoutine, REGISTER_LANES, WINDOW_LANES};

pub use crate::arch::MOST_LANES;

/// A chase loop that makes exactly one dependent load per hop and lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneKernel {
    pub(crate) routine: LaneRoutine,
    lanes: u16,
    work: u16,
    instructions: u16,
    in_memory: u8,
    /// True if the next node of a lane is prefetched as soon as its address is known.
    pub prefetch: bool,
}

impl LaneKernel {
    /// Returns the number of chains that the loop walks side by side.
    pub const fn lanes(&self) -> usize {
        self.lanes as usize
    }

    /// Returns the units of work between the loads: dependent additions of one cycle. The first waits for the load.
    pub const fn work(&self) -> usize {
        self.work as usize
    }

    /// Returns the number of instructions of one hop of all lanes, without those that count hops.
    ///
    /// This is the number of instructions from a lane's load to its next load. If they do not fit
    /// in the processor's instruction window, the loads of all lanes cannot be in flight together.
    pub const fn instructions(&self) -> usize {
        self.instructions as usize
    }

    /// Returns the number of cursors that are kept in memory, because there are more lanes than registers.
    pub(crate) const fn in_memory(&self) -> usize {
        self.in_memory as usize
    }
}

/// Returns the kernel for this number of lanes without work.
const fn plain(lanes: usize) -> LaneKernel {
    let mut place = 0;
    while place < arch::REGISTER_CHASES.len() {
        let (held, routine) = arch::REGISTER_CHASES[place];
        if held == lanes {
            let lanes = lanes as u16;
            return LaneKernel {
                routine,
                lanes,
                work: 0,
                instructions: lanes,
                in_memory: 0,
                prefetch: false,
            };
        }
        place += 1;
    }
    assert!(lanes > REGISTER_LANES && lanes <= MOST_LANES);
    let in_memory = (lanes - REGISTER_LANES) as u8;
    let lanes = lanes as u16;
    // A lane with its cursor in memory needs one more load, from the first-level cache, and one more store.
    let instructions = lanes + 2 * in_memory as u16;
    LaneKernel { routine: arch::MEMORY_CHASE, lanes, work: 0, instructions, in_memory, prefetch: false }
}

/// The kernels without work, by their number of lanes: every number for which registers suffice, then steps of about a
/// third.
pub static PARALLEL: [LaneKernel; 15] = [
    plain(1),
    plain(2),
    plain(3),
    plain(4),
    plain(6),
    plain(8),
    plain(10),
    plain(12),
    plain(14),
    plain(16),
    plain(20),
    plain(24),
    plain(32),
    plain(48),
    plain(64),
];

/// Returns the kernel of [`WINDOW_LANES`] lanes with `work` units of work, and with a prefetch if `prefetch`.
const fn window(work: usize, prefetch: bool, routine: LaneRoutine) -> LaneKernel {
    let instructions = (WINDOW_LANES * (arch::WINDOW_OVERHEAD + work + prefetch as usize)) as u16;
    LaneKernel {
        routine,
        lanes: WINDOW_LANES as u16,
        work: work as u16,
        instructions,
        in_memory: 0,
        prefetch,
    }
}

/// The kernels of sixteen lanes with work: pairs of a kernel without a prefetch and a kernel with it, by the units of
/// work.
///
/// The units grow one by one at first, while the latency hides the work, then in steps of about a third.
pub static WINDOW: [[LaneKernel; 2]; arch::WINDOW_CHASES.len()] = {
    let mut kernels = [[plain(1); 2]; arch::WINDOW_CHASES.len()];
    let mut place = 0;
    while place < kernels.len() {
        let (work, [without, with]) = arch::WINDOW_CHASES[place];
        kernels[place] = [window(work, false, without), window(work, true, with)];
        place += 1;
    }
    kernels
};

/// Returns the kernel of [`PARALLEL`] with this number of lanes.
pub fn parallel(lanes: usize) -> Option<&'static LaneKernel> {
    PARALLEL.iter().find(|kernel| kernel.lanes() == lanes)
}

/// The kinds of instructions between two loads that depend on neither.
///
/// While a load waits for memory, no later instruction retires, and each instruction that was
/// dispatched after it keeps its resources. The load after the fillers starts only if there were
/// enough resources for all fillers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filler {
    /// `nop`: needs only an entry of the reorder buffer. If several `nop`s share one entry (Zen 4),
    /// there may be no visible limit within [`Gap::MOST`].
    Nop,
    /// `lea`: also needs an integer register. There may be fewer registers than entries of the reorder buffer.
    Lea,
    /// `lea`, `cmp` and `paddd` in rotation: they need registers of three kinds, so that the
    /// entries of the reorder buffer run out first.
    Mixed,
}

impl Filler {
    /// All kinds.
    pub const ALL: [Filler; 3] = [Filler::Nop, Filler::Lea, Filler::Mixed];

    /// Returns the name that is printed.
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
/// Two misses overlap if the processor can look ahead across the gap between them. A hop of both
/// lanes then takes one latency, otherwise two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    filler: Filler,
    fillers: usize,
}

impl Gap {
    /// Number of lanes of a kernel with gaps between the loads.
    pub const LANES: usize = 2;
    /// Maximum number of fillers: more than the largest known reorder buffer, which has 576 entries.
    pub const MOST: usize = arch::MOST_FILLERS;
    /// Number of instructions from one load to the next in addition to the fillers: two moves, a jump, and two for the
    /// loop.
    pub const OVERHEAD: usize = 5;

    /// Returns a gap of `fillers` instructions, or `None` beyond [`MOST`](Self::MOST).
    pub const fn new(filler: Filler, fillers: usize) -> Option<Gap> {
        if fillers > Gap::MOST {
            return None;
        }
        Some(Gap { filler, fillers })
    }

    /// Returns the kind of instruction.
    pub const fn filler(self) -> Filler {
        self.filler
    }

    /// Returns the number of fillers.
    pub const fn fillers(self) -> usize {
        self.fillers
    }

    /// Returns the loop, and its count argument.
    pub(crate) const fn routine(self) -> (LaneRoutine, usize) {
        let routine = match self.filler {
            Filler::Nop => arch::REACH_NOP_CHASE,
            Filler::Lea => arch::REACH_INTEGER_CHASE,
            Filler::Mixed => arch::REACH_MIXED_CHASE,
        };
        (routine, self.fillers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_in_ascending_order_and_up_to_14_in_registers() {
        assert!(PARALLEL.is_sorted_by_key(|kernel| kernel.lanes()));
        for kernel in &PARALLEL {
            assert!(kernel.lanes() <= MOST_LANES);
            assert_eq!(kernel.in_memory() > 0, kernel.lanes() > 14);
            assert!(core::ptr::eq(parallel(kernel.lanes()).unwrap(), kernel));
        }
        assert!(parallel(5).is_none());
    }

    #[test]
    fn a_unit_of_work_is_one_instruction() {
        for [without, with] in &WINDOW {
            assert_eq!(without.instructions(), 16 * (5 + without.work()));
            assert_eq!(with.instructions(), 16 * (6 + without.work()));
            assert_eq!((with.work(), without.prefetch, with.prefetch), (without.work(), false, true));
        }
        assert!(WINDOW.is_sorted_by_key(|[kernel, _]| kernel.work()));
    }

    #[test]
    fn a_lane_without_a_register_needs_one_more_load_and_store() {
        let of = |lanes| parallel(lanes).unwrap().instructions;
        assert_eq!([1, 2, 14].map(of), [1, 2, 14]);
        // Each lane without a register needs three instructions.
        assert_eq!(of(20) - of(16), 4 * 3);
        assert_eq!(of(64) - of(48), 16 * 3);
        assert_eq!(of(16), 16 + 2 * u16::from(parallel(16).unwrap().in_memory));
    }

    #[test]
    fn gaps_are_limited() {
        for filler in Filler::ALL {
            assert!(Gap::new(filler, Gap::MOST).is_some());
            assert!(Gap::new(filler, Gap::MOST + 1).is_none());
        }
    }
}

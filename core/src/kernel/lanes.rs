//! Kernels that walk several lanes side by side, over nodes that hold addresses.
//!
//! They measure the number of loads that a processor keeps in flight ([`PARALLEL`]), how far its
//! instruction window reaches past work that depends on the loads ([`WINDOW`]), and the number of
//! instructions that fit between two loads in flight ([`Gap`]). Nothing here accesses memory.

use crate::arch::{self, LaneRoutine};
use crate::worded;

/// Maximum number of lanes of a kernel.
pub const MOST_LANES: usize = 64;
/// Number of cursors in registers where there are more lanes than registers; the cursors of the others stay in memory.
const REGISTER_LANES: u16 = 12;
/// Number of lanes of each of the kernels with work.
const WINDOW_LANES: u16 = 16;
/// Number of instructions of a load in addition to the work: the load, a load and a store of the cursor, the digest,
/// and half of the two instructions that count pairs of lanes.
const WINDOW_OVERHEAD: u16 = 5;

/// A chase loop that makes exactly one dependent load per hop and lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneKernel {
    routine: LaneRoutine,
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

    /// Returns the loop, and its count argument: the number of cursors that are kept in memory, because there are more
    /// lanes than registers.
    pub(crate) const fn routine(&self) -> (LaneRoutine, usize) {
        (self.routine, self.in_memory as usize)
    }
}

/// Returns the kernel of this number of lanes without work, with all cursors in registers.
const fn in_registers(lanes: u16, routine: LaneRoutine) -> LaneKernel {
    LaneKernel { routine, lanes, work: 0, instructions: lanes, in_memory: 0, prefetch: false }
}

/// Returns the kernel of this number of lanes without work, more than there are registers.
const fn in_memory(lanes: u16) -> LaneKernel {
    let in_memory = lanes - REGISTER_LANES;
    // A lane with its cursor in memory needs one more load, from the first-level cache, and one more store.
    let instructions = lanes + 2 * in_memory;
    let kernel = in_registers(lanes, arch::lb_chase_parallel_more);
    LaneKernel { instructions, in_memory: in_memory as u8, ..kernel }
}

/// The kernels without work, by their number of lanes: every number for which registers suffice, then steps of about a
/// third.
pub static PARALLEL: [LaneKernel; 15] = [
    in_registers(1, arch::lb_chase_parallel_1),
    in_registers(2, arch::lb_chase_parallel_2),
    in_registers(3, arch::lb_chase_parallel_3),
    in_registers(4, arch::lb_chase_parallel_4),
    in_registers(6, arch::lb_chase_parallel_6),
    in_registers(8, arch::lb_chase_parallel_8),
    in_registers(10, arch::lb_chase_parallel_10),
    in_registers(12, arch::lb_chase_parallel_12),
    in_registers(14, arch::lb_chase_parallel_14),
    in_memory(16),
    in_memory(20),
    in_memory(24),
    in_memory(32),
    in_memory(48),
    in_memory(64),
];

/// Returns the kernels with `work` units of work: the one without a prefetch, and the one with it.
const fn window(work: u16, without: LaneRoutine, with: LaneRoutine) -> [LaneKernel; 2] {
    let instructions = WINDOW_LANES * (WINDOW_OVERHEAD + work);
    let kernel = LaneKernel { work, instructions, ..in_registers(WINDOW_LANES, without) };
    let instructions = instructions + WINDOW_LANES;
    [kernel, LaneKernel { routine: with, instructions, prefetch: true, ..kernel }]
}

/// The kernels of sixteen lanes with work: pairs of a kernel without a prefetch and a kernel with it, by the units of
/// work.
///
/// The units grow one by one at first, while the latency hides the work, then in steps of about a third.
pub static WINDOW: [[LaneKernel; 2]; 12] = [
    window(0, arch::lb_chase_window_0, arch::lb_chase_window_0_prefetch),
    window(1, arch::lb_chase_window_1, arch::lb_chase_window_1_prefetch),
    window(2, arch::lb_chase_window_2, arch::lb_chase_window_2_prefetch),
    window(3, arch::lb_chase_window_3, arch::lb_chase_window_3_prefetch),
    window(4, arch::lb_chase_window_4, arch::lb_chase_window_4_prefetch),
    window(6, arch::lb_chase_window_6, arch::lb_chase_window_6_prefetch),
    window(8, arch::lb_chase_window_8, arch::lb_chase_window_8_prefetch),
    window(12, arch::lb_chase_window_12, arch::lb_chase_window_12_prefetch),
    window(16, arch::lb_chase_window_16, arch::lb_chase_window_16_prefetch),
    window(24, arch::lb_chase_window_24, arch::lb_chase_window_24_prefetch),
    window(32, arch::lb_chase_window_32, arch::lb_chase_window_32_prefetch),
    window(48, arch::lb_chase_window_48, arch::lb_chase_window_48_prefetch),
];

/// Returns the kernel of [`PARALLEL`] with this number of lanes.
pub fn parallel(lanes: usize) -> Option<&'static LaneKernel> {
    PARALLEL.iter().find(|kernel| kernel.lanes() == lanes)
}

worded! {
    /// The kinds of instructions between two loads that depend on neither.
    ///
    /// While a load waits for memory, no later instruction retires, and each instruction that was
    /// dispatched after it keeps its resources. The load after the fillers starts only if there were
    /// enough resources for all fillers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Filler {
        /// `nop`: needs only an entry of the reorder buffer. If several `nop`s share one entry (Zen 4),
        /// there may be no visible limit within [`Gap::MOST`].
        Nop = "nop",
        /// `lea`: also needs an integer register. There may be fewer registers than entries of the reorder buffer.
        Lea = "lea",
        /// `lea`, `cmp` and `paddd` in rotation: they need registers of three kinds, so that the
        /// entries of the reorder buffer run out first.
        Mixed = "mixed",
    }
}

impl Filler {
    /// All kinds.
    pub const ALL: [Filler; 3] = [Filler::Nop, Filler::Lea, Filler::Mixed];
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
    pub const MOST: usize = 768;
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
            Filler::Nop => arch::lb_chase_reach_nop,
            Filler::Lea => arch::lb_chase_reach_integer,
            Filler::Mixed => arch::lb_chase_reach_mixed,
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
            assert_eq!(kernel.in_memory > 0, kernel.lanes() > 14);
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

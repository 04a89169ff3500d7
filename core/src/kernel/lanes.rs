//! Kernels that walk several lanes side by side, over nodes that hold addresses.
//!
//! They show the loads that a processor keeps in flight ([`PARALLEL`]), the reach of
//! its window past work that waits for them ([`WINDOW`]), and the instructions
//! that fit between two of them ([`Gap`]). Nothing here touches memory.

use crate::arch::{self, LaneRoutine, REGISTER_LANES, WINDOW_LANES};

pub use crate::arch::MOST_LANES;

/// A chase loop that makes exactly one dependent load per hop and lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneKernel(Form);

#[derive(Clone, Copy, Debug)]
enum Form {
    /// This number of lanes, with nothing but their loads.
    Plain(usize),
    /// [`WINDOW_LANES`] lanes with units of work, and perhaps a prefetch.
    Window { work: usize, prefetch: bool, routine: LaneRoutine },
}

impl LaneKernel {
    /// Returns the number of chains that it walks side by side.
    #[must_use]
    pub const fn lanes(&self) -> usize {
        match self.0 {
            Form::Plain(lanes) => lanes,
            Form::Window { .. } => WINDOW_LANES,
        }
    }

    /// Returns the number of its cursors that have no register, although those of other kernels have one.
    ///
    /// Each costs one more load from the first-level cache per hop.
    #[must_use]
    pub const fn in_memory(&self) -> usize {
        match self.0 {
            Form::Plain(lanes) if !in_registers(lanes) => lanes - REGISTER_LANES,
            _ => 0,
        }
    }

    /// Returns the units of work between the loads: dependent additions of one cycle.
    ///
    /// The first waits for the load.
    #[must_use]
    pub const fn work(&self) -> usize {
        match self.0 {
            Form::Plain(_) => 0,
            Form::Window { work, .. } => work,
        }
    }

    /// Returns whether the next node of a lane is prefetched as soon as its address is known.
    #[must_use]
    pub const fn prefetch(&self) -> bool {
        matches!(self.0, Form::Window { prefetch: true, .. })
    }

    /// Returns the number of instructions of one hop of all lanes, without those that count hops.
    ///
    /// This number lies between a lane's load and its next one. A processor that
    /// has no room for them does not have the loads of all lanes in flight.
    #[must_use]
    pub const fn instructions(&self) -> usize {
        match self.0 {
            // A lane in memory needs one more load and one more store.
            Form::Plain(lanes) => lanes + 2 * self.in_memory(),
            Form::Window { work, prefetch, .. } => {
                WINDOW_LANES * (arch::WINDOW_OVERHEAD + work + prefetch as usize)
            }
        }
    }

    /// Returns the loop, and the count that it takes.
    pub(crate) fn routine(&self) -> (LaneRoutine, usize) {
        match self.0 {
            Form::Plain(lanes) => match arch::REGISTER_CHASES.iter().find(|(held, _)| *held == lanes) {
                Some((_, routine)) => (*routine, 0),
                None => (arch::MEMORY_CHASE, self.in_memory()),
            },
            Form::Window { routine, .. } => (routine, 0),
        }
    }
}

/// Returns whether there is a loop for exactly this number of lanes with all cursors in registers.
const fn in_registers(lanes: usize) -> bool {
    let mut place = 0;
    while place < arch::REGISTER_CHASES.len() {
        if arch::REGISTER_CHASES[place].0 == lanes {
            return true;
        }
        place += 1;
    }
    false
}

/// Numbers of lanes to compare: all that registers hold, then steps of about a third.
const LANES: [usize; 15] = [1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, MOST_LANES];

/// The kernels without work, by their number of lanes.
pub static PARALLEL: [LaneKernel; LANES.len()] = {
    let mut kernels = [LaneKernel(Form::Plain(0)); LANES.len()];
    let mut place = 0;
    while place < kernels.len() {
        assert!(in_registers(LANES[place]) || LANES[place] > REGISTER_LANES && LANES[place] <= MOST_LANES);
        kernels[place] = LaneKernel(Form::Plain(LANES[place]));
        place += 1;
    }
    kernels
};

/// Sixteen lanes with work: pairs of a kernel without a prefetch and one with it, by the units of work.
///
/// The units grow one by one at first, where work is hidden, then in steps of about a third.
pub static WINDOW: [[LaneKernel; 2]; arch::WINDOW_CHASES.len()] = {
    let mut kernels = [[LaneKernel(Form::Plain(0)); 2]; arch::WINDOW_CHASES.len()];
    let mut place = 0;
    while place < kernels.len() {
        let (work, [without, with]) = arch::WINDOW_CHASES[place];
        kernels[place] = [
            LaneKernel(Form::Window { work, prefetch: false, routine: without }),
            LaneKernel(Form::Window { work, prefetch: true, routine: with }),
        ];
        place += 1;
    }
    kernels
};

/// Returns the kernel of [`PARALLEL`] with this number of lanes.
#[must_use]
pub fn parallel(lanes: usize) -> Option<&'static LaneKernel> {
    PARALLEL.iter().find(|kernel| kernel.lanes() == lanes)
}

/// Instructions that depend on no load and stand between two loads.
///
/// While a load waits for memory, no later instruction retires, and each instruction that was
/// dispatched after it keeps its resources. The load behind the fillers starts only
/// if the resources were enough for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filler {
    /// `nop`: needs only an entry of the reorder buffer. Where several share one
    /// (Zen 4), there may be no visible limit within [`Gap::MOST`].
    Nop,
    /// `lea`: also needs an integer register. There may be fewer registers than entries.
    Lea,
    /// `lea`, `cmp` and `paddd` in turn: registers of three kinds, so that the
    /// entries of the reorder buffer run out first.
    Mixed,
}

impl Filler {
    /// All kinds.
    pub const ALL: [Filler; 3] = [Filler::Nop, Filler::Lea, Filler::Mixed];

    /// Returns the name that is printed.
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
/// Two misses overlap as long as the processor looks ahead across the gap between
/// them. A hop of both lanes then takes one latency, and otherwise two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    filler: Filler,
    fillers: usize,
}

impl Gap {
    /// Number of lanes with a gap between their loads.
    pub const LANES: usize = 2;
    /// Maximum number of fillers: more than the largest known reorder buffer, which has 576 entries.
    pub const MOST: usize = arch::MOST_FILLERS;
    /// Instructions from one load to the next beside the fillers: two moves, a jump, the loop's two.
    pub const OVERHEAD: usize = 5;

    /// Returns a gap of `fillers` instructions, or `None` beyond [`MOST`](Self::MOST).
    #[must_use]
    pub const fn new(filler: Filler, fillers: usize) -> Option<Gap> {
        if fillers > Gap::MOST {
            return None;
        }
        Some(Gap { filler, fillers })
    }

    /// Returns the kind of instruction.
    #[must_use]
    pub const fn filler(self) -> Filler {
        self.filler
    }

    /// Returns the number of fillers.
    #[must_use]
    pub const fn fillers(self) -> usize {
        self.fillers
    }

    /// Returns the loop, and the count that it takes.
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
        assert!(PARALLEL.is_sorted_by_key(LaneKernel::lanes));
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
            assert_eq!((with.work(), without.prefetch(), with.prefetch()), (without.work(), false, true));
        }
        assert!(WINDOW.is_sorted_by_key(|[kernel, _]| kernel.work()));
    }

    #[test]
    fn a_lane_without_a_register_needs_one_more_load_and_store() {
        let of = |lanes| parallel(lanes).unwrap().instructions();
        assert_eq!([1, 2, 14].map(of), [1, 2, 14]);
        // Each lane without a register needs three.
        assert_eq!(of(20) - of(16), 4 * 3);
        assert_eq!(of(64) - of(48), 16 * 3);
        assert_eq!(of(16), 16 + 2 * parallel(16).unwrap().in_memory());
    }

    #[test]
    fn gaps_are_limited() {
        for filler in Filler::ALL {
            assert!(Gap::new(filler, Gap::MOST).is_some());
            assert!(Gap::new(filler, Gap::MOST + 1).is_none());
        }
    }
}

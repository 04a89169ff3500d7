//! The chase routines of `asm/x86_64`, by name.
//!
//! # Safety
//!
//! The routines keep the System V calling convention and state in their sources
//! what they destroy. Nothing is called here: what a caller has to vouch for,
//! [`Routine`], [`LaneRoutine`] and [`StridedRoutine`] say.

use crate::arch::routine::{LaneRoutine, Routine, StridedRoutine};

core::arch::global_asm!(include_str!("../../../../asm/x86_64/chase.s"), options(raw));
core::arch::global_asm!(include_str!("../../../../asm/x86_64/variants.s"), options(raw));
core::arch::global_asm!(include_str!("../../../../asm/x86_64/parallel.s"), options(raw));
core::arch::global_asm!(include_str!("../../../../asm/x86_64/window.s"), options(raw));
core::arch::global_asm!(include_str!("../../../../asm/x86_64/strided.s"), options(raw));

macro_rules! chases {
    ($($name:ident)*) => {
        extern "C" {
            $(fn $name(base: *const u8, cursor: usize, hops: usize, length: usize) -> usize;)*
        }
    };
}

macro_rules! lane_chases {
    ($($name:ident)*) => {
        extern "C" {
            $(fn $name(cursors: *mut usize, hops: usize, count: usize) -> u64;)*
        }
    };
}

chases! {
    lb_chase_pointer lb_chase_index
    lb_chase_index_checked lb_chase_index4 lb_chase_line_index lb_chase_line_index4
}

lane_chases! {
    lb_chase_parallel_1 lb_chase_parallel_2 lb_chase_parallel_3 lb_chase_parallel_4 lb_chase_parallel_6
    lb_chase_parallel_8 lb_chase_parallel_10 lb_chase_parallel_12 lb_chase_parallel_14 lb_chase_parallel_more
    lb_chase_window lb_chase_window_prefetch
    lb_chase_reach_nop lb_chase_reach_lea lb_chase_reach_mixed
}

extern "C" {
    fn lb_chase_strided(base: *const u8, stride: usize, loads: usize) -> u64;
}

/// The routine behind [`kernel::POINTER`](crate::kernel::POINTER).
pub const POINTER_CHASE: Routine = lb_chase_pointer;
/// The routine behind [`kernel::INDEX`](crate::kernel::INDEX).
pub const INDEX_CHASE: Routine = lb_chase_index;
/// The routine behind [`kernel::INDEX_CHECKED`](crate::kernel::INDEX_CHECKED).
pub const INDEX_CHECKED_CHASE: Routine = lb_chase_index_checked;
/// The routine behind [`kernel::INDEX4`](crate::kernel::INDEX4).
pub const INDEX4_CHASE: Routine = lb_chase_index4;
/// The routine behind [`kernel::LINE_INDEX`](crate::kernel::LINE_INDEX).
pub const LINE_INDEX_CHASE: Routine = lb_chase_line_index;
/// The routine behind [`kernel::LINE_INDEX4`](crate::kernel::LINE_INDEX4).
pub const LINE_INDEX4_CHASE: Routine = lb_chase_line_index4;

/// Chases side by side, all of whose cursors are in registers: the number of lanes, and the routine.
pub const REGISTER_CHASES: [(usize, LaneRoutine); 9] = [
    (1, lb_chase_parallel_1),
    (2, lb_chase_parallel_2),
    (3, lb_chase_parallel_3),
    (4, lb_chase_parallel_4),
    (6, lb_chase_parallel_6),
    (8, lb_chase_parallel_8),
    (10, lb_chase_parallel_10),
    (12, lb_chase_parallel_12),
    (14, lb_chase_parallel_14),
];

/// Chases side by side: [`REGISTER_LANES`] lanes, and as many more as it is told.
pub const MEMORY_CHASE: LaneRoutine = lb_chase_parallel_more;
/// The cursors that [`MEMORY_CHASE`] keeps in registers; those of the other lanes stay in memory.
pub const REGISTER_LANES: usize = 12;
/// The most lanes that [`MEMORY_CHASE`] walks.
pub const MOST_LANES: usize = 64;

/// [`WINDOW_LANES`] chases with dependent work behind each load.
pub const WINDOW_CHASE: LaneRoutine = lb_chase_window;
/// The same, with a prefetch of each lane's next node as soon as its address is known.
pub const WINDOW_PREFETCH_CHASE: LaneRoutine = lb_chase_window_prefetch;
/// The lanes of [`WINDOW_CHASE`].
pub const WINDOW_LANES: usize = 16;
/// The instructions that [`WINDOW_CHASE`] executes for each load beside the work: the load, a load and
/// a store of the cursor, a jump, the digest, and two that count lanes.
pub const WINDOW_OVERHEAD: usize = 7;
/// The number that one unit of work adds to the low half of the pointer that was loaded, which it is cut to.
pub const WINDOW_ADDEND: u32 = 0x9e37_79b9;
/// The most units of work that [`WINDOW_CHASE`] has room for.
pub const MOST_WORK: usize = 48;

/// The largest number of fillers that the routines behind [`Filler`](crate::kernel::lanes::Filler) have room for.
pub const MOST_FILLERS: usize = 768;
/// Two chases with no-operations between their loads.
pub const REACH_NOP_CHASE: LaneRoutine = lb_chase_reach_nop;
/// Two chases with instructions between their loads that take an integer register each.
pub const REACH_LEA_CHASE: LaneRoutine = lb_chase_reach_lea;
/// Two chases with instructions between their loads that take registers of three kinds by turns.
pub const REACH_MIXED_CHASE: LaneRoutine = lb_chase_reach_mixed;

/// Independent loads at addresses known in advance.
pub const STRIDED_LOADS: StridedRoutine = lb_chase_strided;

//! The chase routines of each folder of `asm`, by name.
//!
//! The names are the same for every instruction set. If an instruction set lacks a routine, no program links.
//!
//! # Safety
//!
//! The routines follow the calling convention of C, and their sources list the registers that they
//! destroy. Nothing is called here: [`Routine`], [`LaneRoutine`], [`StridedRoutine`] and [`SpanRoutine`] state what
//! a caller must guarantee.

use super::routine::{LaneRoutine, Routine, SpanRoutine, SpanWords, StridedRoutine};

routines! {
    (base: *const u8, cursor: usize, hops: usize, length: usize) -> usize:
    lb_chase_pointer lb_chase_index
    lb_chase_index_checked lb_chase_index4 lb_chase_line_index lb_chase_line_index4
}

routines! {
    (cursors: *mut usize, hops: usize, count: usize) -> u64:
    lb_chase_parallel_1 lb_chase_parallel_2 lb_chase_parallel_3 lb_chase_parallel_4 lb_chase_parallel_6
    lb_chase_parallel_8 lb_chase_parallel_10 lb_chase_parallel_12 lb_chase_parallel_14 lb_chase_parallel_more
    lb_chase_window_0 lb_chase_window_0_prefetch lb_chase_window_1 lb_chase_window_1_prefetch
    lb_chase_window_2 lb_chase_window_2_prefetch lb_chase_window_3 lb_chase_window_3_prefetch
    lb_chase_window_4 lb_chase_window_4_prefetch lb_chase_window_6 lb_chase_window_6_prefetch
    lb_chase_window_8 lb_chase_window_8_prefetch lb_chase_window_12 lb_chase_window_12_prefetch
    lb_chase_window_16 lb_chase_window_16_prefetch lb_chase_window_24 lb_chase_window_24_prefetch
    lb_chase_window_32 lb_chase_window_32_prefetch lb_chase_window_48 lb_chase_window_48_prefetch
    lb_chase_reach_nop lb_chase_reach_integer lb_chase_reach_mixed
}

routines! {
    (walk: *mut SpanWords, loads: usize) -> usize:
    lb_chase_span lb_chase_span_free
}

unsafe extern "C" {
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

/// Chases side by side with all cursors in registers: the number of lanes, and the routine.
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

/// Chases side by side: [`REGISTER_LANES`] lanes, plus as many further lanes as its third argument requests.
pub const MEMORY_CHASE: LaneRoutine = lb_chase_parallel_more;
/// Number of cursors that [`MEMORY_CHASE`] keeps in registers; the cursors of the other lanes stay in memory.
pub const REGISTER_LANES: usize = 12;
/// Maximum number of lanes that [`MEMORY_CHASE`] walks.
pub const MOST_LANES: usize = 64;

/// Chases with dependent work between the loads of [`WINDOW_LANES`] lanes: the units of work, the
/// routine without a prefetch of each lane's next node, and the routine with this prefetch.
pub const WINDOW_CHASES: [(usize, [LaneRoutine; 2]); 12] = [
    (0, [lb_chase_window_0, lb_chase_window_0_prefetch]),
    (1, [lb_chase_window_1, lb_chase_window_1_prefetch]),
    (2, [lb_chase_window_2, lb_chase_window_2_prefetch]),
    (3, [lb_chase_window_3, lb_chase_window_3_prefetch]),
    (4, [lb_chase_window_4, lb_chase_window_4_prefetch]),
    (6, [lb_chase_window_6, lb_chase_window_6_prefetch]),
    (8, [lb_chase_window_8, lb_chase_window_8_prefetch]),
    (12, [lb_chase_window_12, lb_chase_window_12_prefetch]),
    (16, [lb_chase_window_16, lb_chase_window_16_prefetch]),
    (24, [lb_chase_window_24, lb_chase_window_24_prefetch]),
    (32, [lb_chase_window_32, lb_chase_window_32_prefetch]),
    (48, [lb_chase_window_48, lb_chase_window_48_prefetch]),
];
/// Number of lanes of each of [`WINDOW_CHASES`].
pub const WINDOW_LANES: usize = 16;
/// Number of instructions that [`WINDOW_CHASES`] execute for each load in addition to the work: the load, a load and
/// a store of the cursor, the digest, and half of the two instructions that count pairs of lanes.
pub const WINDOW_OVERHEAD: usize = 5;
/// The addend of one unit of work, which is added to the low half of the loaded pointer.
pub const WINDOW_ADDEND: u32 = 0x9e37_79b9;

/// Maximum number of fillers for which the routines behind [`Filler`](crate::kernel::lanes::Filler) have room.
pub const MOST_FILLERS: usize = 768;
/// Two chases with no-operations between their loads.
pub const REACH_NOP_CHASE: LaneRoutine = lb_chase_reach_nop;
/// Two chases with additions between their loads; each addition needs an integer register.
pub const REACH_INTEGER_CHASE: LaneRoutine = lb_chase_reach_integer;
/// Two chases with instructions between their loads that need registers of three kinds in rotation.
pub const REACH_MIXED_CHASE: LaneRoutine = lb_chase_reach_mixed;

/// Independent loads at addresses known in advance.
pub const STRIDED_LOADS: StridedRoutine = lb_chase_strided;

/// Loads of one line in each of many pages, each address dependent on the load before.
pub const SPAN_CHASE: SpanRoutine = lb_chase_span;
/// The same loads, independent of each other.
pub const SPAN_LOADS: SpanRoutine = lb_chase_span_free;

//! The words of results for aarch64.

use crate::arch::{Cycles, Signature, Words};

/// The instructions of the closing stamp.
pub const END_STAMP: &str = "dsb nshld; isb; mrs cntvct_el0; isb";

/// The words of results.
///
/// A tick of the counter is 1 to 42 ns long, so cycles are those of the core. MUL of 64 bits has 3 cycles on most cores
/// since Cortex-A76, 4 on Cortex-A53 and A57, and 5 on Cortex-A72 (Arm, software optimization guides of the cores).
pub const WORDS: Words = Words {
    counter_name: "system counter",
    counter_in_full: "system counter",
    counter_source: "cntvct",
    counter_declared_by: "CNTFRQ_EL0",
    kernel_clock_source: "arch_sys_counter",
    claims_name: "the processor's registers",
    signature: Signature::Part,
    cycles_are: Cycles::Core,
    multiply_ratio: "2 to 5",
    l1_hit_cycles: "3 to 5",
    fence_does_not_wait: [
        "ISB does not wait for earlier instructions",
        " (the architecture promises it)",
        "rule out an emulator",
    ],
    interrupt_mark: false,
    end_stamp: Some(END_STAMP),
};

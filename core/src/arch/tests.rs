//! Tests that compare the assembly routines with plain Rust, and call them with a mark in every register that they
//! must preserve.
//!
//! # Safety
//!
//! Every call gives a routine the arguments that its type requires: a ring of nodes made here.

use super::calls_for_tests::{MARKS, call_marked};
use crate::arch::{self, Atomics, SpanWords, portable};
use crate::kernel::lanes::{Filler, Gap, PARALLEL, WINDOW};
use crate::kernel::{Encoding, KERNELS};
use crate::span;

unsafe extern "C" {
    fn getauxval(kind: usize) -> usize;
}

/// Returns the best instructions for atomic operations of this machine.
pub(crate) fn best_atomics() -> Atomics {
    const AT_HWCAP: usize = 16;
    // SAFETY: the function reads what the kernel gave to this process.
    Atomics::detect(unsafe { getauxval(AT_HWCAP) } as u64)
}

/// Writes a ring of nodes, in address order, to `lines`, and returns the address of the first.
fn ring(lines: &mut [arch::Line], encoding: Encoding) -> usize {
    let (base, nodes) = (lines.as_ptr().expose_provenance(), lines.len());
    for (node, line) in lines.iter_mut().enumerate() {
        line.0[0] = encoding.place(base as u64, ((node + 1) % nodes * 64) as u64);
    }
    base
}

#[test]
fn every_kernel_preserves_the_callee_saved_registers() {
    for kernel in KERNELS {
        let mut lines = [arch::Line([0; 8]); 3];
        let base = ring(&mut lines, kernel.encoding);
        let place = |node: usize| kernel.encoding.place(base as u64, (node * 64) as u64) as usize;
        for hops in [0, 1, 2, 7, 8, 9, 15, 16, 17, 80, 83] {
            // SAFETY: the ring holds three nodes in the kernel's encoding, and the first lies at its start.
            let (ended, found) =
                unsafe { call_marked(kernel.routine as usize, [base, place(0), hops, place(2) + 1]) };
            assert_eq!(ended, place(hops % 3), "{} after {hops} hops", kernel.name);
            assert_eq!(found, MARKS, "{}", kernel.name);
        }
    }
}

#[test]
fn the_check_stops_at_a_bad_index() {
    let mut lines = [arch::Line([0; 8]); 3];
    ring(&mut lines, Encoding::Index);
    lines[2].0[0] = 24;
    let base = lines.as_ptr().expose_provenance();
    for hops in [3, 4, 11, 100] {
        // SAFETY: the only index that names no node is the one that the routine checks.
        let (ended, _) =
            unsafe { call_marked(arch::lb_chase_index_checked as *const () as usize, [base, 0, hops, 24]) };
        assert_eq!(ended, 24);
    }
}

#[test]
fn lane_kernels_preserve_the_callee_saved_registers_and_write_only_their_cursors() {
    const GUARD: usize = 0xdead_beef;
    let mut lines = [arch::Line([0; 8]); 67];
    let base = ring(&mut lines, Encoding::Pointer);
    let plain = PARALLEL.iter().chain(WINDOW.iter().flatten());
    let plain = plain.map(|kernel| (kernel.routine(), kernel.lanes(), kernel.work()));
    let gaps = Filler::ALL.into_iter().flat_map(|filler| {
        [0, 1, 2, 5, 100, Gap::MOST]
            .map(|fillers| (Gap::new(filler, fillers).unwrap().routine(), Gap::LANES, 0))
    });
    for ((routine, count), lanes, work) in plain.chain(gaps) {
        for hops in [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 80, 83] {
            let mut cursors = [GUARD; 66];
            for (lane, cursor) in cursors.iter_mut().skip(1).take(lanes).enumerate() {
                *cursor = base + lane * 64;
            }
            let mut expected = cursors;
            // SAFETY: each cursor stands on a node of the ring, and there is one for each lane.
            let digest = unsafe { portable::lane_chase(&mut expected[1..=lanes], hops, work) };
            let arguments = [cursors[1..].as_mut_ptr().expose_provenance(), hops, count, 0];
            // SAFETY: the same, and the count is the kernel's or the gap's.
            let (result, found) = unsafe { call_marked(routine as usize, arguments) };
            assert_eq!(cursors, expected, "{lanes} lanes, {work} units of work, count {count}");
            assert_eq!(found, MARKS, "{lanes} lanes, {work} units of work, count {count}");
            let has_digest =
                WINDOW.iter().flatten().any(|kernel| kernel.routine().0 as usize == routine as usize);
            assert_eq!(result as u64, if has_digest { digest } else { 0 }, "{lanes} lanes, {work} units");
        }
    }
}

#[test]
fn span_routines_preserve_the_callee_saved_registers() {
    let zeros = [0u64; 6];
    let base = zeros.as_ptr().expose_provenance() as u64;
    for routine in [arch::lb_chase_span, arch::lb_chase_span_free] {
        for loads in [0, 1, 7, 8, 9, 83] {
            let mut words = SpanWords {
                base: base + 48,
                page: 8,
                time: 3,
                step: 1,
                mask: 1,
                multiplier: 1,
                outer: 48u64.wrapping_neg(),
                outer_step: 16,
                back: 16u64.wrapping_sub(48),
                value: 0,
            };
            let mut expected = words;
            let last = (0..loads).fold(words.base, |_, _| span::step(&mut expected));
            let arguments = [(&raw mut words).expose_provenance(), loads, 0, 0];
            // SAFETY: two words in each of three parts are the zeros.
            let (ended, found) = unsafe { call_marked(routine as usize, arguments) };
            assert_eq!((ended as u64, words, found), (last, expected, MARKS), "{loads} loads");
        }
    }
}

#[test]
fn strided_loads_agree_with_plain_rust() {
    let words: [u64; 600] =
        core::array::from_fn(|place| (place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let base = words.as_ptr();
    for stride in [8, 16, 24, 64] {
        for loads in [0, 1, 2, 7, 8, 9, 15, 16, 17, 64, 75] {
            let arguments = [base.expose_provenance(), stride, loads, 0];
            // SAFETY: 75 strides of 64 bytes are the 600 words.
            let (sum, found) =
                unsafe { call_marked(arch::lb_chase_strided as *const () as usize, arguments) };
            // SAFETY: the same.
            let expected = unsafe { portable::strided_loads(base.cast(), stride, loads) };
            assert_eq!((sum as u64, found), (expected, MARKS), "{loads} loads, {stride} bytes apart");
        }
    }
}

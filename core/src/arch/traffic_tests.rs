//! Tests that compare the traffic routines with models in plain Rust, on memory between two inaccessible pages.
//!
//! # Safety
//!
//! Every call gives a routine the arguments that its type requires: lines of memory made here.

use super::calls_for_tests::{MARKS, call_marked};
use crate::arch::{self, Line, StreamRoutine, portable};
use proptest::prelude::*;
use std::vec::Vec;

unsafe extern "C" {
    fn sysconf(name: i32) -> isize;
    fn mmap(address: *mut u8, bytes: usize, access: i32, flags: i32, file: i32, offset: i64) -> *mut u8;
    fn mprotect(address: *mut u8, bytes: usize, access: i32) -> i32;
    fn munmap(address: *mut u8, bytes: usize) -> i32;
}

/// Lines between two inaccessible pages: an access outside the lines ends the test.
///
/// The lines fill 64 KiB, the largest page of any machine, and so a whole number of pages.
struct Fenced {
    start: *mut u8,
    page: usize,
}

impl Fenced {
    const LINES: usize = 1024;
    const BYTES: usize = Self::LINES * 64;

    fn new() -> Fenced {
        const PAGE_SIZE: i32 = 30;
        let (none, read_and_write, private_and_anonymous) = (0, 3, 0x22);
        // SAFETY: the function reads what the kernel gave to this process.
        let page = usize::try_from(unsafe { sysconf(PAGE_SIZE) }).unwrap();
        assert!(Self::BYTES.is_multiple_of(page), "pages of {page} bytes");
        // SAFETY: a new mapping takes the place of no other.
        let start = unsafe {
            mmap(core::ptr::null_mut(), Self::BYTES + 2 * page, none, private_and_anonymous, -1, 0)
        };
        assert_ne!(start.addr(), usize::MAX, "mmap");
        let fenced = Fenced { start, page };
        // SAFETY: the pages are part of the mapping above, which nothing uses yet.
        assert_eq!(unsafe { mprotect(start.wrapping_add(page), Self::BYTES, read_and_write) }, 0);
        fenced
    }

    fn lines(&mut self) -> &mut [Line] {
        // SAFETY: `LINES` lines are mapped there, zeroes at first, and borrowed from the mapping's owner.
        unsafe { core::slice::from_raw_parts_mut(self.start.wrapping_add(self.page).cast(), Self::LINES) }
    }
}

impl Drop for Fenced {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, to which no borrow is left.
        unsafe { munmap(self.start, Self::BYTES + 2 * self.page) };
    }
}

/// Fills lines with distinct numbers.
fn fill(lines: &mut [Line]) {
    for (number, line) in lines.iter_mut().enumerate() {
        *line = Line(core::array::from_fn(|word| (number * 8 + word) as u64 ^ u64::MAX << 20));
    }
}

/// A model of a routine, which takes two disjoint runs of lines and a state, and returns the new state.
type Model = fn(&mut [Line], &mut [Line], u64) -> u64;

const ASCENDING: [(StreamRoutine, u64, Model); 8] = [
    (arch::lb_stream_read, u64::MAX, |_, _, state| state),
    (arch::lb_stream_update3, 2, |from, _, state| portable::stream_update(from, 3, state)),
    (arch::lb_stream_update2, 1, |from, _, state| portable::stream_update(from, 2, state)),
    (arch::lb_stream_update1, 0, |from, _, state| portable::stream_update(from, 1, state)),
    (arch::lb_stream_write, u64::MAX, |from, _, state| portable::stream_write(from, state)),
    (arch::lb_stream_ntwrite, u64::MAX, |from, _, state| portable::stream_write(from, state)),
    (arch::lb_stream_copy, u64::MAX, |from, to, state| portable::stream_copy(from, to, state)),
    (arch::lb_stream_copynt, u64::MAX, |from, to, state| portable::stream_copy(from, to, state)),
];

/// Compares one call of the routine with its model, on lines that begin at `from` and, for copies, `to`.
fn compare(place: usize, from: usize, to: usize, lines: usize, state: u64) {
    let (routine, most, model) = ASCENDING[place];
    let state = if most == u64::MAX { state } else { state % (most + 1) };
    let mut memory = Fenced::new();
    fill(memory.lines());
    let mut expected: Vec<Line> = memory.lines().to_vec();
    let (low, high) = expected.split_at_mut(from.max(to));
    let (mut first, mut second) = (&mut low[from.min(to)..], &mut high[..lines]);
    if from > to {
        (first, second) = (second, first);
    }
    let new_state = model(&mut first[..lines], &mut second[..lines], state);
    let base = memory.lines().as_mut_ptr().expose_provenance();
    let arguments = [base + from * 64, lines, base + to * 64, state as usize, 0];
    // SAFETY: both runs of lines lie within the memory and do not overlap.
    let (result, marks) = unsafe { call_marked(routine as usize, arguments) };
    assert_eq!((result as u64, marks), (new_state, MARKS), "routine {place}, {lines} lines");
    assert!(memory.lines() == &expected[..], "routine {place}, {lines} lines from {from} to {to}");
}

proptest! {
    #[test]
    fn ascending_walks_agree_with_their_models(
        place in 0..ASCENDING.len(),
        lines in 0..Fenced::LINES / 2 + 1,
        slack in any::<[u16; 2]>(),
        state: u64,
        descending: bool,
    ) {
        let room = Fenced::LINES - 2 * lines;
        let from = usize::from(slack[0]) % (room + 1);
        let to = from + lines + usize::from(slack[1]) % (room - from + 1);
        let (from, to) = if descending { (to, from) } else { (from, to) };
        compare(place, from, to, lines, state);
    }
}

#[test]
fn walks_end_at_the_first_and_the_last_line() {
    let half = Fenced::LINES / 2;
    for place in 0..ASCENDING.len() {
        for lines in (0..=26).chain([half - 1, half]) {
            compare(place, 0, Fenced::LINES - lines, lines, 7);
            compare(place, Fenced::LINES - lines, 0, lines, u64::MAX);
        }
    }
}

/// Checks that several runs in sequence leave the same memory as one run, for any lengths.
#[test]
fn updates_keep_their_ratio_over_calls_of_any_length() {
    let update3: StreamRoutine = arch::lb_stream_update3;
    for (routine, every) in [(update3, 3), (arch::lb_stream_update2, 2), (arch::lb_stream_update1, 1)] {
        let mut memory = Fenced::new();
        fill(memory.lines());
        let mut expected: Vec<Line> = memory.lines().to_vec();
        portable::stream_update(&mut expected, every, 0);
        let base = memory.lines().as_mut_ptr().cast::<u8>();
        let (mut at, mut state) = (0, 0);
        for run in [1, 1, 2, 5, 11, 12, 13, 25, 1, 7, 37, 64].into_iter().cycle() {
            let run = run.min(Fenced::LINES - at);
            // SAFETY: the run ends at the last line or before it, and the state is the routine's.
            state = unsafe { routine(base.wrapping_add(at * 64), run, base, state, 0) };
            at += run;
            assert_eq!(state, at as u64 % every);
            if at == Fenced::LINES {
                break;
            }
        }
        assert!(memory.lines() == &expected[..], "every line of {every}");
    }
}

#[test]
fn random_reads_stay_in_their_field_and_reach_all_of_it() {
    let mut memory = Fenced::new();
    fill(memory.lines());
    let before: Vec<Line> = memory.lines().to_vec();
    let base = memory.lines().as_mut_ptr().expose_provenance();
    for (first, field) in [(0, Fenced::LINES), (Fenced::LINES - 1, 1), (0, 1), (Fenced::LINES - 7, 7)] {
        let (mut state, mut reached) = (1, [0u32; Fenced::LINES]);
        for lines in [0, 1, 2, 3, 1000 * field] {
            let mut expected = state;
            for _ in 0..lines {
                let line;
                (line, expected) = portable::stream_random(field, expected);
                reached[line] += 1;
            }
            let arguments = [base + first * 64, lines, 0, state as usize, field];
            // SAFETY: the field ends at the memory's last line or before it.
            let (result, marks) =
                unsafe { call_marked(arch::lb_stream_random as *const () as usize, arguments) };
            assert_eq!((result as u64, marks), (expected, MARKS));
            state = expected;
        }
        // A thousand reads of each line are expected, with a standard deviation of 32: the limits are six standard
        // deviations away.
        let reached = &reached[..field];
        assert!(field == 1 || reached.iter().all(|&count| (800..1200).contains(&count)), "{reached:?}");
    }
    assert!(memory.lines() == &before[..]);
}

/// Walks over fields next to an inaccessible page: a load outside of the field ends the test.
#[test]
fn whole_reads_go_around_in_their_field_and_count_their_places() {
    let mut memory = Fenced::new();
    fill(memory.lines());
    let before: Vec<Line> = memory.lines().to_vec();
    let base = memory.lines().as_mut_ptr().expose_provenance();
    let executable = (arch::vector_bytes() / 16).ilog2() as usize;
    for (routine, field) in arch::WHOLE_READS[..=executable]
        .iter()
        .flat_map(|one| [1, 2, 3, 5, 12, 252, 1024].map(|field| (*one, field)))
    {
        for first in [0, Fenced::LINES - field] {
            for place in [0, field / 2, field - 1] {
                for lines in [0, 1, 3, field - place, field, 3 * field + 2] {
                    let arguments = [base + first * 64, lines, 0, place, field];
                    // SAFETY: the field ends at the memory's last line or before it, and the vectors are executable.
                    let (result, marks) = unsafe { call_marked(routine as usize, arguments) };
                    assert_eq!((result, marks), ((place + lines) % field, MARKS), "{field} {place} {lines}");
                }
            }
        }
    }
    assert!(memory.lines() == &before[..]);
}

/// Places the expected line next to an inaccessible page: a load from most other lines ends the test.
#[test]
fn permuted_reads_load_the_lines_of_their_model_and_no_other() {
    for field in [1, 2, 4, 64] {
        for order in [0, 1, 7] {
            for place in 0..field as u64 {
                let state = order << 40 | place;
                let (line, next) = portable::stream_permuted(field, state);
                let mut memory = Fenced::new();
                // The line is the last one before an inaccessible page, or the first one after one.
                let last = memory.lines().as_mut_ptr().expose_provenance() + (Fenced::LINES - 1) * 64;
                let first = memory.lines().as_mut_ptr().expose_provenance();
                for from in [last - line * 64, first.wrapping_sub(line * 64)] {
                    let arguments = [from, 1, 0, state as usize, field];
                    // SAFETY: the model says that the line is a mapped one; a load from an unmapped line ends the test.
                    let (result, marks) =
                        unsafe { call_marked(arch::lb_stream_permuted as *const () as usize, arguments) };
                    assert_eq!((result as u64, marks), (next, MARKS), "{field} {state}");
                }
            }
        }
    }
}

#[test]
fn permuted_reads_stay_in_their_block_and_count_their_places() {
    let mut memory = Fenced::new();
    fill(memory.lines());
    let before: Vec<Line> = memory.lines().to_vec();
    let base = memory.lines().as_mut_ptr().expose_provenance();
    for field in [1, 2, 8, 128, Fenced::LINES] {
        for first in [0, Fenced::LINES - field] {
            for (state, lines) in
                [(0, 0), (0, field), (3, field - 1), (5 << 40 | 1, 1), (u64::MAX << 15, 2 * field)]
            {
                let arguments = [base + first * 64, lines, 0, state as usize, field];
                // SAFETY: the block ends at the memory's last line or before it.
                let (result, marks) =
                    unsafe { call_marked(arch::lb_stream_permuted as *const () as usize, arguments) };
                assert_eq!((result as u64, marks), (state.wrapping_add(lines as u64), MARKS));
            }
        }
    }
    assert!(memory.lines() == &before[..]);
}

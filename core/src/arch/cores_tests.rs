//! Tests of the routines between cores, called with a mark in every register that they must preserve.
//!
//! # Safety
//!
//! Every call gives a routine the arguments that its type requires: lines and rings made here.

use super::calls_for_tests::{MARKS, call_marked};
use super::tests::best_atomics;
use crate::arch::{self, Atomics, Delays, Line, SharedLine, portable};
use crate::kernel::Encoding;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

/// Returns the sets of instructions that this machine has: the one of every machine, and its best one.
fn sets() -> [Atomics; 2] {
    [Atomics::BASELINE, best_atomics()]
}

/// Returns, for each set of instructions, the two methods that share one line, then the two with a line for each side,
/// with their numbers. The last one reads the counter.
fn methods() -> impl Iterator<Item = (usize, [arch::ExchangeRoutine; 2])> {
    sets().into_iter().flat_map(|atomics| {
        let arch::Exchanges { cas, read_cas, flag, message } = *arch::exchanges(atomics);
        [cas, read_cas, flag, message].into_iter().enumerate()
    })
}

/// Calls one side's routine once, and returns the number of exchanges that it made.
fn call(
    routine: arch::ExchangeRoutine,
    [mine, theirs]: [&SharedLine; 2],
    count: usize,
    polls: usize,
    delays: &mut Delays,
) -> usize {
    let stop = AtomicU32::new(0);
    let place = |line: &SharedLine| core::ptr::from_ref(line).expose_provenance();
    let stop = core::ptr::from_ref(&stop).expose_provenance();
    let delays = core::ptr::from_mut(delays).expose_provenance();
    let arguments = [place(mine), place(theirs), count, stop, polls, delays];
    // SAFETY: the lines are shared as atomics, there is a poll, and the machine of a test lets it read the counter.
    let (made, found) = unsafe { call_marked(routine as usize, arguments) };
    assert_eq!(found, MARKS);
    made
}

#[test]
fn exchanges_preserve_registers_and_the_other_words_of_their_lines() {
    const GUARD: u64 = 0xdead_beef;
    for (method, [first, second]) in methods() {
        let mut memory = [Line([0, 0, 0, GUARD, GUARD, GUARD, GUARD, GUARD]); 2];
        let [one, other] = SharedLine::share(&mut memory) else { panic!("two lines") };
        let pairs = if method < 2 { [[one, one], [one, one]] } else { [[one, other], [other, one]] };
        let mut delays = [Delays::NONE; 2];
        let [of_first, of_second] = &mut delays;
        for count in 0..3 {
            assert_eq!(call(first, pairs[0], 0, 1, of_first), 0);
            assert_eq!(call(second, pairs[1], 0, 1, of_second), 0);
            // The second side waits for the first side, and the first side waits for the answer.
            assert_eq!(call(second, pairs[1], 1, 5, of_second), 0, "{method} {count}");
            assert_eq!(call(first, pairs[0], 1, 2000, of_first), 0, "{method} {count}");
            assert_eq!(call(second, pairs[1], 1, 1, of_second), 1, "{method} {count}");
            assert_eq!(call(first, pairs[0], 1, 1, of_first), 1, "{method} {count}");
        }
        assert!(delays.iter().all(|delays| (*delays == Delays::NONE) == (method < 3)));
        assert!(
            [one, other]
                .iter()
                .all(|line| { line.0.iter().skip(3).all(|word| word.load(Ordering::SeqCst) == GUARD) })
        );
    }
}

/// Runs the other side of the protocol in plain Rust: each side leaves the words that the comments in the assembly
/// source describe.
#[test]
fn exchanges_agree_with_plain_rust() {
    const COUNT: usize = 10;
    let wait = |word: &AtomicU64, value: u64| {
        while word.load(Ordering::SeqCst) != value {
            thread::yield_now();
        }
    };
    let insist = |routine, lines: [&SharedLine; 2]| {
        let (mut made, mut delays) = (0, Delays::NONE);
        while made < COUNT {
            made += call(routine, lines, COUNT - made, 2000, &mut delays);
            thread::yield_now();
        }
        delays
    };
    for (method, [first, second]) in methods() {
        let mut memory = [Line([0; 8]); 4];
        let [one, other, this, that] = SharedLine::share(&mut memory) else { panic!("four lines") };
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..=COUNT as u64 {
                    if method < 2 {
                        wait(&one.0[0], 1);
                        assert!(one.0[0].compare_exchange(1, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok());
                    } else {
                        wait(&one.0[0], number);
                        // A message sent 1000 ticks after the counter was zero.
                        other.0[1].store(1000, Ordering::SeqCst);
                        other.0[0].store(number, Ordering::SeqCst);
                    }
                }
            });
            let delays = insist(first, if method < 2 { [one, one] } else { [one, other] });
            assert!(method < 3 || delays.least > 0);
        });
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..=COUNT as u64 {
                    if method < 2 {
                        assert!(this.0[0].compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_ok());
                        wait(&this.0[0], 0);
                    } else {
                        // A time of sending that lies in the future.
                        this.0[1].store(i64::MAX as u64, Ordering::SeqCst);
                        this.0[0].store(number, Ordering::SeqCst);
                        wait(&that.0[0], number);
                        assert_eq!(that.0[1].load(Ordering::SeqCst) > 0, method == 3);
                    }
                }
            });
            let delays = insist(second, if method < 2 { [this, this] } else { [that, this] });
            assert!(method < 3 || delays.least < 0);
        });
    }
}

#[test]
fn walks_agree_with_plain_rust_and_leave_memory_unchanged() {
    let mut lines = [Line([0; 8]); 5];
    let base = lines.as_ptr().expose_provenance();
    for (node, successor) in [2, 4, 1, 0, 3].into_iter().enumerate() {
        lines[node].0[0] = (base + successor * 64) as u64;
    }
    let before = lines;
    let shared = SharedLine::share(&mut lines);
    let own = sets().map(arch::own_walk);
    for walk in [arch::lb_cores_read, arch::lb_cores_store].into_iter().chain(own) {
        for hops in [0, 1, 2, 3, 4, 5, 6, 99] {
            // SAFETY: the ring holds five nodes, and the first lies at its start.
            let (ended, found) = unsafe { call_marked(walk as usize, [base, base, hops, 0]) };
            // SAFETY: the same.
            let expected = unsafe { portable::chase(Encoding::Pointer, core::ptr::null(), base, hops) };
            assert_eq!((ended, found), (expected, MARKS), "{hops} hops");
        }
    }
    arch::Flusher::detect().unwrap().flush(shared);
    let words = |line: &SharedLine| line.0.each_ref().map(|word| word.load(Ordering::SeqCst));
    assert!(shared.iter().map(words).eq(before.iter().map(|line| line.0)));
}

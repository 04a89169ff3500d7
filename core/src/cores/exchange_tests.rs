//! Tests of exchanges between real threads, which may share one CPU.
//!
//! A call cannot yield the CPU, so each call has few polls and is repeated. Nothing is timed.

use super::*;
use crate::arch::tests::best_atomics;
use crate::words::Worded;
use proptest::prelude::*;
use std::vec::Vec;
use std::{thread, vec};

const BOTH: [ExchangeSide; 2] = [ExchangeSide::First, ExchangeSide::Second];
/// Maximum number of polls of a call: few, so that a side soon lets the other side run if both share one CPU.
const POLLS: usize = 3000;

fn memory(places: usize) -> Vec<Line> {
    vec![Line([u64::MAX / 3; 8]); places * PAIR * PAGE]
}

fn stamp() -> Stamp {
    Stamp::detect().unwrap()
}

/// Makes `count` exchanges in as many calls as necessary, and returns the delays of all.
fn insist(exchange: &Exchange, place: usize, side: ExchangeSide, method: Method, count: usize) -> Made {
    let patience = Patience { stop: &AtomicU32::new(0), polls: POLLS };
    let mut total = Made { count: 0, delays: Delays::NONE, start: 0, end: EndStamp::default() };
    while total.count < count {
        let made = exchange.run(place, side, method, count - total.count, &patience);
        total.count += made.count;
        total.delays.sum += made.delays.sum;
        total.delays.least = total.delays.least.min(made.delays.least);
        thread::yield_now();
    }
    total
}

#[test]
fn both_sides_count_the_same_at_every_place() {
    let mut memory = memory(3);
    let exchange = Exchange::new(&mut memory, stamp(), best_atomics());
    assert_eq!(exchange.places, 3);
    for &(name, method) in Method::WORDS {
        thread::scope(|scope| {
            for side in BOTH {
                let exchange = &exchange;
                scope.spawn(move || {
                    for (place, count) in [(0, 1), (1, 7), (0, 20), (2, 5), (1, 0)] {
                        let made = insist(exchange, place, side, method, count);
                        assert_eq!(made.count, count, "{} {side:?}", name);
                        let Delays { sum, least } = made.delays;
                        if method == Method::Message && count > 0 {
                            assert!(least < i64::MAX && least.saturating_mul(count as i64) <= sum);
                        } else {
                            assert_eq!(made.delays, Delays::NONE);
                        }
                    }
                });
            }
        });
        // Neither side has an exchange left to complete: one more needs calls of both sides.
        let patience = Patience { stop: &AtomicU32::new(0), polls: POLLS };
        for place in 0..3 {
            assert_eq!(exchange.run(place, ExchangeSide::Second, method, 1, &patience).count, 0);
        }
        exchange.reset();
    }
}

#[test]
fn a_call_returns_if_the_partner_never_comes() {
    let mut memory = memory(1);
    for &(name, method) in Method::WORDS {
        for polls in [0, 1, 2, 1023, 1024, 1025, 5000] {
            for side in BOTH {
                let exchange = Exchange::new(&mut memory, stamp(), best_atomics());
                let patience = Patience { stop: &AtomicU32::new(0), polls };
                for _ in 0..3 {
                    let made = exchange.run(0, side, method, 3, &patience);
                    assert_eq!((made.count, made.delays), (0, Delays::NONE), "{} {side:?}", name);
                    // One poll may be shorter than a step of the counter.
                    assert!(made.end.ticks >= made.start, "{} {side:?}", name);
                }
            }
        }
    }
}

#[test]
fn a_side_that_gave_up_continues_where_it_stopped() {
    let mut memory = memory(1);
    for &(name, method) in Method::WORDS {
        let exchange = Exchange::new(&mut memory, stamp(), best_atomics());
        let patience = Patience { stop: &AtomicU32::new(0), polls: 10 };
        let mut made = [0; 2];
        // One thread calls both sides in turn: each call gets as far as the other side's last step allows.
        for _ in 0..10 {
            for (made, side) in made.iter_mut().zip(BOTH) {
                *made += exchange.run(0, side, method, 10 - *made, &patience).count;
            }
        }
        assert_eq!(made, [9, 10], "{}", name);
        assert_eq!(exchange.run(0, ExchangeSide::First, method, 1, &patience).count, 1);
        assert_eq!(exchange.run(0, ExchangeSide::Second, method, 1, &patience).count, 0);
    }
}

#[test]
fn a_stop_ends_the_longest_wait() {
    let mut memory = memory(1);
    let exchange = Exchange::new(&mut memory, stamp(), best_atomics());
    for &(name, method) in Method::WORDS {
        for side in BOTH {
            let stop = AtomicU32::new(0);
            let patience = Patience { stop: &stop, polls: usize::MAX };
            thread::scope(|scope| {
                let waiting = scope.spawn(|| exchange.run(0, side, method, 1, &patience).count);
                thread::yield_now();
                stop.store(1, Ordering::SeqCst);
                assert_eq!(waiting.join().unwrap(), 0, "{} {side:?}", name);
            });
            exchange.reset();
        }
    }
}

#[test]
fn a_place_is_two_lines_in_separate_pages() {
    let mut memory = memory(Exchange::MOST_PLACES + 1);
    let exchange = Exchange::new(&mut memory, stamp(), best_atomics());
    assert_eq!(exchange.places, Exchange::MOST_PLACES);
    let start = exchange.lines.as_ptr().addr();
    let mut pages: Vec<usize> =
        exchange.used().map(|line| core::ptr::from_ref(line).addr() - start).collect();
    let mut within: Vec<usize> = pages.iter().map(|place| place % 4096).collect();
    pages.iter_mut().for_each(|place| *place /= 4096);
    assert!(pages.into_iter().eq(0..PAIR * Exchange::MOST_PLACES));
    within.sort_unstable();
    within.dedup();
    assert_eq!(within.len(), PAIR * Exchange::MOST_PLACES);
    let lines = |place| BOTH.map(|side| exchange.line(place, side as usize).map(core::ptr::from_ref));
    let ours: Vec<_> = exchange.used().map(|line| Some(core::ptr::from_ref(line))).collect();
    assert!((0..Exchange::MOST_PLACES).flat_map(lines).eq(ours));
}

#[test]
fn a_place_that_does_not_exist_has_no_exchange() {
    let alone = Patience { stop: &AtomicU32::new(0), polls: POLLS };
    for lines in [0, 1, PAGE, PAIR * PAGE - 1] {
        let mut memory = vec![Line([1; 8]); lines];
        let exchange = Exchange::new(&mut memory, stamp(), best_atomics());
        assert_eq!(exchange.places, 0);
        assert_eq!(exchange.run(0, ExchangeSide::First, Method::Cas, 1, &alone).count, 0);
        exchange.flush(Flusher::detect().unwrap());
    }
}

#[test]
fn a_flush_changes_nothing() {
    let mut memory = memory(2);
    let exchange = Exchange::new(&mut memory, stamp(), best_atomics());
    for (number, line) in exchange.used().enumerate() {
        line.0[3].store(number as u64 + 1, Ordering::SeqCst);
    }
    exchange.flush(Flusher::detect().unwrap());
    assert!(exchange.used().map(|line| line.0[3].load(Ordering::SeqCst)).eq(1..=4));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn calls_of_any_size_add_up(
        first in prop::collection::vec(0usize..5, 1..5), second in prop::collection::vec(0usize..5, 1..5), method in 0..Method::WORDS.len(),
    ) {
        let (_, method) = Method::WORDS[method];
        let mut memory = memory(1);
        let exchange = Exchange::new(&mut memory, stamp(), best_atomics());
        let total = first.iter().sum::<usize>().max(second.iter().sum());
        thread::scope(|scope| {
            for (side, mut counts) in BOTH.into_iter().zip([first, second]) {
                let exchange = &exchange;
                scope.spawn(move || {
                    counts.push(total - counts.iter().sum::<usize>());
                    for count in counts {
                        assert_eq!(insist(exchange, 0, side, method, count).count, count);
                    }
                });
            }
        });
    }
}

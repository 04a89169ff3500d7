//! Tests of decoding the kernel's answers for a group of counters, and of this kernel's own counters.

use super::*;

const ALL: [bool; COUNT] = [true; COUNT];
/// All events, in the order of [`EventCounts`].
const EVENTS: [Event; COUNT] = [
    Event::Cycles,
    Event::Instructions,
    Event::FirstLevelMisses,
    Event::LastLevelMisses,
    Event::TlbMisses,
    Event::WalkCycles,
];

#[test]
fn counts_are_stored_by_event() {
    let totals = decode(&[6, 100, 90, 1, 2, 3, 4, 5, 6], ALL).unwrap();
    assert_eq!(totals, Totals { counts: [1, 2, 3, 4, 5, 6].map(Some), enabled: 100, running: 90 });
    let totals = decode(&[2, 100, 100, 7, 8], [true, false, false, true, false, false]).unwrap();
    assert_eq!(totals.counts, [Some(7), None, None, Some(8), None, None]);
}

#[test]
fn malformed_answers_are_rejected() {
    assert_eq!(decode(&[], ALL), None);
    assert_eq!(decode(&[6, 1, 1, 1, 2, 3, 4, 5], ALL), None, "one count is missing");
    assert_eq!(decode(&[5, 1, 1, 1, 2, 3, 4, 5, 6], ALL), None, "a different number of members");
    assert_eq!(decode(&[6, 1, 2, 1, 2, 3, 4, 5, 6], ALL), None, "ran longer than it was enabled");
}

/// Returns totals of a group of one event.
fn one(count: u64, enabled: u64, running: u64) -> Totals {
    Totals { counts: [Some(count), None, None, None, None, None], enabled, running }
}

#[test]
fn a_group_that_shared_the_hardware_is_scaled() {
    let reading = one(1500, 800, 300).since(&one(500, 500, 200));
    assert_eq!((reading.counts[0], reading.running), (Some(3000), 1.0 / 3.0));
    assert_eq!(reading.counts[1], None);
    let reading = one(1500, 800, 300).since(&one(500, 700, 200));
    assert_eq!((reading.counts[0], reading.running), (Some(1000), 1.0));
    assert_eq!(one(u64::MAX, u64::MAX, 1).since(&one(0, 0, 0)).counts[0], Some(u64::MAX));
}

#[test]
fn a_group_that_never_ran_has_no_counts() {
    let reading = one(0, 300, 0).since(&one(0, 0, 0));
    assert_eq!((reading.counts[0], reading.running), (None, 0.0));
}

#[test]
fn counters_count_or_return_a_reason() {
    let counters = ThreadCounters::open(&EVENTS, None);
    let opened = EVENTS.map(|event| counters.members[event as usize].as_ref().map(drop));
    if let Err(error) = counters.start() {
        assert!(opened.iter().all(|member| member.is_err()), "{error}");
        assert_eq!(counters.read().err(), Some(error));
        return;
    }
    let before = counters.read().unwrap();
    let sum: u64 = (0..100_000_u64).map(std::hint::black_box).sum();
    std::hint::black_box(sum);
    let reading = counters.read().unwrap().since(&before);
    counters.stop().unwrap();
    for (count, member) in reading.counts.iter().zip(opened) {
        assert!(member.is_ok() || count.is_none());
    }
    if let Some(instructions) = reading.counts[Event::Instructions as usize] {
        assert!(instructions > 100_000, "{reading:?}");
    }
}

/// The kernel's software events need no hardware, and use the same descriptors.
#[test]
fn page_faults_are_counted_between_start_and_stop() {
    const PAGE_FAULTS: (u32, u64) = (1, 2);
    let mut members = [const { Err(Errno::ENOENT) }; COUNT];
    members[0] = open_event(PAGE_FAULTS, None);
    let leader = members[0].as_ref().ok().map(AsRawFd::as_raw_fd);
    members[3] = open_event(PAGE_FAULTS, leader);
    let counters = ThreadCounters { members };
    // A container may forbid these events, too.
    if counters.start().is_err() {
        return;
    }
    let touch = || std::hint::black_box(crate::table::Table::filled(64 << 12, 1_u8).unwrap());
    let before = counters.read().unwrap();
    let pages = touch();
    counters.stop().unwrap();
    let reading = counters.read().unwrap().since(&before);
    assert!(reading.counts[0].unwrap() >= 64, "{reading:?}");
    assert_eq!((reading.counts[3], reading.counts[1]), (reading.counts[0], None));
    assert!((reading.running - 1.0).abs() < 1e-6, "{reading:?}");
    drop((pages, touch()));
    assert_eq!(counters.read().unwrap().since(&before).counts, reading.counts, "no events after the stop");
}

//! A simulated perf interface: known counts, multiplexing, and refusals.

use super::*;
use core::cell::Cell;

use crate::machine::Platform;
use crate::machine::processor::identify;
use latency_core::CpuId;
use latency_sys::SystemFiles;
use latency_sys::perf::Totals;

/// A group with fixed counts at every start, and fixed counts for each hop of a walk.
struct Simulated {
    counts: Cell<[Option<u64>; COUNT]>,
    times: Cell<(u64, u64)>,
    counting: Cell<bool>,
    /// Percentage of the time during which the group is on the hardware.
    running: u64,
    fails: bool,
}

const START_COST: u64 = 40;

impl Simulated {
    fn new(events: &[Event], running: u64) -> Simulated {
        let mut counts = [None; COUNT];
        events.iter().for_each(|event| counts[*event as usize] = Some(0));
        let (counting, times) = (Cell::new(false), Cell::new((0, 0)));
        Simulated { counts: Cell::new(counts), times, counting, running, fails: false }
    }

    fn add(&self, count: impl Fn(usize) -> u64) {
        let mut counts = self.counts.get();
        for (event, slot) in counts.iter_mut().enumerate() {
            // While the group is off the hardware it counts nothing.
            *slot = slot.map(|sum| sum + count(event) * self.running / 100);
        }
        self.counts.set(counts);
        let (enabled, running) = self.times.get();
        self.times.set((enabled + 100_000, running + self.running * 1000));
    }

    /// Counts a walk, in which each event occurs twice as often as the event before it.
    fn walk(&self, hops: u64) {
        assert!(self.counting.get());
        self.add(|event| hops << event);
    }
}

impl CounterGroup for &Simulated {
    fn start(&self) -> Result<(), Errno> {
        self.counting.set(true);
        if self.fails {
            return Err(Errno::ENOENT);
        }
        self.add(|_| START_COST);
        Ok(())
    }

    fn stop(&self) -> Result<(), Errno> {
        self.counting.set(false);
        if self.fails { Err(Errno::ENOENT) } else { Ok(()) }
    }

    fn read(&self) -> Result<Totals, Errno> {
        let (enabled, running) = self.times.get();
        Ok(Totals::new(self.counts.get(), enabled, running))
    }
}

fn counted(running: u64) -> Counted {
    let groups = GROUPS.map(|events| Simulated::new(events, running));
    let meter = Meter::new([&groups[0], &groups[1]]);
    // Only the group that is being counted sees the walk.
    let counting = |group: &&Simulated| group.counting.get();
    meter.count_all(1000, || groups.iter().filter(counting).for_each(|group| group.walk(1000)))
}

#[test]
fn events_of_all_groups_are_counted_per_hop_without_the_cost_of_starting() {
    assert_eq!(counted(100), Counted { per_hop: [1.0, 2.0, 4.0, 8.0, 16.0, 32.0], running: 1.0 });
}

#[test]
fn multiplexed_counts_are_scaled_and_reported_as_estimates() {
    let found = counted(80);
    assert!((found.running - 0.8).abs() < 1e-9);
    for (event, count) in found.per_hop.into_iter().enumerate() {
        let truth = f64::from(1u32 << event);
        assert!((count / truth - 1.0).abs() < 0.01, "event {event}: {count}");
    }
}

#[test]
fn a_small_share_of_hardware_time_gives_no_counts() {
    let found = counted(30);
    assert!(found.per_hop.iter().all(|count| count.is_nan()));
    assert!((found.running - 0.3).abs() < 1e-9);
}

#[test]
fn a_failing_group_does_not_affect_the_other() {
    let mut groups = GROUPS.map(|events| Simulated::new(events, 100));
    groups[1].fails = true;
    let meter = Meter::new([&groups[0], &groups[1]]);
    let first = meter.count(0, 10, || groups[0].walk(10));
    let found = first.and(&meter.count(1, 10, || ()));
    assert_eq!(found.per_hop[..3], [1.0, 2.0, 4.0]);
    assert!(found.per_hop[3..].iter().all(|count| count.is_nan()));
    assert_eq!(found.running, 1.0);
}

#[test]
fn refusals_have_reasons() {
    for (errno, paranoid, reason) in [
        (Errno::ENOENT, Some(2), NoCounters::Absent),
        (Errno::EOPNOTSUPP, None, NoCounters::Absent),
        (Errno::EACCES, Some(2), NoCounters::Paranoid),
        (Errno::EPERM, Some(4), NoCounters::Paranoid),
        (Errno::EPERM, Some(2), NoCounters::Filtered),
        (Errno::EPERM, None, NoCounters::Filtered),
        (Errno::ENOSYS, Some(1), NoCounters::Filtered),
    ] {
        assert_eq!(why(errno, paranoid, Platform::Hardware), reason, "{errno} at {paranoid:?}");
    }
    assert_eq!(why(Errno::ENOENT, Some(2), Platform::Virtual), NoCounters::Hidden);
}

#[test]
fn walk_cycles_are_counted_on_processors_with_a_known_event() {
    assert_eq!(walk_cycles("GenuineIntel", (6, 0x55, 4)), Some(0x0100_1008));
    assert_eq!(walk_cycles("GenuineIntel", (6, 0xcf, 2)), Some(0x0100_1012));
    assert_eq!(walk_cycles("AuthenticAMD", (25, 17, 1)), None);
}

#[test]
fn this_thread_is_counted_or_a_reason_is_returned() {
    match Meter::open(&identify(&SystemFiles, CpuId(0)), Some(2)) {
        Ok(meter) => {
            let counted = meter.count(0, 100_000, || {
                std::hint::black_box((0..100_000u64).map(std::hint::black_box).sum::<u64>());
            });
            // A shared or forbidden counter gives NaN.
            assert!(counted.per_hop[1].is_nan() || counted.per_hop[1] >= 1.0, "{counted:?}");
        }
        Err(reason) => assert!(
            matches!(reason, NoCounters::Absent | NoCounters::Hidden | NoCounters::Filtered),
            "{reason:?}"
        ),
    }
}

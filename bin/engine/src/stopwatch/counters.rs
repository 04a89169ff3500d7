//! Hardware counters during a measurement: the groups of events that are counted together, and events per hop.
//!
//! Separate walks are counted, next to the timed ones: starting and stopping counters enters the kernel, whose code
//! would displace lines from the measured caches. A processor counts few events at a time, so two groups take turns.

use latency_core::ToReal;

use crate::machine::{Platform, Processor};
use crate::result::Counted;
use crate::result::series::EVENTS;
use crate::warning::NoCounters;
use latency_sys::Errno;
use latency_sys::perf::{COUNT, CounterGroup, Event, ThreadCounters};

const _: () = assert!(EVENTS == COUNT, "every event has a name");
/// Groups of events that are counted together; each fits a processor with four counters.
const GROUPS: [&[Event]; 2] = [
    &[Event::Cycles, Event::Instructions, Event::FirstLevelMisses],
    &[Event::LastLevelMisses, Event::TlbMisses, Event::WalkCycles],
];
/// Number of walks that count all groups.
pub const WALKS: usize = GROUPS.len();
/// Minimum share of a walk during which a group must be on the hardware.
const LEAST_RUNNING: f64 = 0.5;
/// Minimum hops of a counted walk: long relative to the events of starting a counter.
pub const FEWEST_COUNTED: u64 = 1 << 12;
/// Maximum hops of a counted walk.
pub const MOST_COUNTED: u64 = 1 << 16;
/// Number of empty walks; the smallest count of each event is subtracted.
const EMPTY_WALKS: usize = 9;

/// The groups, and the counts of each for an empty walk.
pub struct Meter<G = ThreadCounters> {
    groups: [G; WALKS],
    empty: [[f64; COUNT]; WALKS],
}

impl Meter {
    /// Opens the counters of this thread.
    ///
    /// # Errors
    ///
    /// The reason why there is no counter; `paranoid` is the kernel's `perf_event_paranoid`, if it could be read.
    pub fn open(processor: &Processor, paranoid: Option<i32>) -> Result<Meter, NoCounters> {
        let walk = walk_cycles(processor.vendor.as_str(), processor.signature);
        let groups = GROUPS.map(|events| ThreadCounters::open(events, walk));
        match groups.iter().map(ThreadCounters::start).find_map(Result::err) {
            Some(errno) if groups.iter().all(|group| group.start().is_err()) => {
                Err(why(errno, paranoid, processor.platform))
            }
            _ => {
                for group in &groups {
                    // A group that could not be opened has nothing to stop.
                    let _ = group.stop();
                }
                Ok(Meter::new(groups))
            }
        }
    }
}

impl<G: CounterGroup> Meter<G> {
    /// Returns a meter, after measuring the counts of an empty walk.
    pub fn new(groups: [G; WALKS]) -> Meter<G> {
        let mut meter = Meter { groups, empty: [[0.0; COUNT]; WALKS] };
        let mut least = [[f64::INFINITY; COUNT]; WALKS];
        for _ in 0..EMPTY_WALKS {
            for (group, least) in least.iter_mut().enumerate() {
                let counted = meter.count(group, 1, || ());
                for (least, count) in least.iter_mut().zip(counted.per_hop) {
                    *least = least.min(count);
                }
            }
        }
        let known = |count: f64| if count.is_finite() { count } else { 0.0 };
        meter.empty = least.map(|counts| counts.map(known));
        meter
    }

    /// Counts the events of all groups, each during a `walk` of `hops` hops.
    pub fn count_all(&self, hops: u64, mut walk: impl FnMut()) -> Counted {
        (0..WALKS).fold(Counted::default(), |all, group| all.and(&self.count(group, hops, &mut walk)))
    }

    /// Counts the events of one group during `walk`, which makes `hops` hops.
    pub fn count(&self, group: usize, hops: u64, walk: impl FnOnce()) -> Counted {
        let (Some(counters), Some(empty)) = (self.groups.get(group), self.empty.get(group)) else {
            walk();
            return Counted::default();
        };
        let before = counters.read();
        let started = counters.start();
        walk();
        let stopped = counters.stop();
        let (Ok(()), Ok(()), Ok(before), Ok(after)) = (started, stopped, before, counters.read()) else {
            return Counted::default();
        };
        let reading = after.since(&before);
        let mut counted = Counted { running: reading.running, ..Counted::default() };
        if reading.running >= LEAST_RUNNING {
            for ((slot, count), empty) in counted.per_hop.iter_mut().zip(reading.counts).zip(empty) {
                if let Some(count) = count {
                    *slot = ((count.real() - empty) / hops.max(1).real()).max(0.0);
                }
            }
        }
        counted
    }
}

/// Returns the number of hops of a counted walk, from the hops of a batch.
pub fn hops(batch: u64) -> u64 {
    batch.clamp(FEWEST_COUNTED, MOST_COUNTED)
}

/// Returns why the kernel does not open counters on a platform, by its error number.
fn why(errno: Errno, paranoid: Option<i32>, platform: Platform) -> NoCounters {
    /// Maximum `perf_event_paranoid` at which an unprivileged process may count its own events; Debian and others added
    /// levels above it.
    const ALLOWED: i32 = 2;
    match errno {
        Errno::EACCES => NoCounters::Paranoid,
        Errno::EPERM if paranoid.is_some_and(|level| level > ALLOWED) => NoCounters::Paranoid,
        Errno::EPERM | Errno::ENOSYS => NoCounters::Filtered,
        _ if platform == Platform::Virtual => NoCounters::Hidden,
        _ => NoCounters::Absent,
    }
}

/// DTLB_LOAD_MISSES.WALK_ACTIVE by family and model: event, unit mask, and 1 for the count mask, so that
/// cycles are counted and not walks.
///
/// # References
///
/// Intel's event files for Skylake to Rocket Lake, and for Golden Cove and its successors (perfmon, GitHub).
fn walk_cycles(vendor: &str, (family, model, _): (u16, u16, u16)) -> Option<u64> {
    const ACTIVE: u64 = 0x10 << 8 | 1 << 24;
    match (vendor, family, model) {
        ("GenuineIntel", 6, 0x4e | 0x5e | 0x55 | 0x8e | 0x9e | 0xa5 | 0xa6)
        | ("GenuineIntel", 6, 0x6a | 0x6c | 0x7d | 0x7e | 0x8c | 0x8d | 0xa7) => Some(0x08 | ACTIVE),
        ("GenuineIntel", 6, 0x8f | 0xcf | 0x97 | 0x9a | 0xb7 | 0xba | 0xbf | 0xaa | 0xac | 0xad) => {
            Some(0x12 | ACTIVE)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;

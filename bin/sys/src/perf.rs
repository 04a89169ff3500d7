//! Hardware counters of this thread, counted together in groups.
//!
//! The module defines some events and counts them in user space. Other modules select the groups, and decide whether a
//! count is meaningful on this machine.
//!
//! # Safety
//!
//! `perf_event_open` gets the address of a record that contains its own size, and returns a new descriptor, which is
//! owned from then on. The ioctls take numbers.

use latency_core::ToReal;

use super::errno::Errno;
use super::raw::syscall6;
use core::mem::size_of;
use linux_raw_sys::general::{__NR_ioctl, __NR_perf_event_open};
use rustix::fd::{AsRawFd, FromRawFd, OwnedFd};

/// An event that can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Core clock cycles.
    Cycles,
    /// Instructions retired.
    Instructions,
    /// Reads that missed the first-level data cache.
    FirstLevelMisses,
    /// Reads that missed the last-level cache.
    LastLevelMisses,
    /// Reads that missed the data TLB.
    TlbMisses,
    /// Core clock cycles during a page walk for a read: a model-specific event, without a number of the kernel.
    WalkCycles,
}

/// The number of events.
pub const COUNT: usize = 6;

/// Returns the kernel's type and number of each event (`PERF_TYPE_*`, `PERF_COUNT_*`), in the order of [`Event`];
/// `walk` is the processor's own code of walk cycles, if it has one.
fn codes(walk: Option<u64>) -> [Option<(u32, u64)>; COUNT] {
    const HARDWARE: u32 = 0;
    const CACHE: u32 = 3;
    const RAW: u32 = 4;
    // A miss (bit 16) of a read (operation 0 in bits 8 to 15) in a cache: the first level, the last, the data TLB.
    let read_miss = |cache: u64| Some((CACHE, cache | 1 << 16));
    let [cycles, instructions] = [0, 1].map(|number| Some((HARDWARE, number)));
    [cycles, instructions, read_miss(0), read_miss(2), read_miss(3), walk.map(|code| (RAW, code))]
}

/// The first published form of the kernel's `struct perf_event_attr`, which every kernel accepts.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// `PERF_ATTR_SIZE_VER0`.
const _: () = assert!(size_of::<Attributes>() == 64);

const DISABLED: u64 = 1 << 0;
/// Bits to count the thread in user space only, which needs the least privilege.
const USER_SPACE_ONLY: u64 = 1 << 5 | 1 << 6;
/// `PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_GROUP`.
const READ_FORMAT: u64 = 1 << 0 | 1 << 1 | 1 << 3;
const PERF_EVENT_IOC_ENABLE: u32 = 0x2400;
const PERF_EVENT_IOC_DISABLE: u32 = 0x2401;

/// Counters that start and stop together.
pub trait CounterGroup {
    /// Starts counting.
    ///
    /// # Errors
    /// The first event's error if none could be opened.
    fn start(&self) -> Result<(), Errno>;
    /// Stops counting.
    ///
    /// # Errors
    /// The errors of [`start`](Self::start).
    fn stop(&self) -> Result<(), Errno>;
    /// Returns the events so far, also while counting goes on.
    ///
    /// # Errors
    /// The errors of [`start`](Self::start), and `EIO` for an answer that cannot be decoded.
    fn read(&self) -> Result<Totals, Errno>;
}

/// The counters of this thread that could be opened; they count together and at the same times.
pub struct ThreadCounters {
    /// The counters, in the order of [`Event`]. If an event is not counted, the reason: `ENOENT` without this
    /// counter, as in most virtual machines; `EACCES` or `EPERM` if `perf_event_paranoid` or a container forbids it;
    /// `EINVAL` if the group has no counter left.
    members: [Result<OwnedFd, Errno>; COUNT],
}

impl ThreadCounters {
    /// Opens the `wanted` events for this thread, on whatever CPU it runs. Counting does not start yet.
    ///
    /// `walk` is the raw code of [`Event::WalkCycles`] on this processor, if it has one.
    pub fn open(wanted: &[Event], walk: Option<u64>) -> ThreadCounters {
        let mut members = [const { Err(Errno::ENOENT) }; COUNT];
        let mut leader = None;
        // The kernel reports the counts in the order of the calls, and `decode` expects that of the members.
        for (event, (member, code)) in members.iter_mut().zip(codes(walk)).enumerate() {
            let is_wanted = wanted.iter().any(|wanted| *wanted as usize == event);
            let Some(code) = code.filter(|_| is_wanted) else { continue };
            *member = open_event(code, leader);
            leader = leader.or(member.as_ref().ok().map(OwnedFd::as_raw_fd));
        }
        ThreadCounters { members }
    }

    /// Returns the first event that could be opened, by which the kernel addresses the group.
    fn leader(&self) -> Result<&OwnedFd, Errno> {
        let opened = self.members.iter().find_map(|member| member.as_ref().ok());
        match (opened, self.members.first()) {
            (Some(leader), _) => Ok(leader),
            (None, Some(Err(error))) => Err(*error),
            (None, _) => Err(Errno::ENOENT),
        }
    }

    fn control(&self, request: u32) -> Result<(), Errno> {
        const GROUP: usize = 1;
        let descriptor = self.leader()?.as_raw_fd() as usize;
        // SAFETY: these requests of a perf descriptor take a number and no address.
        unsafe { syscall6(__NR_ioctl, [descriptor, request as usize, GROUP, 0, 0, 0]) }?;
        Ok(())
    }
}

impl CounterGroup for ThreadCounters {
    fn start(&self) -> Result<(), Errno> {
        self.control(PERF_EVENT_IOC_ENABLE)
    }

    fn stop(&self) -> Result<(), Errno> {
        self.control(PERF_EVENT_IOC_DISABLE)
    }

    fn read(&self) -> Result<Totals, Errno> {
        let mut bytes = [0; 8 * (HEADER + COUNT)];
        let length = rustix::io::read(self.leader()?, &mut bytes)?;
        let mut words = [0; HEADER + COUNT];
        let filled = bytes.get(..length).unwrap_or_default().chunks_exact(8);
        let count = filled.len();
        for (word, bytes) in words.iter_mut().zip(filled) {
            *word = u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
        }
        let present = core::array::from_fn(|event| matches!(self.members.get(event), Some(Ok(_))));
        decode(words.get(..count).unwrap_or_default(), present).ok_or(Errno::EIO)
    }
}

/// Opens an event for this thread and closes it again.
///
/// # Errors
///
/// The reason why it cannot be counted, as in [`ThreadCounters`].
pub fn try_event(event: Event) -> Result<(), Errno> {
    let code = codes(None).get(event as usize).copied().flatten();
    open_event(code.ok_or(Errno::ENOENT)?, None).map(drop)
}

fn open_event((kind, config): (u32, u64), leader: Option<i32>) -> Result<OwnedFd, Errno> {
    const THIS_THREAD: usize = 0;
    const ANY_CPU: usize = usize::MAX;
    const NO_GROUP: usize = usize::MAX;
    const CLOSE_ON_EXEC: usize = 1 << 3;
    let attributes = Attributes {
        kind,
        size: size_of::<Attributes>() as u32,
        config,
        read_format: READ_FORMAT,
        // The other events follow their leader.
        flags: USER_SPACE_ONLY | if leader.is_none() { DISABLED } else { 0 },
        ..Attributes::default()
    };
    let group = leader.map_or(NO_GROUP, |descriptor| descriptor as usize);
    let arguments = [&raw const attributes as usize, THIS_THREAD, ANY_CPU, group, CLOSE_ON_EXEC, 0];
    // SAFETY: the kernel reads `size` bytes, which is the record's size.
    let descriptor = unsafe { syscall6(__NR_perf_event_open, arguments) }?;
    // SAFETY: the call succeeded, so this is a new descriptor that nothing else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
}

/// The counts of a group since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// The counts, in the order of [`Event`]; `None` if the event could not be opened.
    counts: [Option<u64>; COUNT],
    /// Nanoseconds during which the group was enabled.
    enabled: u64,
    /// Nanoseconds during which the group was on the hardware.
    running: u64,
}

/// The events between two [`Totals`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventCounts {
    /// The counts, in the order of [`Event`], scaled up to the whole time if the group shared the hardware with
    /// others; `None` if the event could not be opened or never ran.
    pub counts: [Option<u64>; COUNT],
    /// The share of the time during which the group was on the hardware, 0 to 1; below 1 the counts are estimates.
    pub running: f64,
}

impl Totals {
    /// Returns the totals of counts, and of the nanoseconds during which the group was open and on the hardware.
    pub const fn new(counts: [Option<u64>; COUNT], enabled: u64, running: u64) -> Totals {
        Totals { counts, enabled, running }
    }

    /// Returns the events between `earlier` and these totals.
    pub fn since(&self, earlier: &Totals) -> EventCounts {
        let enabled = self.enabled.saturating_sub(earlier.enabled);
        let running = self.running.saturating_sub(earlier.running);
        let mut counts = [None; COUNT];
        for (count, (later, earlier)) in counts.iter_mut().zip(self.counts.iter().zip(earlier.counts)) {
            let (Some(later), Some(earlier)) = (later, earlier) else { continue };
            // The product fits in 128 bits; the quotient may not fit in 64 if the group hardly ran.
            let scaled = u128::from(later.saturating_sub(earlier)) * u128::from(enabled);
            *count =
                scaled.checked_div(u128::from(running)).map(|count| u64::try_from(count).unwrap_or(u64::MAX));
        }
        let share = if enabled == 0 { 0.0 } else { running.real() / enabled.real() };
        EventCounts { counts, running: share }
    }
}

/// Number of words before the counts: the number of counts, the time enabled, the time running.
const HEADER: usize = 3;

/// Decodes the kernel's answer for a group with `READ_FORMAT` that contains the `present` events.
///
/// Returns `None` if the words do not fit this group.
fn decode(words: &[u64], present: [bool; COUNT]) -> Option<Totals> {
    let (&[count, enabled, running], values) = words.split_first_chunk()?;
    let members = present.iter().filter(|&&present| present).count();
    if count != members as u64 || values.len() != members || running > enabled {
        return None;
    }
    let mut values = values.iter().copied();
    let counts = present.map(|present| if present { values.next() } else { None });
    Some(Totals::new(counts, enabled, running))
}

#[cfg(test)]
mod tests;

//! The kernel's accounting of the time of a CPU.
//!
//! # References
//!
//! proc_stat(5) for /proc/stat.

use crate::math::ToReal;
use crate::topology::files::parse;

/// The time of a CPU since the system started, from one line of /proc/stat, in kernel ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// The time that is neither idle nor spent waiting for a disk.
    pub busy: u64,
    /// The time during which the hypervisor ran other virtual machines.
    pub stolen: u64,
    /// The total time.
    pub total: u64,
}

/// Minimum number of ticks from which shares are computed: half a second.
const FEWEST: u64 = 50;
/// Nanoseconds of a tick: `USER_HZ` is 100 (`include/uapi/asm-generic/param.h`).
const TICK_NS: u64 = 10_000_000;

impl CpuTime {
    /// Parses a line such as `cpu3 1393280 32966 572056 13343292 6130 0 17875 0 23933 0`, and returns the CPU's number
    /// and its time.
    pub fn of_line(line: &[u8]) -> Option<(u32, CpuTime)> {
        // The fields of idle time and of waiting for a disk. The time of guests is already part of user time.
        const IDLE: [usize; 2] = [3, 4];
        const STOLEN: usize = 7;
        let mut words = line.split(|&byte| byte == b' ');
        let cpu = parse(words.next()?.strip_prefix(b"cpu")?)?;
        let mut time = CpuTime::default();
        for (column, word) in words.take(STOLEN + 1).enumerate() {
            let ticks = parse(word)?;
            let busy = if IDLE.contains(&column) { 0 } else { ticks };
            let stolen = if column == STOLEN { ticks } else { 0 };
            time = time.and(&CpuTime { busy, stolen, total: ticks });
        }
        Some((cpu, time))
    }

    /// Returns the time of a CPU from the text of /proc/stat; zero if the CPU is missing.
    pub fn of_cpu(stat: &[u8], cpu: u32) -> CpuTime {
        let is_its = |line: &&[u8]| {
            let mut words = line.strip_prefix(b"cpu").unwrap_or_default().split(|&byte| byte == b' ');
            words.next().and_then(parse) == Some(cpu)
        };
        let line = stat.split(|&byte| byte == b'\n').find(is_its);
        line.and_then(CpuTime::of_line).unwrap_or_default().1
    }

    /// Returns the sum of two times.
    #[must_use]
    pub const fn and(&self, other: &CpuTime) -> CpuTime {
        CpuTime {
            busy: self.busy.saturating_add(other.busy),
            stolen: self.stolen.saturating_add(other.stolen),
            total: self.total.saturating_add(other.total),
        }
    }

    /// Returns the time that passed since `earlier`.
    #[must_use]
    pub const fn since(&self, earlier: &CpuTime) -> CpuTime {
        CpuTime {
            busy: self.busy.saturating_sub(earlier.busy),
            stolen: self.stolen.saturating_sub(earlier.stolen),
            total: self.total.saturating_sub(earlier.total),
        }
    }

    /// Returns the share of `part` in the total time; `None` for fewer ticks than half a second.
    pub fn share(&self, part: u64) -> Option<f64> {
        (self.total >= FEWEST).then(|| part.real() / self.total.real())
    }

    /// Returns the share of non-idle time during which the hypervisor kept the CPU waiting: an idle CPU has no stolen
    /// time.
    pub fn stolen_share(&self) -> Option<f64> {
        (self.busy >= FEWEST).then(|| self.stolen.real() / self.busy.real())
    }

    /// Returns the share of the time during which threads of other processes ran, given that threads of this process
    /// ran for `own_ns`.
    pub fn busy_with_others(&self, own_ns: u64) -> Option<f64> {
        let ran = self.busy.saturating_sub(self.stolen);
        self.share(ran.saturating_sub(own_ns / TICK_NS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn lines_of_all_kernels_are_read() {
        let (cpu, time) = CpuTime::of_line(b"cpu3 100 20 30 800 40 5 5 10 7 1").unwrap();
        assert_eq!((cpu, time), (3, CpuTime { busy: 170, stolen: 10, total: 1010 }));
        // Kernels before 2.6.11 do not report stolen time; the line with the sum of all CPUs is rejected.
        assert_eq!(CpuTime::of_line(b"cpu0 1 2 3 4").unwrap().1, CpuTime { busy: 6, stolen: 0, total: 10 });
        assert_eq!(CpuTime::of_line(b"cpu  1 2 3 4"), None);
        assert_eq!(CpuTime::of_line(b"intr 46436546 0 9"), None);
    }

    #[test]
    fn shares_refer_to_the_time_between_two_readings() {
        let first = CpuTime { busy: 100, stolen: 10, total: 1000 };
        let passed = CpuTime { busy: 180, stolen: 30, total: 1100 }.since(&first);
        assert_eq!((passed.share(passed.busy), passed.share(passed.stolen)), (Some(0.8), Some(0.2)));
        assert_eq!(passed.since(&CpuTime { total: 70, ..CpuTime::default() }).share(1), None);
    }

    proptest! {
        #[test]
        fn any_line_is_parsed_or_refused(text: Vec<u8>) {
            let _ = CpuTime::of_line(&text);
        }
    }
}

//! The conditions of a run, as plain data: what else happened to the CPU that measured, to its clock and to the timer.
//!
//! Pure: `engine::conditions` asks the kernel, this module understands the answers.
//!
//! # References
//!
//! Linux Documentation/scheduler/sched-stats.rst for /proc/PID/schedstat; proc_stat(5) for /proc/stat.

use latency_core::units::CpuId;

/// What happened from the first trial to the last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// The share of the time in which this process was ready to run and other work ran on its CPU.
    pub other_work_share: Option<f64>,
    /// The share of the busy time of its CPU in which the hypervisor kept that waiting; of several CPUs the largest.
    pub stolen_share: Option<f64>,
    /// The share of the time in which the sibling thread of its core was busy with other work; `None` without a visible
    /// one.
    pub sibling_busy_share: Option<f64>,
    /// Times that the kernel gave its CPU to another task.
    pub involuntary_switches: u64,
    /// Times that it was found on another CPU.
    pub thread_moves: u64,
    /// The tenth, fiftieth and ninetieth percentile of the core's clock over rounds, in gigahertz.
    pub core_gigahertz: Option<[f64; 3]>,
    /// The drift of the time-stamp counter against the kernel's clock, in parts per million.
    pub timer_drift_ppm: Option<f64>,
    /// Times that the counter was behind an earlier reading.
    pub timer_steps_back: u64,
    /// The CPUs on which a thread of the run had work, in the order of their numbers.
    pub cpus: &'static [OnCpu],
}

/// The other users of a CPU on which a thread of the run had work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnCpu {
    /// The CPU.
    pub cpu: CpuId,
    /// Shares of the time by their kinds; not a number where one is not known.
    pub shares: [f64; 3],
}

/// The kind of the share of the time with work in which other work ran on a CPU.
pub const OTHER_WORK: usize = 0;
/// The kind of the share of its busy time in which the hypervisor kept a CPU waiting.
pub const STOLEN: usize = 1;
/// The kind of the share of the time in which another thread of its core was busy with other work.
pub const SIBLING_BUSY: usize = 2;

impl OnCpu {
    /// Nothing is known of it.
    pub const UNKNOWN: OnCpu = OnCpu { cpu: CpuId(0), shares: [f64::NAN; 3] };
}

/// What one line of /proc/stat says of a CPU since it started, in ticks of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Neither idle nor waiting for a disk.
    pub busy: u64,
    /// Given to somebody else by the hypervisor.
    pub stolen: u64,
    /// All of it.
    pub total: u64,
}

/// Ticks of the kernel of the shortest time whose shares say anything: half a second.
const FEWEST: u64 = 50;
/// Nanoseconds of one of them: `USER_HZ` is 100 on x86-64.
const TICK_NS: u64 = 10_000_000;

impl CpuTime {
    /// The CPU and its time by a line such as `cpu3 1393280 32966 572056 13343292 6130 0 17875 0 23933 0`.
    #[must_use]
    pub fn of_line(line: &[u8]) -> Option<(u32, CpuTime)> {
        // Idle and waiting; guests are part of user time already.
        const IDLE: [usize; 2] = [3, 4];
        const STOLEN: usize = 7;
        let mut words = line.split(|&byte| byte == b' ');
        let cpu = number(words.next()?.strip_prefix(b"cpu")?)?;
        let mut time = CpuTime::default();
        for (column, word) in words.take(STOLEN + 1).enumerate() {
            let ticks = number(word)?;
            let busy = if IDLE.contains(&column) { 0 } else { ticks };
            let stolen = if column == STOLEN { ticks } else { 0 };
            time = time.and(&CpuTime { busy, stolen, total: ticks });
        }
        Some((u32::try_from(cpu).ok()?, time))
    }

    /// The time of a CPU by the text of /proc/stat; nothing where it is not there.
    #[must_use]
    pub fn of_cpu(stat: &[u8], cpu: u32) -> CpuTime {
        let is_its = |line: &&[u8]| {
            let mut words = line.strip_prefix(b"cpu").unwrap_or_default().split(|&byte| byte == b' ');
            words.next().and_then(number) == Some(cpu.into())
        };
        let line = stat.split(|&byte| byte == b'\n').find(is_its);
        line.and_then(CpuTime::of_line).unwrap_or_default().1
    }

    /// Both together.
    #[must_use]
    pub const fn and(&self, other: &CpuTime) -> CpuTime {
        CpuTime {
            busy: self.busy.saturating_add(other.busy),
            stolen: self.stolen.saturating_add(other.stolen),
            total: self.total.saturating_add(other.total),
        }
    }

    /// What was counted from `earlier` to this.
    #[must_use]
    pub const fn since(&self, earlier: &CpuTime) -> CpuTime {
        CpuTime {
            busy: self.busy.saturating_sub(earlier.busy),
            stolen: self.stolen.saturating_sub(earlier.stolen),
            total: self.total.saturating_sub(earlier.total),
        }
    }

    /// The share of `part` in all of the time; `None` in a time of too few ticks, which are a hundredth of a second.
    #[must_use]
    pub fn share(&self, part: u64) -> Option<f64> {
        (self.total >= FEWEST).then(|| part as f64 / self.total as f64)
    }

    /// The share of the time with work in which the hypervisor kept the CPU waiting: nothing is taken from an idle one.
    #[must_use]
    pub fn stolen_share(&self) -> Option<f64> {
        (self.busy >= FEWEST).then(|| self.stolen as f64 / self.busy as f64)
    }

    /// The share of the time in which other threads ran than those of this process, which ran for `own_ns`.
    #[must_use]
    pub fn busy_with_others(&self, own_ns: u64) -> Option<f64> {
        let ran = self.busy.saturating_sub(self.stolen);
        self.share(ran.saturating_sub(own_ns / TICK_NS))
    }
}

/// The nanoseconds that a task ran and those that it waited for a CPU: the first two words of /proc/self/schedstat.
#[must_use]
pub fn ran_and_waited(schedstat: &[u8]) -> Option<(u64, u64)> {
    let mut words = schedstat.split(|&byte| byte == b' ');
    Some((number(words.next()?)?, number(words.next()?)?))
}

fn number(text: &[u8]) -> Option<u64> {
    core::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}

/// The core clocks of rounds, counted in steps of 10 MHz up to 10 GHz.
#[derive(Clone, Copy, Debug)]
pub struct Clocks {
    counts: [u32; CLOCKS],
    total: u32,
}

const CLOCKS: usize = 1000;
const PER_GIGAHERTZ: f64 = 100.0;

impl Clocks {
    /// None yet.
    #[must_use]
    pub const fn new() -> Clocks {
        Clocks { counts: [0; CLOCKS], total: 0 }
    }

    /// Counts the clock of a round; what is not a number is none.
    pub fn note(&mut self, gigahertz: f64) {
        let step = (gigahertz * PER_GIGAHERTZ + 0.5) as usize;
        if let Some(count) = self.counts.get_mut(step).filter(|_| step > 0) {
            *count += 1;
            self.total += 1;
        }
    }

    /// The clocks that a tenth, half and nine tenths of the rounds do not exceed, in gigahertz; `None` without any.
    #[must_use]
    pub fn spread(&self) -> Option<[f64; 3]> {
        (self.total > 0).then(|| [1, 5, 9].map(|tenths| self.reached_by(tenths)))
    }

    fn reached_by(&self, tenths: u32) -> f64 {
        let rank = (self.total * tenths).div_ceil(10);
        let mut seen = 0;
        let step = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        step.unwrap_or(0) as f64 / PER_GIGAHERTZ
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn lines_are_read_as_kernels_write_them() {
        let (cpu, time) = CpuTime::of_line(b"cpu3 100 20 30 800 40 5 5 10 7 1").unwrap();
        assert_eq!((cpu, time), (3, CpuTime { busy: 170, stolen: 10, total: 1010 }));
        // Kernels before 2.6.11 had no stolen time; the sum of all CPUs is none of them.
        assert_eq!(CpuTime::of_line(b"cpu0 1 2 3 4").unwrap().1, CpuTime { busy: 6, stolen: 0, total: 10 });
        assert_eq!(CpuTime::of_line(b"cpu  1 2 3 4"), None);
        assert_eq!(CpuTime::of_line(b"intr 46436546 0 9"), None);
        assert_eq!(ran_and_waited(b"100597 17 1\n"), Some((100_597, 17)));
        assert_eq!(ran_and_waited(b"\n"), None);
    }

    #[test]
    fn shares_are_of_the_time_between_two_looks() {
        let first = CpuTime { busy: 100, stolen: 10, total: 1000 };
        let passed = CpuTime { busy: 180, stolen: 30, total: 1100 }.since(&first);
        assert_eq!((passed.share(passed.busy), passed.share(passed.stolen)), (Some(0.8), Some(0.2)));
        assert_eq!(passed.since(&CpuTime { total: 70, ..CpuTime::default() }).share(1), None);
    }

    #[test]
    fn percentiles_of_clocks_are_those_of_rounds() {
        let mut clocks = Clocks::new();
        assert_eq!(clocks.spread(), None);
        for round in 0..100 {
            clocks.note(if round < 20 { 2.1 } else { 3.7 });
        }
        clocks.note(f64::NAN);
        assert_eq!(clocks.spread(), Some([2.1, 3.7, 3.7]));
    }

    proptest! {
        #[test]
        fn any_text_is_understood_or_refused(text: Vec<u8>) {
            let _ = (CpuTime::of_line(&text), ran_and_waited(&text));
        }
    }
}

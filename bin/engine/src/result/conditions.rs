//! The conditions of a run, as plain data: other activity on the CPU that measured, its clock, and the timer.
//!
//! Pure functions: `checks::conditions` queries the kernel, and this module interprets the answers.
//!
//! # References
//!
//! Linux Documentation/scheduler/sched-stats.rst for /proc/PID/schedstat.

pub use latency_core::host::{CpuTime, ErrorCounts};
use latency_core::{CpuId, ToReal, math};

/// The conditions from the first trial to the last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// The share of the time in which this process was ready to run and other work ran on its CPU.
    pub other_work_share: Option<f64>,
    /// The share of its CPU's busy time in which, by its own report, the hypervisor kept the CPU waiting; the largest
    /// share if there are several CPUs. A lower bound: many hypervisors report nothing.
    pub stolen_share: Option<f64>,
    /// The share of the time in which the sibling thread of its core was busy with other work; `None` without a visible
    /// sibling.
    pub sibling_busy_share: Option<f64>,
    /// Number of times that the kernel gave its CPU to another task.
    pub involuntary_switches: u64,
    /// Number of times that the measuring thread was found on another CPU.
    pub thread_moves: u64,
    /// The tenth, fiftieth and ninetieth percentile of the core's clock over rounds, in gigahertz.
    pub core_gigahertz: Option<[f64; 3]>,
    /// The drift of the time-stamp counter against the kernel's clock, in parts per million.
    pub timer_drift_ppm: Option<f64>,
    /// Number of times that the counter was behind an earlier reading.
    pub timer_steps_back: u64,
    /// The CPUs on which a thread of the run had work, in the order of their numbers.
    pub cpus: &'static [OnCpu],
    /// The errors of the hardware that the kernel counts; `None` if they were not read.
    pub errors: Option<HardwareErrors>,
}

/// The errors of the hardware that the kernel counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HardwareErrors {
    /// The memory devices; `None` if no driver counts their errors.
    pub devices: Option<&'static [ErrorCounts]>,
    /// Increases during the run, `None` if unknown: machine checks, bytes of memory that the kernel no longer uses because
    /// of errors, the number of times that a core or a package was too hot, and the pages in which hardware found errors.
    pub during: [Option<u64>; 4],
    /// The temperature of the hottest memory device after the run, in thousandths of a degree Celsius; `None` if unknown.
    pub dimm_heat: Option<i32>,
}

/// The other users of a CPU on which a thread of the run had work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnCpu {
    /// The CPU.
    pub cpu: CpuId,
    /// Shares of the time, indexed by [`OTHER_WORK`], [`STOLEN`] and [`SIBLING_BUSY`]; NaN for an unknown share.
    pub shares: [f64; 3],
}

/// Index of the share of the thread's time with work in which other work ran on the CPU.
pub const OTHER_WORK: usize = 0;
/// Index of the share of the CPU's busy time in which the hypervisor kept the CPU waiting.
pub const STOLEN: usize = 1;
/// Index of the share of the time in which another thread of the CPU's core was busy with other work.
pub const SIBLING_BUSY: usize = 2;

impl OnCpu {
    /// A CPU without known shares.
    pub const UNKNOWN: OnCpu = OnCpu { cpu: CpuId(0), shares: [f64::NAN; 3] };
}

/// Returns the nanoseconds that a task ran, and the nanoseconds that it waited for a CPU: the first two words of
/// /proc/self/schedstat.
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
    /// Returns a histogram without clocks.
    pub const fn none() -> Clocks {
        Clocks { counts: [0; CLOCKS], total: 0 }
    }

    /// Counts the clock of a round; ignores values that are not numbers.
    pub fn note(&mut self, gigahertz: f64) {
        let step = math::whole(gigahertz * PER_GIGAHERTZ + 0.5) as usize;
        if let Some(count) = self.counts.get_mut(step).filter(|_| step > 0) {
            *count += 1;
            self.total += 1;
        }
    }

    /// Returns the clocks that a tenth, half and nine tenths of the rounds do not exceed, in gigahertz; `None` without
    /// rounds.
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
        step.unwrap_or(0).real() / PER_GIGAHERTZ
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn times_are_read_as_kernels_write_them() {
        assert_eq!(ran_and_waited(b"100597 17 1\n"), Some((100_597, 17)));
        assert_eq!(ran_and_waited(b"\n"), None);
    }

    #[test]
    fn percentiles_of_clocks_are_those_of_rounds() {
        let mut clocks = Clocks::none();
        assert_eq!(clocks.spread(), None);
        for round in 0..100 {
            clocks.note(if round < 20 { 2.1 } else { 3.7 });
        }
        clocks.note(f64::NAN);
        assert_eq!(clocks.spread(), Some([2.1, 3.7, 3.7]));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_rejected(text: Vec<u8>) {
            let _ = ran_and_waited(&text);
        }
    }
}

//! The kernel's clock, and the check whether the time-stamp counter may be read.
//!
//! The module knows neither ticks nor frequencies: the clock of the measurements is in core.
//!
//! # Safety
//!
//! One system call gets the address of a local record of the kernel's type.

use latency_core::ToReal;

use super::raw::syscall6;
use linux_raw_sys::general::{
    __NR_clock_gettime, __kernel_timespec, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME,
    CLOCK_THREAD_CPUTIME_ID,
};
use rustix::process::{TimeStampCounterReadability, time_stamp_counter_readability};
use rustix::thread::{NanosleepRelativeResult, gettid, nanosleep};
use rustix::time::Timespec;

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// Returns the nanoseconds since some moment before the process began, at the rate of the hardware: no time daemon
/// adjusts it.
///
/// The clock is `CLOCK_MONOTONIC_RAW`, or `CLOCK_MONOTONIC` if the raw clock is missing.
///
/// It is read by a system call and not by the vDSO, although the call is 0.1 us slower: the vDSO reads the time-stamp
/// counter, which kills a process that must not read it, and valgrind hides the vDSO's pages while the kernel still
/// names their address.
pub fn monotonic_raw_ns() -> u64 {
    known_ns().unwrap_or(0)
}

/// Returns the same nanoseconds; `None` if there is no clock at all, because a filter of system calls forbids it.
pub fn known_ns() -> Option<u64> {
    [CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC].into_iter().find_map(read)
}

/// Returns the same time as a floating-point number.
pub fn now_ns() -> f64 {
    monotonic_raw_ns().real()
}

/// Returns the nanoseconds that this thread has run, if the kernel reports them.
pub fn thread_ran_ns() -> Option<u64> {
    read(CLOCK_THREAD_CPUTIME_ID)
}

/// Returns the number of the clock that counts the CPU time of this thread; other threads of the process read it with
/// [`read`].
///
/// # References
/// `make_thread_cpuclock` in the kernel's `include/linux/posix-timers_types.h`: the thread's number inverted, and
/// `CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED`. The format is a stable interface: C libraries use it too.
pub fn thread_clock() -> u32 {
    const OF_A_THREAD_BY_THE_SCHEDULER: u32 = 6;
    !(gettid().as_raw_nonzero().get() as u32) << 3 | OF_A_THREAD_BY_THE_SCHEDULER
}

/// Returns the seconds since 1970, UTC, according to the kernel; 0 if the kernel does not report them.
pub fn seconds_since_1970() -> u64 {
    read(CLOCK_REALTIME).unwrap_or(0) / NANOSECONDS_PER_SECOND
}

/// Returns the nanoseconds on the clock with this number; `None` if the kernel does not have it, for example after its
/// thread has ended, or if a filter of system calls forbids it.
pub fn read(clock: u32) -> Option<u64> {
    let mut time = __kernel_timespec { tv_sec: 0, tv_nsec: 0 };
    let arguments = [clock as usize, &raw mut time as usize, 0, 0, 0, 0];
    // SAFETY: the kernel writes one `struct __kernel_timespec`, which is the type of this call on 64-bit systems.
    unsafe { syscall6(__NR_clock_gettime, arguments) }.ok()?;
    Some(time.tv_sec as u64 * NANOSECONDS_PER_SECOND + time.tv_nsec as u64)
}

/// Sleeps at least `nanoseconds`, despite interruptions.
pub fn sleep_ns(nanoseconds: u64) {
    let mut request = Timespec {
        tv_sec: (nanoseconds / NANOSECONDS_PER_SECOND) as i64,
        tv_nsec: (nanoseconds % NANOSECONDS_PER_SECOND) as i64,
    };
    while let NanosleepRelativeResult::Interrupted(rest) = nanosleep(&request) {
        request = rest;
    }
}

/// Returns true if this process may read the counter; otherwise the kernel would end it with SIGSEGV.
///
/// # References
/// `PR_GET_TSC` in `prctl(2)`.
pub fn tsc_readable() -> bool {
    // A kernel without this call cannot forbid the counter.
    !matches!(time_stamp_counter_readability(), Ok(TimeStampCounterReadability::RaiseSIGSEGV))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_advances_by_the_time_slept() {
        let before = monotonic_raw_ns();
        sleep_ns(3_000_000);
        let passed = monotonic_raw_ns() - before;
        // NTP may adjust the sleep by 500 ppm relative to the raw clock.
        assert!((2_990_000..2_000_000_000).contains(&passed), "{passed}");
    }

    #[test]
    fn the_clock_of_another_thread_counts_while_it_runs_and_not_while_it_sleeps() {
        use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
        let (clock, spins) = (AtomicU32::new(0), AtomicBool::new(true));
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                clock.store(thread_clock(), Ordering::Release);
                while spins.load(Ordering::Relaxed) {
                    core::hint::spin_loop();
                }
                std::thread::park();
            });
            let number = || clock.load(Ordering::Acquire);
            let ran = || read(number()).unwrap();
            while number() == 0 {
                std::thread::yield_now();
            }
            let begun = ran();
            while ran() < begun + 2_000_000 {
                sleep_ns(1_000_000);
            }
            spins.store(false, Ordering::Relaxed);
            let mut last = ran();
            // The thread needs a moment to fall asleep, and may wait for a CPU before.
            while {
                sleep_ns(20_000_000);
                core::mem::replace(&mut last, ran()) != last
            } {}
            thread.thread().unpark();
        });
        assert!(read(thread_clock()).unwrap() <= thread_ran_ns().unwrap());
    }

    #[test]
    fn the_counter_is_readable_unless_forbidden() {
        assert!(tsc_readable());
    }
}

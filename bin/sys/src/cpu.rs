//! The CPUs that this thread may use, its current CPU, and the kernel's counts of its events.
//!
//! The module identifies CPUs by number only. Except for the answer of `getcpu`, the topology decides to which node or
//! package a CPU belongs.
//!
//! # Safety
//!
//! Four system calls get the address of a local mask or record of the size of the kernel's type.

use super::errno::Errno;
use super::raw::syscall6;
use core::mem::size_of_val;
use latency_core::{CpuId, CpuSet, NodeId};
use linux_raw_sys::general::{
    __NR_getcpu, __NR_getrusage, __NR_sched_getaffinity, __NR_sched_setaffinity, RUSAGE_THREAD,
};

/// Number by which the affinity calls address the calling thread.
const THIS_THREAD: usize = 0;

/// Returns the CPUs that this thread may run on: its affinity mask, within the cpuset and the CPUs that are online.
///
/// # Errors
/// `EINVAL` on a kernel built for more CPUs than a [`CpuSet`] holds.
///
/// # References
/// `sched_getaffinity(2)`. Called by its number, because rustix's set ends at 1024 CPUs.
pub fn allowed() -> Result<CpuSet, Errno> {
    let mut set = CpuSet::EMPTY;
    let words = set.words_mut();
    let arguments = [THIS_THREAD, size_of_val(words), words.as_mut_ptr() as usize, 0, 0, 0];
    // SAFETY: the kernel writes at most the given number of bytes, which is the size of the words.
    unsafe { syscall6(__NR_sched_getaffinity, arguments) }?;
    Ok(set)
}

/// Restricts this thread to the CPUs of `set`; on return it runs on one of them.
///
/// # Errors
/// `EINVAL` if none of them is online and in the cpuset.
pub fn pin(set: &CpuSet) -> Result<(), Errno> {
    let words = set.words();
    let arguments = [THIS_THREAD, size_of_val(words), words.as_ptr() as usize, 0, 0, 0];
    // SAFETY: the kernel reads at most the given number of bytes, which is the size of the words.
    unsafe { syscall6(__NR_sched_setaffinity, arguments) }?;
    Ok(())
}

/// Restricts this thread to `cpu`; on return it runs there.
///
/// # Errors
/// `EINVAL` if the CPU is offline, outside the cpuset or does not exist.
pub fn pin_to(cpu: CpuId) -> Result<(), Errno> {
    let mut set = CpuSet::EMPTY;
    set.insert(cpu.0);
    pin(&set)
}

/// Returns the CPU that this thread is running on, and its node.
///
/// # Errors
/// None is documented for valid addresses; a seccomp filter may forbid the call.
///
/// # References
/// `getcpu(2)`: the system call, because the vDSO reads a register that an emulator may not maintain.
pub fn current() -> Result<(CpuId, NodeId), Errno> {
    let (mut cpu, mut node) = (0_u32, 0_u32);
    let arguments = [&raw mut cpu as usize, &raw mut node as usize, 0, 0, 0, 0];
    // SAFETY: the kernel writes one unsigned int to each address.
    unsafe { syscall6(__NR_getcpu, arguments) }?;
    Ok((CpuId(cpu), NodeId(node)))
}

/// Lets another thread run first, if one waits for this CPU.
pub fn yield_now() {
    rustix::thread::sched_yield();
}

/// The events that the kernel has counted for a thread since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of times that it gave up the CPU by itself, for example by sleeping.
    pub voluntary_switches: u64,
    /// Number of times that it was preempted: another task ran in the middle of its work.
    pub involuntary_switches: u64,
    /// Page faults that needed no input or output.
    pub minor_faults: u64,
    /// Page faults that waited for a disk.
    pub major_faults: u64,
}

/// Returns the events that the kernel has counted for this thread.
///
/// # Errors
/// None is documented; a seccomp filter may forbid the call.
///
/// # References
/// `getrusage(2)` with `RUSAGE_THREAD`: its record is 18 words, and the first eight are times and memory.
pub fn thread_usage() -> Result<Usage, Errno> {
    let mut record = [0_u64; 18];
    let arguments = [RUSAGE_THREAD as usize, &raw mut record as usize, 0, 0, 0, 0];
    // SAFETY: the kernel writes one `struct rusage`, which has the size of this record and consists of integers.
    unsafe { syscall6(__NR_getrusage, arguments) }?;
    let [_, _, _, _, _, _, _, _, minor_faults, major_faults, .., voluntary_switches, involuntary_switches] =
        record;
    Ok(Usage { voluntary_switches, involuntary_switches, minor_faults, major_faults })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auxv::page_size;
    use crate::map::Region;
    use latency_core::Pages;
    use latency_core::arch::Line;

    #[test]
    fn a_thread_is_where_it_was_pinned() {
        let before = allowed().unwrap();
        assert!(!before.is_empty());
        for cpu in before.iter().map(CpuId) {
            pin_to(cpu).unwrap();
            let (on, _) = current().unwrap();
            assert_eq!(on, cpu);
            assert!(allowed().unwrap().iter().eq([cpu.0]));
        }
        pin(&before).unwrap();
        assert_eq!(allowed().unwrap(), before);
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_an_error() {
        assert_eq!(pin_to(CpuId(8191)), Err(Errno::EINVAL));
        assert_eq!(pin_to(CpuId(1 << 20)), Err(Errno::EINVAL));
    }

    #[test]
    fn touching_new_memory_and_sleeping_are_counted() {
        let before = thread_usage().unwrap();
        // Another test may already have touched memory of the allocator.
        let mut region = Region::map(1 << 20, Pages::base(page_size())).unwrap();
        region.lines().fill(Line([1; 8]));
        std::thread::sleep(std::time::Duration::from_millis(2));
        let after = thread_usage().unwrap();
        assert!(after.minor_faults > before.minor_faults, "{after:?}");
        assert!(after.voluntary_switches > before.voluntary_switches, "{after:?}");
    }

    /// A thread that is moved away and back between two stamps has switched, so its batch counts as disturbed.
    #[test]
    fn moving_a_running_thread_is_an_involuntary_switch() {
        use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
        let cpus = allowed().unwrap();
        let (here, there) = (cpus.first().unwrap(), cpus.last().unwrap());
        let (tid, back) = (AtomicUsize::new(0), AtomicBool::new(false));
        let switches = std::thread::scope(|scope| {
            let spinning = scope.spawn(|| {
                pin_to(CpuId(here)).unwrap();
                let before = thread_usage().unwrap();
                tid.store(rustix::thread::gettid().as_raw_nonzero().get() as usize, Ordering::Release);
                while !back.load(Ordering::Acquire) {
                    core::hint::spin_loop();
                }
                thread_usage().unwrap().involuntary_switches - before.involuntary_switches
            });
            while tid.load(Ordering::Acquire) == 0 {
                yield_now();
            }
            for cpu in [there, here] {
                let set: CpuSet = [cpu].into_iter().collect();
                let words = set.words();
                let thread = tid.load(Ordering::Relaxed);
                let arguments = [thread, size_of_val(words), words.as_ptr() as usize, 0, 0, 0];
                // SAFETY: the kernel reads at most the given number of bytes, which is the size of the words.
                unsafe { syscall6(__NR_sched_setaffinity, arguments) }.unwrap();
            }
            back.store(true, Ordering::Release);
            spinning.join().unwrap()
        });
        // With a single CPU, the thread cannot be moved away.
        assert!(switches >= 1 || here == there, "{switches}");
    }
}

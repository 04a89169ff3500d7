//! Errors of placement: a requested placement was not obtained, or could not be verified.

use core::fmt;

use latency_core::cpulist::{CpuSet, NodeSet};
use latency_core::host::Bound;
use latency_core::math::ToReal;
use latency_core::text::plural;
use latency_core::units::{Bytes, CpuId, NodeId, PageSize, PageSizes, Picoseconds};

use crate::report::figures::Digits;
use crate::sys::errno::Errno;

/// Maximum step of a counter that times single loads, in nanoseconds: percentiles of longer steps would be those of the
/// counter.
pub const LONGEST_STEP_NS: u64 = 15;

/// A CPU, node, memory policy or page size that was not obtained, or could not be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are named for what they hold; what they mean is the message
pub enum PlacementError<'a> {
    /// The CPU exists, but the process may not use it.
    CpuNotAllowed { cpu: CpuId, allowed: &'a CpuSet },
    /// The thread was pinned to one CPU and runs on another.
    WrongCpu { asked: CpuId, found: CpuId },
    /// The CPU became unavailable after planning.
    CpuTaken { cpu: CpuId },
    /// The kernel and `/sys` name different nodes for a CPU.
    CpuOnOtherNode { cpu: CpuId, node: NodeId, found: NodeId },
    /// The initiator node has no CPU.
    NodeWithoutCpus { node: NodeId },
    /// The initiator node has CPUs, but the process may not use any.
    NoAllowedCpu { node: NodeId, allowed: &'a CpuSet },
    /// The target node has no memory.
    NodeWithoutMemory { node: NodeId },
    /// The target node has memory, but the process may not use it.
    NodeNotAllowed { node: NodeId, allowed: &'a NodeSet },
    /// The buffer does not fit into the free memory.
    NotEnoughMemory { node: NodeId, wanted: Bytes, free: Bytes, reclaimable: Bytes },
    /// The buffer does not fit into what the control group's memory limit or another limit has left.
    NotEnoughInGroup { node: NodeId, wanted: Bytes, headroom: Bytes, by: Bound },
    /// The pool of huge pages is too small; it has `total` pages, used and free.
    PoolTooSmall { page: PageSize, node: NodeId, wanted: u64, free: u64, total: u64 },
    /// The pool of huge pages was large enough in the plan, but not when the memory was touched.
    PoolEmptied { page: PageSize, node: NodeId },
    /// The kernel or the processor has no pages of this size; `pools` are the sizes of its huge pages, as far as they
    /// are known.
    NoSuchPages { page: PageSize, pools: PageSizes },
    /// Transparent huge pages are switched off.
    ThpDisabled,
    /// A part of the buffer is not in transparent huge pages.
    ThpPartial { wanted: Bytes, found: Bytes },
    /// A system call failed; `call` is its name.
    CallFailed { call: &'static str, errno: Errno, node: Option<NodeId> },
    /// Memory policies are forbidden, and the process may not use a CPU of the node for first touch.
    NotReachable { node: NodeId, errno: Errno },
    /// Pages lie on other nodes than the target.
    WrongNode { node: NodeId, elsewhere: u64, pages: u64 },
    /// Pages left the target while they were measured.
    MovedDuringRun { node: NodeId, elsewhere: u64, pages: u64 },
    /// The pages have another size than requested.
    WrongPageSize { asked: Bytes, found: Bytes },
    /// There is no initiator node, or no node with memory.
    NothingToMeasure,
    /// The kernel refused threads without which nothing can be measured.
    ThreadsRefused { wanted: u32, started: u32, errno: Errno },
    /// The CPU that walks the chain is also in the list of generators.
    CpuGenerates { cpu: CpuId },
    /// The time limit of the whole run is too short; the shortest run may last this long.
    BudgetTooShort { seconds: u64 },
    /// The time limit of the whole run was over before this was measured.
    BudgetOver,
    /// There is no CPU for a second thread.
    NeedsSecondCpu { experiment: &'static str, why: &'static str },
    /// Single loads need a counter with shorter steps.
    CounterTooCoarse { step: Picoseconds },
    /// The system answers for another process or not at all, as a user-mode emulator does.
    NothingTells,
    /// The node of the pages cannot be verified.
    NotVerified { node: NodeId, why: &'static str },
}

impl fmt::Display for PlacementError<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            PlacementError::CpuNotAllowed { cpu, allowed } => write!(
                out,
                "CPU {cpu} is not allowed for this process (allowed: {allowed}); choose an allowed CPU, or \
                 widen the cpuset or affinity mask"
            ),
            PlacementError::WrongCpu { asked, found } => write!(
                out,
                "pinned to CPU {asked}, but running on CPU {found}; stop the program that changes CPU \
                 affinities"
            ),
            PlacementError::CpuTaken { cpu } => write!(
                out,
                "CPU {cpu} became unavailable (cpuset or hotplug); restore it, or choose another --cpu"
            ),
            PlacementError::CpuOnOtherNode { cpu, node, found } => write!(
                out,
                "kernel and /sys disagree: CPU {cpu} is on node {found} (getcpu), /sys says node {node}; \
                 mount this machine's /sys"
            ),
            PlacementError::NodeWithoutCpus { node } => write!(
                out,
                "node {node} has no CPUs, so it cannot be an initiator node; choose another --cpunode"
            ),
            PlacementError::NoAllowedCpu { node, allowed } => write!(
                out,
                "no CPU of node {node} is allowed for this process (allowed: {allowed}); choose another \
                 --cpunode, or widen the cpuset or affinity mask"
            ),
            PlacementError::NodeWithoutMemory { node } => {
                write!(out, "node {node} has no memory; choose another --memnode")
            }
            PlacementError::NodeNotAllowed { node, allowed } => write!(
                out,
                "memory of node {node} is not allowed for this process (Mems_allowed: {allowed}); choose \
                 an allowed node, or widen cpuset.mems"
            ),
            PlacementError::NotEnoughMemory { node, wanted, free, reclaimable } => {
                write!(out, "not enough memory on node {node}: need {wanted}, {free} free")?;
                if reclaimable.0 > 0 {
                    write!(out, " and {reclaimable} in cached files")?;
                }
                write!(out, "; use a smaller --size, or free memory there")
            }
            PlacementError::NotEnoughInGroup { node, wanted, headroom, by } => {
                let (whose, remedy) = by.words();
                write!(
                    out,
                    "not enough memory for node {node}: need {wanted}, {headroom} {whose}; use a \
                     smaller --size, or {remedy}"
                )
            }
            PlacementError::PoolTooSmall { page, node, wanted, free, total } => write!(
                out,
                "need {wanted} free {page} page{s} on node {node}, found {free}; as root: echo {target} > \
                 /sys/devices/system/node/node{node}/hugepages/hugepages-{kilobytes}kB/nr_hugepages",
                s = plural(wanted),
                target = total.saturating_add(wanted.saturating_sub(free)),
                kilobytes = page.bytes().0 >> 10
            ),
            PlacementError::PoolEmptied { page, node } => write!(
                out,
                "another process took the {page} pages of node {node}, or the hugetlb cgroup limit is \
                 reached; free some, or use other --pages"
            ),
            PlacementError::NoSuchPages { page, pools } => {
                write!(out, "this kernel has no {page} pages (huge pages: {pools}); choose other --pages")
            }
            PlacementError::ThpDisabled => write!(
                out,
                "transparent huge pages are disabled; as root: echo madvise > \
                 /sys/kernel/mm/transparent_hugepage/enabled"
            ),
            PlacementError::ThpPartial { wanted, found } => write!(
                out,
                "only {found} of {wanted} is in transparent huge pages; as root: echo 1 > \
                 /proc/sys/vm/compact_memory, or use --pages=2m"
            ),
            PlacementError::CallFailed { call, ref errno, node } => {
                out.write_str(call)?;
                if let Some(node) = node {
                    write!(out, " for node {node}")?;
                }
                write!(out, " failed: {errno}; {remedy}", remedy = remedy(errno))
            }
            PlacementError::NotReachable { node, ref errno } => write!(
                out,
                "cannot measure node {node} (mbind: {errno}; no allowed CPU); {remedy}",
                remedy = remedy(errno)
            ),
            PlacementError::WrongNode { node, elsewhere, pages } => write!(
                out,
                "{elsewhere} of {pages} pages are not on node {node}; free memory there, or use a smaller \
                 --size"
            ),
            PlacementError::MovedDuringRun { node, elsewhere, pages } => write!(
                out,
                "{elsewhere} of {pages} pages migrated off node {node} during the run; as root: echo 0 > \
                 /proc/sys/kernel/numa_balancing"
            ),
            PlacementError::WrongPageSize { asked, found } => {
                write!(out, "requested {asked} pages, got {found} pages; use --pages=auto")
            }
            PlacementError::ThreadsRefused { wanted, started, ref errno } => write!(
                out,
                "started only {started} of {wanted} threads, then clone failed: {errno}; {remedy}",
                remedy = match *errno {
                    Errno::EPERM | Errno::ENOSYS =>
                        "allow clone in the container's seccomp profile, or measure with one CPU",
                    _ => "raise ulimit -u, pids.max of the cgroup or kernel.threads-max",
                }
            ),
            PlacementError::CpuGenerates { cpu } => write!(
                out,
                "CPU {cpu} measures latency and cannot also generate load; remove it from --load-cpus, or \
                 choose another --cpu"
            ),
            PlacementError::BudgetTooShort { seconds } => write!(
                out,
                "this run needs up to {seconds} s, more than --budget; use --budget={seconds}, or measure \
                 less"
            ),
            PlacementError::BudgetOver => {
                write!(out, "--budget was over; increase it")
            }
            PlacementError::NeedsSecondCpu { experiment, why } => {
                write!(out, "{experiment} needs a second CPU: {why}; widen the cpuset or affinity mask")
            }
            PlacementError::NothingToMeasure => write!(
                out,
                "this process is not allowed to use the CPUs, or the memory, of any node; `latency-bench \
                 system` lists the nodes"
            ),
            PlacementError::CounterTooCoarse { step } => write!(
                out,
                "single loads need a counter with steps of at most {most} ns; here they are {step} ns; use \
                 a machine with a finer counter",
                most = LONGEST_STEP_NS,
                step = Digits(step.0.real() / 1000.0)
            ),
            PlacementError::NothingTells => write!(
                out,
                "nothing here tells where pages are; run on a real machine, or in an emulator of a whole \
                 machine"
            ),
            PlacementError::NotVerified { node, why } => write!(
                out,
                "could not verify that the memory is on node {node}: {why}; mount /proc, or run without \
                 --memnode"
            ),
        }
    }
}

/// Returns the remedy for an error of the system calls that place memory.
const fn remedy(errno: &Errno) -> &'static str {
    match *errno {
        Errno::EPERM | Errno::ENOSYS => "in a container: grant CAP_SYS_NICE (docker run --cap-add=SYS_NICE)",
        Errno::ENOMEM | Errno::EFAULT => "use a smaller --size, or other --pages",
        Errno::EINVAL => "check the nodes against Mems_allowed_list in /proc/self/status",
        _ => "`latency-bench system` lists the restrictions here",
    }
}

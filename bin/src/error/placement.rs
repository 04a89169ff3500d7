//! Errors of placement: a requested placement was not obtained, or could not be verified.

use core::fmt::{self, Display};

use latency_core::cpulist::{CpuSet, NodeSet};
use latency_core::packed;
use latency_core::packed::Packed;
use latency_core::units::{Bytes, CpuId, NodeId, PageSize, PageSizes, Picoseconds};

use crate::options::message::{Insert, message};
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
    /// The buffer does not fit into the rest of the control group's memory limit.
    NotEnoughInGroup { node: NodeId, wanted: Bytes, headroom: Bytes },
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
            PlacementError::CpuNotAllowed { cpu, allowed } => message!(
                out, "CPU {cpu} is not allowed for this process (allowed: {allowed})";
                "choose an allowed CPU, or widen the cpuset or affinity mask"; cpu, allowed),
            PlacementError::WrongCpu { asked, found } => message!(
                out, "pinned to CPU {asked}, but running on CPU {found}";
                "stop the program that changes CPU affinities"; asked, found),
            PlacementError::CpuTaken { cpu } => message!(
                out, "CPU {cpu} became unavailable (cpuset or hotplug)";
                "restore it, or choose another --cpu"; cpu),
            PlacementError::CpuOnOtherNode { cpu, node, found } => message!(
                out, "kernel and /sys disagree: CPU {cpu} is on node {found} (getcpu), /sys says node {node}";
                "mount this machine's /sys"; cpu, node, found),
            PlacementError::NodeWithoutCpus { node } => message!(
                out, "node {node} has no CPUs, so it cannot be an initiator node";
                "choose another --cpunode"; node),
            PlacementError::NoAllowedCpu { node, allowed } => message!(
                out, "no CPU of node {node} is allowed for this process (allowed: {allowed})";
                "choose another --cpunode, or widen the cpuset or affinity mask"; node, allowed),
            PlacementError::NodeWithoutMemory { node } => message!(
                out, "node {node} has no memory";
                "choose another --memnode"; node),
            PlacementError::NodeNotAllowed { node, allowed } => message!(
                out, "memory of node {node} is not allowed for this process (Mems_allowed: {allowed})";
                "choose an allowed node, or widen cpuset.mems"; node, allowed),
            PlacementError::NotEnoughMemory { node, wanted, free, reclaimable } => {
                message!(
                    out, "not enough memory on node {node}: need {wanted}, {free} free"; node, wanted, free)?;
                if reclaimable.0 > 0 {
                    message!(out, " and {reclaimable} in cached files"; reclaimable)?;
                }
                message!(out, "; use a smaller --size, or free memory there")
            }
            PlacementError::NotEnoughInGroup { node, wanted, headroom } => message!(
                out, "not enough memory for node {node}: need {wanted}, {headroom} left in the cgroup";
                "use a smaller --size, or raise memory.max"; node, wanted, headroom),
            PlacementError::PoolTooSmall { page, node, wanted, free, total } => message!(
                out, "need {wanted} free {page} page{s} on node {node}, found {free}";
                "as root: echo {target} > \
                 /sys/devices/system/node/node{node}/hugepages/hugepages-{kilobytes}kB/nr_hugepages";
                wanted, page, s = Insert::Plural(wanted), node, free,
                target = total.saturating_add(wanted.saturating_sub(free)),
                kilobytes = page.bytes().0 >> 10),
            PlacementError::PoolEmptied { page, node } => message!(
                out, "another process took the {page} pages of node {node}, or the hugetlb cgroup limit is reached";
                "free some, or use other --pages"; page, node),
            PlacementError::NoSuchPages { page, pools } => message!(
                out, "this kernel has no {page} pages (huge pages: {pools})";
                "choose other --pages"; page, pools = &pools as &dyn Display),
            PlacementError::ThpDisabled => message!(
                out, "transparent huge pages are disabled";
                "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"),
            PlacementError::ThpPartial { wanted, found } => message!(
                out, "only {found} of {wanted} is in transparent huge pages";
                "as root: echo 1 > /proc/sys/vm/compact_memory, or use --pages=2m"; wanted, found),
            PlacementError::CallFailed { call, ref errno, node } => {
                out.write_str(call)?;
                if let Some(node) = node {
                    message!(out, " for node {node}"; node)?;
                }
                message!(out, " failed: {errno}"; "{remedy}"; errno, remedy = &remedy(errno) as &dyn Display)
            }
            PlacementError::NotReachable { node, ref errno } => message!(
                out, "cannot measure node {node} (mbind: {errno}; no allowed CPU)";
                "{remedy}"; node, errno, remedy = &remedy(errno) as &dyn Display),
            PlacementError::WrongNode { node, elsewhere, pages } => message!(
                out, "{elsewhere} of {pages} pages are not on node {node}";
                "free memory there, or use a smaller --size"; node, elsewhere, pages),
            PlacementError::MovedDuringRun { node, elsewhere, pages } => message!(
                out, "{elsewhere} of {pages} pages migrated off node {node} during the run";
                "as root: echo 0 > /proc/sys/kernel/numa_balancing"; node, elsewhere, pages),
            PlacementError::WrongPageSize { asked, found } => message!(
                out, "requested {asked} pages, got {found} pages";
                "use --pages=auto"; asked, found),
            PlacementError::ThreadsRefused { wanted, started, ref errno } => message!(
                out, "started only {started} of {wanted} threads, then clone failed: {errno}";
                "{remedy}"; wanted, started, errno, remedy = &match *errno {
                    Errno::EPERM | Errno::ENOSYS => packed!(
                        "allow clone in the container's seccomp profile, or measure with one CPU"),
                    _ => packed!("raise ulimit -u, pids.max of the cgroup or kernel.threads-max"),
                } as &dyn Display),
            PlacementError::CpuGenerates { cpu } => message!(
                out, "CPU {cpu} measures latency and cannot also generate load";
                "remove it from --load-cpus, or choose another --cpu"; cpu),
            PlacementError::BudgetTooShort { seconds } => message!(
                out, "this run needs up to {seconds} s, more than --budget";
                "use --budget={seconds}, or measure less"; seconds),
            PlacementError::NeedsSecondCpu { experiment, why } => message!(
                out, "{experiment} needs a second CPU: {why}";
                "widen the cpuset or affinity mask"; experiment, why),
            PlacementError::NothingToMeasure => message!(
                out, "this process is not allowed to use the CPUs, or the memory, of any node";
                "`latency-bench system` lists the nodes"),
            PlacementError::CounterTooCoarse { step } => message!(
                out, "single loads need a counter with steps of at most {most} ns; here they are {step} ns";
                "use a machine with a finer counter"; most = LONGEST_STEP_NS, step),
            PlacementError::NothingTells => message!(
                out, "nothing here tells where pages are";
                "run on a real machine, or in an emulator of a whole machine"),
            PlacementError::NotVerified { node, why } => message!(
                out, "could not verify that the memory is on node {node}: {why}";
                "mount /proc, or run without --memnode"; node, why),
        }
    }
}

/// Returns the remedy for an error of the system calls that place memory.
const fn remedy(errno: &Errno) -> Packed {
    match *errno {
        Errno::EPERM | Errno::ENOSYS => {
            packed!("in a container: grant CAP_SYS_NICE (docker run --cap-add=SYS_NICE)")
        }
        Errno::ENOMEM | Errno::EFAULT => packed!("use a smaller --size, or other --pages"),
        Errno::EINVAL => packed!("check the nodes against Mems_allowed_list in /proc/self/status"),
        _ => packed!("`latency-bench system` lists the restrictions here"),
    }
}

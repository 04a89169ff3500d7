//! Errors of placement: a requested placement was not obtained, or could not be verified.

use core::fmt;

use latency_core::cpulist::{CpuSet, NodeSet};
use latency_core::text::plural;
use latency_core::units::{Bytes, CpuId, NodeId, PageSize};

use crate::options::message;
use crate::sys::errno::Errno;

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
    /// The kernel or the processor has no pages of this size.
    NoSuchPages { page: PageSize },
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
    /// The node of the pages cannot be verified.
    NotVerified { node: NodeId, why: &'static str },
}

impl fmt::Display for PlacementError<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            PlacementError::CpuNotAllowed { cpu, allowed } => message!(
                out, "CPU {cpu} is not allowed for this process (allowed: {allowed})";
                "choose an allowed CPU, or widen the cpuset or affinity mask"),
            PlacementError::WrongCpu { asked, found } => message!(
                out, "pinned to CPU {asked}, but running on CPU {found}";
                "stop the program that changes CPU affinities"),
            PlacementError::CpuTaken { cpu } => {
                message!(out, "CPU {cpu} became unavailable (cpuset or hotplug)";
                "restore it, or choose another --cpu")
            }
            PlacementError::CpuOnOtherNode { cpu, node, found } => message!(
                out, "kernel and /sys disagree: CPU {cpu} is on node {found} (getcpu), /sys says node {node}";
                "mount this machine's /sys"),
            PlacementError::NodeWithoutCpus { node } => message!(
                out, "node {node} has no CPUs, so it cannot be an initiator node";
                "choose another --cpunode"),
            PlacementError::NoAllowedCpu { node, allowed } => message!(
                out, "no CPU of node {node} is allowed for this process (allowed: {allowed})";
                "choose another --cpunode, or widen the cpuset or affinity mask"),
            PlacementError::NodeWithoutMemory { node } => message!(out, "node {node} has no memory";
                "choose another --memnode"),
            PlacementError::NodeNotAllowed { node, allowed } => message!(
                out, "memory of node {node} is not allowed for this process (Mems_allowed: {allowed})";
                "choose an allowed node, or widen cpuset.mems"),
            PlacementError::NotEnoughMemory { node, wanted, free, reclaimable } => {
                write!(out, "not enough memory on node {node}: need {wanted}, {free} free")?;
                if reclaimable.0 > 0 {
                    write!(out, " and {reclaimable} in cached files")?;
                }
                out.write_str("; use a smaller --size, or free memory there")
            }
            PlacementError::NotEnoughInGroup { node, wanted, headroom } => message!(
                out, "not enough memory for node {node}: need {wanted}, {headroom} left in the cgroup";
                "use a smaller --size, or raise memory.max"),
            PlacementError::PoolTooSmall { page, node, wanted, free, total } => {
                let s = plural(wanted);
                write!(
                    out,
                    "need {wanted} free {page} page{s} on node {node}, found {free}; as root: echo "
                )?;
                let target = total.saturating_add(wanted.saturating_sub(free));
                let kilobytes = page.bytes().0 >> 10;
                write!(out, "{target} > /sys/devices/system/node/node{node}/hugepages/")?;
                write!(out, "hugepages-{kilobytes}kB/nr_hugepages")
            }
            PlacementError::PoolEmptied { page, node } => message!(
                out,
                "another process took the {page} pages of node {node}, or the hugetlb cgroup limit is reached";
                "free some, or use other --pages"),
            PlacementError::NoSuchPages { page } => message!(
                out, "this kernel or processor does not support {page} pages";
                "choose other --pages"),
            PlacementError::ThpDisabled => message!(out, "transparent huge pages are disabled";
                "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"),
            PlacementError::ThpPartial { wanted, found } => message!(
                out, "only {found} of {wanted} is in transparent huge pages";
                "as root: echo 1 > /proc/sys/vm/compact_memory, or use --pages=2m"),
            PlacementError::CallFailed { call, errno, node } => {
                write!(out, "{call}")?;
                if let Some(node) = node {
                    write!(out, " for node {node}")?;
                }
                write!(out, " failed: {errno}; {}", remedy(errno))
            }
            PlacementError::NotReachable { node, errno } => message!(
                out, "cannot measure node {node} (mbind: {errno}; no allowed CPU)";
                "{}", remedy(errno)),
            PlacementError::WrongNode { node, elsewhere, pages } => message!(
                out, "{elsewhere} of {pages} pages are not on node {node}";
                "free memory there, or use a smaller --size"),
            PlacementError::MovedDuringRun { node, elsewhere, pages } => message!(
                out, "{elsewhere} of {pages} pages migrated off node {node} during the run";
                "as root: echo 0 > /proc/sys/kernel/numa_balancing"),
            PlacementError::WrongPageSize { asked, found } => message!(
                out, "requested {asked} pages, got {found} pages";
                "use --pages=auto"),
            PlacementError::ThreadsRefused { wanted, started, errno } => {
                write!(out, "started only {started} of {wanted} threads, then clone failed: {errno}; ")?;
                out.write_str(match errno {
                    Errno::EPERM | Errno::ENOSYS => {
                        "allow clone in the container's seccomp profile, or measure with one CPU"
                    }
                    _ => "raise ulimit -u, pids.max of the cgroup or kernel.threads-max",
                })
            }
            PlacementError::CpuGenerates { cpu } => message!(
                out, "CPU {cpu} measures latency and cannot also generate load";
                "remove it from --load-cpus, or choose another --cpu"),
            PlacementError::BudgetTooShort { seconds } => message!(
                out, "this run needs up to {seconds} s, more than --budget";
                "use --budget={seconds}, or measure less"),
            PlacementError::NeedsSecondCpu { experiment, why } => message!(
                out, "{experiment} needs a second CPU: {why}";
                "widen the cpuset or affinity mask"),
            PlacementError::NothingToMeasure => message!(
                out, "this process is not allowed to use the CPUs, or the memory, of any node";
                "`latency-bench system` lists the nodes"),
            PlacementError::NotVerified { node, why } => message!(
                out, "could not verify that the memory is on node {node}: {why}";
                "mount /proc, or run without --memnode"),
        }
    }
}

/// Returns the remedy for an error of the system calls that place memory.
const fn remedy(errno: Errno) -> &'static str {
    match errno {
        Errno::EPERM | Errno::ENOSYS => "in a container: grant CAP_SYS_NICE (docker run --cap-add=SYS_NICE)",
        Errno::ENOMEM | Errno::EFAULT => "use a smaller --size, or other --pages",
        Errno::EINVAL => "check the nodes against Mems_allowed_list in /proc/self/status",
        _ => "`latency-bench system` lists the restrictions here",
    }
}

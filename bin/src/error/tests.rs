//! Every message to the letter, and every exit code.

use super::*;
use latency_core::cpulist::{CpuSet, NodeSet};
use latency_core::units::{Bytes, CpuId, Hertz, NodeId, PageSize};
use std::string::ToString;

fn check<'a>(failure: impl Into<Failure<'a>>, exit_code: u8, text: &str) {
    let failure = failure.into();
    assert_eq!(failure.to_string(), text);
    assert_eq!(failure.exit_code(), exit_code, "{text}");
}

#[test]
fn what_the_machine_does_not_have_is_a_mistake_of_usage() {
    let nodes = NodeSet::parse_list(b"0-1,4").unwrap();
    let online = CpuSet::parse_list(b"0-2").unwrap();
    check(
        UsageError::NodeTooLarge { node: NodeId(9), last: NodeId(1) },
        1,
        "invalid node id 9 (max node = 1)",
    );
    check(UsageError::NodeAbsent { node: NodeId(2), nodes: &nodes }, 1, "invalid node id 2 (nodes: 0-1,4)");
    check(UsageError::CpuAbsent { cpu: CpuId(99), online: &online }, 1, "invalid CPU 99 (online: 0-2)");
    check(
        UsageError::CpuOffline { cpu: CpuId(3), online: &online },
        1,
        "CPU 3 is offline (online: 0-2); choose another, or as root: \
         echo 1 > /sys/devices/system/cpu/cpu3/online",
    );
    check(
        SavedError::Unreadable { path: b"a\n", errno: Errno::ENOENT },
        1,
        "cannot read 'a\\n': No such file or directory (ENOENT); give the file of a saved result",
    );
    check(
        SavedError::Malformed { path: b"a", line: 3, what: "no number" },
        1,
        "'a', line 3: no number; give a result saved with --json or --csv",
    );
    check(
        SavedError::NotComparable { what: "matrix and curve" },
        1,
        "the two results cannot be compared: matrix and curve; give two of one experiment",
    );
}

#[test]
fn processors_that_cannot_be_had() {
    let allowed = CpuSet::parse_list(b"0-1").unwrap();
    check(
        PlacementError::CpuNotAllowed { cpu: CpuId(5), allowed: &allowed },
        2,
        "CPU 5 is outside the CPUs that this process may use (0-1); \
         choose one of those, or widen the cpuset or affinity mask it was started with",
    );
    check(
        PlacementError::WrongCpu { asked: CpuId(0), found: CpuId(1) },
        2,
        "the thread was pinned to CPU 0 and runs on CPU 1; look for a program that changes affinities",
    );
    check(
        PlacementError::NodeWithoutCpus { node: NodeId(2) },
        2,
        "node 2 has no CPUs, so nothing can run there; choose another --cpunode",
    );
    check(
        PlacementError::NoAllowedCpu { node: NodeId(1), allowed: &allowed },
        2,
        "node 1 has no CPU that this process may use (0-1); \
         choose another --cpunode, or widen the cpuset or affinity mask",
    );
}

#[test]
fn memory_that_cannot_be_had() {
    let allowed = NodeSet::parse_list(b"0").unwrap();
    let node = NodeId(1);
    check(PlacementError::NodeWithoutMemory { node }, 2, "node 1 has no memory; choose another --memnode");
    check(
        PlacementError::NodeNotAllowed { node, allowed: &allowed },
        2,
        "node 1 is outside the memory that this process may use (Mems_allowed: 0); \
         choose one of those, or widen cpuset.mems",
    );
    check(
        PlacementError::NotEnoughMemory { node, wanted: Bytes(2 << 30), free: Bytes(512 << 20) },
        2,
        "2 GiB wanted on node 1, 512 MiB free; give a smaller --size, or free memory there",
    );
    check(
        PlacementError::PoolTooSmall { page: PageSize::Huge2M, node, wanted: 128, free: 4, total: 10 },
        2,
        "128 pages of 2 MiB wanted on node 1, 4 free; as root: \
         echo 134 > /sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages",
    );
    check(
        PlacementError::NoSuchPages { page: PageSize::Huge1G },
        2,
        "this kernel or processor has no pages of 1 GiB; choose other --pages",
    );
    check(
        PlacementError::ThpDisabled,
        2,
        "transparent huge pages are switched off; as root: \
         echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    );
    check(
        PlacementError::ThpPartial { wanted: Bytes::GIB, found: Bytes::MIB },
        2,
        "1 GiB asked for in transparent huge pages, 1 MiB obtained; \
         as root: echo 1 > /proc/sys/vm/compact_memory, or choose --pages=2m",
    );
}

#[test]
fn calls_that_fail_and_proofs_that_are_missing() {
    let node = NodeId(1);
    check(
        PlacementError::CallFailed { call: "mbind", errno: Errno::EINVAL, node: Some(node) },
        2,
        "mbind for node 1 failed: Invalid argument (EINVAL); \
         compare the nodes with Mems_allowed_list in /proc/self/status",
    );
    check(
        PlacementError::CallFailed { call: "mmap", errno: Errno::ENOMEM, node: None },
        2,
        "mmap failed: Cannot allocate memory (ENOMEM); give a smaller --size, or other --pages",
    );
    check(
        PlacementError::CallFailed { call: "madvise", errno: Errno::new(999), node: None },
        2,
        "madvise failed: error 999; `latency-bench system` shows what is allowed here",
    );
    check(
        PlacementError::NotReachable { node, errno: Errno::EPERM },
        2,
        "node 1 is not measurable here: memory policies fail with Operation not permitted (EPERM), \
         and it has no allowed CPU to place memory by first touch; \
         in a container: give it CAP_SYS_NICE (docker run --cap-add=SYS_NICE)",
    );
    check(
        PlacementError::WrongNode { node, elsewhere: 3, pages: 8 },
        2,
        "3 of 8 pages are not on node 1; free memory there, or give a smaller --size",
    );
    check(
        PlacementError::MovedDuringRun { node, elsewhere: 3, pages: 8 },
        2,
        "3 of 8 pages left node 1 during the run; as root: echo 0 > /proc/sys/kernel/numa_balancing",
    );
    check(
        PlacementError::WrongPageSize { asked: PageSize::Huge2M.bytes(), found: PageSize::Small.bytes() },
        2,
        "pages of 2 MiB asked for, pages of 4 KiB found; choose --pages=auto",
    );
    check(
        PlacementError::NotVerified { node, why: "no /proc/self/numa_maps" },
        2,
        "that the pages are on node 1 could not be verified: no /proc/self/numa_maps; \
         mount /proc, or leave --memnode out",
    );
}

#[test]
fn clocks_trust_and_output() {
    check(
        TimingError::NoClock { why: "clock_gettime fails" },
        3,
        "no usable clock: clock_gettime fails; run on a kernel that has CLOCK_MONOTONIC_RAW",
    );
    check(
        TimingError::NeedsCounter { what: "single hops", instead: "matrix" },
        3,
        "single hops can be timed by the time-stamp counter alone, which is absent, forbidden or unsteady; \
         run `latency-bench matrix`, for whose batches clock_gettime is good enough",
    );
    check(
        TimingError::SteppedBack,
        3,
        "the clock went back during a measurement; run on one CPU with --cpu, \
         or on a machine whose time-stamp counters agree",
    );
    check(
        TimingError::Unsteady { least: Hertz(2_100_000_000), most: Hertz(2_101_000_000) },
        3,
        "calibrations of the time-stamp counter lie between 2100.000 and 2101.000 MHz; \
         run again on a quiet machine, or on one with an invariant counter",
    );
    check(
        TimingError::HopsNotProven,
        3,
        "the chain did not end where it should, so that its hops are not proven; \
         test the memory of this machine, and report a defect if it is sound",
    );
    check(
        TimingError::NotTrusted { code: "emulated", count: 1 },
        3,
        "--strict, and the result is not to be trusted (emulated); \
         see the warning above, or leave --strict out",
    );
    check(
        TimingError::NotTrusted { code: "emulated", count: 2 },
        3,
        "--strict, and 2 warnings speak against the result (first: emulated); \
         see them above, or leave --strict out",
    );
    check(
        OutputError::Create { path: b"/x/y", errno: Errno::ENOENT },
        4,
        "cannot create '/x/y': No such file or directory (ENOENT); \
         nothing was measured; give another --output",
    );
    check(
        OutputError::Write { path: Some(b"y"), errno: Errno::ENOSPC },
        4,
        "cannot write 'y': No space left on device (ENOSPC); \
         no part of the file was kept; make room or give another --output",
    );
    check(
        OutputError::Write { path: None, errno: Errno::ENOSPC },
        4,
        "cannot write to standard output: No space left on device (ENOSPC); \
         what was printed is incomplete; give --output=FILE",
    );
    check(
        OutputError::Rename { path: b"y", errno: Errno::new(21) },
        4,
        "cannot put the result at 'y': Is a directory (EISDIR); \
         no part of the file was kept; give another --output",
    );
    check(
        Failure::Slower { by: 0.125, threshold: 0.02 },
        5,
        "the second result is 12.5 % slower than the first, and 2.0 % are allowed; \
         see the table for where, or allow more with --threshold",
    );
    check(Failure::Interrupted, 130, "interrupted; what was finished is printed and marked as partial");
}

#[test]
fn a_failure_is_small_enough_to_be_returned_everywhere() {
    assert!(core::mem::size_of::<Failure<'_>>() <= 96);
}

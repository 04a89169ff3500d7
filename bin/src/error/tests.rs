//! The exact text of every message, and every exit code.

use super::*;
use crate::options::tokens::Escaped;
use latency_core::host::Bound;
use latency_core::{Bytes, CpuId, CpuSet, NodeId, NodeSet, PageSize, PageSizes, Text};
use latency_engine::tests::leaked;
use latency_engine::tests::plain::assert_plain;
use std::string::ToString;

fn check(failure: impl Into<Failure>, exit_code: u8, text: &str) {
    let failure = failure.into();
    assert_eq!(failure.to_string(), text);
    assert!(text.len() <= 160, "{} bytes: {text}", text.len());
    assert_plain(text);
    assert_eq!(failure.exit_code(), exit_code, "{text}");
}

#[test]
fn requests_beyond_the_machine_are_usage_errors() {
    let nodes = NodeSet::parse_list(b"0-1,4").unwrap();
    let online = CpuSet::parse_list(b"0-2").unwrap();
    check(
        UsageError::NodeTooLarge { node: NodeId(9), last: NodeId(1) },
        1,
        "invalid node id 9 (max node = 1)",
    );
    check(
        UsageError::NodeAbsent { node: NodeId(2), nodes: &leaked(&[nodes])[0] },
        1,
        "invalid node id 2 (nodes: 0-1,4)",
    );
    check(
        UsageError::CpuAbsent { cpu: CpuId(99), online: &leaked(&[online])[0] },
        1,
        "invalid CPU 99 (online: 0-2)",
    );
    check(
        UsageError::CpuOffline { cpu: CpuId(3), online: &leaked(&[online])[0] },
        1,
        "CPU 3 is offline (online: 0-2); choose another CPU, or as root: echo 1 > \
         /sys/devices/system/cpu/cpu3/online",
    );
    check(
        SavedError::Unreadable { path: Escaped(b"a\n"), errno: Errno::ENOENT },
        1,
        "cannot read 'a\\n': No such file or directory (ENOENT); expected a result saved with -o FILE.json",
    );
    check(
        SavedError::Unreadable { path: Escaped(b"--json"), errno: Errno::ENOENT },
        1,
        "cannot read '--json': No such file or directory (ENOENT); options go before --",
    );
    check(
        SavedError::TooLarge { path: Escaped(b"a"), limit: Bytes(16 << 20) },
        1,
        "'a' is larger than 16 MiB; expected a result saved with -o FILE.json",
    );
    check(
        SavedError::Malformed { path: Escaped(b"a"), problem: Problem::new(3, "no number") },
        1,
        "'a', line 3: no number; use a result saved with --json or --csv, or a table of sizes and \
         nanoseconds",
    );
    check(
        SavedError::Different { first: Text::from_bytes(b"matrix"), second: Text::from_bytes(b"curve") },
        1,
        "cannot compare a matrix result with a curve result; compare results of one experiment",
    );
    check(
        SavedError::NothingCommon { field: "stride" },
        1,
        "A and B have no point in common: stride differs; measure both with the same options",
    );
    check(
        SavedError::NothingCommon { field: "" },
        1,
        "A and B have no point in common; measure both with the same options",
    );
    check(
        SavedError::NoUndisturbed,
        1,
        "a result has no steady value; use `latency-bench matrix --until=quiet`",
    );
    check(
        SavedError::NoPicture { drawn: "curves are compared" },
        1,
        "only curves are compared in a picture; use --format=text or html",
    );
    check(
        SavedError::NoUnit { path: Escaped(b"a") },
        1,
        "'a': sizes are too small to be bytes; give their unit, e.g. --unit=K or --unit=M (binary)",
    );
    check(
        SavedError::OtherExperiment { path: Escaped(b"a"), experiment: Text::from_bytes(b"window") },
        1,
        "'a' is a result of window, not a curve; use a result of curve or pages",
    );
    check(
        SavedError::NoCurve { path: Escaped(b"a"), why: "it has one size" },
        1,
        "'a' is not a curve: it has one size; a curve has the latency at many sizes",
    );
    check(
        Regression { by: 0.5, threshold: 0.03, points: 8, of: 80 },
        5,
        "8 of 80 points slower by 50.0% (threshold 3%)",
    );
}

#[test]
fn unavailable_processors_have_messages() {
    let allowed = CpuSet::parse_list(b"0-1").unwrap();
    check(
        PlacementError::CpuNotAllowed { cpu: CpuId(5), allowed: &leaked(&[allowed])[0] },
        2,
        "CPU 5 is not allowed for this process (allowed: 0-1); choose an allowed CPU, or widen the \
         cpuset or affinity mask",
    );
    check(
        PlacementError::WrongCpu { asked: CpuId(0), found: CpuId(1) },
        2,
        "pinned to CPU 0, but running on CPU 1; stop the program that changes CPU affinities",
    );
    check(
        PlacementError::CpuTaken { cpu: CpuId(3) },
        2,
        "CPU 3 became unavailable (cpuset or hotplug); restore it, or choose another --cpu",
    );
    check(
        PlacementError::BudgetTooShort { seconds: 4 },
        2,
        "this run needs up to 4 s, more than --budget; use --budget=4, or measure less",
    );
    check(PlacementError::BudgetOver, 2, "--budget was over; increase it");
    check(
        PlacementError::CpuGenerates { cpu: CpuId(3) },
        2,
        "CPU 3 measures latency and cannot also generate load; remove it from --load-cpus, or \
         choose another --cpu",
    );
    check(
        PlacementError::CpuOnOtherNode { cpu: CpuId(3), node: NodeId(0), found: NodeId(1) },
        2,
        "kernel and /sys disagree: CPU 3 is on node 1 (getcpu), /sys says node 0; mount this \
         machine's /sys",
    );
    check(
        PlacementError::NodeWithoutCpus { node: NodeId(2) },
        2,
        "node 2 has no CPUs, so it cannot be an initiator node; choose another --cpunode",
    );
    check(
        PlacementError::NoAllowedCpu { node: NodeId(1), allowed: &leaked(&[allowed])[0] },
        2,
        "no CPU of node 1 is allowed for this process (allowed: 0-1); choose another --cpunode, or \
         widen the cpuset or affinity mask",
    );
}

#[test]
fn unavailable_memory_has_messages() {
    let allowed = NodeSet::parse_list(b"0").unwrap();
    let (node, wanted) = (NodeId(1), Bytes(2 << 30));
    check(PlacementError::NodeWithoutMemory { node }, 2, "node 1 has no memory; choose another --memnode");
    check(
        PlacementError::NodeNotAllowed { node, allowed: &leaked(&[allowed])[0] },
        2,
        "memory of node 1 is not allowed for this process (Mems_allowed: 0); choose an allowed \
         node, or widen cpuset.mems",
    );
    check(
        PlacementError::NotEnoughMemory { node, wanted, free: Bytes(512 << 20), reclaimable: Bytes(0) },
        2,
        "not enough memory on node 1: need 2 GiB, 512 MiB free; use a smaller --size, or free \
         memory there",
    );
    check(
        PlacementError::NotEnoughMemory { node, wanted, free: Bytes(0), reclaimable: Bytes(1 << 30) },
        2,
        "not enough memory on node 1: need 2 GiB, 0 B free and 1 GiB in cached files; use a smaller \
         --size, or free memory there",
    );
    check(
        PlacementError::NotEnoughInGroup { node, wanted, headroom: Bytes(512 << 20), by: Bound::Group },
        2,
        "not enough memory for node 1: need 2 GiB, 512 MiB left in the cgroup; use a smaller \
         --size, or raise memory.max",
    );
    check(
        PlacementError::PoolTooSmall { page: PageSize::MIB_2, node, wanted: 128, free: 4, total: 10 },
        2,
        "need 128 free 2 MiB pages on node 1, found 4; as root: echo 134 > \
         /sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages",
    );
    check(
        PlacementError::PoolEmptied { page: PageSize::MIB_2, node },
        2,
        "another process took the 2 MiB pages of node 1, or the hugetlb cgroup limit is reached; \
         free some, or use other --pages",
    );
    check(
        PlacementError::NoSuchPages { page: PageSize::GIB_1, pools: PageSizes::NONE.with(PageSize::MIB_2) },
        2,
        "this kernel has no 1 GiB pages (huge pages: 2 MiB); choose other --pages",
    );
    check(
        PlacementError::ThpDisabled,
        2,
        "transparent huge pages are disabled; as root: echo madvise > \
         /sys/kernel/mm/transparent_hugepage/enabled",
    );
    check(
        PlacementError::ThpPartial { wanted: Bytes::GIB, found: Bytes::MIB },
        2,
        "only 1 MiB of 1 GiB is in transparent huge pages; as root: echo 1 > \
         /proc/sys/vm/compact_memory, or use --pages=2m",
    );
}

#[test]
fn failed_calls_and_missing_verification_have_messages() {
    let node = NodeId(1);
    check(
        PlacementError::CallFailed { call: "mbind", errno: Errno::EINVAL, node: Some(node) },
        2,
        "mbind for node 1 failed: Invalid argument (EINVAL); check the nodes against \
         Mems_allowed_list in /proc/self/status",
    );
    check(
        PlacementError::CallFailed { call: "mmap", errno: Errno::ENOMEM, node: None },
        2,
        "mmap failed: Cannot allocate memory (ENOMEM); free memory, or raise memory.max, ulimit -v or ulimit -d",
    );
    check(
        PlacementError::CallFailed { call: "madvise", errno: Errno::new(999), node: None },
        2,
        "madvise failed: error 999; `latency-bench system` lists the restrictions here",
    );
    check(
        PlacementError::NotReachable { node, errno: Errno::EPERM },
        2,
        "cannot measure node 1 (mbind: Operation not permitted (EPERM); no allowed CPU); in a \
         container: grant CAP_SYS_NICE (docker run --cap-add=SYS_NICE)",
    );
    check(
        PlacementError::WrongNode { node, elsewhere: 3, pages: 8 },
        2,
        "3 of 8 pages are not on node 1; free memory there, or use a smaller --size",
    );
    check(
        PlacementError::MovedDuringRun { node, elsewhere: 3, pages: 8 },
        2,
        "3 of 8 pages migrated off node 1 during the run; as root: echo 0 > \
         /proc/sys/kernel/numa_balancing",
    );
    check(
        PlacementError::WrongPageSize { asked: PageSize::MIB_2.bytes(), found: PageSize::KIB_4.bytes() },
        2,
        "requested 2 MiB pages, got 4 KiB pages; use --pages=auto",
    );
    check(
        PlacementError::CounterTooCoarse { step: latency_core::units::Picoseconds(41_667) },
        2,
        "single loads need a counter with steps of at most 15 ns; here they are 41.7 ns; use a machine \
         with a finer counter",
    );
    check(PlacementError::BelowClock, 2, "the trials are shorter than a step of the clock; use more --iters");
    check(
        PlacementError::NotVerified { node, why: "no /proc/self/numa_maps" },
        2,
        "could not verify that the memory is on node 1: no /proc/self/numa_maps; mount /proc, or \
         run without --memnode",
    );
    check(
        PlacementError::NothingTells,
        2,
        "nothing here tells where pages are; run on a real machine, or in an emulator of a whole machine",
    );
}

#[test]
fn clocks_trust_and_output() {
    check(
        TimingError::NoClock { why: "clock_gettime fails" },
        3,
        "no usable clock: clock_gettime fails; use a kernel with CLOCK_MONOTONIC_RAW",
    );
    check(
        TimingError::NeitherClock { why: "clock_gettime does not advance" },
        3,
        "no usable clock: the TSC is unreliable, and clock_gettime does not advance; use a kernel with \
         CLOCK_MONOTONIC_RAW",
    );
    check(
        TimingError::NeedsCounter { what: "single loads", instead: "matrix" },
        3,
        "single loads need the TSC, which is absent, forbidden or unsteady here; \
         run `latency-bench matrix`, which does not need it",
    );
    check(
        TimingError::SteppedBack,
        3,
        "the clock went backwards during a measurement; pin to one CPU with --cpu, or use a machine \
         with synchronized TSCs",
    );
    check(
        TimingError::HopsNotProven,
        3,
        "internal check failed: the pointer chain ended at the wrong element; run a memory test; if \
         it passes, please report a bug",
    );
    check(
        Unreliable::NotTrusted { code: "emulated", count: 1 },
        3,
        "--strict: the result is unreliable (emulated); see the warnings above, or run without --strict",
    );
    check(
        Unreliable::NotTrusted { code: "emulated", count: 2 },
        3,
        "--strict: the result is unreliable (emulated and 1 more); \
         see the warnings above, or run without --strict",
    );
    check(
        OutputError::Create { path: Escaped(b"/x/y"), errno: Errno::ENOENT },
        4,
        "cannot create '/x/y': No such file or directory (ENOENT); \
         nothing was measured; choose another --output",
    );
    check(
        OutputError::Write { path: Some(Escaped(b"y")), errno: Errno::ENOSPC },
        4,
        "cannot write 'y': No space left on device (ENOSPC); no partial file was left; free disk \
         space, or choose another --output",
    );
    check(
        OutputError::Write { path: None, errno: Errno::ENOSPC },
        4,
        "cannot write to standard output: No space left on device (ENOSPC); the printed result is \
         incomplete; use --output=FILE",
    );
    check(
        OutputError::Sync { path: Escaped(b"y"), errno: Errno::EIO },
        4,
        "cannot sync the directory of 'y': Input/output error (EIO); the file is complete, but may \
         not survive a system crash; check the disk",
    );
    check(
        Regression { by: 0.125, threshold: 0.02, points: 1, of: 1 },
        5,
        "B is 12.5% slower than A (threshold 2%)",
    );
    check(Failure::Interrupted, 130, "interrupted before the first result");
    check(
        Failure::Partial,
        130,
        "interrupted; printed the finished points, and marked the result as partial",
    );
    check(
        Failure::GivenUp,
        130,
        "interrupted; no program read the output, which is incomplete; use --output=FILE",
    );
    assert_eq!(
        Failure::from(Regression { by: 0.1, threshold: 0.03, points: 1, of: 3 }).label(),
        "regression"
    );
    assert_eq!(Failure::Interrupted.label(), "ERROR");
}

#[test]
fn a_failure_is_small_enough_to_be_returned_everywhere() {
    assert!(core::mem::size_of::<Result<(), Failure>>() <= 16);
}

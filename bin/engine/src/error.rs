//! The reasons why a measurement ends without a result: a placement that was not obtained or could not be verified, a
//! clock that cannot be used, an interrupt. They have messages for users, who may have given any option of the program.

use latency_core::host::Bound;
use latency_core::{
    Bytes, CpuId, CpuSet, NodeId, NodeSet, PageSize, PageSizes, Picoseconds, ToReal, messages, plural,
};

use latency_report::Digits;
use latency_report::lists::joined;
use latency_sys::{Errno, Table};

use crate::words::words;

/// Maximum step of a counter that times single loads, in nanoseconds: percentiles of longer steps would be those of the
/// counter.
pub const LONGEST_STEP_NS: u64 = 15;

messages! {
    /// There is no usable clock, or a walk was wrong.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TimingError {
        /// There is no clock.
        NoClock { why: &'static str } => "no usable clock: {why}; use a kernel with CLOCK_MONOTONIC_RAW";
        /// Neither the counter nor clock_gettime is usable.
        NeitherClock { why: &'static str } =>
            "no usable clock: the {counter} is unreliable, and {why}; use a kernel with CLOCK_MONOTONIC_RAW";
            where counter = words().counter_name;
        /// Timing of something shorter than a batch needs a counter, which is missing; `instead` works without it.
        NeedsCounter { what: &'static str, instead: &'static str } =>
            "{what} need the {counter}, which is absent, forbidden or unsteady here; run `latency-bench \
            {instead}`, which does not need it"; where counter = words().counter_name;
        /// The clock stepped back.
        SteppedBack =>
            "the clock went backwards during a measurement; pin to one CPU with --cpu, or use a machine with \
            synchronized {counter}s"; where counter = words().counter_name;
        /// The walk did not end at the node that the generator computed: the loop did not make all of its hops.
        HopsNotProven =>
            "internal check failed: the pointer chain ended at the wrong element; run a memory test; if it \
            passes, please report a bug";
    }

    /// A CPU, node, memory policy or page size that was not obtained, or could not be verified.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PlacementError {
        /// The CPU exists, but the process may not use it.
        CpuNotAllowed { cpu: CpuId, allowed: &'static CpuSet } =>
            "CPU {cpu} is not allowed for this process (allowed: {allowed}); choose an allowed CPU, or widen \
            the cpuset or affinity mask";
        /// The thread was pinned to one CPU and runs on another.
        WrongCpu { asked: CpuId, found: CpuId } =>
            "pinned to CPU {asked}, but running on CPU {found}; stop the program that changes CPU affinities";
        /// The CPU became unavailable after planning.
        CpuTaken { cpu: CpuId } =>
            "CPU {cpu} became unavailable (cpuset or hotplug); restore it, or choose another --cpu";
        /// The kernel and `/sys` name different nodes for a CPU.
        CpuOnOtherNode { cpu: CpuId, node: NodeId, found: NodeId } =>
            "kernel and /sys disagree: CPU {cpu} is on node {found} (getcpu), /sys says node {node}; mount \
            this machine's /sys";
        /// The initiator node has no CPU.
        NodeWithoutCpus { node: NodeId } =>
            "node {node} has no CPUs, so it cannot be an initiator node; choose another --cpunode";
        /// The initiator node has CPUs, but the process may not use any.
        NoAllowedCpu { node: NodeId, allowed: &'static CpuSet } =>
            "no CPU of node {node} is allowed for this process (allowed: {allowed}); choose another \
            --cpunode, or widen the cpuset or affinity mask";
        /// The target node has no memory.
        NodeWithoutMemory { node: NodeId } => "node {node} has no memory; choose another --memnode";
        /// The target node has memory, but the process may not use it.
        NodeNotAllowed { node: NodeId, allowed: &'static NodeSet } =>
            "memory of node {node} is not allowed for this process (Mems_allowed: {allowed}); choose an \
            allowed node, or widen cpuset.mems";
        /// The buffer does not fit into the free memory.
        NotEnoughMemory { node: NodeId, wanted: Bytes, free: Bytes, reclaimable: Bytes }
            if reclaimable.0 > 0 =>
            "not enough memory on node {node}: need {wanted}, {free} free and {reclaimable} in cached files; use a \
            smaller --size, or free memory there";
            => "not enough memory on node {node}: need {wanted}, {free} free; use a smaller --size, or free memory there";
        /// The buffer does not fit into what the control group's memory limit or another limit has left.
        NotEnoughInGroup { node: NodeId, wanted: Bytes, headroom: Bytes, by: Bound } =>
            "not enough memory for node {node}: need {wanted}, {headroom} {whose}; use a smaller --size, or {remedy}";
            where (whose, remedy) = by.words();
        /// The pool of huge pages is too small; it has `total` pages, used and free.
        PoolTooSmall { page: PageSize, node: NodeId, wanted: u64, free: u64, total: u64 } =>
            "need {wanted} free {page} page{s} on node {node}, found {free}; as root: echo {target} > \
            /sys/devices/system/node/node{node}/hugepages/hugepages-{kilobytes}kB/nr_hugepages";
            where s = plural(wanted), target = total.saturating_add(wanted.saturating_sub(free)),
                kilobytes = page.bytes().0 >> 10;
        /// The pool of huge pages was large enough in the plan, but not when the memory was touched.
        PoolEmptied { page: PageSize, node: NodeId } =>
            "another process took the {page} pages of node {node}, or the hugetlb cgroup limit is reached; \
            free some, or use other --pages";
        /// The kernel or the processor has no pages of this size; `pools` are the sizes of its huge pages, as far as they
        /// are known.
        NoSuchPages { page: PageSize, pools: PageSizes } =>
            "this kernel has no {page} pages (huge pages: {pools}); choose other --pages";
        /// Transparent huge pages are switched off.
        ThpDisabled =>
            "transparent huge pages are disabled; as root: echo madvise > \
            /sys/kernel/mm/transparent_hugepage/enabled";
        /// A part of the buffer is not in transparent huge pages.
        ThpPartial { wanted: Bytes, found: Bytes } =>
            "only {found} of {wanted} is in transparent huge pages; as root: echo 1 > \
            /proc/sys/vm/compact_memory, or use --pages=2m";
        /// A system call failed; `call` is its name.
        CallFailed { call: &'static str, errno: Errno, node: Option<NodeId> } =>
            "{call}{target} failed: {errno}; {remedy}";
            where target = joined(" for node ", "", node.into_iter()),
                remedy = match (node, errno) {
                    // The program's own tables.
                    (None, Errno::ENOMEM) => "free memory, or raise memory.max, ulimit -v or ulimit -d",
                    _ => remedy(errno),
                };
        /// Memory policies are forbidden, and the process may not use a CPU of the node for first touch.
        NotReachable { node: NodeId, errno: Errno } =>
            "cannot measure node {node} (mbind: {errno}; no allowed CPU); {remedy}";
            where remedy = remedy(errno);
        /// Pages lie on other nodes than the target.
        WrongNode { node: NodeId, elsewhere: u64, pages: u64 } =>
            "{elsewhere} of {pages} pages are not on node {node}; free memory there, or use a smaller --size";
        /// Pages left the target while they were measured.
        MovedDuringRun { node: NodeId, elsewhere: u64, pages: u64 } =>
            "{elsewhere} of {pages} pages migrated off node {node} during the run; as root: echo 0 > \
            /proc/sys/kernel/numa_balancing";
        /// The pages have another size than requested.
        WrongPageSize { asked: Bytes, found: Bytes } =>
            "requested {asked} pages, got {found} pages; use --pages=auto";
        /// There is no initiator node, or no node with memory.
        NothingToMeasure =>
            "this process is not allowed to use the CPUs, or the memory, of any node; `latency-bench system` \
            lists the nodes";
        /// The kernel refused threads without which nothing can be measured.
        ThreadsRefused { wanted: u32, started: u32, errno: Errno } =>
            "started only {started} of {wanted} threads, then clone failed: {errno}; {remedy}";
            where remedy = match errno {
                Errno::EPERM | Errno::ENOSYS => "allow clone in the container's seccomp profile, or measure with one CPU",
                _ => "raise ulimit -u, pids.max of the cgroup or kernel.threads-max",
            };
        /// The CPU that walks the chain is also in the list of generators.
        CpuGenerates { cpu: CpuId } =>
            "CPU {cpu} measures latency and cannot also generate load; remove it from --load-cpus, or choose \
            another --cpu";
        /// The time limit of the whole run is too short; the shortest run may last this long.
        BudgetTooShort { seconds: u64 } =>
            "this run needs up to {seconds} s, more than --budget; use --budget={seconds}, or measure less";
        /// The time limit of the whole run was over before this was measured.
        BudgetOver => "--budget was over; increase it";
        /// Loads have no duration: all trials ended within one step of the clock.
        BelowClock => "the trials are shorter than a step of the clock; use more --iters";
        /// Nothing reports an L3, so no CPUs are known to share one.
        NoSharedCache => "no L3 is reported here (see latency-bench system); use --view=cores";
        /// There is no CPU for a second thread.
        NeedsSecondCpu { experiment: &'static str, why: &'static str } =>
            "{experiment} needs a second CPU: {why}; widen the cpuset or affinity mask";
        /// Single loads need a counter with shorter steps.
        CounterTooCoarse { step: Picoseconds } =>
            "single loads need a counter with steps of at most {most} ns; here they are {step} ns; use a \
            machine with a finer counter"; where most = LONGEST_STEP_NS, step = Digits(step.0.real() / 1000.0);
        /// The system answers for another process or not at all, as a user-mode emulator does.
        NothingTells =>
            "nothing here tells where pages are; run on a real machine, or in an emulator of a whole machine";
        /// The node of the pages cannot be verified.
        NotVerified { node: NodeId, why: &'static str } =>
            "could not verify that the memory is on node {node}: {why}; mount /proc, or run without --memnode";
    }
}

impl PlacementError {
    /// The error of the program's own tables if memory is too short.
    pub const NO_MEMORY: PlacementError = PlacementError::of_tables(Errno::ENOMEM);

    /// Returns the error of mapping the program's own tables.
    const fn of_tables(errno: Errno) -> PlacementError {
        PlacementError::CallFailed { call: "mmap", errno, node: None }
    }
}

/// A reason why a measurement ends. The data of its message are kept for the rest of the process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeasureError {
    /// A requested placement was not obtained, or not verified.
    Placement(&'static PlacementError),
    /// There is no usable clock, or a walk was wrong.
    Timing(&'static TimingError),
    /// No chain has this size and stride.
    NoSuchChain(&'static (Bytes, Bytes)),
    /// A signal ended the measurement.
    Interrupted,
}

/// The result of a part of a measurement.
pub type Attempt<T = ()> = Result<T, MeasureError>;

impl MeasureError {
    /// The failure of a run without a point that can be measured.
    pub const NOTHING_TO_MEASURE: MeasureError = MeasureError::Placement(&PlacementError::NothingToMeasure);

    /// The failure of a pointer chase that did not end at the expected node, or could not start.
    pub const HOPS_NOT_PROVEN: MeasureError = MeasureError::Timing(&TimingError::HopsNotProven);

    /// The failure if memory is too short.
    pub const NO_MEMORY: MeasureError = MeasureError::Placement(&PlacementError::NO_MEMORY);
}

/// Stores a value for the rest of the process, and returns it; `None` if there is no memory for it.
pub fn keep<T: Copy>(value: T) -> Option<&'static T> {
    Table::filled(1, value).ok().and_then(|table| table.leak().first())
}

macro_rules! errors {
    ($($variant:ident $error:ty;)*) => {
        $(impl From<$error> for MeasureError {
            #[cold]
            fn from(error: $error) -> Self {
                keep(error).map_or(MeasureError::NO_MEMORY, MeasureError::$variant)
            }
        })*
    };
}
errors! {
    Placement PlacementError;
    Timing TimingError;
    NoSuchChain (Bytes, Bytes);
}

/// Converts the error of mapping the program's own tables.
impl From<Errno> for MeasureError {
    fn from(errno: Errno) -> Self {
        PlacementError::of_tables(errno).into()
    }
}

/// Returns the remedy for an error of the system calls that place memory.
const fn remedy(errno: Errno) -> &'static str {
    match errno {
        Errno::EPERM | Errno::ENOSYS => "in a container: grant CAP_SYS_NICE (docker run --cap-add=SYS_NICE)",
        Errno::ENOMEM | Errno::EFAULT => "use a smaller --size, or use other --pages",
        Errno::EINVAL => "check the nodes against Mems_allowed_list in /proc/self/status",
        _ => "`latency-bench system` lists the restrictions here",
    }
}

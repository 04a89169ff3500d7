//! Idle CPUs that measure for a node while other processes keep its first CPU busy.
//!
//! The choice uses two readings of /proc/stat, a fifth of a second apart, during which this process sleeps.

use latency_core::host::{Caches, CpuTime};
use latency_core::topology::{Files, threads_of_core};
use latency_core::{CpuId, CpuSet, NodeId, NodeSet, ToReal, best};

use super::{Instead, Machine};
use latency_sys::{Errno, Table};

/// Nanoseconds between both readings: 20 ticks of the kernel.
pub const LOOK_NS: u64 = 200_000_000;
/// Minimum share of the time in which a busy CPU does other work: one tick of the kernel between the readings.
const BUSY: f64 = 0.05;
/// Maximum bytes of /proc/stat that are read: a line for each of the most CPUs.
const MOST_READ: usize = 1 << 20;

/// The activity of all CPUs since the boot.
#[derive(Debug)]
pub struct StatReading(Table<u8>);

impl StatReading {
    /// Reads /proc/stat; returns `None` if it cannot be read, or without memory for it.
    pub fn now(files: &impl Files) -> Option<StatReading> {
        let mut text = Table::zeroed(MOST_READ).ok()?;
        let length = files.read("/proc/stat", &mut text)?.len();
        text.truncate(length);
        Some(StatReading(text))
    }

    /// Returns the activity of a CPU since an earlier reading.
    pub fn since(&self, before: &StatReading, cpu: u32) -> CpuTime {
        CpuTime::of_cpu(&self.0, cpu).since(&CpuTime::of_cpu(&before.0, cpu))
    }
}

/// Chooses idle CPUs on those of the nodes in `asked` that have a busy first CPU, from two readings with `wait` between
/// them. Without a choice no reading is made; if /proc/stat cannot be read, the first CPU remains.
///
/// # Errors
///
/// The error of mapping memory for the choice.
pub fn choose(
    machine: &mut Machine,
    files: &impl Files,
    asked: Option<NodeSet>,
    wait: &dyn Fn(),
) -> Result<(), Errno> {
    let all = machine.initiators();
    let nodes = asked.map_or(all, |asked| asked.intersection(&all));
    let allowed = |node| machine.topology.node(NodeId(node)).map(|node| machine.cpus_of(node));
    let choices = || nodes.iter().filter_map(allowed).filter(|cpus| cpus.len() > 1);
    let count = choices().count();
    if count == 0 {
        return Ok(());
    }
    let Some(before) = StatReading::now(files) else { return Ok(()) };
    wait();
    let Some(after) = StatReading::now(files) else { return Ok(()) };
    let busy = |cpu: u32| {
        let passed = after.since(&before, cpu);
        (passed.total > 0).then(|| passed.busy.real() / passed.total.real())
    };
    let found = choices().filter_map(|cpus| {
        let first = cpus.first()?;
        let share = busy(first).filter(|share| *share >= BUSY)?;
        // A core of another kind may share the cache, and its latency differs.
        let alike = cpus.iter().filter(|cpu| machine.kind_of(CpuId(*cpu)) == machine.kind_of(CpuId(first)));
        let cpu = idle(files, &alike.collect(), first, &busy)?;
        Some(Instead { first: CpuId(first), busy: share, cpu: CpuId(cpu) })
    });
    let mut instead = Table::new(count)?;
    // There is room for all choices.
    found.for_each(|one| _ = instead.push(one));
    machine.instead = instead.leak();
    Ok(())
}

/// Returns the idle CPU of `cpus` that shares the last-level cache of the `first` one and has the least busy core.
fn idle(files: &impl Files, cpus: &CpuSet, first: u32, busy: &dyn Fn(u32) -> Option<f64>) -> Option<u32> {
    let mut caches = Caches::default();
    caches.read(files, CpuId(first));
    let near = caches.last_level()?.shared_by.intersection(cpus);
    let of_core = |cpu: &u32| {
        let threads = threads_of_core(files, *cpu).unwrap_or_default();
        threads.iter().filter_map(busy).fold(0.0, f64::max)
    };
    let idle = near.iter().filter(|cpu| busy(*cpu).is_some_and(|share| share < BUSY));
    best(idle, |one, other| of_core(one).total_cmp(&of_core(other)).is_lt())
}

//! The resources that CPUs share: a core, a cache, a node, a package.
//!
//! They are read only for experiments that choose among CPUs: a machine with 576 threads needs some 900 small files,
//! and each list is read once for all CPUs that it names. If the kernel does not report a list, the least possible
//! sharing is assumed, and this is never an error: a CPU without lists counts as a separate core.
//!
//! # References
//! Linux `Documentation/admin-guide/cputopology.rst` and `Documentation/ABI/testing/sysfs-devices-system-cpu`.

use super::files::{self, Files};
use super::read::CPUS;
use super::{Node, Topology};
use crate::cpulist::CpuSet;
use crate::worded;

worded! {
    /// The nearest resource that two CPUs share, ordered from the nearest to the farthest.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Shared {
        /// A core: both are its threads.
        Core = "same core",
        /// A cache of the second level.
        L2 = "same L2",
        /// A cache of the third level.
        L3 = "same L3",
        /// A node.
        Node = "same node",
        /// A package, but no node: sub-NUMA clusters.
        Package = "same socket",
        /// Only the machine.
        Machine = "other socket",
    }
}

/// Number of resources by which CPUs are grouped: all of [`Shared`] except the machine.
const KINDS: usize = Shared::Machine as usize;
/// Mark of a group that is not yet known. It is not the number of a CPU, since there are at most 8192.
const UNKNOWN: u16 = u16::MAX;

/// The groups of one CPU, each identified by its lowest CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    lowest: [u16; KINDS],
    told: bool,
}

/// The resources that the CPUs of a machine share. In an empty value, each CPU counts as a separate core.
#[derive(Clone, Copy, Debug)]
pub struct Sharing<'a> {
    cpus: &'a [Groups],
}

impl Shared {
    /// All values, the nearest first.
    pub const ALL: [Shared; KINDS + 1] =
        [Shared::Core, Shared::L2, Shared::L3, Shared::Node, Shared::Package, Shared::Machine];
}

impl Groups {
    /// The groups of a CPU without known facts.
    pub const EMPTY: Self = Self { lowest: [UNKNOWN; KINDS], told: false };
}

impl<'a> Sharing<'a> {
    /// The value without CPUs, before anything is read.
    pub const EMPTY: Self = Self { cpus: &[] };

    /// Returns the number of places that [`Sharing::read`] needs for these CPUs: one for each number up to the
    /// highest.
    pub fn places(cpus: &CpuSet) -> usize {
        cpus.last().map_or(0, |last| last as usize + 1)
    }

    /// Reads the resources that each of `cpus` shares into `places`. CPUs beyond the end of `places` are left out. Without
    /// `packages`, those within a node are ignored, because a hypervisor invented them.
    pub fn read(
        files: &impl Files,
        topology: &Topology,
        cpus: &CpuSet,
        packages: bool,
        places: &'a mut [Groups],
    ) -> Self {
        places.fill(Groups::EMPTY);
        for node in topology.nodes() {
            mark(places, Shared::Node, &node.cpus, node.cpus.first());
        }
        for cpu in cpus {
            for kind in [Shared::Core, Shared::L2, Shared::L3, Shared::Package] {
                if !is_open(places, kind, cpu) {
                    continue;
                }
                let list = match kind {
                    Shared::Core => threads_of_core(files, cpu),
                    Shared::L2 => sharing_cache(files, cpu, 2),
                    Shared::L3 => sharing_cache(files, cpu, 3),
                    _ if packages => {
                        files::set(files, format_args!("{CPUS}/cpu{cpu}/topology/core_siblings_list"))
                    }
                    _ => None,
                };
                if let Some(list) = list.filter(|list| list.contains(cpu)) {
                    mark(places, kind, &list, list.first());
                }
            }
        }
        for (cpu, place) in places.iter_mut().enumerate() {
            close(place, cpu as u16, topology);
        }
        Self { cpus: places }
    }

    /// Returns the lowest CPU with which this CPU shares a resource; the CPU itself if the kernel does not report it.
    pub fn lowest(&self, kind: Shared, cpu: u32) -> u32 {
        let group = || self.cpus.get(cpu as usize)?.lowest.get(kind as usize).copied();
        match (kind, group()) {
            (Shared::Machine, _) => 0,
            (_, group) => group.map_or(cpu, u32::from),
        }
    }

    /// Returns the first thread of a CPU's core; the CPU itself if the kernel does not report it.
    pub fn core_of(&self, cpu: u32) -> u32 {
        self.lowest(Shared::Core, cpu)
    }

    /// Returns true if the kernel reports the threads of a CPU's core.
    pub fn tells_core_of(&self, cpu: u32) -> bool {
        self.cpus.get(cpu as usize).is_some_and(|groups| groups.told)
    }

    /// Returns the nearest resource that two CPUs share.
    pub fn between(&self, one: u32, other: u32) -> Shared {
        let shares = |kind: &Shared| self.lowest(*kind, one) == self.lowest(*kind, other);
        // The package is compared before the node: with `numa=off`, one node contains all packages.
        let caches = [Shared::Core, Shared::L2, Shared::L3];
        match caches.into_iter().find(shares) {
            Some(kind) => kind,
            None if !shares(&Shared::Package) => Shared::Machine,
            None if shares(&Shared::Node) => Shared::Node,
            None => Shared::Package,
        }
    }

    /// Returns one thread of each core that has threads in `set`: the lowest of these.
    pub fn cores_of(&self, set: &CpuSet) -> CpuSet {
        let mut seen = CpuSet::EMPTY;
        set.iter().filter(|cpu| seen.insert(self.core_of(*cpu))).collect()
    }
}

/// Returns the online threads of a CPU's core, including the CPU itself; `None` if the kernel does not report them.
pub fn threads_of_core(files: &impl Files, cpu: u32) -> Option<CpuSet> {
    files::set(files, format_args!("{CPUS}/cpu{cpu}/topology/thread_siblings_list"))
}

/// Returns the kernel's index of a CPU's cache of a level. Beyond the first level there are no caches only for
/// instructions.
pub(crate) fn cache_index(files: &impl Files, cpu: u32, level: usize) -> Option<usize> {
    let level_of = |index: usize| {
        files::number::<usize>(files, format_args!("{CPUS}/cpu{cpu}/cache/index{index}/level"))
    };
    // With two caches on the first level, the index of each further cache is its level.
    if level_of(level) == Some(level) {
        return Some(level);
    }
    // A level has at most two caches, and nearer levels come first.
    let mut levels = (0..2 * level).map_while(|index| Some((index, level_of(index)?)));
    levels.find(|(_, found)| *found == level).map(|(index, _)| index)
}

/// Returns the CPUs that share the cache of a level.
fn sharing_cache(files: &impl Files, cpu: u32, level: usize) -> Option<CpuSet> {
    let index = cache_index(files, cpu, level)?;
    files::set(files, format_args!("{CPUS}/cpu{cpu}/cache/index{index}/shared_cpu_list"))
}

/// Returns true if the group of a CPU is not yet known.
fn is_open(places: &[Groups], kind: Shared, cpu: u32) -> bool {
    places.get(cpu as usize).is_some_and(|groups| groups.lowest.get(kind as usize) == Some(&UNKNOWN))
}

/// Sets the group of every CPU in a list that does not have one yet.
fn mark(places: &mut [Groups], kind: Shared, list: &CpuSet, lowest: Option<u32>) {
    let lowest = lowest.map_or(UNKNOWN, |lowest| lowest as u16);
    for cpu in list {
        let place = places.get_mut(cpu as usize).and_then(|groups| groups.lowest.get_mut(kind as usize));
        if let Some(group) = place.filter(|group| **group == UNKNOWN) {
            *group = lowest;
        }
    }
}

/// Fills unknown groups: each CPU gets its own core, each core its own caches, and the package follows from the node.
fn close(groups: &mut Groups, cpu: u16, topology: &Topology) {
    let [core, l2, l3, node, package] = &mut groups.lowest;
    groups.told = *core != UNKNOWN;
    let settle = |group: &mut u16, otherwise: u16| {
        if *group == UNKNOWN {
            *group = otherwise;
        }
    };
    settle(core, cpu);
    settle(l2, *core);
    settle(l3, *l2);
    settle(node, cpu);
    if *package == UNKNOWN {
        // Nodes of one package may have any order.
        let own = topology.nodes().iter().find(|node| node.cpus.contains(cpu.into()));
        let like = |other: &&Node| own.is_some_and(|own| topology.same_package(own.id, other.id));
        let lowest = topology.nodes().iter().filter(like).filter_map(|node| node.cpus.first()).min();
        *package = lowest.map_or(*node, |lowest| lowest as u16);
    }
}

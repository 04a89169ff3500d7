//! A point's memory: mapped, bound, populated, and verified to be on its node.
//!
//! The order of the steps matters, because it decides how each failure appears (set_mempolicy(2), mbind(2), Linux
//! mm/mempolicy.c):
//!
//! - binding the task before mapping huge pages turns an empty pool of the node into an errno; with the opposite order
//!   it is a SIGBUS at the first touch;
//! - the process is killed if a bound node is full, so free memory is compared first;
//! - a policy does not move present pages, so binding comes before populating;
//! - where a container forbids policies, pages go to the node of the CPU that touches them.

mod sites;

use latency_core::arch::Line;
use latency_core::topology::{PagePool, Source, Topology};
use latency_core::{Bytes, CpuId, NodeId, Pages};

use crate::error::{Attempt, MeasureError, PlacementError, keep};
use crate::machine::Machine;
use crate::result::{Evidence, Means, PageCounts, Placed, Point, placed};
use latency_sys::auxv::page_size;
use latency_sys::map::Region;
use latency_sys::{Errno, SystemFiles, cpu, file, numa, signal};

pub use sites::{Missing, RegionsOf, Site, Sites, chain_of, lines_of, traffic_of};
#[cfg(test)]
pub use sites::{made_of, made_up};

/// Memory on a node.
#[derive(Debug)]
pub struct Placement {
    region: Region,
    /// The description by which the kernel is asked about the memory.
    pub witness: Witness,
}

/// The address, pages and requested node of a placement. It does not borrow the memory, so that the kernel can be asked
/// about the memory while it is walked.
#[derive(Clone, Copy, Debug)]
pub struct Witness {
    /// The requested node.
    pub target: NodeId,
    /// The address of the memory, which identifies it.
    pub address: usize,
    /// The requested pages.
    pub pages: Pages,
    /// The length of the mapping.
    pub mapped: Bytes,
    means: Means,
    before: Evidence,
}

impl Placement {
    /// Maps `size` bytes on `target` in pages of the kind requested; `auto` selects the largest kind available.
    ///
    /// The calling thread may be on another CPU afterwards.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Placement`] with what was asked and found; [`MeasureError::Interrupted`].
    pub fn new(machine: &Machine, target: NodeId, size: Bytes, asked: Pages) -> Attempt<Placement> {
        if asked != Pages::AUTO {
            return Self::with_pages(machine, target, size, asked, true);
        }
        let huge = machine.huge_page();
        for pages in [Pages::of_pool(huge), Pages::thp(huge)] {
            if pages.are_transparent() && machine.thp_is_too_large(size) {
                break;
            }
            match Self::with_pages(machine, target, size, pages, false) {
                Err(MeasureError::Placement(_)) => {}
                result => return result,
            }
        }
        Self::with_pages(machine, target, size, machine.base_pages(), false)
    }

    /// Maps memory like that of a point, and moves to its CPU; returns `None` if the memory cannot be placed.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Interrupted`], and the errors of [`pin`].
    pub fn optional(machine: &Machine, point: &Point) -> Attempt<Option<Placement>> {
        let placed = Self::new(machine, point.target, point.size, point.pages);
        pin(point.cpu)?;
        match placed {
            Err(MeasureError::Interrupted) => Err(MeasureError::Interrupted),
            placed => Ok(placed.ok()),
        }
    }

    /// Maps pages of one kind. If `all` is true, all of them must have the requested size, otherwise at least half.
    fn with_pages(
        machine: &Machine,
        target: NodeId,
        size: Bytes,
        pages: Pages,
        all: bool,
    ) -> Attempt<Placement> {
        enough(machine, target, size, pages)?;
        let failed = |call| move |errno| failed(call, errno, target, pages);
        // A filter forbids the advice about pages; without mmap, the program would not have come this far.
        let not_mapped = |errno| match errno {
            Errno::EPERM | Errno::ENOSYS => failed("madvise")(errno),
            _ => failed("mmap")(errno),
        };
        let length = size.0 as usize;
        let mut means = Means::Policy;
        let region = match numa::bind(Some(&numa::only(target))) {
            Ok(()) => {
                let region = Region::map(length, pages);
                let restored = numa::bind(machine.bound_to.as_ref());
                restored.map_err(failed("set_mempolicy"))?;
                let region = region.map_err(not_mapped)?;
                numa::bind_range(region.address(), region.len(), target).map_err(failed("mbind"))?;
                region
            }
            Err(errno @ (Errno::EPERM | Errno::ENOSYS)) => {
                means = first_touch(machine, target, errno)?;
                Region::map(length, pages).map_err(not_mapped)?
            }
            Err(Errno::EINVAL) => {
                let allowed = keep(machine.memory_nodes).ok_or(MeasureError::NO_MEMORY)?;
                return Err(PlacementError::NodeNotAllowed { node: target, allowed }.into());
            }
            Err(errno) => return Err(failed("set_mempolicy")(errno)),
        };
        let (address, mapped) = (region.address(), Bytes(region.len() as u64));
        let witness = Witness { target, address, pages, mapped, means, before: Evidence::default() };
        let mut placement = Placement { region, witness };
        placement.populate(machine, &failed("madvise(MADV_POPULATE_WRITE)"))?;
        placement.witness.before = witness.look();
        placement.witness.check_pages(all)?;
        placement.witness.check_node(machine)?;
        Ok(placement)
    }

    /// Populates all pages, in parts. Between parts it checks for an interrupt, and for memory that other processes
    /// have taken, since the kernel answers a lack of memory with a signal.
    fn populate(&mut self, machine: &Machine, failed: &dyn Fn(Errno) -> MeasureError) -> Attempt {
        /// Bytes of a part: 30 ms where the host must find memory first. A huge page is populated as a whole.
        const PART: usize = 16 << 20;
        let Witness { target, pages, .. } = self.witness;
        let huge = pages.size().map_or(0, |page| page.bytes().0 as usize);
        let (length, part) = (self.region.len(), PART.max(huge));
        for start in (0..length).step_by(part) {
            if signal::interrupted() {
                return Err(MeasureError::Interrupted);
            }
            if start > 0 {
                enough(machine, target, Bytes((length - start) as u64), pages)?;
            }
            self.region.populate(start..length.min(start + part)).map_err(failed)?;
        }
        Ok(())
    }

    /// Returns the memory, in which a chain can be built, and its witness.
    pub fn split(&mut self) -> (&mut [Line], Witness) {
        (self.region.lines(), self.witness)
    }
}

impl Witness {
    /// Returns a witness of no memory, for tests.
    #[cfg(test)]
    pub fn made_up(target: NodeId) -> Witness {
        let (means, pages, mapped) = (Means::Policy, Pages::base(page_size()), Bytes(0));
        Witness { target, address: 0, pages, mapped, means, before: Evidence::default() }
    }

    /// Returns the state of the memory before the first trial.
    pub const fn first(&self) -> Placed {
        let Witness { means, pages, mapped, before, .. } = *self;
        Placed { means, pages, mapped, before, after: before, as_small: None }
    }

    /// Queries the memory again. Returns its state before and now.
    pub fn again(&self) -> Placed {
        Placed { after: self.look(), ..self.first() }
    }

    /// Returns the nodes and the size of the pages, as the kernel reports them now.
    fn look(&self) -> Evidence {
        let address = self.address as u64;
        let mut buffer = [0; 4096];
        let mut evidence = Evidence::default();
        // A file that cannot be read leaves its part of the evidence empty, and the result reports that.
        let _ = file::for_each_line(b"/proc/self/numa_maps", &mut buffer, |line| {
            if let Some((counts, page)) = placed::numa_maps_line(line, address) {
                evidence.numa_maps = Some(counts);
                evidence.kernel_page = page;
            }
            evidence.numa_maps.is_none()
        });
        if evidence.numa_maps.is_some() && !self.pages.are_transparent() && signal::interrupted() {
            // The policy is proof enough, and the other queries need 0.1 s for a gigabyte of small pages.
            return evidence;
        }
        let mut ours = false;
        let _ = file::for_each_line(b"/proc/self/smaps", &mut buffer, |line| {
            ours = ours || placed::smaps_opens(line, address);
            if ours {
                // Kernels without NUMA have no numa_maps, which gives the size elsewhere.
                evidence.kernel_page = evidence.kernel_page.or(placed::smaps_page(line));
                evidence.transparent_huge = placed::smaps_transparent_huge(line);
            }
            evidence.transparent_huge.is_none()
        });
        evidence.page_query = self.query_pages(&|| evidence.numa_maps.is_some() && signal::interrupted());
        evidence
    }

    /// Returns the unit in which the kernel maps the memory; huge pages that it merges consist of base pages.
    fn unit(&self) -> Bytes {
        self.pages.pool().unwrap_or_else(page_size).bytes()
    }

    /// Queries the node of every page; returns `None` once `stop` returns true.
    fn query_pages(&self, stop: &dyn Fn() -> bool) -> Option<PageCounts> {
        const BATCH: usize = 512;
        let (step, mapped) = (self.unit().0 as usize, self.mapped.0 as usize);
        let mut counts = PageCounts::default();
        let mut addresses = [0usize; BATCH];
        let mut status = [0i32; BATCH];
        for start in (0..mapped).step_by(step * BATCH) {
            if stop() {
                return None;
            }
            let count = (mapped - start).div_ceil(step).min(BATCH);
            let (addresses, status) = (addresses.get_mut(..count)?, status.get_mut(..count)?);
            let first = self.address + start;
            (0..).zip(&mut *addresses).for_each(|(index, address)| *address = first + index * step);
            numa::query_pages(addresses, status).ok()?;
            for node in status {
                match u32::try_from(*node) {
                    Ok(node) => counts.add(NodeId(node), 1),
                    Err(_) => counts.others += 1,
                }
            }
        }
        Some(counts)
    }

    /// Checks that the kernel mapped pages of the size requested, if it reports that: `all` of them, or at least half.
    fn check_pages(&self, all: bool) -> Result<(), PlacementError> {
        let Witness { pages, mapped, before, .. } = *self;
        let asked = self.unit();
        if let Some(found) = before.kernel_page.filter(|page| *page != asked) {
            return Err(PlacementError::WrongPageSize { asked, found });
        }
        let least = if all { mapped } else { Bytes(mapped.0 / 2) };
        match before.transparent_huge {
            Some(found) if pages.are_transparent() && found < least => {
                Err(PlacementError::ThpPartial { wanted: mapped, found })
            }
            _ => Ok(()),
        }
    }

    /// Checks that all pages are on the target; without evidence, the check passes only if the kernel has no other node.
    /// Nodes that it does not describe may exist.
    fn check_node(&self, machine: &Machine) -> Result<(), PlacementError> {
        let Witness { target: node, mapped, before, .. } = *self;
        if before.proves(node, mapped) {
            return Ok(());
        }
        // The kernel lists its nodes, or has neither their directory nor `numa_maps` although /proc is mounted, since it
        // was built without NUMA.
        let is_told = machine.topology.source == Source::Sysfs || machine.has_proc;
        match before.counts() {
            None if machine.sole_memory_node() == Some(node) && is_told => Ok(()),
            None => {
                let why = "neither /proc/self/numa_maps nor move_pages is available";
                Err(PlacementError::NotVerified { node, why })
            }
            // The file has the line of another mapping at this address, without pages, and there is no other source.
            Some(counts) if counts.total() == 0 => Err(PlacementError::NothingTells),
            Some(counts) => {
                let pages = counts.total();
                Err(PlacementError::WrongNode { node, elsewhere: pages - counts.on(node), pages })
            }
        }
    }
}

/// Returns the failure of a system call that places pages on `node`.
fn failed(call: &'static str, errno: Errno, node: NodeId, pages: Pages) -> MeasureError {
    match pages.pool() {
        // The pages were reserved for this mapping, but counted over all nodes together.
        Some(page) if errno == Errno::EFAULT => PlacementError::PoolEmptied { page, node }.into(),
        _ => PlacementError::CallFailed { call, errno, node: Some(node) }.into(),
    }
}

/// Checks that the node has the pages; the kernel answers a lack of them with a signal.
fn enough(machine: &Machine, target: NodeId, size: Bytes, pages: Pages) -> Result<(), PlacementError> {
    let Some(node) = machine.topology.node(target) else { return Ok(()) };
    if let Some(page) = pages.pool() {
        let wanted = size.0.div_ceil(page.bytes().0);
        return match node.page_pool(page) {
            Some(PagePool { total, free }) if free < wanted => {
                Err(PlacementError::PoolTooSmall { page, node: target, wanted, free, total })
            }
            _ => Ok(()),
        };
    }
    if pages.are_transparent() && machine.host.huge_pages.enabled.as_str() == "never" {
        return Err(PlacementError::ThpDisabled);
    }
    // Memory that was free when the run began may be in use now. Unknown amounts pass. The mapping consists of whole pages.
    match machine.supply_now(&SystemFiles, target) {
        Some(supply) => supply.check(target, machine.size_of(pages).rounded_up(size)),
        None => Ok(()),
    }
}

/// Returns the means by which pages get to a node where policies are forbidden. If the first touch decides, it moves to
/// a CPU of the node.
fn first_touch(machine: &Machine, target: NodeId, errno: Errno) -> Result<Means, PlacementError> {
    if !machine.has_numa {
        return Ok(Means::NoNuma);
    }
    if machine.sole_memory_node() == Some(target) {
        return Ok(Means::SoleNode);
    }
    let cpu = machine.cpu_of(target).ok_or(PlacementError::NotReachable { node: target, errno })?;
    pin(cpu)?;
    Ok(Means::FirstTouch)
}

/// Moves to the CPU of each point once, to check that the CPU is on the point's node. If the nodes are not described,
/// the point gets the node that the kernel names. The thread ends on the CPU of the first point.
///
/// # Errors
///
/// The errors of [`pin`], and [`PlacementError::CpuOnOtherNode`].
pub fn check_nodes(topology: &Topology, points: &mut [Point]) -> Result<(), PlacementError> {
    let mut last = None;
    for point in points.iter_mut() {
        let cpu = point.cpu;
        let found = match last {
            Some((last, node)) if last == cpu => node,
            _ => pin(cpu)?,
        };
        last = Some((cpu, found));
        point.initiator = node_of(topology, point, found)?;
    }
    points.first().map_or(Ok(()), |point| pin(point.cpu).map(drop))
}

/// Returns the node of a point's CPU, according to `/sys` and the kernel, which names the node `found`.
///
/// # Errors
///
/// [`PlacementError::CpuOnOtherNode`] if they contradict each other.
pub fn node_of(topology: &Topology, point: &Point, found: NodeId) -> Result<NodeId, PlacementError> {
    let (cpu, node) = (point.cpu, point.initiator);
    // Every simulated node (numa=fake) has every CPU.
    let is_there = topology.node(found).is_some_and(|node| node.cpus.contains(cpu.0));
    match topology.source {
        Source::Assumed => Ok(found),
        Source::Sysfs if found == node || is_there => Ok(node),
        Source::Sysfs => Err(PlacementError::CpuOnOtherNode { cpu, node, found }),
    }
}

/// Moves the calling thread to a CPU, checks that it is there and returns the CPU's node as the kernel names it.
///
/// # Errors
///
/// [`PlacementError::CpuTaken`], [`PlacementError::CallFailed`] and [`PlacementError::WrongCpu`].
pub fn pin(cpu: CpuId) -> Result<NodeId, PlacementError> {
    /// Maximum tries: another process that moves the thread at the same moment does so once.
    const TRIES: u32 = 8;
    let failed = |call| move |errno| PlacementError::CallFailed { call, errno, node: None };
    let mut elsewhere = cpu;
    for _ in 0..TRIES {
        cpu::pin_to(cpu).map_err(|errno| match errno {
            // The plan contains only CPUs that were online and allowed, so this CPU was taken since.
            Errno::EINVAL => PlacementError::CpuTaken { cpu },
            errno => failed("sched_setaffinity")(errno),
        })?;
        match cpu::current().map_err(failed("getcpu"))? {
            (found, node) if found == cpu => return Ok(node),
            (found, _) => elsewhere = found,
        }
    }
    Err(PlacementError::WrongCpu { asked: cpu, found: elsewhere })
}

//! From options and machine to a finite list of points. Pure: it makes no system calls.
//!
//! Impossible points are refused here, before anything is mapped. A warning names each point that is made smaller or
//! left out.

pub mod budget;
pub mod cores;
pub mod curve;
pub mod duration;
pub mod generators;
pub mod lanes;
pub mod loaded;
pub mod own_cores;
mod scope;
pub mod sizes;
pub mod traffic;

use latency_core::chain::Order;
use latency_core::kernel::{self, Kernel};
use latency_core::traffic::View;
use latency_core::{Bytes, CpuId, NodeId, PageSize, Pages, Worded};

pub use scope::Scope;
pub use sizes::{point_of_search, working_set};

use crate::error::Failure;
use crate::options::{self, Options};
use alloc::vec::Vec;
use latency_engine::budget::Budget;
use latency_engine::machine::Machine;
use latency_engine::result::{Point, Walk, point};
use latency_engine::warning::{Warning, Warnings};

/// Maximum nanoseconds of all pairs of nodes together, unless the user limited the time of each: with 64 pairs, rounds
/// that never become precise would last for minutes.
const PAIRS_NS: f64 = 40e9;

/// The inputs of a plan, and its warnings.
pub struct Planning<'p> {
    /// The options.
    pub options: &'p Options,
    /// The machine.
    pub machine: &'static Machine,
    /// The warnings about points that are made smaller or left out.
    pub warnings: &'p mut Warnings,
}

/// A plan: what is measured, and how long.
pub struct Plan {
    /// The points, in the order in which they are reported.
    pub points: Vec<Point>,
    /// The number and the length of the visits to the points.
    pub budget: Budget,
    /// The warnings about points and budget.
    pub warnings: Warnings,
}

/// The points of a plan, or the reason why there is none.
pub type PlannedPoints = Result<Vec<Point>, Failure>;

/// Refuses a plan without points.
fn not_empty(points: Vec<Point>) -> PlannedPoints {
    if points.is_empty() { Err(Failure::NOTHING_TO_MEASURE) } else { Ok(points) }
}

/// Returns the order of a chain that the options select, on a machine with base pages of this size.
pub const fn order(options: &Options, page: PageSize) -> Order {
    match options.order {
        options::Order::Random => Order::Random,
        options::Order::PageLocal => Order::Local(page.bytes()),
        options::Order::Sequential => Order::Sequential,
        options::Order::Backward => Order::Backward,
        options::Order::Grouped => Order::Grouped { visits: options.visits, page },
    }
}

/// Returns the kernel that an option selects.
pub const fn kernel(option: options::Kernel) -> &'static Kernel {
    match option {
        options::Kernel::Pointer => &kernel::POINTER,
        options::Kernel::Index => &kernel::INDEX,
    }
}

/// Returns the kind of pages that an option selects.
pub fn pages(options: &Options, machine: &Machine) -> Pages {
    match options.pages.size() {
        None => Pages::AUTO,
        Some(_) if options.pages.are_transparent() => Pages::thp(machine.huge_page()),
        Some(size) if size == machine.page || size == PageSize::KIB_4 => machine.base_pages(),
        Some(size) => Pages::of_pool(size),
    }
}

/// Returns the distance between the lines of a chain: the option's, or a cache line.
pub fn stride(options: &Options, machine: &Machine) -> Bytes {
    options.stride.unwrap_or(machine.line.bytes())
}

/// Returns the chain that `cpu` of the first of two nodes walks over `size` bytes of the second node's memory;
/// everything else is from the options and the machine.
pub fn chain(
    options: &Options,
    machine: &Machine,
    [initiator, target]: [NodeId; 2],
    cpu: CpuId,
    size: Bytes,
) -> Point {
    Point {
        initiator,
        cpu,
        target,
        kernel: kernel(options.kernel),
        order: order(options, machine.page),
        size,
        stride: stride(options, machine),
        line: machine.line,
        seed: options.seed,
        pages: pages(options, machine),
        walk: Walk::Chain,
    }
}

/// Plans a point for every pair of a scope, ordered by initiator and then by target.
///
/// # Errors
///
/// The errors of [`Scope::resolve`] and [`working_set`]; [`UsageError::NoSuchChain`](crate::options::UsageError::NoSuchChain).
pub fn matrix(planning: &mut Planning<'_>, scope: &Scope) -> PlannedPoints {
    let Planning { options, machine, .. } = *planning;
    match options.order {
        options::Order::Random => {}
        options::Order::Grouped => planning.warnings.push(Warning::GroupedOrder),
        order => planning.warnings.push(Warning::PrefetchAssisted { order: order.word() }),
    }
    let (mut scope, mut points) = (*scope, Vec::new());
    scope.local |= options.view == View::Cores;
    for initiator in scope.initiators.iter().map(NodeId) {
        let cpu = scope.cpu(machine, initiator).ok_or(Failure::NOTHING_TO_MEASURE)?;
        for target in scope.targets_of(initiator).iter().map(NodeId) {
            let size = working_set(planning, target, scope.targets.len())?;
            let point = chain(options, machine, [initiator, target], cpu, size);
            point::chain(&point)?;
            points.push(point);
        }
    }
    not_empty(points)
}

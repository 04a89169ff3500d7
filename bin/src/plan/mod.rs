//! From options and machine to a finite list of points. Pure: no system is asked.
//!
//! What cannot be is refused here, before anything is mapped; what is made
//! smaller or left out is said.

pub mod budget;
pub mod cores;
pub mod curve;
pub mod duration;
pub mod generators;
pub mod lanes;
pub mod loaded;
pub mod regions;
mod scope;
pub mod single;
mod sizes;
pub mod states;
pub mod traffic;

use latency_core::chain::{Order, PAGE_LOCAL};
use latency_core::kernel::{self, Kernel};
use latency_core::units::NodeId;

pub use scope::Scope;
pub use sizes::{looked_at, most, working_set};

use crate::error::Failure;
use crate::machine::Machine;
use crate::options::{self, Choice, Options};
use crate::result::{chain, Point, Walk};
use crate::warning::{Warning, Warnings};

/// Returns the order of a chain by the option's value.
#[must_use]
pub const fn order(option: options::Order) -> Order {
    match option {
        options::Order::Random => Order::Random,
        options::Order::PageLocal => PAGE_LOCAL,
        options::Order::Sequential => Order::Sequential,
        options::Order::Backward => Order::Backward,
    }
}

/// Returns the kernel by the option's value.
#[must_use]
pub const fn kernel(option: options::Kernel) -> &'static Kernel {
    match option {
        options::Kernel::Pointer => &kernel::POINTER,
        options::Kernel::Index => &kernel::INDEX,
    }
}

/// The points of the matrix, by initiator and then by target, given to `each`.
///
/// # Errors
///
/// As [`Scope::resolve`] and [`working_set`]; [`UsageError`] for a chain that cannot be.
pub fn matrix<'a>(
    options: &Options<'a>,
    machine: &'a Machine,
    scope: &Scope,
    warnings: &mut Warnings,
    mut each: impl FnMut(Point),
) -> Result<(), Failure<'a>> {
    if options.order != options::Order::Random {
        warnings.push(Warning::PrefetchAssisted { order: options.order.word() });
    }
    for initiator in scope.initiators.iter().map(NodeId) {
        let Some(cpu) = scope.cpu(machine, initiator) else { continue };
        for target in scope.targets.iter().map(NodeId) {
            let point = Point {
                initiator,
                cpu,
                target,
                kernel: kernel(options.kernel),
                order: order(options.order),
                size: working_set(options, machine, target, scope.targets.len(), warnings)?,
                stride: options.stride,
                seed: options.seed,
                pages: options.pages,
                walk: Walk::Chain,
            };
            chain::chain(&point)?;
            each(point);
        }
    }
    Ok(())
}

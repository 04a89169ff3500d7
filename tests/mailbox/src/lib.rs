//! A model checker for the mailbox of `bin`, which it compiles from the source of the product.
//!
//! The product takes atomics, cells and waits from `bin/sys/src/shared.rs`; here, [`shared`] has the same names, and asks
//! the model for the result of each access. The model executes every order of the accesses of all threads, with every
//! result that memory may return ([`memory`]). It reports accesses to a cell that are not ordered, failed assertions, and
//! states from which the threads cannot end: a lost wake-up, or a loop that waits in vain.

pub mod explore;
pub mod memory;
pub mod shared;

// Its own tests need threads of the machine.
#[cfg(not(test))]
#[path = "../../../bin/sys/src/mailbox.rs"]
pub mod mailbox;

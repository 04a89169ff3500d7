//! The memory that a mailbox shares between threads, and the waits on it.
//!
//! The mailbox takes them from here alone, because `tests/mailbox` replaces this file: a model checker answers the
//! accesses there.

pub use super::thread::{wait, wake};
pub use core::hint::spin_loop;
pub use core::sync::atomic::{AtomicU32, Ordering};

use core::cell::UnsafeCell;

/// A value that threads access in turn; the caller proves whose turn it is.
pub struct SharedCell<T>(UnsafeCell<T>);

impl<T> SharedCell<T> {
    /// Returns a cell with a value.
    pub const fn new(value: T) -> Self {
        SharedCell(UnsafeCell::new(value))
    }

    /// Calls `read` with the address of the value. Reading it is sound while no thread writes it.
    #[inline(always)]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Calls `write` with the address of the value. Writing it is sound while no other thread accesses it.
    #[inline(always)]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

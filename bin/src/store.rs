//! Arrays for plans and results, in mapped memory, for layers that may not speak to the system.

pub use crate::sys::table::Table as Store;

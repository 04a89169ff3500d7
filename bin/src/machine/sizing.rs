//! The findings of a look at caches and memory before anything is measured.
//!
//! The reported size of the last-level cache is wrong in many virtual machines, in both directions. Plans
//! made after the look follow what it found.

use latency_core::units::Bytes;

use super::Machine;

/// The findings of a look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizing {
    /// The working set at which the look began.
    pub first: Bytes,
    /// The working set for memory.
    pub size: Bytes,
    /// A load in it over a load that no cache serves.
    pub warm_over_cold: f64,
    /// A load that no cache serves, in the fastest pass: nanoseconds.
    pub cold_ns: f64,
    /// True if no cache was seen to serve it; otherwise there was no memory for more. `None` where time was short, or
    /// passes differ too much to tell.
    pub clear: Option<bool>,
    /// The last-level cache, where the look disagrees with what is reported.
    pub cache: Option<Bytes>,
    /// A working set that the last-level cache serves, and no nearer one.
    pub in_cache: Option<Bytes>,
    /// True if the look went as far as finding the cache.
    pub cache_sought: bool,
    /// Duration of the look.
    pub seconds: f64,
}

impl Machine {
    /// Returns the same machine as a look found it.
    #[must_use]
    pub fn looked_at(&self, sizing: Sizing) -> Machine {
        let mut machine = *self;
        machine.sizing = Some(sizing);
        machine
    }

    /// Returns whether a look has shown that no cache serves a working set of that size.
    #[must_use]
    pub fn is_clear(&self, size: Bytes) -> bool {
        self.sizing.is_some_and(|sizing| sizing.clear == Some(true) && size >= sizing.size)
    }

    /// Returns whether a look has shown that a cache serves a working set of that size in part.
    #[must_use]
    pub fn is_served(&self, size: Bytes) -> bool {
        self.sizing.is_some_and(|sizing| sizing.clear == Some(false) && size <= sizing.size)
    }
}

//! Replacements of memory, chains and counters for tests of the engine, in simulated time.
//!
//! - `place` has the place of whole runs: a function gives the nanoseconds of each hop.
//! - `cached_chain` has a place of one real chain in front of a simulated cache.
//! - `recorded_chain` has a chain that records the calls to it, for tests of single steps.
//! - `coarse_counter` has a machine whose counter has any frequency, and the tests that use it.

#[cfg(test)]
pub mod cached_chain;
#[cfg(test)]
mod coarse_counter;
pub mod place;
#[cfg(test)]
pub mod recorded_chain;

//! The built executable on this machine: arguments, results, errors, and everything that an environment can
//! withhold.
//!
//! Measured values are only asserted to be plausible for any machine, never to be certain numbers.

mod asked;
mod budget;
mod causes;
mod confined;
mod contradictions;
mod cores;
mod corpus;
mod counters;
mod damaged;
mod distribution;
mod documents;
mod files;
mod fleet;
mod fleet_history;
mod fleet_sets;
mod footprint;
mod identity;
mod interrupt;
mod keys;
mod labels;
mod loaded;
mod loaders;
mod monitoring;
mod output;
mod recipes;
mod refused;
mod report;
mod residency;
mod results;
mod spans;
mod tables;
mod tap;
mod trust;
mod usage;
mod watch;

/// A measurement that needs a tenth of a second.
const SMALL: [&str; 3] = ["--size=1M", "--iters=2000", "--trials=3"];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.into_iter().chain(more.iter().copied()).collect()
}

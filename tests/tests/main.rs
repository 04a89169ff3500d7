//! Tests of the built executable and of the tree, in one program, so that it is linked once.
//!
//! `make test` runs them with those of the packages (`latency_tests::lanes`). A part of them by its path:
//! `cargo test -p latency-tests --test suite -- cli::output`.

mod arguments;
mod cachegrind;
mod cli;
mod dist;
mod emulator;
mod english;
mod executable;
mod hierarchy;
mod hostile;
mod hwloc;
mod lab;
mod lab_arm64;
mod lab_causes;
mod lab_load;
mod lab_pairs;
mod lab_split;
mod lab_walks;
mod meanwhile;
mod places;
mod readme;
mod schema;
mod signals;
mod structure;
mod trees;

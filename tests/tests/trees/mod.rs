//! The built executable in front of odd `/sys` and `/proc` trees: machines that nobody has, files that are no files,
//! and trees that a seeded generator has spoilt.
//!
//! A tree is written to a directory, which becomes the root of the executable: what it reads there is what it is told
//! of the machine, while CPU and memory stay those of this one. For root alone.

mod body;
mod caches;
mod mutated;
mod odd;
mod tree;
mod uncore;

//! The built executable with unusual `/sys` and `/proc` trees: machines that are not available, paths that are not
//! files, and trees that a seeded generator has damaged.
//!
//! A tree is written to a directory, which becomes the root of the executable: it reads the machine's description
//! there, while CPU and memory are those of this machine. Only root can do this.

mod anonymous;
mod body;
mod caches;
mod cpus;
mod devices;
mod mutated;
mod odd;
mod tree;
mod uncore;

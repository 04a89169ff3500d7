//! Traffic by several generators: this thread and others, or others alone.
//!
//! Their memory is placed and verified before a thread starts. A [`generator`] executes its task and counts its lines;
//! [`driver`] chooses, commands and counts all of them, and reads the clock of the uncore; [`stream`] times their
//! traffic.

mod driver;
mod generator;
mod stream;

pub use driver::{GeneratorStyle, Generators};
pub use generator::{Generator, SharedByGenerators, dismiss, work};
pub use stream::TrafficWalk;

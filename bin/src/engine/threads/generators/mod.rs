//! Traffic by several generators: this thread and others, or others alone.
//!
//! What they touch is placed and proven before there is a thread;
//! a [`generator`] has orders and is counted, and [`driver`] all of
//! them. [`uncores`] tell the clock of what is between them and memory. Nothing here times a load.

pub mod driver;
pub mod generator;
pub mod stream;
pub mod uncores;

//! Traffic by several generators: this thread and others, or others alone.
//!
//! What they touch is placed and proven before there is a thread, and known by [`fields`]; a [`mailbox`] commands and
//! counts each, and [`driver`] all of them. [`uncores`] tell the clock of what is between them and memory. Nothing here
//! times a load: lines are timed as a ground of their own, and a chase beside traffic is a chase.

pub mod driver;
pub mod fields;
pub mod mailbox;
pub mod uncores;

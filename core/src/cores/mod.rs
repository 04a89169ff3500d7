//! Transfers of cache lines between two cores, and the choice of pairs of CPUs.
//!
//! An [`Exchange`] passes a line back and forth; a [`Ring`] is a chain of lines that one core
//! leaves in a known state for another core to walk. Neither starts threads: the caller runs each
//! side in a thread. [`lines`] combines the values of several lines, and [`pairs`] chooses the
//! pairs.

pub mod exchange;
pub mod lines;
pub mod pairs;
pub mod ring;

pub use exchange::{Exchange, ExchangeSide, Made, Method, Patience};
pub use lines::{OverLines, over_lines};
pub use pairs::{Choice, Pair};
pub use ring::{Ring, State, Walk};

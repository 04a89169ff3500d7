//! Two cores and the lines between them: the transfer of a line, and the choice of pairs of CPUs.
//!
//! An [`Exchange`] sends a line to and fro; a [`Ring`] is a chain of lines that
//! one core leaves in a known state for another to walk. Neither knows threads:
//! the caller runs each side in a thread. Values over lines are combined
//! in [`lines`], pairs are chosen in [`pairs`].

pub mod exchange;
pub mod lines;
pub mod pairs;
pub mod ring;

pub use exchange::{Exchange, ExchangeSide, Made, Method, Patience};
pub use lines::{OverLines, over_lines};
pub use pairs::{Choice, Pair};
pub use ring::{Ring, State, Walk};

//! Two cores and the lines between them: what it takes to hand a line over, and which pairs of CPUs to ask.
//!
//! An [`Exchange`] sends a line to and fro; a [`Ring`] is a chain of lines that
//! one core leaves in a known state for another to walk. Neither knows threads:
//! whoever has some calls one side from each. Values over lines are put together
//! in [`lines`], pairs are chosen in [`pairs`].

pub mod exchange;
pub mod lines;
pub mod pairs;
pub mod ring;

pub use exchange::{Exchange, Made, Method, Patience, Side};
pub use lines::{over_lines, OverLines};
pub use pairs::{Choice, Pair};
pub use ring::{Ring, State, Walk};

//! Plans, measurements, and their circumstances, as plain data.
//!
//! Reports read nothing else. This module makes no system calls.

pub mod chain;
mod clock;
pub mod conditions;
pub mod counters;
pub mod distribution;
pub mod evidence;
mod extra;
mod health;
mod outcome;
mod placed;
mod point;
pub mod residency;
pub mod sample;
mod series;
pub mod spans;
pub mod split;
mod walk;
pub mod words;

pub use clock::{Counter, KernelClock, Timer, may_be_coarse};
pub use counters::{Counted, Software};
pub use extra::{Extra, Strided};
pub use health::{Audit, Health, Repeat};
pub use outcome::{Exclusion, Measurement, Outcome, core_clock, lack_core_clock};
pub use placed::{Means, Placed, PlacedField};
pub use point::Point;
pub use series::{ClockOffset, PerLine, Round, RoundSeries, Undisturbed, WarmUp};
pub use walk::{LineLevel, Owned, PingPong, Reach, Traffic, Walk};

//! Points, their measurements, and the circumstances of these, as plain data. This module makes no system calls.

mod clock;
pub mod conditions;
pub mod distribution;
pub mod extra;
pub mod outcome;
pub mod placed;
pub mod point;
pub mod series;

pub use clock::{Counter, KernelClock, Timer, may_be_coarse};
pub use conditions::{Clocks, Conditions, HardwareErrors, OnCpu};
pub use distribution::{Distribution, Interruptions, Percentile};
pub use extra::{
    Audit, Extra, Health, Repeat, Residence, SecondLook, SpanEnd, SpanPoint, SpanSeries, Strided,
};
pub use outcome::{Exclusion, Measurement, Outcome, Sample, core_clock, lack_core_clock};
pub use placed::{Evidence, Means, PageCounts, Placed, PlacedField};
pub use point::{
    LineLevel, OrderName, OrderWords, Owned, PageKind, PageWords, PingPong, Point, Reach, Traffic,
    TrafficSubject, Walk,
};
pub use series::{
    ClockOffset, Counted, Counters, LoadParts, PairedRounds, PerLine, Round, RoundSeries, Software, Split,
    Undisturbed, WarmUp,
};

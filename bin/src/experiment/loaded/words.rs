//! Words for levels of a load.

use core::fmt::{self, Display};

use latency_core::decimal::Trimmed;

use crate::report::figures::Digits;

/// Writes a multiple of the lowest latency of a curve: `2 x idle`, or of nanoseconds where idle memory is slower than
/// that.
pub fn multiple(ratio: f64, slow: Option<f64>) -> impl Display {
    fmt::from_fn(move |out| match slow {
        Some(lowest) => write!(out, "{} x {} ns", Trimmed(ratio), Digits(lowest)),
        None => write!(out, "{} x idle", Trimmed(ratio)),
    })
}

/// Writes a number of cores as the subject of "deliver".
pub fn cores_deliver(count: u32) -> impl Display {
    fmt::from_fn(move |out| match count {
        1 => out.write_str("1 core delivers"),
        count => write!(out, "{count} cores deliver"),
    })
}

//! No clock, no trust, or no place for the result.

use core::fmt;

use latency_core::decimal::Decimal;
use latency_core::units::Hertz;

use crate::options::tokens::Escaped;
use crate::sys::errno::Errno;

/// There is no usable clock, or the result does not deserve trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are named for what they hold; what they mean is the message
pub enum TimingError {
    /// Neither the TSC nor clock_gettime can be used.
    NoClock { why: &'static str },
    /// Something shorter than a batch was to be timed, and there is no counter for it; `instead` can do without.
    NeedsCounter { what: &'static str, instead: &'static str },
    /// The clock went back.
    SteppedBack,
    /// Repeated calibrations of the TSC do not agree.
    Unsteady { least: Hertz, most: Hertz },
    /// The cursor does not stand where the generator says: the loop did not make its hops.
    HopsNotProven,
    /// `--strict`, and warnings that speak against the result; `code` is that of the first.
    NotTrusted { code: &'static str, count: usize },
}

impl fmt::Display for TimingError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            TimingError::NoClock { why } => {
                write!(out, "no usable clock: {why}; run on a kernel that has CLOCK_MONOTONIC_RAW")
            }
            TimingError::NeedsCounter { what, instead } => write!(
                out,
                "{what} can be timed by the time-stamp counter alone, which is absent, forbidden or unsteady; \
                 run `latency-bench {instead}`, for whose batches clock_gettime is good enough"
            ),
            TimingError::SteppedBack => out.write_str(
                "the clock went back during a measurement; run on one CPU with --cpu, \
                 or on a machine whose time-stamp counters agree",
            ),
            TimingError::Unsteady { least, most } => write!(
                out,
                "calibrations of the time-stamp counter lie between {:.3} and {:.3} MHz; \
                 run again on a quiet machine, or on one with an invariant counter",
                Decimal(least.megahertz()),
                Decimal(most.megahertz())
            ),
            TimingError::HopsNotProven => out.write_str(
                "the chain did not end where it should, so that its hops are not proven; \
                 test the memory of this machine, and report a defect if it is sound",
            ),
            TimingError::NotTrusted { code, count: 1 } => {
                write!(out, "--strict, and the result is not to be trusted ({code}); ")?;
                out.write_str("see the warning above, or leave --strict out")
            }
            TimingError::NotTrusted { code, count } => {
                write!(out, "--strict, and {count} warnings speak against the result (first: {code}); ")?;
                out.write_str("see them above, or leave --strict out")
            }
        }
    }
}

/// The result could not be written. `path` is the file, or `None` for standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are named for what they hold; what they mean is the message
pub enum OutputError<'a> {
    /// The file could not be made, before anything was measured.
    Create { path: &'a [u8], errno: Errno },
    /// The result could not be written to the end.
    Write { path: Option<&'a [u8]>, errno: Errno },
    /// The finished file could not be given its name.
    Rename { path: &'a [u8], errno: Errno },
}

impl fmt::Display for OutputError<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            OutputError::Create { path, errno } => {
                write!(out, "cannot create '{}': {errno}; ", Escaped(path))?;
                out.write_str("nothing was measured; give another --output")
            }
            OutputError::Write { path: Some(path), errno } => {
                write!(out, "cannot write '{}': {errno}; ", Escaped(path))?;
                out.write_str("no part of the file was kept; make room or give another --output")
            }
            OutputError::Write { path: None, errno } => {
                write!(out, "cannot write to standard output: {errno}; ")?;
                out.write_str("what was printed is incomplete; give --output=FILE")
            }
            OutputError::Rename { path, errno } => {
                write!(out, "cannot put the result at '{}': {errno}; ", Escaped(path))?;
                out.write_str("no part of the file was kept; give another --output")
            }
        }
    }
}

//! The rows of a saved result, filled as its text is understood, and what may be wrong with one.

use latency_core::text::Text;
use latency_core::units::Bytes;

use super::conditions::{Conditions, BRAND, HOST};
use super::host::Origin;
use crate::analysis::claims::Claims;
use crate::result::row::Row;
use crate::sys::errno::Errno;
use crate::sys::table::Table;

/// A working set beyond 2^50 bytes is none.
const LARGEST_SIZE: f64 = 1_125_899_906_842_624.0;

/// What is said of a curve of latency over bandwidth: shares of another run's limit are other rates.
pub(super) const UNDER_LOAD: &str = "latencies under load, at rates that no other run has";

/// What is wrong with a file, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong there.
    pub what: &'static str,
}

/// What wrote a file, if it was not this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// lmbench's `lat_mem_rd`.
    LatMemRd,
    /// Chips and Cheese's `MemoryLatency`.
    MemoryLatency,
    /// `tinymembench`, which prints what lies above the latency of the first-level cache.
    Tinymembench,
    /// R. Groot Koerkamp's `cpu-benchmarks`.
    CpuBenchmarks,
}

/// A saved result.
#[derive(Clone, Copy, Debug)]
pub struct Saved {
    /// The points, in the order of the file.
    pub rows: &'static [Row],
    /// The caches of the machine that it is from, if the file tells.
    pub claims: Claims,
    /// The experiment that it is of; empty where the file does not tell.
    pub experiment: Text<32>,
    /// The conditions of the run.
    pub conditions: Conditions,
    /// The host that it is from.
    pub origin: Origin,
    /// The other tool that wrote the file, if it was recognised.
    pub tool: Option<Tool>,
    /// Rows of 0 ns, which are left out.
    pub zeros: usize,
}

impl Saved {
    /// Nothing at all.
    pub const EMPTY: Saved = Saved {
        rows: &[],
        claims: Claims::NONE,
        experiment: Text::EMPTY,
        conditions: Conditions::UNKNOWN,
        origin: Origin::UNKNOWN,
        tool: None,
        zeros: 0,
    };

    /// Returns the name of its host; documents of earlier versions have it among the conditions.
    #[must_use]
    pub fn host(&self) -> &str {
        self.told([self.origin.name.as_str(), "unnamed"], HOST)
    }

    /// Returns the name of its processor.
    #[must_use]
    pub fn cpu(&self) -> &str {
        self.told([self.origin.cpu.as_str(), "unknown CPU"], BRAND)
    }

    fn told<'s>(&'s self, [own, otherwise]: [&'s str; 2], condition: usize) -> &'s str {
        let other = self.conditions.texts.get(condition).map_or("", Text::as_str);
        [own, other].into_iter().find(|text| !text.is_empty()).unwrap_or(otherwise)
    }
}

/// A result that is being read.
pub struct Draft<'r> {
    rows: &'r mut [Row],
    count: usize,
    /// All but the rows.
    pub saved: Saved,
    /// It is compared with those of other hosts: latencies under load and classes of pairs are read as well.
    pub of_hosts: bool,
    /// Nothing says in which unit the sizes are.
    pub without_unit: bool,
    /// A size that was read without a unit has a fraction.
    pub fractions: bool,
}

impl<'r> Draft<'r> {
    /// A result without rows, whose rows will go to `rows`.
    pub fn over(rows: &'r mut [Row]) -> Draft<'r> {
        Draft { rows, count: 0, saved: Saved::EMPTY, of_hosts: false, without_unit: false, fractions: false }
    }

    /// The points so far.
    pub fn rows(&self) -> &[Row] {
        self.rows.get(..self.count).unwrap_or_default()
    }

    /// Keeps the rows for the rest of the process, in no more room than they need.
    ///
    /// # Errors
    ///
    /// That of mapping the smaller table.
    pub fn finish(self) -> Result<Saved, Errno> {
        let mut rows = Table::filled(self.count, Row::EMPTY)?;
        rows.copy_from_slice(self.rows());
        Ok(Saved { rows: rows.leak(), ..self.saved })
    }

    /// Adds a row that has a latency; one without is a point that was not measured.
    pub fn push(&mut self, row: Row) -> Result<(), &'static str> {
        if row.sample.nanoseconds.is_nan() {
            return Ok(());
        }
        if !(1e-6..1e12).contains(&row.sample.nanoseconds) {
            return Err("a latency that is not a positive number of nanoseconds");
        }
        let slot = self.rows.get_mut(self.count).ok_or("more than 4096 points")?;
        *slot = row;
        self.count += 1;
        Ok(())
    }
}

/// A number of bytes.
pub fn bytes(number: f64) -> Result<Bytes, &'static str> {
    if (1.0..=LARGEST_SIZE).contains(&number) {
        Ok(Bytes(number as u64))
    } else {
        Err("a size that is not a positive number of bytes")
    }
}

/// A small whole number, such as a node's.
pub fn whole(number: f64) -> Result<u32, &'static str> {
    let whole = number as u32;
    if f64::from(whole) == number {
        Ok(whole)
    } else {
        Err("a node that is not a whole number")
    }
}

/// The deviation of a row relative to its latency, where it is within reason.
pub fn relative(deviation: Option<f64>, nanoseconds: f64) -> Option<f64> {
    let relative = deviation.map(|deviation| deviation / nanoseconds);
    relative.filter(|deviation| (0.0..10.0).contains(deviation))
}

/// The line of a byte, from 1.
pub fn line_of(text: &[u8], offset: usize) -> u32 {
    let before = text.get(..offset).unwrap_or(text);
    1 + before.iter().filter(|&&byte| byte == b'\n').count() as u32
}

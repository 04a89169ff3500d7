//! The rows of a saved result, filled as its text is understood, and what may be wrong with one.

use latency_core::text::Text;
use latency_core::units::Bytes;

use crate::analysis::claims::Claims;
use crate::result::row::Row;
use crate::result::sample::Sample;
use crate::sys::table::Table;

/// A working set beyond 2^50 bytes is none.
const LARGEST_SIZE: f64 = 1_125_899_906_842_624.0;

/// What is wrong with a file, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong there.
    pub what: &'static str,
}

/// A saved result.
#[derive(Debug)]
pub struct Saved {
    rows: Table<Row>,
    count: usize,
    /// The caches of the machine that it is from, if the file tells.
    pub claims: Claims,
    /// The experiment that it is of; empty where the file does not tell.
    pub experiment: Text<32>,
}

impl Saved {
    /// A result without rows, whose rows will go to `rows`.
    pub fn over(rows: Table<Row>) -> Saved {
        Saved { rows, count: 0, claims: Claims::default(), experiment: Text::EMPTY }
    }

    /// The points, in the order of the file.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        self.rows.get(..self.count).unwrap_or_default()
    }

    /// The point of a curve in the row with that index, if it is one.
    #[must_use]
    pub fn sample(&self, index: usize) -> Option<Sample> {
        self.rows().get(index).map(|row| row.sample).filter(|sample| sample.size.0 > 0)
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

/// The line of a byte, from 1.
pub fn line_of(text: &[u8], offset: usize) -> u32 {
    let before = text.get(..offset).unwrap_or(text);
    1 + before.iter().filter(|&&byte| byte == b'\n').count() as u32
}

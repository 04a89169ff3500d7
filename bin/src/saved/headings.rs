//! The headings of another tool's table: the column of sizes, the column of latencies, and their units.
//!
//! The heading of a column decides its meaning. A column is a latency only if its heading names a time.

use super::fields::fields;
use super::unit::{is_one_of, named, of_heading, of_time, words};
use crate::record::columns::Column;

/// The content of a column of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TableColumn {
    /// The value (0) of a column of this program, or an end of its interval (1, 2).
    Own(Column, usize),
    /// A latency, and the number of nanoseconds in its unit.
    Latency(f64),
    /// A size, and the number of bytes in its unit, if the unit is known.
    Size(Option<f64>),
    /// Something that is not read.
    Other,
}

/// Words in headings of sizes.
const SIZES: &str = "size bytes region footprint buffer set range memory memsize wss";
/// Words that, in a heading, mean the size of a part of a working set.
const PARTS: &str = "pointer line page stride chunk object";
/// Words in headings of latencies.
const LATENCIES: &str = "latency latencies lat";
/// Words in headings of times, which may be latencies or the duration of a whole run.
const TIMES: &str = "time delay access duration";
/// Words in headings of columns with any content.
const ANYTHING: &str = "x y value avg average mean median min minimum result random load";
/// Words of clock cycles and ticks, which are not times.
const CLOCKS: &str = "cycles cycle clocks clk ticks tsc";
/// Words of units of size that are not bytes.
const BITS: &str = "bit bits kbit mbit";
/// Words of counted objects of unknown size.
const COUNTED: &str = "elements elems entries lines pages nodes items words";
/// Words of rates, counts and spreads. A column with one of them is not a latency, whatever else its heading contains.
const OTHERS: &str = "bandwidth throughput rate ops flops accesses count iterations hits misses ratio percent speedup \
                      stddev mhz ghz";

/// Returns whether one of the words of a heading is among the known ones.
fn has(heading: &str, known: &str) -> bool {
    words(heading).any(|word| is_one_of(word, known))
}

/// Returns whether a heading says that its column is a rate, a count or a spread.
fn is_other(heading: &str) -> bool {
    let is_rate = |(before, word): (&str, &str)| {
        let ends = word.get(word.len().saturating_sub(3)..).unwrap_or_default();
        let per = before.eq_ignore_ascii_case("per") || named(before).is_some();
        ends.eq_ignore_ascii_case("bps") || per && of_time(word).is_some()
    };
    let of_a_second = |word| heading.as_bytes().contains(&b'/') && of_time(word) == Some(1e9);
    heading.contains(['%', '='])
        || has(heading, OTHERS)
        || words(heading).last().is_some_and(of_a_second)
        || core::iter::once("").chain(words(heading)).zip(words(heading)).any(is_rate)
}

/// Returns nanoseconds in the unit that a heading names.
fn unit_of_time(heading: &str) -> Option<f64> {
    words(heading).find_map(of_time)
}

/// Returns whether a heading has a unit in brackets. The caller asks only if the unit was not understood.
fn is_bracketed(heading: &str) -> bool {
    heading.contains(['(', '['])
}

/// Finds the column of sizes and the column of latencies. Returns their indices and units.
///
/// # Errors
///
/// An error if no column is a latency or a size, or if a unit is unknown.
pub(super) fn find(line: &str, separator: Option<u8>) -> Result<[(usize, TableColumn); 2], &'static str> {
    let place = |is: &dyn Fn(&str) -> bool| fields(line, separator).position(is);
    let is_time = |heading: &str| unit_of_time(heading).is_some() && !is_other(heading);
    let is_latency = |heading: &str| (has(heading, TIMES) || has(heading, LATENCIES)) && !is_other(heading);
    let is_clock = |heading: &str| has(heading, CLOCKS);
    // The table may have the duration of the whole run in another column than the latency.
    let says_so = |heading: &str| has(heading, LATENCIES) && is_latency(heading);
    let time = place(&|heading| is_time(heading) && says_so(heading))
        .or_else(|| place(&|heading| is_time(heading) && unit_of_time(heading) == Some(1.0)))
        .or_else(|| place(&|heading| says_so(heading) && !is_clock(heading)))
        .or_else(|| place(&is_time))
        .or_else(|| place(&|heading| is_latency(heading) && !is_clock(heading)));
    let is_size = |heading: &str| {
        (of_heading(heading).is_some() || [SIZES, BITS, COUNTED].iter().any(|known| has(heading, known)))
            && !has(heading, PARTS)
    };
    let size = fields(line, separator)
        .enumerate()
        .position(|(index, heading)| Some(index) != time && is_size(heading) && !is_other(heading));
    let (time, size) = match (time, size) {
        (Some(time), Some(size)) => (time, size),
        (Some(time), None) => (time, usize::from(time == 0)),
        (None, Some(size)) => (usize::from(size == 0), size),
        (None, None) => (1, 0),
    };
    let heading = |index: usize| fields(line, separator).nth(index).unwrap_or_default();
    let (latency, sizes) = (heading(time), heading(size));
    let per_time = match unit_of_time(latency) {
        _ if is_other(latency) => {
            return Err("no latency column: the headings name other quantities");
        }
        Some(per_time) => per_time,
        None if is_clock(latency) => return Err("latency in cycles; convert it to nanoseconds"),
        None if is_bracketed(latency) && (has(latency, LATENCIES) || has(latency, TIMES)) => {
            return Err("latency unit is none of ps, ns, us, ms, s");
        }
        None if [LATENCIES, TIMES, ANYTHING].iter().any(|known| has(latency, known)) => 1.0,
        None => return Err("no latency column; name one, e.g. ns"),
    };
    let unit = match of_heading(sizes) {
        _ if is_other(sizes) => return Err("no size column: the headings name other quantities"),
        Some(unit) if !has(sizes, BITS) => Some(unit),
        _ if has(sizes, BITS) || has(sizes, COUNTED) || is_bracketed(sizes) => {
            return Err("sizes are not in bytes");
        }
        _ if has(sizes, SIZES) || has(sizes, ANYTHING) => None,
        _ => return Err("no size column; name one, e.g. bytes"),
    };
    Ok([(size, TableColumn::Size(unit)), (time, TableColumn::Latency(per_time))])
}

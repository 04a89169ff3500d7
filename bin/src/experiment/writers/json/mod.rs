//! Everything as one JSON object. Its schema is in `tests/schema`.

mod header;
mod point;
pub mod value;

use core::fmt::{self, Write};

use latency_core::json::{Layout, Writer};

pub(super) use header::header;

use self::value::{optional, Json};
use super::Report;

/// Writes a document of points: what every one has and what `each` has to say of it by its index, then what
/// `rest` says of them all.
///
/// # Errors
///
/// Those of `out`.
pub(super) fn points(
    out: &mut dyn Write,
    report: &Report<'_, '_>,
    each: &dyn Fn(&mut Json<'_>, usize) -> fmt::Result,
    rest: &dyn Fn(&mut Json<'_>) -> fmt::Result,
) -> fmt::Result {
    let mut json = Writer::new(out, Layout::Lines);
    json.begin_object()?;
    json.key("points")?.begin_array()?;
    for (index, outcome) in report.outcomes.iter().enumerate() {
        json.begin_object()?;
        point::members(&mut json, report.clock, outcome)?;
        each(&mut json, index)?;
        json.end_object()?;
    }
    json.end_array()?;
    rest(&mut json)?;
    json.key("seed")?.u64(report.options.seed)?;
    json.key("freq_ghz")?;
    optional(&mut json, report.clock.counter().map(|counter| counter.frequency.gigahertz()), 6)?;
    header(&mut json, report)?;
    json.end_object()?;
    json.finish()?.write_char('\n')
}

//! Two results side by side.

use core::fmt::{self, Write};

use latency_core::json::{Layout, Writer};

use super::header;
use super::value::{optional, Json, DECIMALS};
use crate::analysis::comparison::{Pair, Verdict};
use crate::experiment::writers::comparison::View;

/// Decimals of ratios and fractions.
const FINE: usize = 4;

/// Writes two results side by side.
///
/// # Errors
///
/// Those of `out`.
pub fn document(out: &mut dyn Write, view: &View<'_>) -> fmt::Result {
    let mut json = Writer::new(out, Layout::Lines);
    json.begin_object()?;
    json.key("points")?.begin_array()?;
    for pair in view.comparison.pairs() {
        point(&mut json, pair)?;
    }
    json.end_array()?;
    json.key("median_ratio")?.decimal(view.median, FINE)?;
    json.key("threshold")?.decimal(view.threshold, FINE)?;
    json.key("slower_by")?;
    optional(&mut json, view.slower_by, FINE)?;
    header::tool(&mut json, "compare")?;
    json.key("a")?.string(view.names[0])?;
    json.key("b")?.string(view.names[1])?;
    json.end_object()?;
    json.finish()?.write_char('\n')
}

fn point(json: &mut Json<'_>, pair: &Pair) -> fmt::Result {
    json.begin_object()?;
    if let Some((from, to)) = pair.first.pair {
        json.key("from")?.u64(from.into())?;
        json.key("to")?.u64(to.into())?;
    }
    json.key("working_set_bytes")?.u64(pair.first.sample.size.0)?;
    json.key("stride_bytes")?.u64(pair.first.sample.stride.0)?;
    json.key("point")?.string(pair.first.name.as_str())?;
    json.key("a_ns")?.decimal(pair.first.sample.nanoseconds, DECIMALS)?;
    json.key("b_ns")?.decimal(pair.second.sample.nanoseconds, DECIMALS)?;
    json.key("ratio")?.decimal(pair.ratio(), FINE)?;
    json.key("interpolated")?.bool(pair.interpolated)?;
    json.key("verdict")?.string(match pair.verdict {
        Verdict::Same => "same",
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
    })?;
    json.end_object()
}

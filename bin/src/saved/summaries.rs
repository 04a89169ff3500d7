//! Rows that a saved result has beside its points: medians of classes of pairs of CPUs, and the ends of curves under
//! load, which are the idle latency and the limit of the traffic.

use alloc::vec::Vec;
use latency_report::chart::vector;

use latency_core::{Estimate, Interval};

use super::point::read;
use super::rows::{Draft, TableLevel};
use crate::analysis::traffic::{self, bandwidth};
use crate::record::columns::{
    BYTES, CLASS, CORES, Column, ColumnSet, EXPERIMENT, HOME_NODE, HOST, INITIATOR_NODE, LOAD, LOAD_NODE, NS,
    OFFERED, OP, PATTERN, STARTED, STRIDE, TARGET_NODE, TRAFFIC, VARIANT, WORKING_SET,
};
use crate::record::members::{CORE_TYPES, PEAK_BANDWIDTH};
use crate::record::row::{MEDIAN, MOST, Row, UNKNOWN};
use latency_report::document::ENDS;
use latency_report::tree::JsonValue;

/// Reads the value of a name and its interval.
fn estimate(object: JsonValue<'_>, name: &str) -> Estimate {
    let part = |end: &str| object.at(&format!("{name}{end}")).number();
    let interval = match (part(ENDS[0]), part(ENDS[1])) {
        (Some(low), Some(high)) if low <= high => Some(Interval { low, high }),
        (None, None) => None,
        _ => {
            object.refuse("an interval that is not a pair of numbers");
            None
        }
    };
    Estimate { value: part("").unwrap_or(f64::NAN), interval }
}

/// Reads members that have the names of columns.
fn cells(row: &mut Row, object: JsonValue<'_>, columns: &[Column]) {
    for column in columns {
        if let Some(member) = object.member(column.key) {
            read(row, *column, 0, member);
        }
    }
}

/// Reads a class of pairs of CPUs.
pub(super) fn class(class: JsonValue<'_>, draft: &mut Draft) {
    let mut row = Row::EMPTY.with(OP, MEDIAN).with(NS, estimate(class, NS.key));
    cells(&mut row, class, &[CLASS]);
    if let Some(types) = class.member(CORE_TYPES.key).filter(|types| !types.is_null()) {
        read(&mut row, VARIANT, 0, types);
    }
    class.check(draft.push(row));
}

/// Reads the limit of the traffic of a curve under load. The rates below it are shares of it, and so they differ in every
/// run.
pub(super) fn curve(curve: JsonValue<'_>, draft: &mut Draft) {
    let mut row = Row::EMPTY;
    cells(&mut row, curve, &[INITIATOR_NODE, TARGET_NODE, TRAFFIC, PATTERN, LOAD_NODE]);
    let peak = curve.at(PEAK_BANDWIDTH.key);
    cells(&mut row, peak, &[CORES]);
    curve.check(draft.push(limit(row, estimate(peak, BYTES.key), draft.in_brief)));
}

/// Returns the limit of the traffic that a row names; without a latency if the rate is unknown. Only the rate if `brief` is
/// true.
fn limit(found: Row, rate: Estimate, brief: bool) -> Row {
    let mut limit = found;
    // The number of generators that reached the limit is an outcome, so it does not identify a point.
    let own = if brief { CORES } else { WORKING_SET };
    let kept = ColumnSet::of(&[EXPERIMENT, INITIATOR_NODE, TARGET_NODE, TRAFFIC, PATTERN, own]);
    limit.hide(ColumnSet::POINTS.without(kept));
    if !brief {
        limit.put(LOAD, MOST);
        if let Some(node) = limit.count(LOAD_NODE).filter(|node| limit.count(TARGET_NODE) != Some(*node)) {
            limit.put(HOME_NODE, node);
        }
    }
    // Bandwidths are stored as the time for each line.
    let time = limit.traffic().filter(|_| rate.value.is_finite()).map(|kind| bandwidth(kind, rate));
    limit.replace(Some(time.map_or(UNKNOWN, |Estimate { value, interval }| Estimate {
        value,
        interval: interval.filter(|ends| ends.low > 0.0 && ends.high.is_finite()),
    })));
    limit
}

/// Maximum number of levels in a table of loads.
const MOST_LEVELS: usize = 4096;

/// Adds the limits of the curves of a table of loads, as documents have them: none without the rate of all generators,
/// which every level with a pace has.
pub(super) fn limits(draft: &mut Draft) -> Result<(), &'static str> {
    let levels = core::mem::take(&mut draft.levels);
    let is_first = |(place, level): &(usize, &TableLevel)| {
        level.curve.is_some() && !levels.iter().take(*place).any(|before| before.is_beside(level))
    };
    for (_, level) in levels.iter().enumerate().filter(is_first) {
        let curve = || levels.iter().filter(|other| level.is_beside(other));
        let all = curve().map(|level| level.cores).max();
        let rates: Vec<_> = vector(curve().filter_map(|level| Some((level.cores as u32, level.rate?))));
        let is_whole = curve().any(|level| level.rate.is_some() && Some(level.cores) == all);
        let best = traffic::limit(&rates).filter(|_| is_whole).and_then(|place| rates.get(place));
        let Some(&(cores, found)) = best else { continue };
        let mut row = level.of.clone();
        if draft.in_brief {
            row.put(CORES, cores);
        }
        draft.push(limit(row, found, draft.in_brief))?;
    }
    Ok(())
}

/// Adds what is compared of a row of a table of loads: the idle latency, or the rate of traffic without a pace. Levels
/// between them are shares of that rate, and so they differ in every run.
pub(super) fn of_table(mut row: Row, draft: &mut Draft) -> Result<(), &'static str> {
    let brief = draft.in_brief;
    let (offered, rate) = (row.number(OFFERED), row.estimate(BYTES));
    if offered == Some(0.0) {
        return draft.push(idle(row, brief));
    }
    let curve = rate.map(|_| draft.rows.len());
    let rate = rate.filter(|_| offered.is_none());
    if let Some(rate) = rate {
        limit(row.clone(), rate, brief).check_time()?;
    }
    if draft.levels.len() == MOST_LEVELS {
        return Err("more than 4096 levels of load");
    }
    let cores = row.count(CORES).unwrap_or(0);
    let own = if brief { EXPERIMENT } else { WORKING_SET };
    let kept = ColumnSet::of(&[EXPERIMENT, INITIATOR_NODE, TARGET_NODE, TRAFFIC, PATTERN, own]);
    row.hide(ColumnSet::POINTS.without(kept));
    draft.levels.push(TableLevel { of: row, curve, cores, rate });
    Ok(())
}

/// Returns the idle latency before traffic: only its origin and its latency if `brief` is true, else its conditions too.
pub(super) fn idle(found: Row, brief: bool) -> Row {
    let mut idle = found;
    let kind = idle.traffic();
    if brief {
        idle.keep(ColumnSet::NODES | HOST | STARTED | EXPERIMENT | NS);
        return idle;
    }
    // The idle latency is not a value of traffic, whatever traffic comes after it.
    let kept = ColumnSet::of(&[INITIATOR_NODE, TARGET_NODE, WORKING_SET, STRIDE]);
    idle.hide(ColumnSet::POINTS.without(kept));
    if let Some(kind) = kind {
        idle.put(LOAD, format!("idle, before {}", kind.name));
    }
    idle
}

//! Pictures of saved points: lines if there are several working sets, a matrix if there are several nodes.

use core::fmt::Write;

use latency_core::sort::sort_by;
use latency_core::text::Text;

use super::points::{differing, unit, value};
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Matrix, Scale, Series, Unit};
use crate::report::document::{Document, Picture};
use crate::result::row::{Label, Row, FROM, SIZE, TO};
use crate::sys::table::Table;

/// The maximum number of lines that can be distinguished.
const MOST_LINES: usize = 6;
/// The minimum number of sizes of a line; with fewer, a table shows as much.
const FEWEST_SIZES: usize = 3;
/// The maximum number of nodes of a picture.
const MOST_NODES: usize = 32;

/// Draws the points of a file, if they make a picture.
pub fn draw(document: &mut dyn Document, rows: &[Row], name: &str) {
    let shown = differing(rows);
    if shown >> SIZE & 1 == 1 {
        lines(document, rows, name, shown & !(1 << SIZE));
    } else if shown & (1 << FROM | 1 << TO) != 0 {
        matrix(document, rows, name);
    }
}

/// Draws latency by working set. All points that differ only in their size share a line. If memory for it is missing,
/// there is no picture.
fn lines(document: &mut dyn Document, rows: &[Row], name: &str, apart: u32) {
    let Ok(mut room) = Table::filled(rows.len(), ChartPoint::new(f64::NAN, f64::NAN)) else { return };
    let mut names = [Text::<96>::EMPTY; MOST_LINES];
    let mut ends = [0; MOST_LINES];
    let (mut count, mut used) = (0, 0);
    for (index, first) in rows.iter().enumerate() {
        let alike = |row: &&Row| row.is_same(first, apart);
        let known = rows.get(..index).unwrap_or_default().iter().any(|row| alike(&row));
        if known || rows.iter().filter(alike).count() < FEWEST_SIZES {
            continue;
        }
        let (Some(label), Some(end)) = (names.get_mut(count), ends.get_mut(count)) else { break };
        let begun = used;
        for row in rows.iter().filter(alike) {
            let Some(slot) = room.get_mut(used) else { break };
            let band = row.sample.interval.filter(|_| row.traffic().is_none());
            *slot = ChartPoint {
                band: band.map(|band| (band.low, band.high)),
                ..ChartPoint::new(row.sample.size.0 as f64, value(row))
            };
            used += 1;
        }
        if let Some(line) = room.get_mut(begun..used) {
            sort_by(line, |one, other| one.x.total_cmp(&other.x));
        }
        // Text that does not fit is left out.
        let _ = write!(label, "{}", Label { row: first, shown: apart });
        *end = used;
        count += 1;
    }
    let mut series = [Series { name: "", data: Data::Points(&[]) }; MOST_LINES];
    let mut begun = 0;
    for ((slot, label), end) in series.iter_mut().zip(&names).zip(ends).take(count) {
        *slot = Series { name: label.as_str(), data: Data::Points(room.get(begun..end).unwrap_or_default()) };
        begun = end;
    }
    if count == 0 {
        return;
    }
    document.picture(Picture::Chart(&Chart {
        title: if unit(rows) == "ns" { "Latency by working set" } else { "Bandwidth by working set" },
        subtitle: name,
        x_axis: Axis { title: "working set", unit: Unit::Bytes, scale: Scale::Logarithmic },
        y_axis: Axis { title: "value", unit: Unit::Plain(unit(rows)), scale: Scale::Auto },
        series: series.get(..count).unwrap_or_default(),
        marks: &[],
    }));
}

/// Draws the first point of each pair of nodes.
fn matrix(document: &mut dyn Document, rows: &[Row], name: &str) {
    let (mut from, mut to) = (([0; MOST_NODES], 0), ([0; MOST_NODES], 0));
    for pair in rows.iter().filter_map(|row| row.pair) {
        if !add(&mut from, pair.0) || !add(&mut to, pair.1) {
            return;
        }
    }
    let cell = |from: u32, to: u32| {
        let found = rows.iter().find(|row| row.pair == Some((from, to)));
        found.map(value).ok_or("not in the file")
    };
    document.picture(Picture::Matrix(&Matrix {
        title: "From node to node",
        subtitle: name,
        unit: unit(rows),
        noun: "node",
        rows: from.0.get(..from.1).unwrap_or_default(),
        columns: to.0.get(..to.1).unwrap_or_default(),
        cell: &cell,
    }));
}

/// Adds a node once; returns false if the list is full.
fn add((nodes, count): &mut ([u32; MOST_NODES], usize), node: u32) -> bool {
    if nodes.get(..*count).is_some_and(|known| known.contains(&node)) {
        return true;
    }
    let Some(slot) = nodes.get_mut(*count) else { return false };
    *slot = node;
    *count += 1;
    true
}

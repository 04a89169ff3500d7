//! The values and pictures of saved points: lines if there are several working sets, a matrix if there are several
//! nodes.

use core::fmt::Write;

use latency_core::sort::sort_by;
use latency_core::text::Text;

use crate::analysis::traffic::bytes_per_line;
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Matrix, Scale, Series, Unit};
use crate::report::document::{Document, Picture};
use crate::result::row::{FROM, Label, Row, SIZE, TO, differing};
use crate::sys::table::List;

/// Maximum number of lines that a reader can distinguish.
const MOST_LINES: usize = 6;
/// Minimum number of sizes of a line; with fewer, a table shows as much.
const FEWEST_SIZES: usize = 3;
/// The maximum number of nodes of a picture.
const MOST_NODES: usize = 32;

/// Returns whether the points of a file make a picture.
pub fn is_drawn(rows: &[Row]) -> bool {
    struct Seen(bool);
    impl Document for Seen {
        fn picture(&mut self, _: Picture<'_>) {
            self.0 = true;
        }
    }
    let mut seen = Seen(false);
    draw(&mut seen, rows, "");
    seen.0
}

/// Draws the points of a file, if they make a picture.
pub fn draw(document: &mut dyn Document, rows: &[Row], name: &str) {
    let shown = differing(rows.iter());
    if shown >> SIZE & 1 == 1 {
        lines(document, rows, name, shown & !(1 << SIZE));
    } else if shown & (1 << FROM | 1 << TO) != 0 && unit(rows) != SEVERAL {
        matrix(document, rows, name);
    }
}

/// Draws latency by working set. All points that differ only in their size share a line. If memory for it is missing,
/// there is no picture.
fn lines(document: &mut dyn Document, rows: &[Row], name: &str, apart: u32) {
    let (Ok(mut points), Ok(mut lines)) = (List::new(rows.len()), List::new(MOST_LINES)) else { return };
    for (index, first) in rows.iter().enumerate() {
        let alike = |row: &&Row| row.is_same(first, apart);
        let known = rows.get(..index).unwrap_or_default().iter().any(|row| alike(&row));
        if known || rows.iter().filter(alike).count() < FEWEST_SIZES {
            continue;
        }
        let begun = points.len();
        for row in rows.iter().filter(alike) {
            let band = row.sample.interval.filter(|_| row.traffic().is_none());
            points.push(ChartPoint {
                band: band.map(|band| (band.low, band.high)),
                ..ChartPoint::new(row.sample.size.0 as f64, value(row))
            });
        }
        if let Some(line) = points.get_mut(begun..) {
            sort_by(line, |one, other| one.x.total_cmp(&other.x));
        }
        let mut label = Text::<96>::EMPTY;
        // Text that does not fit is left out.
        let _ = write!(label, "{}", Label { row: first, shown: apart });
        if lines.push((label, begun, points.len())).is_none() {
            break;
        }
    }
    let series = lines.iter().map(|(label, begun, end)| Series {
        name: label.as_str(),
        data: Data::Points(points.get(*begun..*end).unwrap_or_default()),
    });
    let Ok(series) = List::of(series) else { return };
    if series.is_empty() {
        return;
    }
    document.picture(Picture::Chart(&Chart {
        title: if unit(rows) == "ns" { "Latency by working set" } else { "Bandwidth by working set" },
        subtitle: name,
        x_axis: Axis { title: "working set", unit: Unit::Bytes, scale: Scale::Logarithmic },
        y_axis: Axis { title: "value", unit: Unit::Plain(unit(rows)), scale: Scale::Auto },
        series: &series,
        marks: &[],
    }));
}

/// Draws the first point of each pair of nodes.
fn matrix(document: &mut dyn Document, rows: &[Row], name: &str) {
    let (Ok(mut from), Ok(mut to)) = (List::new(MOST_NODES), List::new(MOST_NODES)) else { return };
    for (one, other) in rows.iter().filter_map(|row| row.pair) {
        for (nodes, node) in [(&mut from, one), (&mut to, other)] {
            if !nodes.contains(&node) && nodes.push(node).is_none() {
                return;
            }
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
        rows: &from,
        columns: &to,
        cell: &cell,
    }));
}

/// Returns the value of a point: nanoseconds, or GB/s for traffic.
pub fn value(row: &Row) -> f64 {
    let ns = row.sample.nanoseconds;
    row.traffic().map_or(ns, |kind| bytes_per_line(kind) / ns)
}

/// The unit of values of several kinds.
pub const SEVERAL: &str = "ns or GB/s";

/// Returns the unit of all values of a file; [`SEVERAL`] if they are of several kinds.
pub fn unit(rows: &[Row]) -> &'static str {
    match rows.iter().filter(|row| row.traffic().is_some()).count() {
        0 => "ns",
        count if count == rows.len() => "GB/s",
        _ => SEVERAL,
    }
}

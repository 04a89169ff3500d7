//! The values and pictures of saved points: lines if there are several working sets, a matrix if there are several
//! nodes.

use latency_core::math::ToReal;
use latency_core::sort::sort_by;
use latency_core::text::Text;

use crate::analysis::traffic::bytes_per_line;
use crate::report::axis::AxisRange;
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Matrix, Scale, Series, Unit};
use crate::report::document::{Document, Picture};
use crate::report::figures::Digits;
use crate::result::row::{FROM, Label, Row, SIZE, TO, differing};
use crate::saved::MAX_ROWS;
use crate::sys::errno::Errno;
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

/// The name of a line.
pub type LineName = Text<96>;

/// The lines of a picture.
struct SavedLines {
    points: List<ChartPoint>,
    /// The name of each line, and the places of its first point and of the point after its last one.
    lines: List<(LineName, usize, usize)>,
}

impl SavedLines {
    fn new(most: usize) -> Result<SavedLines, Errno> {
        Ok(SavedLines { points: List::new(most)?, lines: List::new(MOST_LINES)? })
    }

    /// Adds the rows of one line, by ascending size.
    fn add<'r>(&mut self, rows: impl Iterator<Item = &'r Row>, name: LineName) {
        let begun = self.points.len();
        for row in rows {
            let band = row.sample.interval.filter(|_| row.traffic().is_none());
            // A point for which there is no room is left out.
            self.points.push(ChartPoint {
                band: band.map(|band| (band.low, band.high)),
                ..ChartPoint::new(row.sample.size.0.real(), value(row))
            });
        }
        if let Some(line) = self.points.get_mut(begun..) {
            sort_by(line, |one, other| one.x.total_cmp(&other.x).then(one.y.total_cmp(&other.y)));
        }
        self.lines.push((name, begun, self.points.len()));
    }

    fn draw(&self, document: &mut dyn Document, title: &str, subtitle: &str, unit: &'static str) {
        let series = self.lines.iter().map(|(name, begun, end)| Series {
            name: name.as_str(),
            data: Data::Points(self.points.get(*begun..*end).unwrap_or_default()),
        });
        let Ok(series) = List::of(series) else { return };
        if series.is_empty() {
            return;
        }
        let [_, axis] = quantity(unit);
        document.picture(Picture::Chart(&Chart {
            title,
            subtitle,
            x_axis: &Axis { title: "working set", unit: Unit::Bytes, scale: Scale::Logarithmic },
            y_axis: &Axis { title: axis, unit: Unit::Plain(unit), scale: Scale::Auto },
            series: &series,
            marks: &[],
        }));
    }
}

/// Returns the rows of each line: those that differ only in their size.
fn lines_of(rows: &[Row], apart: u32) -> impl Iterator<Item = (&Row, impl Iterator<Item = &Row> + Clone)> {
    rows.iter().enumerate().filter_map(move |(index, first)| {
        let known = rows.get(..index).unwrap_or_default().iter().any(|row| row.is_same(first, apart));
        let line = rows.iter().filter(move |row| row.is_same(first, apart));
        (!known && line.clone().count() >= FEWEST_SIZES).then_some((first, line))
    })
}

/// Draws latency by working set. All points that differ only in their size share a line. If memory for it is missing,
/// there is no picture.
fn lines(document: &mut dyn Document, rows: &[Row], name: &str, apart: u32) {
    let Ok(mut lines) = SavedLines::new(rows.len()) else { return };
    for (first, line) in lines_of(rows, apart).take(MOST_LINES) {
        let mut label = LineName::EMPTY;
        // Text that does not fit is left out.
        let _ = write!(label, "{}", Label { row: first, shown: apart });
        lines.add(line, label);
    }
    lines.draw(document, title(rows).as_str(), name, unit(rows));
}

/// Draws the first line of each of several curves in one chart, if there are at least two and at most [`MOST_LINES`].
pub fn overlay(document: &mut dyn Document, curves: &mut dyn Iterator<Item = (&'static [Row], LineName)>) {
    let Ok(mut lines) = SavedLines::new(MOST_LINES * MAX_ROWS) else { return };
    for (rows, name) in curves {
        let apart = differing(rows.iter());
        let line = lines_of(rows, apart & !(1 << SIZE)).next();
        let Some((_, line)) = line.filter(|_| apart >> SIZE & 1 == 1 && unit(rows) == "ns") else { continue };
        if lines.lines.len() == MOST_LINES {
            return;
        }
        lines.add(line, name);
    }
    if lines.lines.len() > 1 {
        lines.draw(document, "Latency by working set", "saved curves", "ns");
    }
}

/// Returns the name of values in a unit: at the beginning of a title, and of an axis.
fn quantity(unit: &str) -> [&'static str; 2] {
    match unit {
        "ns" => ["Latency: ", "latency"],
        "GB/s" => ["Bandwidth: ", "bandwidth"],
        _ => ["", "value"],
    }
}

/// Returns the title of a picture: the smallest and the largest value.
fn title(rows: &[Row]) -> Text<96> {
    match AxisRange::of(&mut |each| rows.iter().for_each(|row| each(value(row)))) {
        Some(AxisRange { low, high }) => {
            let [before, _] = quantity(unit(rows));
            Text::of(format_args!("{before}{} to {} {}", Digits(low), Digits(high), unit(rows)))
        }
        None => Text::EMPTY,
    }
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
    let title = title(rows);
    document.picture(Picture::Matrix(&Matrix {
        title: title.as_str(),
        subtitle: name,
        unit: unit(rows),
        noun: "node",
        rows: &from,
        columns: &to,
        groups: None,
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

//! The values and pictures of saved points: lines if there are several working sets, a matrix if there are several
//! nodes.

use alloc::string::String;
use alloc::vec::Vec;
use latency_core::ToReal;

use crate::record::columns::{ColumnSet, WORKING_SET};
use crate::record::label::Label;
use crate::record::row::{Row, differing};
use latency_report::chart::vector;
use latency_report::{
    Axis, AxisRange, Chart, ChartPoint, Digits, Matrix, Picture, Scale, Series, Shown, Unit,
};

/// Maximum number of lines that a reader can distinguish.
const MOST_LINES: usize = 6;
/// Minimum number of sizes of a line; with fewer, a table shows as much.
const FEWEST_SIZES: usize = 3;
/// The maximum number of nodes of a picture.
const MOST_NODES: usize = 32;

/// Returns the picture of the points of a file, if they make one.
pub fn picture(rows: &[Row], name: &str) -> Option<Picture> {
    let shown = differing(rows.iter());
    if shown.has(WORKING_SET) {
        let apart = shown.without(WORKING_SET.into());
        let mut lines = lines_of(rows, apart).take(MOST_LINES).map(|(first, line)| {
            let label = Label { row: first, shown: apart };
            series(line, format!("{label}"))
        });
        chart(vector(&mut lines), title(rows), name, unit(rows))
    } else if shown.meets(ColumnSet::NODES) && unit(rows) != SEVERAL {
        matrix(rows, name)
    } else {
        None
    }
}

/// Returns the rows of one line as a series, by ascending size.
fn series<'r>(rows: impl Iterator<Item = &'r Row>, name: String) -> Series {
    let mut points = rows.map(|row| {
        let band = row.interval().filter(|_| row.traffic().is_none());
        ChartPoint {
            band: band.map(|band| (band.low, band.high)),
            ..ChartPoint::new(row.size().0.real(), value(row))
        }
    });
    Series::sorted(name, &mut points)
}

/// Returns the picture of some lines, if there are any.
fn chart(series: Vec<Series>, title: String, subtitle: &str, unit: &'static str) -> Option<Picture> {
    let [_, axis] = quantity(unit);
    let y_axis = Axis { title: axis, unit: Unit::Plain(unit), scale: Scale::Auto };
    (!series.is_empty())
        .then(|| Picture::Chart(Chart::of([title, subtitle.into()], [Axis::WORKING_SET, y_axis], series)))
}

/// Returns the rows of each line: those that differ only in their size.
fn lines_of(
    rows: &[Row],
    apart: ColumnSet,
) -> impl Iterator<Item = (&Row, impl Iterator<Item = &Row> + Clone)> {
    rows.iter().enumerate().filter_map(move |(index, first)| {
        let known = rows.get(..index).unwrap_or_default().iter().any(|row| row.is_same(first, apart));
        let line = rows.iter().filter(move |row| row.is_same(first, apart));
        (!known && line.clone().count() >= FEWEST_SIZES).then_some((first, line))
    })
}

/// Draws the first line of each of several curves in one chart, if there are at least two and at most `MOST_LINES`.
pub fn overlay<'r>(document: &mut Shown, curves: impl Iterator<Item = (&'r [Row], String)>) {
    let lines = curves.filter_map(|(rows, name)| {
        let apart = differing(rows.iter());
        let is_curve = apart.has(WORKING_SET) && unit(rows) == "ns";
        let mut lines = lines_of(rows, apart.without(WORKING_SET.into()));
        let (_, line) = is_curve.then(|| lines.next())??;
        Some(series(line, name))
    });
    let lines = vector(&mut lines.take(MOST_LINES + 1));
    if (2..=MOST_LINES).contains(&lines.len())
        && let Some(picture) = chart(lines, "Latency by working set".into(), "saved curves", "ns")
    {
        document.picture(picture);
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
fn title(rows: &[Row]) -> String {
    match AxisRange::of(&mut |each| rows.iter().for_each(|row| each(value(row)))) {
        Some(AxisRange { low, high }) => {
            let [before, _] = quantity(unit(rows));
            format!("{before}{} to {} {}", Digits(low), Digits(high), unit(rows))
        }
        None => String::new(),
    }
}

/// Returns the picture of the first point of each pair of nodes, if there are not too many nodes.
fn matrix(rows: &[Row], name: &str) -> Option<Picture> {
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for (one, other) in rows.iter().filter_map(Row::pair) {
        for (nodes, node) in [(&mut from, one), (&mut to, other)] {
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
    }
    let cell = |from: u32, to: u32| {
        let found = rows.iter().find(|row| row.pair() == Some((from, to)));
        found.map(value).ok_or("not in the file")
    };
    let fits = from.len().max(to.len()) <= MOST_NODES;
    let matrix = Matrix {
        title: title(rows),
        subtitle: name.into(),
        unit: unit(rows),
        noun: "node",
        rows: from,
        columns: to,
        ..Matrix::default()
    };
    fits.then(|| Picture::Matrix(matrix.filled(&cell)))
}

/// Returns the value of a point: nanoseconds, or GB/s for traffic.
pub fn value(row: &Row) -> f64 {
    let ns = row.nanoseconds();
    row.traffic().map_or(ns, |kind| kind.bytes_per_line() / ns)
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

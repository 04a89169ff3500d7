//! The values of a picture as a link to CSV. The link holds its data, so that a page needs no other file.

use core::fmt::{self, Write};

use crate::chart::Data;
use crate::escape::{Escaping, address, quoted};
use crate::figures::precise;
use crate::shown::Picture;

/// Writes a link to the values of a picture: the points of a chart, or the numbers of a matrix.
pub fn link(out: &mut dyn Write, picture: &Picture, number: u32) -> fmt::Result {
    write!(out, "<p><a download=\"picture-{number}.csv\" href=\"data:text/csv,")?;
    rows(&mut Escaping(out, address), picture)?;
    out.write_str("\">CSV</a></p>\n")
}

fn rows(out: &mut dyn Write, picture: &Picture) -> fmt::Result {
    match picture {
        Picture::Chart(chart) => {
            let [x, y] = [&chart.x_axis, &chart.y_axis].map(|axis| quoted(axis.title));
            writeln!(out, "series,{x},{y},low,high")?;
            for series in &chart.series {
                let (Data::Points(points) | Data::Scatter(points)) = &series.data else { continue };
                for point in points.iter().filter(|point| point.is_drawable()) {
                    write!(out, "{},{},{}", quoted(&series.name), precise(point.x), precise(point.y))?;
                    match point.band {
                        Some((low, high)) => writeln!(out, ",{},{}", precise(low), precise(high))?,
                        None => out.write_str(",,\n")?,
                    }
                }
            }
        }
        Picture::Matrix(matrix) => {
            let (noun, unit) = (matrix.noun, quoted(matrix.unit));
            writeln!(out, "initiator_{noun},target_{noun},{unit}")?;
            for (row, column, cell) in matrix.cells() {
                if let Ok(value) = cell {
                    writeln!(out, "{row},{column},{}", precise(value))?;
                }
            }
        }
    }
    Ok(())
}

//! Pictures with a line for each kind of pages.

use alloc::format;
use alloc::vec::Vec;

use latency_core::units::Pages;

use crate::report::chart::{Chart, ChartPoint, Data, Series, vector};
use crate::report::shown::{Picture, Shown};
use crate::result::words::PageWords;

/// Draws `chart` with a line for each of `kinds`, unless there is none; `points` returns the points of a kind. A terminal
/// shows it only if `in_text` is true.
pub fn by_kind(
    document: &mut Shown,
    chart: Chart,
    kinds: &mut dyn Iterator<Item = Pages>,
    points: &dyn Fn(Pages) -> Vec<ChartPoint>,
    in_text: bool,
) {
    let line = |pages| Series { name: format!("{}", PageWords(pages)), data: Data::Points(points(pages)) };
    let series = vector(&mut kinds.map(line));
    if !series.is_empty() {
        document.draw(Picture::Chart(Chart { series, ..chart }), in_text);
    }
}

//! Pictures with a line for each kind of pages.

use latency_core::text::Text;
use latency_core::topology::MOST_POOLS;
use latency_core::units::Pages;

use crate::report::chart::{Chart, ChartPoint, Data, Series};
use crate::report::document::{Document, Picture};
use crate::result::words::PageWords;

/// The maximum number of points of a line.
const MOST: usize = 64;
/// The maximum number of kinds of pages: two without a pool, and as many with one as a node has pools.
const KINDS: usize = 2 + MOST_POOLS;

/// Draws `chart` with a line for each of `kinds`, unless there is none; `points` fills in the points of a kind, and
/// returns their number.
pub fn by_kind(
    document: &mut dyn Document,
    chart: &Chart<'_>,
    kinds: &mut dyn Iterator<Item = Pages>,
    points: &dyn Fn(Pages, &mut [ChartPoint]) -> usize,
) {
    let mut rooms = [(Text::<32>::EMPTY, [ChartPoint::new(f64::NAN, f64::NAN); MOST]); KINDS];
    let mut series = [Series { name: "", data: Data::Points(&[]) }; KINDS];
    let mut count = 0;
    for ((pages, (name, room)), slot) in kinds.zip(&mut rooms).zip(&mut series) {
        *name = Text::of(format_args!("{}", PageWords(pages)));
        let length = points(pages, room);
        *slot = Series { name: name.as_str(), data: Data::Points(room.get(..length).unwrap_or_default()) };
        count += 1;
    }
    if count > 0 {
        let series = series.get(..count).unwrap_or_default();
        document.picture(Picture::Chart(&Chart { series, ..*chart }));
    }
}

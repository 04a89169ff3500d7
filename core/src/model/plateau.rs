//! The latency of a level, computed directly from the points on its flat part.
//!
//! There is no model: the longest run of neighbouring points within a band is the plateau, and their median with its
//! interval is the latency. The caller gives the two sizes between which the plateau is searched.

use super::workspace::{FitError, Point, Row, Workspace};
use crate::stats::{self, Estimate};

/// Minimum distance of a plateau from both ends of its level, as a factor: misses begin gradually, and other data of
/// the program also occupies the cache.
const MARGIN: f64 = 1.25;
/// Width of the band around a plateau, as a fraction of the latency and in spreads of the points: the larger of the
/// two is used.
const FLAT: f64 = 0.02;
const SPREADS: f64 = 4.0;
/// Maximum width of the band for any spread, as a fraction: levels differ by at least 15 %.
const WIDEST: f64 = 0.08;
/// Minimum number of points of a plateau: three determine the latency better than a fit of all levels at once.
const ENOUGH: usize = 3;

/// A flat part of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// The median latency and its 95 % interval; with fewer than six points, their whole range.
    pub latency: Estimate,
    /// The smallest working set on the plateau.
    pub from: f64,
    /// The largest working set on the plateau.
    pub to: f64,
    /// The number of points on the plateau.
    pub count: usize,
}

/// Returns the longest plateau of at least three points between two sizes, with a margin to each; `None` if there is
/// no plateau.
///
/// # Errors
///
/// [`FitError`] if there are too many points, or if one is not positive and finite.
pub fn plateau(
    points: &[Point],
    (low, high): (f64, f64),
    workspace: &mut Workspace,
) -> Result<Option<Plateau>, FitError> {
    workspace.load(points)?;
    let band = FLAT.max(SPREADS * workspace.spread).min(WIDEST);
    let all = workspace.rows();
    let begin = all.partition_point(|row| row.point.working_set < low * MARGIN);
    let end = all.partition_point(|row| row.point.working_set <= high / MARGIN);
    let inside = all.get(begin..end).unwrap_or_default();
    let mut best = inside.get(..0).unwrap_or_default();
    for first in 0..inside.len() {
        let run = flat(inside.get(first..).unwrap_or_default(), band);
        if run.len() > best.len() {
            best = run;
        }
    }
    let (Some(first), Some(last)) = (best.first(), best.last()) else { return Ok(None) };
    let (from, to, count) = (first.point.working_set, last.point.working_set, best.len());
    if count < ENOUGH {
        return Ok(None);
    }
    let latencies = workspace
        .collect(|Row { point, .. }| (from..=to).contains(&point.working_set).then_some(point.latency));
    Ok(stats::summarise(latencies).map(|summary| Plateau { latency: summary.or_range(), from, to, count }))
}

/// Returns the longest run of points, starting with the first, that lies within a band.
fn flat(rows: &[Row], band: f64) -> &[Row] {
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    let inside = rows.iter().take_while(|Row { point, .. }| {
        (least, most) = (least.min(point.latency), most.max(point.latency));
        most <= least * (1.0 + band)
    });
    rows.get(..inside.count()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;
    use std::vec::Vec;

    fn found(latencies: &[f64], range: (f64, f64)) -> Option<Plateau> {
        let points: Vec<Point> = latencies
            .iter()
            .enumerate()
            .map(|(index, latency)| Point::new(1000.0 * 2f64.powf(index as f64 / 2.0), *latency))
            .collect();
        plateau(&points, range, &mut Workspace::new(&|| false)).unwrap()
    }

    #[test]
    fn the_longest_flat_run_is_the_plateau() {
        let curve = [5.0, 5.01, 5.0, 9.0, 16.0, 16.1, 16.05, 16.1, 16.0, 16.2, 40.0, 90.0];
        let all = found(&curve, (0.0, f64::INFINITY)).unwrap();
        assert!((all.latency.value - 16.075).abs() < 1e-9 && all.count == 6, "{all:?}");
        let interval = all.latency.interval.unwrap();
        assert!(interval.low >= 16.0 && interval.high <= 16.2, "{interval:?}");
        assert!((all.from / 4000.0 - 1.0).abs() < 1e-9, "{all:?}");
        let first = found(&curve, (0.0, 4000.0)).unwrap();
        assert_eq!(first.latency, Estimate { value: 5.0, interval: Some(Interval { low: 5.0, high: 5.01 }) });
    }

    #[test]
    fn a_slope_or_two_points_are_not_a_plateau() {
        let slope: Vec<f64> = (0..20).map(|index| 10.0 * 1.05f64.powi(index)).collect();
        assert_eq!(found(&slope, (0.0, f64::INFINITY)), None);
        assert_eq!(found(&[5.0, 5.0, 16.0], (0.0, f64::INFINITY)), None);
        assert_eq!(found(&[5.0; 9], (1000.0, 1500.0)), None);
        assert_eq!(found(&[], (0.0, 1e9)), None);
    }

    #[test]
    fn an_outlier_splits_a_plateau_and_does_not_move_it() {
        let mut curve = [7.0; 12];
        curve[4] = 11.0;
        let split = found(&curve, (0.0, f64::INFINITY)).unwrap();
        assert_eq!((split.latency.value, split.count), (7.0, 7));
    }
}

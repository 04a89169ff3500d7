//! The choice of the working set to measure next, so that a few points show every knee.
//!
//! Starting from a coarse grid, the interval over which the latency changes most is split at its
//! geometric middle. The input should be medians of at least two sweeps: with single measurements,
//! new points accumulate in noisy intervals.

use crate::math::{ToReal, exp, ln, whole};
use crate::units::Bytes;
use core::f64::consts::LN_2;

/// Minimum difference of two latencies, as |ln ratio|, for a point between them.
const SMALLEST_RATIO: f64 = 0.03;
/// Minimum distance between two points, in octaves. A coarse grid of two points per octave from 4 KiB to 2 GiB has 39
/// points, and each knee needs about four more.
const SMALLEST_OCTAVES: f64 = 1.0 / 16.0;

/// Returns the working set that splits the steepest interval of a curve, a multiple of `granule`, which is one node of
/// the chain; `None` if the curve is fine enough.
///
/// `curve` contains pairs of working set and latency (in any unit), by ascending working set.
/// Intervals with latencies that are not positive and finite are skipped.
pub fn next_size(curve: &[(Bytes, f64)], granule: Bytes) -> Option<Bytes> {
    let mut best = (0.0, None);
    for pair in curve.windows(2) {
        let &[(low, low_latency), (high, high_latency)] = pair else { continue };
        let ratio = ln(high_latency / low_latency).abs();
        if ratio.is_finite()
            && ratio >= SMALLEST_RATIO
            && ratio > best.0
            && let Some(middle) = middle(low, high, granule)
        {
            best = (ratio, Some(middle));
        }
    }
    best.1
}

/// Returns the geometric middle of two working sets, unless it is too close to one of them.
fn middle(low: Bytes, high: Bytes, granule: Bytes) -> Option<Bytes> {
    if low.0 == 0 || high.0 <= low.0 {
        return None;
    }
    let (ln_low, ln_high) = (ln(low.0.real()), ln(high.0.real()));
    let middle = whole(exp(0.5 * (ln_low + ln_high)));
    let rounded = middle.saturating_add(granule.0 / 2) / granule.0 * granule.0;
    // A tolerance of half a percent accepts the rounded sizes of a grid of exact powers.
    let closest = SMALLEST_OCTAVES * LN_2 * 0.995;
    let ln_middle = ln(rounded.real());
    let fits = rounded > low.0
        && rounded < high.0
        && ln_middle - ln_low >= closest
        && ln_high - ln_middle >= closest;
    fits.then_some(Bytes(rounded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::LINE;
    use std::vec::Vec;

    fn refine(from: u32, to: u32, latency: impl Fn(f64) -> f64) -> Vec<(Bytes, f64)> {
        let point = |size: Bytes| (size, latency(size.0 as f64));
        let mut curve: Vec<_> = (from..=to).map(|octave| point(Bytes(1 << octave))).collect();
        while let Some(size) = next_size(&curve, LINE) {
            let at = curve.partition_point(|(known, _)| *known < size);
            assert!(at > 0 && at < curve.len() && curve[at].0 != size);
            assert_eq!(size.0 % LINE.0, 0);
            curve.insert(at, point(size));
        }
        curve
    }

    #[test]
    fn closes_in_on_a_knee_to_a_sixteenth_of_an_octave() {
        let edge = 49_152.0;
        let curve = refine(12, 31, |size| if size <= edge { 1.0 } else { 4.0 });
        let above = curve.partition_point(|(size, _)| size.0 as f64 <= edge);
        let width = curve[above].0.0 as f64 / curve[above - 1].0.0 as f64;
        assert!(width < 1.1, "{width}");
        assert!(curve.len() < 26, "{}", curve.len());
        for pair in curve.windows(2) {
            assert!((pair[1].0.0 as f64 / pair[0].0.0 as f64).log2() > 0.99 / 16.0);
        }
    }

    #[test]
    fn a_flat_curve_needs_no_more_points() {
        assert_eq!(refine(12, 31, |_| 7.0).len(), 20);
    }

    #[test]
    fn skips_latencies_that_are_not_a_number() {
        let curve = [(Bytes(0), 1.0), (Bytes(64), f64::NAN), (Bytes(64), 0.0), (Bytes(128), f64::INFINITY)];
        assert_eq!(next_size(&curve, LINE), None);
        assert_eq!(next_size(&[], LINE), None);
        let edge = [(Bytes(1), 1.0), (Bytes(u64::MAX), 2.0)];
        assert!(next_size(&edge, LINE).is_some());
        assert_eq!(next_size(&[(Bytes(4096), 1.0), (Bytes(4160), 9.0)], LINE), None);
    }
}

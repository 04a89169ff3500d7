//! Answers from saved curves of real machines.

use super::*;
use crate::analysis::expect::between::MeasuredCurve;
use crate::commands::report::saved::read_into;
use crate::saved::Saved;
use latency_core::Pcg32;
use latency_engine::result::Sample;
use std::format;
use std::vec::Vec;

/// Saved curves: a virtual machine on a shared host in 4 KiB pages, up to 4 GiB, and with 8 points an octave, then older
/// ones of two other machines.
const CURVES: [&str; 6] = [
    "expect/small-pages.csv",
    "expect/four-gibibytes.csv",
    "expect/to-64-mebibytes.csv",
    "expect/virtual-machine.csv",
    "expect/shared-host.json",
    "saved/curve.csv",
];

/// Returns the points of a saved curve in ascending order.
fn points(name: &str) -> Vec<Sample> {
    let path = format!("{}/../tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(&path).unwrap();
    let draft = Saved::parse(&text, None).unwrap_or_else(|problem| panic!("{name}: {problem:?}"));
    let stride = draft.rows.iter().map(|row| row.stride()).min();
    let dense = draft.rows.iter().filter(|row| Some(row.stride()) == stride);
    let mut points: Vec<Sample> = dense.map(|row| row.sample()).collect();
    points.sort_by_key(|point| point.size);
    points
}

/// The left-out points, and those within the interval that the others give.
#[derive(Default)]
struct Coverage {
    asked: usize,
    within: usize,
    widths: Vec<f64>,
}

impl Coverage {
    /// Leaves out the points for which `is_out` returns true. Points below or above all others are refused.
    fn leave_out(&mut self, points: &[Sample], is_out: impl Fn(usize) -> bool) {
        let rest: Vec<Sample> =
            points.iter().enumerate().filter(|(index, _)| !is_out(*index)).map(|(_, point)| *point).collect();
        let curve = MeasuredCurve::of(&rest);
        for (_, point) in points.iter().enumerate().filter(|(index, _)| is_out(*index)) {
            let Some(found) = curve.at(point.size) else { continue };
            let interval = found.expected.interval.unwrap();
            self.asked += 1;
            self.within +=
                usize::from(interval.low <= point.nanoseconds && point.nanoseconds <= interval.high);
            self.widths.push((interval.high - interval.low) / found.expected.value);
        }
    }

    fn percent(&self) -> f64 {
        100.0 * self.within as f64 / self.asked as f64
    }

    /// Returns the median width of the intervals, relative to their values.
    fn width(&self) -> f64 {
        let mut widths = self.widths.clone();
        widths.sort_by(f64::total_cmp);
        widths[widths.len() / 2]
    }
}

#[test]
fn left_out_thirds_of_real_curves_lie_within_the_interval() {
    let mut all = Coverage::default();
    for name in CURVES {
        let points = points(name);
        let mut own = Coverage::default();
        for third in 0..3 {
            own.leave_out(&points, |index| index % 3 == third);
            all.leave_out(&points, |index| index % 3 == third);
        }
        assert!(own.asked >= 25 && own.percent() >= 90.0, "{name}: {:.1} of {}", own.percent(), own.asked);
        std::println!("{name}: {:.1} % of {}, width {:.3}", own.percent(), own.asked, own.width());
    }
    std::println!("all: {:.1} % of {}, width {:.3}", all.percent(), all.asked, all.width());
    assert!(all.asked > 280 && all.percent() >= 95.0, "{:.1} % of {}", all.percent(), all.asked);
    // Half of the intervals of the points themselves are wider than a quarter.
    assert!(all.width() < 0.5, "{}", all.width());
}

#[test]
fn random_thirds_of_real_curves_lie_within_the_interval() {
    let mut all = Coverage::default();
    let mut rng = Pcg32::new(5, 0);
    for points in CURVES.map(points) {
        for _ in 0..10 {
            let out: Vec<bool> = points.iter().map(|_| rng.below(3) == 0).collect();
            all.leave_out(&points, |index| out[index]);
        }
    }
    std::println!("random: {:.1} % of {}, width {:.3}", all.percent(), all.asked, all.width());
    assert!(all.asked > 900 && all.percent() >= 95.0, "{:.1} % of {}", all.percent(), all.asked);
}

#[test]
fn results_of_a_joined_table_have_the_names_of_their_hosts() {
    let table = "host,started,experiment,working_set_bytes,ns\nn1,2026-11-22T01:20:00Z,curve,65536,1\n\
                 n2,2026-11-22T01:20:00Z,parallel,65536,2\n";
    let mut files = Vec::new();
    read_into(&mut files, b"a", table.as_bytes(), false).unwrap();
    let results: Vec<_> = files.iter().map(result).collect();
    assert_eq!(results.iter().map(|result| result.host).collect::<Vec<_>>(), ["n1", "n2"]);
}

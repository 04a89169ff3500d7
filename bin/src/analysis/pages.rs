//! Conclusions about translation buffers from the points with one line on each page.

use latency_core::math::ToReal;
use latency_core::model::translation::PageKnee;
use latency_core::model::{MAX_LEVELS, Point, Workspace, fit_stair};
use latency_core::units::PageSize;

use crate::result::sample::{Sample, Samples, collect};

/// Least step of a miss in a translation buffer, as a share of the first latency: a miss costs cycles, and a hit in the
/// first level costs four or five.
const LEAST_STEP: f64 = 0.25;

/// Share of misses below which a number of pages fits in a buffer.
const FEW: f64 = 0.25;
/// Least share of the knee at which that number of pages replaces the knee.
const CLOSE: f64 = 0.7;

/// Returns the base page of the machine on which saved samples were measured: a curve has points with one line on each
/// page. Without them it is 4 KiB.
#[must_use]
#[inline(never)] // it is called in several places
pub fn page_of(samples: Samples<'_>) -> PageSize {
    let is_there = |page: &PageSize| samples.iter().any(|sample| sample.stride == page.bytes());
    PageSize::BASES.into_iter().find(is_there).unwrap_or(PageSize::KIB_4)
}

/// The knees of the points with one line on each page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Knees {
    knees: [PageKnee; MAX_LEVELS],
    count: usize,
    /// True if there are points with one line on each page.
    pub(super) looked: bool,
}

impl Knees {
    pub(super) fn of(
        samples: impl Iterator<Item = Sample>,
        page: PageSize,
        in_cycles: bool,
        workspace: &mut Workspace,
    ) -> Knees {
        let mut knees = Knees { knees: [PageKnee::default(); MAX_LEVELS], count: 0, looked: false };
        let mut points = [Point::default(); 64];
        let page = page.bytes();
        let sparse = samples.filter(|sample| sample.stride == page);
        let by_pages = sparse.map(|sample| {
            let point = sample.point(in_cycles);
            Point { working_set: point.working_set / page.0.real(), ..point }
        });
        let points: &[_] = collect(&mut points, by_pages);
        let Ok(fit) = fit_stair(points, None, workspace) else { return knees };
        knees.looked = true;
        let first = fit.levels().first().map_or(0.0, |level| level.latency.value);
        let steps =
            fit.levels().iter().filter(|level| level.resolved && level.step.value >= first * LEAST_STEP);
        let found = steps.map(|level| {
            // The capacity between the two numbers of pages around a sharp step is unknown. The lower one is taken,
            // since the numbers that are tried are typical numbers of entries.
            let few = level.latency.value + level.step.value * FEW;
            let holds = |point: &&Point| point.working_set <= level.half && point.latency < few;
            let held = points.iter().filter(holds).map(|point| point.working_set).fold(0.0, f64::max);
            let beyond = points.iter().map(|point| point.working_set).filter(|pages| *pages > level.half);
            let pages = if held > level.half * CLOSE { held } else { level.half };
            PageKnee { pages, most: beyond.fold(f64::INFINITY, f64::min), step: level.step.value }
        });
        knees.count = collect(&mut knees.knees, found).len();
        knees
    }

    /// Returns the knee nearest to a given number of pages.
    pub(super) fn at(&self, pages: f64) -> Option<PageKnee> {
        let distance = |knee: PageKnee| (knee.pages - pages).abs();
        let nearer = |one, other| if distance(other) < distance(one) { other } else { one };
        self.as_slice().iter().copied().reduce(nearer)
    }

    pub(super) fn as_slice(&self) -> &[PageKnee] {
        self.knees.get(..self.count).unwrap_or_default()
    }
}

/// Returns whether a line on each of some hundred pages costs more than a line on each of a few pages. If the processor
/// uses huge pages too, all of these pages are covered by one or two entries of a translation buffer.
///
/// The numbers of pages are below the number of lines of any first-level cache, so that the effect is not that of a
/// cache.
#[must_use]
pub fn translates_small_pages(samples: impl Iterator<Item = Sample> + Clone, page: PageSize) -> bool {
    const FEW: u64 = 32;
    const MANY: (u64, u64) = (192, 256);
    const RISE: f64 = 1.2;
    let latency = |least: u64, most: u64| {
        let within = move |sample: &Sample| {
            sample.stride == page.bytes() && (least..=most).contains(&page.count(sample.size))
        };
        let latency = |sample: Sample| sample.core_cycles.unwrap_or(sample.nanoseconds);
        samples.clone().filter(within).map(latency).fold(f64::NAN, f64::min)
    };
    latency(MANY.0, MANY.1) > latency(0, FEW) * RISE
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Core cycles on a Zen 4 guest with 2 MiB pages that the host backs with small ones: 72 entries, then 512 lines of
    /// L1.
    const MEASURED: [(u64, f64); 17] = [
        (16, 4.001),
        (24, 4.001),
        (32, 4.001),
        (40, 4.001),
        (48, 3.998),
        (56, 4.001),
        (64, 4.004),
        (72, 4.007),
        (80, 11.001),
        (96, 11.001),
        (128, 11.002),
        (192, 11.001),
        (256, 11.001),
        (384, 11.016),
        (512, 13.793),
        (1024, 22.047),
        (2048, 22.134),
    ];

    fn samples(page: PageSize, points: &[(u64, f64)]) -> Vec<Sample> {
        let sample = |&(pages, cycles): &(u64, f64)| Sample {
            size: page.bytes().times(pages),
            stride: page.bytes(),
            nanoseconds: cycles / 3.7,
            core_cycles: Some(cycles),
            ..Sample::EMPTY
        };
        // A curve has points with adjacent lines too.
        points.iter().map(sample).chain([Sample::EMPTY]).collect()
    }

    #[test]
    fn the_first_buffer_is_found_by_its_cost() {
        for page in PageSize::BASES {
            let samples = samples(page, &MEASURED);
            let sample = |index: usize| samples.get(index).copied();
            assert_eq!(page_of(Samples::new(samples.len(), &sample)), page);
            let knees = Knees::of(samples.iter().copied(), page, true, &mut Workspace::new(&|| false));
            let knee = knees.at(72.0).unwrap();
            assert!(knee.pages == 72.0 && (knee.step - 7.0).abs() < 0.1, "{knee:?}");
            assert!(translates_small_pages(samples.into_iter(), page));
        }
    }

    #[test]
    fn a_flat_curve_has_no_buffer() {
        let flat: Vec<_> = MEASURED.iter().map(|&(pages, _)| (pages, 4.0 + pages as f64 * 1e-5)).collect();
        let page = PageSize::KIB_4;
        let samples = |points: &[(u64, f64)]| samples(page, points).into_iter();
        let knees = Knees::of(samples(&flat), page, true, &mut Workspace::new(&|| false));
        assert!(knees.looked && knees.as_slice().is_empty());
        assert!(!translates_small_pages(samples(&flat), page));
        assert!(!translates_small_pages(samples(&[]), page));
    }
}

//! The size of pages as the processor's translation buffers see it. A hypervisor may back a page of the kernel by
//! smaller pages, and then the buffers hold the smaller ones.
//!
//! The probe walks the same number of lines twice: each line on a base page of its own, and side by side. The
//! difference is the cost of translation alone. On huge pages it vanishes, since one or two of them hold all lines; if
//! it is the same as on base pages, the pages are small.
//!
//! The probe uses the memory that was measured, and overwrites its chain once the last walk is done: a host may back
//! other memory of the same kind by other pages.

use latency_core::arch::Line;
use latency_core::chain::Order;
use latency_core::{Bytes, PageSize, stats};

use crate::error::{Attempt, MeasureError};
use crate::machine::Platform;
use crate::memory::chains;
use crate::placement::{self, Placement, Witness};
use crate::result::{Outcome, Placed, Point, Walk};
use crate::schedule::walks::timed;
use crate::session::Session;
use crate::stopwatch::Stopwatch;
use crate::warning::{Warning, Warnings};

/// Lines of a walk: more than any first-level buffer has entries for, and fewer than any second-level one.
const LINES: u64 = 1024;
/// Number of rounds, each with all four walks.
const ROUNDS: usize = 9;
/// Laps of a walk, which last 40 us.
const LAPS: u64 = 8;
/// Minimum cost of a TLB miss for a verdict, as a share of the latency without one.
const LEAST: f64 = 0.1;
/// Share of the cost on small pages below which the pages are large, and share above which they are small.
const BOUNDS: (f64, f64) = (0.3, 0.7);

/// Tests whether the translation buffers treat the huge pages of the measured memory in `placement` as small ones; the
/// memory holds other chains afterwards. Returns `None` for base pages, under an emulator, which has no translation
/// buffers, after an interrupt, if no memory is left for the comparison, and if the costs do not decide it.
///
/// # Errors
///
/// The errors of a walk.
pub fn ask(session: &Session<'_>, like: &Point, placement: &mut Placement) -> Attempt<Option<bool>> {
    let (lines, Witness { target, pages, .. }) = placement.split();
    let machine = session.machine;
    if pages.are_base() || machine.processor.platform == Platform::Emulated {
        return Ok(None);
    }
    let (base, span) = (machine.base_pages(), machine.page.bytes().times(LINES));
    let found = Placement::new(machine, target, span, base).and_then(|mut small| {
        placement::pin(like.cpu)?;
        compare(&Stopwatch::new(session.timer, None), like, machine.page, [small.split().0, lines])
    });
    match found {
        // The measurement is complete without the probe.
        Err(MeasureError::Placement(_) | MeasureError::Interrupted) => Ok(None),
        found => found,
    }
}

/// Records the answer for the memory of the points that `is_there` chooses.
pub fn record(outcomes: &mut [Outcome], as_small: Option<bool>, is_there: &dyn Fn(&Point) -> bool) {
    for outcome in outcomes {
        if let Ok(measured) = &mut outcome.result
            && is_there(&outcome.point)
        {
            measured.placed.as_small = as_small;
        }
    }
}

/// Combines the answers of all measured memory, and warns about huge pages that the translation buffers treat as base
/// pages of the size `base`. Returns true if there are any, and `None` without an answer.
pub fn conclude<'p>(
    warnings: &mut Warnings,
    base: PageSize,
    all: impl Iterator<Item = &'p Placed>,
) -> Option<bool> {
    let mut found = None;
    for placed in all {
        if let (Some(true), Some(page)) = (placed.as_small, placed.pages.size()) {
            warnings.push(Warning::HugePagesWithoutEffect { page, base });
        }
        found = found.max(placed.as_small);
    }
    found
}

/// Compares `measured` lines with lines on `small` pages, which have the size `page`, and returns true if their pages are
/// as small. The rounds use positions all over the measured lines in turn, so that the majority of the pages decides.
/// Returns `None` if the costs do not decide it.
fn compare(
    watch: &Stopwatch,
    like: &Point,
    page: PageSize,
    [small, measured]: [&mut [Line]; 2],
) -> Attempt<Option<bool>> {
    let length = size_of_val(measured) as u64;
    let Some(room) = length.checked_sub(LINES << page.log2()) else { return Ok(None) };
    let mut times = [[f64::NAN; ROUNDS]; 4];
    for round in 0..ROUNDS {
        let first =
            page.whole(Bytes(room / (ROUNDS as u64 - 1) * round as u64)).0 as usize / size_of::<Line>();
        for (index, times) in times.iter_mut().enumerate() {
            let lines = if index < 2 { &mut *small } else { measured.get_mut(first..).unwrap_or_default() };
            let stride = if index % 2 == 0 { page.bytes() } else { like.line.bytes() };
            if let Some(slot) = times.get_mut(round) {
                *slot = visit(watch, lines, like, stride)?;
            }
        }
    }
    let [small, near_small, large, near_large] =
        times.map(|mut times| stats::median(&mut times).unwrap_or(f64::NAN));
    Ok(verdict([small, near_small], [large, near_large]))
}

/// Writes a chain of 1024 lines, walks it and returns nanoseconds per load.
fn visit(watch: &Stopwatch, lines: &mut [Line], like: &Point, stride: Bytes) -> Attempt<f64> {
    let kernel = &latency_core::kernel::POINTER;
    let point =
        Point { order: Order::Random, stride, size: stride.times(LINES), walk: Walk::Chain, kernel, ..*like };
    let mut latency = f64::NAN;
    chains::walk_new(watch, lines, &point, None, &mut |chase| {
        chase.walk(2 * LINES, f64::INFINITY)?;
        latency = timed(chase, LAPS * LINES, u64::MAX, f64::INFINITY)?;
        Ok(())
    })?;
    Ok(latency)
}

/// Returns true if the large pages behave like the small ones, and `None` if the latencies do not decide it. Each pair
/// is the latency of lines on pages of their own, and of lines side by side.
fn verdict([small, near_small]: [f64; 2], [large, near_large]: [f64; 2]) -> Option<bool> {
    let excess = small - near_small;
    let share = (large - near_large) / excess;
    let tells = excess > LEAST * near_small && (share <= BOUNDS.0 || share >= BOUNDS.1);
    tells.then_some(share >= BOUNDS.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Evidence, KernelClock, Means, Timer};
    use crate::tests::outcome::POINT;
    use latency_core::Pages;

    #[test]
    fn the_cost_of_tlb_misses_decides_the_page_size() {
        // Nanoseconds of Cascade Lake: 9 cycles for a miss of the first-level TLB, L2 hits of 14 cycles.
        assert_eq!(verdict([7.4, 4.5], [4.5, 4.5]), Some(false));
        assert_eq!(verdict([7.4, 4.5], [7.3, 4.5]), Some(true));
        assert_eq!(verdict([7.4, 4.5], [6.0, 4.5]), None);
        // If misses on small pages cost nothing, there is no verdict.
        assert_eq!(verdict([4.6, 4.5], [4.6, 4.5]), None);
        assert_eq!(verdict([f64::NAN, 4.5], [4.6, 4.5]), None);
    }

    #[test]
    fn the_probe_uses_the_measured_pages() {
        PageSize::BASES.into_iter().take(2).for_each(uses_the_measured_pages);
    }

    fn uses_the_measured_pages(page: PageSize) {
        let span = page.bytes().times(LINES);
        let timer = Timer::Kernel(KernelClock { step_ns: 1, overhead_ns: 0 });
        let watch = Stopwatch::new(timer, None);
        let like = Point { size: span.times(4), pages: Pages::of_pool(PageSize::MIB_2), ..POINT };
        // A value in every line of the measured chain that no probe writes.
        const MARK: [u64; 8] = [u64::MAX; 8];
        let lines = |span: Bytes| std::vec![Line(MARK); (span.0 / 64) as usize];
        let (mut small, mut measured) = (lines(span), lines(like.size));
        compare(&watch, &like, page, [&mut small, &mut measured]).unwrap();
        let written = |lines: &[Line]| lines.iter().filter(|line| line.0 != MARK).count();
        let parts: std::vec::Vec<_> = measured.chunks(measured.len() / 4).map(written).collect();
        // The probe visits positions all over the memory: each part has hundreds of pages with a line of a chain.
        assert!(parts.iter().all(|pages| *pages >= 256), "{parts:?}");
        assert!(written(&small) >= 1024);
        // Memory with fewer pages than the buffers have entries gives no verdict.
        let little = &mut measured[..1 << 10];
        assert_eq!(compare(&watch, &like, page, [&mut small, little]).unwrap(), None);
    }

    #[test]
    fn each_piece_of_memory_has_its_own_verdict() {
        let placed = |as_small| Placed {
            means: Means::SoleNode,
            pages: Pages::of_pool(PageSize::MIB_2),
            mapped: Bytes::MIB,
            before: Evidence::default(),
            after: Evidence::default(),
            as_small,
        };
        let found = |answers: [Option<bool>; 2]| {
            let mut warnings = Warnings::empty();
            let found = conclude(&mut warnings, PageSize::KIB_4, answers.map(placed).iter());
            (found, warnings.iter().count())
        };
        assert_eq!(found([None, None]), (None, 0));
        assert_eq!(found([Some(false), None]), (Some(false), 0));
        assert_eq!(found([Some(false), Some(true)]), (Some(true), 1));
        assert_eq!(found([Some(true), Some(true)]), (Some(true), 1));
    }
}

//! The size of pages as the processor's translation buffers see it. A hypervisor may back a page of the kernel by
//! smaller pages, and then the buffers hold the smaller ones.
//!
//! The probe walks the same number of lines twice: each line on a 4 KiB page of its own, and side by side. The
//! difference is the cost of translation alone. On huge pages it vanishes, since two of them hold all lines; if it is
//! the same as on 4 KiB pages, the pages are small.
//!
//! The probe uses the memory that was measured, and overwrites its chain once the last walk is done: a host may back
//! other memory of the same kind by other pages.

use latency_core::arch::Line;
use latency_core::chain::Order;
use latency_core::stats;
use latency_core::units::{Bytes, PageSize, Pages};

use crate::engine::memory::new_chain;
use crate::engine::memory::placement;
use crate::engine::memory::placement::{Placement, Witness};
use crate::engine::schedule::walks::timed;
use crate::engine::session::Session;
use crate::engine::stopwatch::Stopwatch;
use crate::engine::stopwatch::clock::Timer;
use crate::error::Failure;
use crate::machine::processor::Platform;
use crate::result::{Outcome, Placed, Point, Walk};
use crate::warning::{Warning, Warnings};

/// Lines of a walk: more than any first-level buffer has entries for, and fewer than any second-level one.
const LINES: u64 = 1024;
/// Bytes that the lines span: two huge pages.
const SPAN: Bytes = Bytes(LINES << 12);
/// Number of rounds, each with all four walks.
const ROUNDS: usize = 9;
/// Laps of a walk, which last 40 us.
const LAPS: u64 = 8;
/// Minimum cost of a miss, as a share of a hit, for a verdict.
const LEAST: f64 = 0.1;
/// Share of the cost on small pages below which the pages are large, and share above which they are small.
const BOUNDS: (f64, f64) = (0.3, 0.7);

/// Tests whether the translation buffers treat the huge pages of the measured memory in `placement` as small ones; the
/// memory holds other chains afterwards. Returns `None` for small pages, if the cost does not decide it, and under an
/// emulator, which has no translation buffers.
///
/// # Errors
///
/// The errors of a walk.
#[inline(never)] // offsets into a small frame are short
pub fn ask<'a>(
    session: &Session<'a, '_>,
    timer: &Timer,
    like: &Point,
    placement: &mut Placement,
) -> Result<Option<bool>, Failure<'a>> {
    let (lines, Witness { pages, target, .. }) = placement.split();
    if pages == Pages::Small4k || session.machine.processor.platform == Platform::Emulated {
        return Ok(None);
    }
    let asked = Placement::new(session.machine, target, SPAN, Pages::Small4k).and_then(|mut small| {
        placement::pin(like.cpu)?;
        compare(&Stopwatch::new(*timer, None), like, small.split().0, lines)
    });
    match asked {
        // The measurement is complete without the probe.
        Err(Failure::Placement(_) | Failure::Interrupted) => Ok(None),
        asked => asked,
    }
}

/// Records the answer for the memory of the points that `is_there` chooses.
pub fn record(outcomes: &mut [Outcome<'_>], as_small: Option<bool>, is_there: &dyn Fn(&Point) -> bool) {
    for outcome in outcomes {
        if let Ok(measured) = &mut outcome.result
            && is_there(&outcome.point)
        {
            measured.placed.as_small = as_small;
        }
    }
}

/// Combines the answers of all measured memory, and warns if the translation buffers treat huge pages as small ones.
pub fn conclude<'p>(warnings: &mut Warnings, all: impl Iterator<Item = &'p Placed>) -> Option<bool> {
    let mut found = None;
    for placed in all {
        if placed.as_small == Some(true) {
            // Transparent huge pages are of 2 MiB, though the mapping was requested with 4 KiB pages.
            let page = if placed.pages == Pages::Huge1g { PageSize::Huge1G } else { PageSize::Huge2M };
            warnings.push(Warning::HugePagesWithoutEffect { page });
        }
        found = found.max(placed.as_small);
    }
    found
}

/// Compares `measured` lines with lines on `small` pages, and returns true if their pages are as small. The rounds use
/// positions all over the measured lines in turn, so that the majority of the pages decides. Returns `None` if the
/// costs do not decide it.
fn compare(
    watch: &Stopwatch,
    like: &Point,
    small: &mut [Line],
    measured: &mut [Line],
) -> Result<Option<bool>, Failure<'static>> {
    const PAGE_LINES: usize = 4096 / 64;
    const SPAN_LINES: usize = LINES as usize * PAGE_LINES;
    let Some(room) = measured.len().checked_sub(SPAN_LINES) else { return Ok(None) };
    let mut times = [[f64::NAN; ROUNDS]; 4];
    for round in 0..ROUNDS {
        let first = room / (ROUNDS - 1) * round / PAGE_LINES * PAGE_LINES;
        for (index, times) in times.iter_mut().enumerate() {
            let lines = if index < 2 { &mut *small } else { measured.get_mut(first..).unwrap_or_default() };
            let stride = if index % 2 == 0 { PageSize::Small.bytes() } else { Bytes(64) };
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
fn visit(
    watch: &Stopwatch,
    lines: &mut [Line],
    like: &Point,
    stride: Bytes,
) -> Result<f64, Failure<'static>> {
    let kernel = &latency_core::kernel::POINTER;
    let point =
        Point { order: Order::Random, stride, size: stride.times(LINES), walk: Walk::Chain, kernel, ..*like };
    let mut latency = f64::NAN;
    new_chain::walk(watch, lines, &point, &mut |chase| {
        chase.walk(2 * LINES, f64::INFINITY)?;
        latency = timed(chase, LAPS * LINES, u64::MAX, f64::INFINITY)?;
        Ok(())
    })?;
    Ok(latency)
}

/// Compares the extra latency of lines on pages of their own over neighbouring lines, on small and on large pages.
fn verdict([small, near_small]: [f64; 2], [large, near_large]: [f64; 2]) -> Option<bool> {
    let excess = small - near_small;
    let share = (large - near_large) / excess;
    let tells = excess > LEAST * near_small && (share <= BOUNDS.0 || share >= BOUNDS.1);
    tells.then_some(share >= BOUNDS.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::evidence::Evidence;
    use crate::result::{KernelClock, Means};
    use latency_core::kernel::POINTER;
    use latency_core::units::{CpuId, NodeId};

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
        let timer = Timer::Kernel(KernelClock { step_ns: 1, overhead_ns: 0 });
        let watch = Stopwatch::new(timer, None);
        let like = Point {
            initiator: NodeId(0),
            cpu: CpuId(0),
            target: NodeId(0),
            kernel: &POINTER,
            order: Order::Random,
            size: SPAN.times(4),
            stride: Bytes(64),
            seed: 1,
            pages: Pages::Huge2m,
            walk: Walk::Chain,
        };
        // A value in every line of the measured chain that no probe writes.
        const MARK: [u64; 8] = [u64::MAX; 8];
        let lines = |span: Bytes| std::vec![Line(MARK); (span.0 / 64) as usize];
        let (mut small, mut measured) = (lines(SPAN), lines(like.size));
        compare(&watch, &like, &mut small, &mut measured).unwrap();
        let asked = |lines: &[Line]| lines.iter().filter(|line| line.0 != MARK).count();
        let parts: std::vec::Vec<_> = measured.chunks(measured.len() / 4).map(asked).collect();
        // The probe visits positions all over the memory: each part has hundreds of pages with a line of a chain.
        assert!(parts.iter().all(|pages| *pages >= 256), "{parts:?}");
        assert!(asked(&small) >= 1024);
        // Memory with fewer pages than the buffers have entries gives no verdict.
        let little = &mut measured[..1 << 10];
        assert_eq!(compare(&watch, &like, &mut small, little).unwrap(), None);
    }

    #[test]
    fn each_piece_of_memory_has_its_own_verdict() {
        let placed = |as_small| Placed {
            means: Means::SoleNode,
            pages: Pages::Huge2m,
            mapped: Bytes::MIB,
            before: Evidence::default(),
            after: Evidence::default(),
            as_small,
        };
        let found = |answers: [Option<bool>; 2]| {
            let mut warnings = Warnings::new();
            let found = conclude(&mut warnings, answers.map(placed).iter());
            (found, warnings.iter().count())
        };
        assert_eq!(found([None, None]), (None, 0));
        assert_eq!(found([Some(false), None]), (Some(false), 0));
        assert_eq!(found([Some(false), Some(true)]), (Some(true), 1));
        assert_eq!(found([Some(true), Some(true)]), (Some(true), 1));
    }
}

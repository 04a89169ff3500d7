//! The size of pages as the processor's translation buffers see it: what the kernel maps, a hypervisor may back by
//! smaller pages, and then the buffers hold those.
//!
//! As many lines are walked twice: each on a 4 KiB page of its own, and side by side. The difference is translation
//! alone. On huge pages it vanishes, since two of them hold all lines; where it is what it is on 4 KiB pages, the
//! pages are small.

use latency_core::chain::Order;
use latency_core::stats;
use latency_core::units::{Bytes, PageSize};

use super::clock::Timer;
use super::new_chain;
use super::placement::{self, Placement};
use super::session::Session;
use super::stopwatch::Stopwatch;
use crate::error::Failure;
use crate::machine::processor::Platform;
use crate::options::Pages;
use crate::result::{Outcome, Point, Walk};
use crate::warning::Warning;

/// More than any first-level buffer has entries for, and fewer than any second-level one.
const LINES: u64 = 1024;
/// Two huge pages.
const SPAN: Bytes = Bytes(LINES << 12);
/// So often all four walks take turns.
const ROUNDS: usize = 9;
/// Laps of a walk: 40 us.
const LAPS: u64 = 8;
/// A miss that costs less of a hit says nothing.
const LEAST: f64 = 0.1;
/// Below this share of what small pages cost the pages are large, above the other one they are small.
const BOUNDS: (f64, f64) = (0.3, 0.7);

/// Walks as many lines on pages like those of the largest of the `measured` points: whether the translation buffers
/// take them for small ones. `None` where that cannot be told, and under an emulator, which has no such buffers.
///
/// # Errors
///
/// [`Failure::Interrupted`], and those of a walk.
#[inline(never)] // offsets into a small frame are short
pub fn behave_as_small<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    measured: &[Outcome<'_>],
) -> Result<Option<bool>, Failure<'a>> {
    let huge = |outcome: &&Outcome<'_>| {
        let placed = outcome.result.as_ref().map(|measured| measured.placed.pages);
        placed.is_ok_and(|pages| pages.page_size() != PageSize::Small || pages == Pages::Thp)
    };
    let largest = measured.iter().filter(huge).max_by_key(|outcome| outcome.point.size);
    let Some(Outcome { point, result: Ok(found) }) = largest else { return Ok(None) };
    if session.machine.processor.platform == Platform::Emulated {
        return Ok(None);
    }
    let pages = found.placed.pages;
    let place = |pages| match Placement::new(session.machine, point.target, SPAN, pages) {
        Ok(placement) => Ok(Some(placement)),
        Err(Failure::Placement(_)) => Ok(None),
        Err(error) => Err(error),
    };
    let (Some(mut small), Some(mut large)) = (place(Pages::Small4k)?, place(pages)?) else { return Ok(None) };
    placement::pin(point.cpu)?;
    let watch = Stopwatch::new(*timer, None);
    let mut times = [[f64::NAN; ROUNDS]; 4];
    for round in 0..ROUNDS {
        for (index, times) in times.iter_mut().enumerate() {
            let placement = if index < 2 { &mut small } else { &mut large };
            let stride = if index % 2 == 0 { PageSize::Small.bytes() } else { Bytes(64) };
            if let Some(slot) = times.get_mut(round) {
                *slot = visit(&watch, placement, point, stride)?;
            }
        }
    }
    let [small, near_small, large, near_large] =
        times.map(|mut times| stats::median(&mut times).unwrap_or(f64::NAN));
    let small_pages = verdict([small, near_small], [large, near_large]);
    if small_pages == Some(true) {
        // Transparent ones are of 2 MiB, though the kernel asks for them by a mapping of 4 KiB.
        let page = if pages == Pages::Huge1g { PageSize::Huge1G } else { PageSize::Huge2M };
        session.warnings.push(Warning::HugePagesWithoutEffect { page });
    }
    Ok(small_pages)
}

/// Writes a chain of so many lines and walks it: nanoseconds per load.
#[inline(never)]
fn visit(
    watch: &Stopwatch,
    placement: &mut Placement,
    like: &Point,
    stride: Bytes,
) -> Result<f64, Failure<'static>> {
    let kernel = &latency_core::kernel::POINTER;
    let point =
        Point { order: Order::Random, stride, size: stride.times(LINES), walk: Walk::Chain, kernel, ..*like };
    let mut latency_ns = f64::NAN;
    new_chain::walk(watch, placement, &point, &mut |chase| {
        chase.walk(2 * LINES, f64::INFINITY)?;
        let (hops, spent_ns) = chase.walk(LAPS * LINES, f64::INFINITY)?;
        latency_ns = spent_ns / hops as f64;
        Ok(())
    })?;
    Ok(latency_ns)
}

/// Compares what lines on pages of their own take longer than neighbouring ones, on small and on large pages.
fn verdict([small, near_small]: [f64; 2], [large, near_large]: [f64; 2]) -> Option<bool> {
    let excess = small - near_small;
    let share = (large - near_large) / excess;
    let tells = excess > LEAST * near_small && (share <= BOUNDS.0 || share >= BOUNDS.1);
    tells.then_some(share >= BOUNDS.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_what_their_misses_cost() {
        // Nanoseconds of Cascade Lake: 9 cycles for a miss of the first buffer, L2 hits of 14.
        assert_eq!(verdict([7.4, 4.5], [4.5, 4.5]), Some(false));
        assert_eq!(verdict([7.4, 4.5], [7.3, 4.5]), Some(true));
        assert_eq!(verdict([7.4, 4.5], [6.0, 4.5]), None);
        // Where small pages cost nothing, nothing can be told.
        assert_eq!(verdict([4.6, 4.5], [4.6, 4.5]), None);
        assert_eq!(verdict([f64::NAN, 4.5], [4.6, 4.5]), None);
    }
}

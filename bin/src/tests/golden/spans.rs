//! Spans of addresses of an imaginary machine: a TLB of 64 and 1536 entries, whose tables leave the caches in the end.

use std::vec::Vec;

use super::scene::{Scene, Trouble};
use latency_core::{Bytes, Interval, Pages};
use latency_engine::machine::Machine;
use latency_engine::result::extra::KINDS;
use latency_engine::result::{SpanEnd, SpanPoint, SpanSeries};
use latency_sys::Errno;

/// Nanoseconds of a load without a TLB miss.
const HIT: f64 = 1.36;
/// Numbers of pages, as the search for both ends of the TLB leaves them.
const COUNTS: [u64; 33] = [
    8, 16, 32, 48, 64, 72, 80, 96, 128, 192, 256, 384, 512, 768, 1024, 1280, 1440, 1504, 1536, 1552, 1792,
    2048, 3072, 4096, 8192, 16_384, 32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576, 4_194_304,
];

/// Returns the nanoseconds of a load over a number of pages.
fn nanoseconds(count: u64) -> f64 {
    let miss = |entries: u64, cost: f64| if count > entries { cost } else { 0.0 };
    let beyond = |tables: u64, cost: f64| (1.0 - tables as f64 / count as f64).max(0.0) * cost;
    HIT + miss(64, 1.9) + miss(1536, 5.1) + beyond(1 << 17, 9.5) + beyond(1 << 19, 84.0)
}

/// Returns the points and the descriptions of all kinds of pages, unless the run ended before.
pub fn of(scene: &Scene, machine: &Machine) -> (Vec<SpanPoint>, [Option<SpanSeries>; KINDS]) {
    let has = |trouble| scene.troubles.contains(&trouble);
    if has(Trouble::Interrupted) || has(Trouble::Early) {
        return (Vec::new(), [None; KINDS]);
    }
    let entry = 8;
    let kinds = [
        (machine.base_pages(), machine.page.bytes(), 1 << 22, SpanEnd::Time),
        (Pages::thp(machine.huge_page()), machine.huge_page().bytes(), 1 << 15, SpanEnd::Largest),
    ];
    let mut points = Vec::new();
    let measured = kinds.map(|(pages, page, most, end)| {
        let end = match () {
            () if has(Trouble::Imprecise) && !pages.are_base() => SpanEnd::NotHuge,
            () if has(Trouble::KernelClock) && pages.are_base() => SpanEnd::Refused(Errno::ENOMEM),
            () => end,
        };
        let has_none = matches!(end, SpanEnd::NotHuge | SpanEnd::Refused(_));
        let most = if has_none { 0 } else { most };
        let point = |count: u64| SpanPoint {
            pages,
            count,
            nanoseconds: nanoseconds(count),
            interval: (!has(Trouble::FewRounds)).then(|| {
                let half = 0.01 * nanoseconds(count);
                Interval { low: nanoseconds(count) - half, high: nanoseconds(count) + half }
            }),
        };
        points.extend(COUNTS.into_iter().filter(|count| *count <= most).map(point));
        let span = page.times(most);
        Some(SpanSeries {
            pages,
            span,
            tables: (!has(Trouble::Unverified)).then(|| Bytes(span.0 * entry / machine.page.bytes().0)),
            tables_on_node: (!has(Trouble::Unverified) && !has_none).then_some(1.0),
            queried: !has(Trouble::Unverified),
            end,
            at_once: (most > 0).then_some(2.1),
        })
    });
    let mut series = [None; KINDS];
    series.iter_mut().zip(measured).for_each(|(slot, series)| *slot = series);
    (points, series)
}

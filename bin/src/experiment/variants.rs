//! One walk, nine ways: what the data structure adds to the latency of each level.

use latency_core::kernel::variants::VARIANTS;
use latency_core::units::{Bytes, PageSize};

use super::interface::Experiment;
use super::writers::variants;
use crate::engine::run;
use crate::engine::session::{Plan, Session};
use crate::options::{Descriptor, FlagId, FlagSet, Format, Operands, Pages};
use crate::plan::budget::{Budget, Optional, PLACES};
use crate::plan::{self, single};
use crate::result::Point;
use crate::sys::table::Table;

/// The time for a point, on average: those in memory need a second, and leave little for the others.
const SHARE_NS: f64 = 0.45e9;

/// The same walk in the data structures that programs keep it in.
pub const VARIANTS_EXPERIMENT: Experiment = Experiment {
    descriptor: Descriptor {
        name: "variants",
        summary: "the same walk written nine ways, at each level of the memory hierarchy",
        details: "Indices of four and eight bytes, with and without a bounds check, packed and one to a cache line; \
                  raw pointers, packed and one to a line; and the padded ones on 2 MiB pages. Each at half of the \
                  L1, half of the L2, a third of the L3 and in memory: one table, in nanoseconds and core cycles. \
                  Packed nodes share cache lines, so that a hop in memory may find its line in a cache.",
        flags: FlagSet::of(&[FlagId::CpuNode, FlagId::MemNode, FlagId::Cpu, FlagId::Size, FlagId::Seed])
            .union(FlagSet::SAMPLING)
            .union(FlagSet::PRESENTATION),
        formats: &[Format::Text, Format::Json, Format::Csv],
        operands: Operands::NONE,
    },
    plan,
    budget: |options, machine, points| {
        Budget { optional: Optional::Everything, ..Budget::new(options, machine) }
            .rewritten(PLACES)
            .within(SHARE_NS * points.len() as f64, points.len())
    },
    measure: run::measure,
    writers: &[(Format::Text, variants::text), (Format::Json, variants::json), (Format::Csv, variants::csv)],
};

/// Every variant at every size, by variant and then by size.
fn plan<'a>(session: &mut Session<'a, '_>) -> Plan<'a> {
    let Session { options, machine, .. } = *session;
    let like = single::like(options, machine, session.warnings)?;
    let page = |size: Bytes| Bytes((size.0 / 4096).max(1) * 4096);
    let sizes = [
        Some(page(Bytes(plan::curve::first_level_cache(machine).0 / 2))),
        single::cache(machine, 2).map(|cache| page(Bytes(cache.0 / 2))),
        single::cache(machine, 3).map(|cache| page(Bytes(cache.0 / 3))),
        Some(like.size),
    ];
    // What is as large as the working set of memory is no cache's.
    let sizes = || {
        let caches = sizes.into_iter().take(3).flatten().filter(|size| *size < like.size);
        caches.chain([like.size])
    };
    let huge = single::two_megabyte_pages(machine, like.target, Bytes(like.size.0 + like.size.0 / 4));
    let mut points = Table::filled(VARIANTS.len() * sizes().count(), like)?;
    let planned = VARIANTS.iter().flat_map(|variant| sizes().map(move |size| (variant, size)));
    for (slot, (variant, size)) in points.iter_mut().zip(planned) {
        let pages = if variant.pages == PageSize::Small { Pages::Small4k } else { huge };
        *slot = Point { kernel: variant.kernel, stride: variant.stride, pages, size, ..like };
    }
    Ok(points)
}

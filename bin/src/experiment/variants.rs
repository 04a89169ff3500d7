//! One walk in nine variants: the latency that the data structure adds at each level.

use core::fmt::{self, Display};

use latency_core::kernel::variants::{VARIANTS, Variant};
use latency_core::kernel::{Encoding, INDEX_CHECKED};
use latency_core::math::ToReal;
use latency_core::units::{Bytes, LINE};

use super::interface::Experiment;
use crate::analysis::huge_pages::Worth;
use crate::analysis::variants::{self, CycleDifference, VariantGrid};
use crate::describe::{self, Presentation, Report, columns, method, point, rows, trust};
use crate::engine::run;
use crate::error::Failure;
use crate::options::{Descriptor, FlagId, FlagSet};
use crate::plan::budget::{Budget, Optional, PLACES};
use crate::plan::{self, Plan, Planning, single};
use crate::report::document::{Level, Part, Role, fields, members};
use crate::report::figures::Digits;
use crate::report::shown::Shown;
use crate::result::sample::collect;
use crate::result::words::PageWords;
use crate::result::{Exclusion, Point};
use crate::sys::table::Table;
use latency_core::stats::Side;

/// Average time for a point: points in memory need a second, and leave little time for the others.
const SHARE_NS: f64 = 0.45e9;

/// The same walk in the data structures that programs use.
pub const VARIANTS_EXPERIMENT: Experiment = Experiment {
    descriptor: Descriptor {
        name: "variants",
        summary: "cost of nine data layouts, in each cache level",
        details: "Indices of four and eight bytes, with and without a bounds check, packed and one per \
                  cache line; raw pointers, packed and one per line; and one per line on 2 MiB pages. Each \
                  is measured in half of the L1, half of the L2, a part of the L3 and in memory (or at each \
                  doubling from --min-size to --max-size).",
        flags: FlagSet::of(&[FlagId::CpuNode, FlagId::MemNode, FlagId::Cpu])
            .union(FlagSet::SAMPLING)
            .union(FlagSet::WORKING_SET)
            .union(FlagSet::SIZES)
            .union(FlagSet::IDENTITY),
        ..Descriptor::OF_VALUES
    },
    plan,
    budget: |options, machine, points| {
        Budget { optional: Optional::Everything, ..Budget::new(options, machine) }
            .rewritten(PLACES)
            .within(SHARE_NS * points.len().real(), points.len())
    },
    measure: |_, session, timer, points, budget| run::measure(session, timer, points, budget),
    present: Presentation { answer, evidence, summary, rows: records, data },
};

/// Plans every variant at every size, in the order of variants and then of sizes.
fn plan<'a>(planning: &mut Planning<'_, 'a>) -> Plan<'a> {
    let machine = planning.machine;
    let like = single::like(planning)?;
    let half = |cache: Bytes| machine.page.whole(Bytes(cache.0 / 2)).max(machine.page.bytes());
    let levels = [
        Some(half(plan::curve::first_level_cache(machine))),
        single::cache(machine, 2).map(half),
        single::in_last_level(machine),
    ];
    // A size as large as the working set in memory does not belong to a cache.
    let caches = levels.into_iter().flatten().filter(|size| *size < like.size);
    let mut four = [like.size; 4];
    let range;
    let mut sizes: &[_] = collect(&mut four, caches.chain([like.size]));
    if planning.options.gave_range() {
        range = sizes_of_range(planning, &like)?;
        sizes = &range;
    }
    let most = sizes.last().map_or(0, |size| size.0);
    let huge = machine.huge_pages(like.target, Bytes(most + most / 4));
    let mut points = Table::filled(VARIANTS.len() * sizes.len(), like)?;
    for (variant, points) in VARIANTS.iter().zip(points.chunks_mut(sizes.len().max(1))) {
        let pages = if variant.huge { huge } else { machine.base_pages() };
        let stride = variant.stride_with(like.line);
        for (slot, &size) in points.iter_mut().zip(sizes) {
            *slot = Point { kernel: variant.kernel, stride, pages, size, ..like };
        }
    }
    Ok(points)
}

/// Returns the working sets of the range that the user gave.
fn sizes_of_range<'a>(planning: &mut Planning<'_, 'a>, like: &Point) -> Result<Table<Bytes>, Failure<'a>> {
    /// Working sets for each doubling, unless the user gave their number.
    const PER_OCTAVE: u32 = 1;
    let ends = plan::curve::ends(planning, like.target)?;
    let mut count = 0;
    plan::curve::sizes(planning.options, planning.machine, ends, PER_OCTAVE, &mut |_| count += 1);
    let mut sizes = Table::filled(count, ends.0)?;
    let mut slots = sizes.iter_mut();
    plan::curve::sizes(planning.options, planning.machine, ends, PER_OCTAVE, &mut |size| {
        if let Some(slot) = slots.next() {
            *slot = size;
        }
    });
    Ok(sizes)
}

fields! {
    FASTEST "fastest" "Fastest variant of each working set.";
    LEVEL "level" "Cache level that holds the working set, as reported; `memory` if its latency is memory latency.";
    NS "ns" "Latency of the fastest variant, in nanoseconds.";
}

fn evidence(document: &mut Shown, report: &Report<'_, '_>) {
    table(document, report);
    missing(document, report);
    method::memory(document, report);
    document.sentence(
        Role::Provenance("Method"),
        format_args!(
            "each load waits for the one before; random order; a line of {line} holds one element \
             (padded) or several (packed); page walks included; seed {seed}",
            line = report.machine.line.bytes(),
            seed = report.options.seed
        ),
    );
}

/// Returns the level of a column in the memory hierarchy, by the reported caches, or memory if its latency is that of
/// memory.
fn level(report: &Report<'_, '_>, grid: &VariantGrid<'_, '_>, column: usize) -> &'static str {
    let machine = report.machine;
    let size = grid.at(0, column).map_or(Bytes(0), |outcome| outcome.point.size);
    let [_, last] = grid.ends();
    let reaches = grid.at(0, last).is_some_and(|outcome| machine.reaches_memory(outcome.point.size));
    if reaches && grid.is_like_memory(column) {
        return "memory";
    }
    let holds = |cache: Option<Bytes>| cache.is_some_and(|cache| size <= cache);
    match () {
        () if size <= plan::curve::first_level_cache(machine) => "L1",
        () if holds(single::cache(machine, 2)) => "L2",
        () if holds(single::cache(machine, 3)) => "L3",
        () => "memory",
    }
}

/// Writes the savings from huge pages and from pointers: once, or for a working set in the middle of each level
/// if the user wants a range.
fn answer(document: &mut Shown, report: &Report<'_, '_>) {
    let grid = &VariantGrid::of(report.outcomes);
    if !report.options.gave_range() {
        return savings(document, report, grid, grid.ends());
    }
    let mut first = 0;
    for column in 0..grid.columns {
        let level = |column| level(report, grid, column);
        if column + 1 == grid.columns || level(column) != level(column + 1) {
            savings(document, report, grid, [(first + column) / 2; 2]);
            first = column + 1;
        }
    }
}

/// Writes the savings in the working sets of two columns: of pointers in the first, of huge pages in the last.
fn savings(document: &mut Shown, report: &Report<'_, '_>, grid: &VariantGrid<'_, '_>, columns: [usize; 2]) {
    let found = variants::conclude(grid, columns);
    let [first, last] = columns.map(|column| {
        let size = grid.at(0, column).filter(|_| report.options.gave_range()).map(|first| first.point.size);
        let level = level(report, grid, column);
        fmt::from_fn(move |out| {
            write!(out, "{level}{}", method::optional(size, |size, out| write!(out, " ({size})")))
        })
    });
    if let (Some((small, huge)), Some(ratio)) = (found.pages, found.small_over_huge()) {
        let (small, huge) = (Digits(small.value), Digits(huge.value));
        let like_small = report.health.pages_behave_as_small == Some(true);
        let worth = Worth::of(ratio, like_small);
        let base = report.machine.base_pages();
        let proven = !trust::is_poor(report.warnings);
        let words = match worth {
            _ if !proven => "make an uncertain difference",
            Worth::Pay => "save ",
            Worth::LikeSmall => "behave like ",
            Worth::Nothing => "bring no benefit",
            Worth::Cost => "are slower",
            Worth::Open => "bring no benefit beyond the uncertainty",
        };
        document.answer(format_args!(
            "In {last}, huge pages {words}{} ({huge} vs {small} ns with {}).",
            fmt::from_fn(|out| match worth {
                Worth::Pay if proven => {
                    write!(out, "{:.0}% of the latency", (1.0 - 1.0 / ratio.value) * 100.0)
                }
                Worth::LikeSmall if proven => write!(out, "{} in the TLB", PageWords(base)),
                _ => Ok(()),
            }),
            PageWords(base)
        ));
    }
    if let Some(cycles) = found.pointer_saves {
        document.answer(format_args!(
            "In {first}, a pointer instead of an 8-byte index {}.",
            difference(cycles, "saves", "costs")
        ));
    }
    if let Some(cycles) = found.check_costs {
        document
            .finding(format_args!("In {first}, a bounds check {}.", difference(cycles, "costs", "saves")));
    }
}

/// Writes a difference of core cycles for people, with the verbs for more and for less.
fn difference<'w>(found: CycleDifference, more: &'w str, less: &'w str) -> impl Display + 'w {
    fmt::from_fn(move |out| {
        let verb = if found.side == Side::Below { less } else { more };
        let words = match found.side {
            Side::Near => "nothing",
            Side::Open => "nothing beyond the uncertainty",
            Side::Above | Side::Below => {
                let cycles = found.cycles.abs();
                let plural = if (0.95..1.05).contains(&cycles) { "" } else { "s" };
                return write!(out, "{verb} {cycles:.1} core cycle{plural}");
            }
        };
        write!(out, "{verb} {words}")
    })
}

/// Writes the name of a variant for people: the form of its links, the use of its lines, and its pages.
fn label(variant: &Variant) -> impl Display + '_ {
    fmt::from_fn(|out| {
        match variant.kernel.encoding {
            Encoding::Pointer => out.write_str("pointer")?,
            index => write!(out, "{}-byte index", index.width().0)?,
        }
        out.write_str(match variant.stride {
            // Every checked variant is packed.
            _ if core::ptr::eq(variant.kernel, &INDEX_CHECKED) => ", checked",
            _ if variant.huge => ", huge pages",
            LINE => ", padded",
            _ => ", packed",
        })
    })
}

/// Shows a row for each variant and a column for each working set; the fastest variants of a column have a star.
fn table(document: &mut Shown, report: &Report<'_, '_>) {
    let grid = &VariantGrid::of(report.outcomes);
    /// The ratio to the fastest up to which a variant counts as fastest, because two runs differ as much.
    const CLOSE: f64 = 1.01;
    let caption = "ns per load (core cycles); * within 1% of the fastest of its level";
    document.tabulate(caption, Level::Quiet, 1, &|table| {
        table.text("");
        (0..grid.columns).for_each(|column| table.text(level(report, grid, column)));
        table.row();
        table.text("");
        (0..grid.columns).for_each(|column| match grid.at(0, column) {
            Some(outcome) => table.show(&outcome.point.size),
            None => table.text(""),
        });
        for (row, variant) in VARIANTS.iter().enumerate() {
            table.row();
            table.show(&label(variant));
            for column in 0..grid.columns {
                let Some(outcome) = grid.at(row, column) else {
                    table.text("");
                    continue;
                };
                let Ok(measured) = &outcome.result else {
                    table.text("-");
                    continue;
                };
                let series = &measured.series;
                let nanoseconds = series.nanoseconds.median;
                let best = grid.fastest(column).is_some_and(|(_, best)| nanoseconds <= best * CLOSE);
                table.cell(format_args!(
                    "{}{}{}",
                    Digits(nanoseconds),
                    if best { "*" } else { "" },
                    method::optional(series.core_cycles, |cycles, out| write!(
                        out,
                        " ({})",
                        Digits(cycles.median)
                    ))
                ));
            }
        }
    });
}

/// Describes each kind of pages that could not be measured, once, with its remedy.
fn missing(document: &mut Shown, report: &Report<'_, '_>) {
    let refused = || {
        report.outcomes.iter().filter_map(|outcome| match outcome.result {
            Err(Exclusion::Placement(error)) => Some((outcome.point.pages, error)),
            _ => None,
        })
    };
    for (index, (pages, error)) in refused().enumerate() {
        if refused().take(index).all(|(earlier, _)| earlier != pages) {
            describe::missing(document, Role::Missing, &PageWords(pages), &error);
        }
    }
}

fn data(document: &mut Shown, report: &Report<'_, '_>) {
    let grid = &VariantGrid::of(report.outcomes);
    rows::table(document, report, "variant", &|table, index, outcome| {
        table.cell(format_args!("{}, {}", name(grid, index), outcome.point.size));
    });
    point::evidence(document, report);
}

fn records(document: &mut Shown, report: &Report<'_, '_>) {
    let grid = &VariantGrid::of(report.outcomes);
    point::rows_with(document, report, &|document, index, _| {
        document.put(&columns::VARIANT, name(grid, index));
    });
}

/// Returns the name of the variant of a point.
fn name(grid: &VariantGrid<'_, '_>, index: usize) -> &'static str {
    VARIANTS.get(index / grid.columns.max(1)).map_or("", |variant| variant.name)
}

fn summary(document: &mut Shown, report: &Report<'_, '_>) {
    let grid = &VariantGrid::of(report.outcomes);
    let found = variants::conclude(grid, grid.ends());
    members! { document;
        "small_pages_ns" interval: found.pages.map(|(small, _)| small) => "Latency of a pointer chase in base pages over the largest working set, in nanoseconds.";
        "huge_pages_ns" interval: found.pages.map(|(_, huge)| huge) => "Latency of a pointer chase in huge pages over the largest working set, in nanoseconds.";
        "small_over_huge_pages" interval: found.small_over_huge() => "Latency in base pages divided by latency in huge pages.";
        "pointer_saves_core_cycles": found.pointer_saves.map(|found| found.cycles) => "Core cycles per load that a pointer saves against an 8-byte index, at the smallest working set.";
        "bounds_check_core_cycles": found.check_costs.map(|found| found.cycles) => "Core cycles per load that a bounds check adds, at the smallest working set.";
    }
    let fastest =
        (0..grid.columns).filter_map(|column| Some((column, grid.fastest(column)?, grid.at(0, column)?)));
    document.items(Part::List(&FASTEST), fastest, |document, (column, (row, nanoseconds), first)| {
        document.put(&LEVEL, level(report, grid, column));
        document.put(&columns::WORKING_SET, first.point.size);
        document.put(&columns::VARIANT, VARIANTS.get(row).map(|variant| variant.name));
        document.put(&NS, nanoseconds);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::string::ToString;

    #[test]
    fn labels_tell_variants_apart_in_a_quarter_of_a_line() {
        let labels: BTreeSet<_> = VARIANTS.iter().map(|variant| label(variant).to_string()).collect();
        assert_eq!(labels.len(), VARIANTS.len(), "{labels:?}");
        assert!(labels.iter().all(|label| label.len() <= 24), "{labels:?}");
        assert!(labels.contains("pointer, huge pages") && labels.contains("8-byte index, checked"));
    }

    #[test]
    fn noise_is_not_a_saving() {
        let shown = |cycles, side| difference(CycleDifference { cycles, side }, "saves", "costs").to_string();
        assert_eq!(shown(0.2, Side::Near), "saves nothing");
        assert_eq!(shown(0.98, Side::Above), "saves 1.0 core cycle");
        assert_eq!(shown(2.04, Side::Above), "saves 2.0 core cycles");
        assert_eq!(shown(-1.0, Side::Below), "costs 1.0 core cycle");
        assert_eq!(shown(0.98, Side::Open), "saves nothing beyond the uncertainty");
    }
}

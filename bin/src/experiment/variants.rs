//! One walk in nine variants: the latency that the data structure adds at each level.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::kernel::{Encoding, INDEX_CHECKED, VARIANTS, Variant};
use latency_core::{Bytes, LINE, Side, ToReal};

use super::Experiment;
use crate::analysis::translation::Worth;
use crate::analysis::variants::{self, CycleDifference, VariantGrid, VariantsConclusion};
use crate::describe::{self, Report, ReportParts, columns, method, point, trust};
use crate::options::{Descriptor, FlagId, FlagSet};
use crate::plan::{self, PlannedPoints, Planning, budget, sizes};
use latency_engine::budget::{Budget, Optional, PLACES};
use latency_engine::result::{Exclusion, PageWords, Point};
use latency_engine::run;
use latency_report::chart::vector;
use latency_report::document::{fields, members};
use latency_report::{Digits, Level, Part, Role, Shown};

/// Working sets for each doubling of a range, unless the user gave their number.
const PER_OCTAVE: u32 = 1;
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
        Budget { optional: Optional::Everything, ..budget::of_options(options, machine) }
            .rewritten(PLACES)
            .within(SHARE_NS * points.len().real(), points.len())
    },
    measure: |_, session, points, budget| run::measure(session, points, budget),
    conclude: |_, _| None,
    present,
};

/// Plans every variant at every size, in the order of variants and then of sizes.
fn plan(planning: &mut Planning<'_>) -> PlannedPoints {
    let Planning { options, machine, .. } = *planning;
    let like = sizes::base_point(planning)?;
    let half = |cache: Bytes| machine.page.whole(Bytes(cache.0 / 2)).max(machine.page.bytes());
    let levels = [
        Some(half(plan::curve::first_level_cache(machine))),
        machine.cache(2).map(half),
        machine.in_last_level(),
    ];
    // A size as large as the working set in memory does not belong to a cache.
    let caches = levels.into_iter().flatten().filter(|size| *size < like.size);
    let mut sizes: Vec<Bytes> = vector(caches.chain([like.size]));
    if options.gave_range() {
        let ends = plan::curve::ends(planning, like.target)?;
        sizes = plan::curve::sizes(options, machine, ends, PER_OCTAVE)?;
    }
    let most = sizes.last().map_or(0, |size| size.0);
    let huge = machine.huge_pages(like.target, Bytes(most + most / 4));
    let mut points = Vec::new();
    for variant in &VARIANTS {
        let pages = if variant.huge { huge } else { machine.base_pages() };
        let (kernel, stride) = (variant.kernel, variant.stride_with(like.line));
        sizes.iter().for_each(|size| points.push(Point { kernel, stride, pages, size: *size, ..like }));
    }
    Ok(points)
}

fields! {
    FASTEST "fastest" "Fastest variant of each working set.";
}

members! {
    fn summary(found: &VariantsConclusion);
    "small_pages_ns" interval: found.pages.map(|(small, _)| small) => "Latency of a pointer chase in base pages over the largest working set, in nanoseconds.";
    "huge_pages_ns" interval: found.pages.map(|(_, huge)| huge) => "Latency of a pointer chase in huge pages over the largest working set, in nanoseconds.";
    "small_over_huge_pages" interval: found.small_over_huge() => "Latency in base pages divided by latency in huge pages.";
    "pointer_saves_core_cycles": found.pointer_saves.map(|found| found.cycles) => "Core cycles per load that a pointer saves against an 8-byte index, at the smallest working set.";
    "bounds_check_core_cycles": found.check_costs.map(|found| found.cycles) => "Core cycles per load that a bounds check adds, at the smallest working set.";
}

members! {
    fn fastest(set: &LevelSet, variant: &'static str, nanoseconds: f64);
    "level": set.level => "Cache level that holds the working set, as reported; `memory` if its latency is memory latency.";
    columns::WORKING_SET: set.size;
    columns::VARIANT: variant;
    "ns": nanoseconds => "Latency of the fastest variant, in nanoseconds.";
}

/// A working set, by its column in the grid.
struct LevelSet {
    size: Bytes,
    /// Its level in the memory hierarchy.
    level: &'static str,
    /// The fastest variant, and its latency in nanoseconds.
    fastest: Option<(&'static str, f64)>,
}

/// Concludes about a column: its level is that of the reported caches, or memory if its latency is that of memory.
fn level_set(report: &Report<'_>, grid: &VariantGrid<'_>, column: usize) -> LevelSet {
    let machine = report.machine;
    let size_of = |column| grid.at(0, column).map_or(Bytes(0), |outcome| outcome.point.size);
    let (size, [_, last]) = (size_of(column), grid.ends());
    let holds = |cache: Option<Bytes>| cache.is_some_and(|cache| size <= cache);
    let level = match () {
        () if machine.reaches_memory(size_of(last)) && grid.is_like_memory(column) => "memory",
        () if size <= plan::curve::first_level_cache(machine) => "L1",
        () if holds(machine.cache(2)) => "L2",
        () if holds(machine.cache(3)) => "L3",
        () => "memory",
    };
    let fastest = grid.fastest(column);
    let named = fastest.and_then(|(row, nanoseconds)| Some((VARIANTS.get(row)?.name, nanoseconds)));
    LevelSet { size, level, fastest: named }
}

fn present(parts: &mut ReportParts, report: &Report<'_>) {
    let grid = &VariantGrid::of(report.outcomes);
    let sets: Vec<LevelSet> = vector((0..grid.columns).map(|column| level_set(report, grid, column)));
    let name = |index: usize| VARIANTS.get(index / grid.columns.max(1)).map_or("", |variant| variant.name);
    let found = &variants::conclude(grid, grid.ends());
    summary(&mut parts.summary, found);
    let of_fastest = sets.iter().filter_map(|set| Some((set, set.fastest?)));
    parts.summary.items(Part::List(&FASTEST), of_fastest, |document, (set, (variant, nanoseconds))| {
        fastest(document, set, variant, nanoseconds);
    });
    point::rows_with(&mut parts.rows, report, &|document, index, _| {
        document.put(&columns::VARIANT, name(index));
    });
    match report.options.gave_range() {
        false => savings(&mut parts.answer, report, &sets, grid.ends(), found),
        true => {
            let mut first = 0;
            for level in sets.chunk_by(|one, other| one.level == other.level) {
                let middle = [(2 * first + level.len() - 1) / 2; 2];
                savings(&mut parts.answer, report, &sets, middle, &variants::conclude(grid, middle));
                first += level.len();
            }
        }
    }
    table(&mut parts.evidence, grid, &sets);
    missing(&mut parts.evidence, report);
    method::memory(&mut parts.evidence, report);
    parts.evidence.under(Role::Provenance("Method")).write(format_args!(
        "each load waits for the one before; random order; a line of {line} holds one element \
         (padded) or several (packed); page walks included; seed {seed}",
        line = report.machine.line.bytes(),
        seed = report.options.seed
    ));
    point::table(&mut parts.data, report, (Level::Verbose, "variant"), &|index, outcome| {
        format!("{}, {}", name(index), outcome.point.size)
    });
    point::evidence(&mut parts.data, report);
}

/// Writes the savings in the working sets of two columns: of pointers in the first, of huge pages in the last. In a range,
/// they are those of a working set in the middle of each level.
fn savings(
    document: &mut Shown,
    report: &Report<'_>,
    sets: &[LevelSet],
    columns: [usize; 2],
    found: &VariantsConclusion,
) {
    let [first, last] = columns.map(|column| match sets.get(column) {
        Some(LevelSet { size, level, .. }) if report.options.gave_range() => format!("{level} ({size})"),
        set => set.map_or("", |set| set.level).into(),
    });
    if let (Some((small, huge)), Some(ratio)) = (found.pages, found.small_over_huge()) {
        let (small, huge) = (Digits(small.value), Digits(huge.value));
        let like_small = report.health.pages_behave_as_small == Some(true);
        let worth = Worth::of(ratio, like_small);
        let base = report.machine.base_pages();
        let proven = !trust::is_poor(report.warnings);
        let words = match worth {
            _ if !proven => "make an uncertain difference".into(),
            Worth::Pay => format!("save {:.0}% of the latency", (1.0 - 1.0 / ratio.value) * 100.0),
            Worth::LikeSmall => format!("behave like {} in the TLB", PageWords(base)),
            Worth::Nothing => "bring no benefit".into(),
            Worth::Cost => "are slower".into(),
            Worth::Open => String::from("bring no benefit beyond the uncertainty"),
        };
        let with = PageWords(base);
        document.answer(format_args!("In {last}, huge pages {words} ({huge} vs {small} ns with {with})."));
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

/// Returns a difference of core cycles in words, with the verbs for more and for less.
fn difference(found: CycleDifference, more: &str, less: &str) -> String {
    let cycles = found.cycles.abs();
    let plural = if (0.95..1.05).contains(&cycles) { "" } else { "s" };
    match found.side {
        Side::Near => format!("{more} nothing"),
        Side::Open => format!("{more} nothing beyond the uncertainty"),
        Side::Above => format!("{more} {cycles:.1} core cycle{plural}"),
        Side::Below => format!("{less} {cycles:.1} core cycle{plural}"),
    }
}

/// Returns the name of a variant for people: the form of its links, the use of its lines, and its pages.
fn label(variant: &Variant) -> String {
    let use_of_lines = match variant.stride {
        // Every checked variant is packed.
        _ if core::ptr::eq(variant.kernel, &INDEX_CHECKED) => "checked",
        _ if variant.huge => "huge pages",
        LINE => "padded",
        _ => "packed",
    };
    match variant.kernel.encoding {
        Encoding::Pointer => format!("pointer, {use_of_lines}"),
        index => format!("{}-byte index, {use_of_lines}", index.width().0),
    }
}

/// Shows a row for each variant and a column for each working set; the fastest variants of a column have a star.
fn table(document: &mut Shown, grid: &VariantGrid<'_>, sets: &[LevelSet]) {
    /// The ratio to the fastest up to which a variant counts as fastest, because two runs differ as much.
    const CLOSE: f64 = 1.01;
    let caption = "ns per load (core cycles); * within 1% of the fastest of its level";
    document.tabulate(caption, Level::Quiet, 1, &|table| {
        table.text("").each(sets.iter().map(|set| set.level));
        table.row().text("").each(sets.iter().map(|set| set.size));
        for (row, variant) in VARIANTS.iter().enumerate() {
            table.row().show(&label(variant));
            for (column, set) in sets.iter().enumerate() {
                let Some(measured) = grid.at(row, column).and_then(|outcome| outcome.result.as_ref().ok())
                else {
                    table.text("-");
                    continue;
                };
                let nanoseconds = measured.series.nanoseconds.median;
                let best = set.fastest.is_some_and(|(_, best)| nanoseconds <= best * CLOSE);
                table.cell(format_args!(
                    "{}{}{}",
                    Digits(nanoseconds),
                    if best { "*" } else { "" },
                    method::optional(measured.series.core_cycles, |cycles, out| {
                        write!(out, " ({})", Digits(cycles.median))
                    })
                ));
            }
        }
    });
}

/// Describes each kind of pages that could not be measured, once, with its remedy.
fn missing(document: &mut Shown, report: &Report<'_>) {
    let mut known = Vec::new();
    for outcome in report.outcomes {
        let pages = outcome.point.pages;
        if let Err(Exclusion::Placement(error)) = &outcome.result
            && !known.contains(&pages)
        {
            known.push(pages);
            describe::missing(document, Role::Missing, &PageWords(pages), error);
        }
    }
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

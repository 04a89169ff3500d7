//! Fits the latency models to one saved curve, or to several curves of one file. Nothing is measured.
use alloc::string::String;
use alloc::vec::Vec;
use latency_core::{Bytes, PageSize, plural, sort_by};

use super::{Command, CommandResult};
use crate::analysis::curve::Analysis;
use crate::describe::{self, columns, output, trust};
use crate::error::{Failure, SavedError};
use crate::experiment::curve::{levels, model, view};
use crate::options::tokens::Escaped;
use crate::options::{Descriptor, FlagId, FlagSet, Operands, Options};
use crate::record::columns::{CHAINS, Column, ColumnSet, FILLER, STRIDE, VARIANT, WORK, WORKING_SET};
use crate::record::label::Label;
use crate::record::row::Row;
use crate::saved::{self, Saved, Tool};
use latency_report::chart::vector;
use latency_report::document::fields;
use latency_report::{Level, Part, Role, Shown};

/// The `fit` command.
pub const FIT: Command = Command {
    descriptor: Descriptor {
        name: "fit",
        summary: "cache sizes and latencies from a saved curve",
        details: "FILE is a curve saved with --json or --csv, or the output of another tool: a table of sizes and \
                  nanoseconds, or the output of lat_mem_rd, Chips and Cheese's MemoryLatency, multichase at many \
                  sizes, cpu-benchmarks or tinymembench. `-` reads standard input.\n\
                  The unit of the sizes comes from their heading, from a suffix (32K) or from --unit. Rows with \
                  other pages, orders or strides are fitted as separate curves.",
        flags: FlagSet::of(&[FlagId::Reciprocal, FlagId::Unit]),
        picture: true,
        operands: Operands { names: "FILE", least: 1, most: 1, sides: false },
        tests: false,
        ..Descriptor::OF_VALUES
    },
    columns: output::COLUMNS,
    run,
};

fields! {
    CURVE "curve" "Fields that distinguish this curve from the others of the file; empty if there is only one.";
    OTHERS "others" "Other curves of the file, each with its own fit.";
    FILE "file" "Path of the fitted file.";
}

/// Minimum number of different sizes that make a curve.
const FEWEST_SIZES: usize = 6;
/// Minimum stride that can put each line on its own page, so that the latency includes address translation.
const PAGE: Bytes = PageSize::LEAST.bytes();
/// Experiments whose points are latencies at many sizes. Results of other tools have an empty experiment name.
const EXPERIMENTS: [&str; 3] = ["", "curve", "pages"];

/// The rows of one curve, which are fitted together. `like` is one of them.
#[derive(Clone, Copy)]
struct CurveRows<'r> {
    rows: &'r [Row],
    like: &'r Row,
}

impl<'r> CurveRows<'r> {
    /// Returns whether a row belongs to this curve. Points with one line on each page belong to the curve with the
    /// smaller stride.
    fn has(&self, row: &Row) -> bool {
        const ALIKE: ColumnSet = ColumnSet::POINTS.without(ColumnSet::of(&[WORKING_SET, STRIDE]));
        let dense = self.like.stride();
        let spaced = row.stride() >= PAGE && dense < PAGE;
        let stands_by = row.stride() == dense || spaced;
        row.size().0 > 0 && stands_by && row.is_same(self.like, ALIKE)
    }

    /// Returns the points with the stride of `like`.
    fn dense(self) -> impl Iterator<Item = &'r Row> {
        let stride = self.like.stride();
        self.rows.iter().filter(move |row| row.stride() == stride && self.has(row))
    }

    /// Counts the different sizes of the curve.
    fn sizes(self) -> usize {
        let mut sizes = vector(self.dense().map(Row::size));
        sort_by(&mut sizes, Ord::cmp);
        sizes.dedup();
        sizes.len()
    }

    fn analysis(self, saved: &Saved) -> Analysis {
        let samples = vector(self.rows.iter().filter(|row| self.has(row)).map(Row::sample));
        let analysis = saved.analysis(&samples, self.like);
        if !saved.experiment.is_empty() {
            return analysis;
        }
        let skips_first = saved.tool == Some(Tool::Tinymembench) && saved.zeros > 0;
        analysis.of_other_tool(&samples, skips_first.into())
    }
}

/// Finds the curves among the rows, and the number of rows that belong to no curve.
fn curves(rows: &[Row]) -> (Vec<CurveRows<'_>>, usize) {
    let mut kinds = Vec::new();
    // Rows with one line on each page belong to a curve with a smaller stride if there is one, so the smaller strides
    // come first.
    for spaced in [false, true] {
        let sized = rows.iter().filter(|row| row.size().0 > 0);
        for like in sized.filter(|row| (row.stride() >= PAGE) == spaced) {
            let kind = CurveRows { rows, like };
            if !kinds.iter().any(|kind: &CurveRows<'_>| kind.has(like)) && kind.sizes() >= FEWEST_SIZES {
                kinds.push(kind);
            }
        }
    }
    let left_out = rows.iter().filter(|row| kinds.iter().all(|kind| !kind.has(row))).count();
    (kinds, left_out)
}

/// Returns the reason if a row is not the latency of one chain of loads.
fn other_kind(row: &Row) -> Option<&'static str> {
    let others = [
        (VARIANT, "", "it has several data layouts"),
        (CHAINS, "1", "it has several concurrent chains"),
        (WORK, "0", "it has work between the loads"),
        (FILLER, "", "it has other instructions between the loads"),
    ];
    let is_other =
        |(column, usual, _): &(Column, &str, &str)| row.tells(*column) && !row.is_word(*column, usual);
    others.into_iter().find(is_other).map(|(.., why)| why)
}

fn run(options: &Options) -> Result<CommandResult, Failure> {
    let path = options.operands().first().copied().unwrap_or_default();
    let saved = Saved::load(path, options.unit)?;
    let experiment = saved.experiment;
    if !EXPERIMENTS.contains(&experiment.as_str()) {
        return Err(SavedError::OtherExperiment { path: Escaped(path), experiment }.into());
    }
    let no_curve = |why| Failure::from(SavedError::NoCurve { path: Escaped(path), why });
    let rows = saved.rows;
    if let Some(why) = rows.iter().find_map(other_kind) {
        return Err(no_curve(why));
    }
    let (kinds, left_out) = curves(rows);
    let Some((first, others)) = kinds.split_first() else {
        return Err(no_curve("it has fewer than 6 sizes of one kind"));
    };
    let analysis = first.analysis(&saved);
    // A table that a tool is known by has latencies, also if no model fits them.
    if let Some(why) = analysis.doubt().filter(|_| saved.tool.is_none()) {
        return Err(no_curve(why));
    }
    let differs = |field| others.iter().any(|kind| !kind.like.agrees(first.like, field));
    let differing = ColumnSet::that(&|column| column != WORKING_SET && differs(column));
    let name = saved::shown(path);
    let file = FileContext { name: name.as_str(), shown: differing, reciprocal: options.reciprocal };
    let shown = Shown::of(|document| {
        describe::machine::saved_footer(document, &|index| Some(&saved).filter(|_| index == 0));
        document.part(Part::Object(&describe::SUMMARY), |document| model::summary(document, &analysis));
        let poor = saved.conditions.poor;
        let reasons = vector(saved.origin.trust.evidence().filter(|_| poor));
        trust::of_command(document, if poor { "poor" } else { "good" }, &reasons);
        document.part(Part::Records(&describe::ROWS), |document| {
            for kind in &kinds {
                columns::saved_rows(document, &saved, kind.dense());
            }
        });
        file.curve(document, *first, &analysis);
        document.items(Part::List(&OTHERS), others, |document, kind| {
            file.curve(document, *kind, &kind.analysis(&saved));
        });
        if left_out > 0 {
            document.missing(format_args!(
                "Not fitted: {points} point{s} in series of fewer than {sizes} sizes.",
                points = left_out,
                s = plural(left_out as u64),
                sizes = FEWEST_SIZES
            ));
        }
        document.sentence(Role::Method("File"), format_args!("{}, {} points", name.as_str(), rows.len()));
        source(document, &saved);
        document.put(&FILE, name.as_str());
    });
    Ok(shown.into())
}

/// The context that all curves of a file share.
struct FileContext<'f> {
    name: &'f str,
    /// The fields that distinguish the curves.
    shown: ColumnSet,
    reciprocal: bool,
}

impl FileContext<'_> {
    /// Describes one curve.
    fn curve(&self, document: &mut Shown, kind: CurveRows<'_>, analysis: &Analysis) {
        let mut samples: Vec<_> = vector(kind.dense().map(Row::sample));
        sort_by(&mut samples, |one, other| {
            one.size.cmp(&other.size).then(one.nanoseconds.total_cmp(&other.nanoseconds))
        });
        let label = format!("{}", Label { row: kind.like, shown: self.shown });
        let separator = if label.is_empty() { "" } else { ", " };
        let subtitle = format!("latency by working set; {}{separator}{label}", self.name);
        if !label.is_empty() {
            document.answer(format_args!("Curve with {label}:"));
        }
        if let Some(why) = analysis.doubt() {
            document.answer(format_args!("No levels: {why}."));
            document.tabulate("", Level::Quiet, 1, &|table| {
                table.texts(&["working set", "ns"]);
                for sample in samples.iter() {
                    table.row().show(&sample.size).number(sample.nanoseconds);
                }
            });
            document.put(&CURVE, label.as_str());
            model::model(document, analysis);
            return;
        }
        view::answer(document, analysis, None, None);
        if analysis.may_show_tlb() {
            document.finding(format_args!(
                "The file has no TLB levels for this curve, so one of these levels may be the TLB's."
            ));
        }
        let words = [label.as_str(), subtitle.as_str()];
        let parts = |size| kind.dense().find(|row| row.size() == size)?.parts();
        view::evidence(document, analysis, &samples, &parts, words, self.reciprocal);
        levels::models(document, analysis);
        document.put(&CURVE, label.as_str());
        model::model(document, analysis);
    }
}

/// States the tool that wrote the file, and the consequences for its numbers.
fn source(document: &mut Shown, saved: &Saved) {
    let name = match saved.tool {
        None if saved.zeros == 0 => return,
        None => "a table",
        Some(tool) => named(tool),
    };
    let skipped = match saved.zeros {
        0 => String::new(),
        zeros => format!("; skipped {zeros} row{} without a latency", plural(zeros)),
    };
    document.under(Role::Method("Source")).write(format_args!("{name}{skipped}"));
}

/// Returns the name of a tool, and a note about its numbers.
const fn named(tool: Tool) -> &'static str {
    match tool {
        Tool::LatMemRd => "lat_mem_rd (lmbench); 1 MB = 1048576 bytes",
        Tool::MemoryLatency => "MemoryLatency (Chips and Cheese); 1 KB = 1024 bytes",
        Tool::Tinymembench => "tinymembench; its times exclude the L1 hit latency",
        Tool::CpuBenchmarks => "cpu-benchmarks",
        Tool::Mlc => "Intel Memory Latency Checker",
        Tool::CoreToCore => "core-to-core-latency; half a round trip",
    }
}

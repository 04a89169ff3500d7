//! Fits the models of a curve to one that was saved. Nothing is measured.

use latency_core::sort::sort_by;

use super::command::{Command, Write};
use super::curve::view::View;
use super::curve::{levels, model};
use super::facts;
use crate::analysis::curve::Analysis;
use crate::error::Failure;
use crate::options::{Descriptor, FlagId, FlagSet, Operands, Options};
use crate::report::document::{fields, Document, Field, Part, Role};
use crate::result::sample::{Sample, Samples};
use crate::saved::{self, Saved};
use crate::sys::table::Table;

/// The command that fits.
pub const FIT: Command = Command {
    descriptor: Descriptor {
        name: "fit",
        summary: "cache sizes and latencies from a saved curve",
        details: "FILE is a curve saved with --json or --csv, or two columns of bytes and nanoseconds \
                  from another tool. The number of levels follows from the points.",
        flags: FlagSet::of(&[FlagId::Reciprocal]),
        picture: true,
        operands: Operands { names: "FILE", least: 1, most: 1 },
    },
    columns: &COLUMNS,
    run,
};

fields! {
    POINTS "points" "The points that were fitted.";
    WORKING_SET "working_set_bytes" "The memory walked.";
    STRIDE "stride_bytes" "The spacing of the lines.";
    NS "ns" "The latency.";
    CORE_CYCLES "core_cycles" "The latency in core cycles; null where the file has none.";
    FILE "file" "The file that was fitted.";
}

static COLUMNS: [&Field; 4] = [&WORKING_SET, &STRIDE, &NS, &CORE_CYCLES];

fn run<'a>(options: &'a Options<'a>, write: Write<'_>) -> Result<Option<Failure<'a>>, Failure<'a>> {
    let path = options.operands().first().copied().unwrap_or_default();
    let saved = Saved::load(path)?;
    let sample = |index: usize| saved.sample(index);
    let from = Samples::new(saved.rows().len(), &sample);
    let analysis = Analysis::new(from, saved.claims, None);
    let mut samples = Table::filled(saved.rows().len(), Sample::EMPTY)?;
    let mut count = 0;
    for (slot, sample) in samples.iter_mut().zip(from.iter().filter(|sample| analysis.is_fitted(sample))) {
        *slot = sample;
        count += 1;
    }
    let samples = samples.get_mut(..count).unwrap_or_default();
    sort_by(samples, |one, other| one.size.cmp(&other.size));
    let name = saved::shown(path);
    let view = View { subtitle: name.as_str(), samples, analysis: &analysis, reciprocal: options.reciprocal };
    write(&mut |document| present(document, &view));
    Ok(None)
}

fn present(document: &mut dyn Document, view: &View<'_>) {
    view.answer(document);
    levels::remarks(document, view.analysis);
    levels::table(document, view.analysis);
    view.picture(document);
    view.rows(document);
    document.sentence(Role::Method("File"), format_args!("{}, {} points", view.subtitle, view.samples.len()));
    levels::models(document, view.analysis);
    document.part(Part::Records(&POINTS), |document| {
        for sample in view.samples {
            document.part(Part::Item, |document| {
                document.put(&WORKING_SET, sample.size);
                document.put(&STRIDE, sample.stride);
                document.put(&NS, sample.nanoseconds);
                document.put(&CORE_CYCLES, sample.core_cycles);
            });
        }
    });
    model::model(document, view.analysis);
    facts::tool(document, "fit");
    document.put(&FILE, view.subtitle);
}

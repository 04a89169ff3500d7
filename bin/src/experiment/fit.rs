//! Fits the models of a curve to one that was saved. Nothing is measured.

use core::fmt::Write;

use latency_core::sort::sort_by;

use super::command::{Command, Context};
use super::writers::curve::view::View;
use super::writers::json;
use crate::analysis::curve::Analysis;
use crate::error::Failure;
use crate::options::{Descriptor, FlagId, FlagSet, Format, Operands};
use crate::result::sample::Sample;
use crate::saved::{self, Saved};
use crate::sys::table::Table;

/// The command that fits.
pub const FIT: Command = Command {
    descriptor: Descriptor {
        name: "fit",
        summary: "the levels that a saved curve shows",
        details:
            "FILE is a curve saved with --json or --csv, or two columns of bytes and nanoseconds from any \
                  other tool. The number of levels is chosen by the points.",
        flags: FlagSet::of(&[
            FlagId::Format,
            FlagId::Json,
            FlagId::Output,
            FlagId::Quiet,
            FlagId::Color,
            FlagId::Reciprocal,
        ]),
        formats: &[Format::Text, Format::Json, Format::Svg],
        operands: Operands { names: "FILE", least: 1, most: 1 },
    },
    columns: &[],
    run: |_, _| Ok(None),
    writes: Some(run),
};

fn run<'a>(out: &mut dyn Write, context: &Context<'a>) -> Result<Option<Failure<'a>>, Failure<'a>> {
    let options = context.options;
    let path = options.operands().first().copied().unwrap_or_default();
    let saved = Saved::load(path)?;
    let analysis = Analysis::new(saved.samples(), saved.claims, None);
    let mut samples = Table::filled(saved.rows().len(), Sample::EMPTY)?;
    let mut count = 0;
    for (slot, sample) in samples.iter_mut().zip(saved.samples().filter(|sample| analysis.is_fitted(sample)))
    {
        *slot = sample;
        count += 1;
    }
    let samples = samples.get_mut(..count).unwrap_or_default();
    sort_by(samples, |one, other| one.size.cmp(&other.size));
    let name = saved::shown(path);
    let view = View {
        title: "Latency against working set",
        subtitle: name.as_str(),
        samples,
        analysis: &analysis,
        reciprocal: options.reciprocal,
    };
    // A write that fails is remembered by the sink.
    let _ = match options.format {
        Format::Json => json::fit(out, &view),
        Format::Svg => view.svg(out),
        Format::Text | Format::Csv => text(out, &view, context),
    };
    Ok(None)
}

fn text(out: &mut dyn Write, view: &View<'_>, context: &Context<'_>) -> core::fmt::Result {
    if !context.options.quiet {
        view.plot(out, context.terminal)?;
        out.write_char('\n')?;
    }
    view.conclusions(out, context.options.quiet)
}

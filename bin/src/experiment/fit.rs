//! Fits the models of a curve to one that was saved. Nothing is measured.

use core::fmt::Write;

use latency_core::sort::sort_by;

use super::command::{Command, Context};
use super::writers::curve::view::View;
use super::writers::json;
use crate::analysis::curve::Analysis;
use crate::error::Failure;
use crate::options::{Descriptor, FlagId, FlagSet, Operands};
use crate::result::sample::Sample;
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
    run,
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
    let _ = match options.format.name {
        "json" => json::fit(out, &view),
        "svg" => view.svg(out),
        "text" => text(out, &view, context),
        _ => return Err(options.no_such_output().into()),
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

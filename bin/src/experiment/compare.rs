//! Sets two saved results of one experiment side by side. Nothing is measured.

use core::fmt::{self, Write};

use super::command::{Command, Context};
use super::writers::comparison::View;
use crate::analysis::comparison::Comparison;
use crate::error::{Failure, SavedError};
use crate::options::{Descriptor, FlagId, FlagSet, Operands};
use crate::saved::{self, Saved};

/// The command that compares.
pub const COMPARE: Command = Command {
    descriptor: Descriptor {
        name: "compare",
        summary: "is B slower than A? two saved results",
        details: "A and B are results saved with --json or --csv, or tables of bytes and nanoseconds. The \
                  table has each point that both have, with the ratio, and whether it exceeds the \
                  threshold and both intervals. The exit status is 5 if B is slower: at one point of a \
                  few, or at more than a tenth of many.",
        flags: FlagSet::of(&[FlagId::Threshold]),
        picture: true,
        operands: Operands { names: "A B", least: 2, most: 2 },
    },
    run,
};

fn run<'a>(out: &mut dyn Write, context: &Context<'a>) -> Result<Option<Failure<'a>>, Failure<'a>> {
    let options = context.options;
    let &[a, b, ..] = options.operands() else { return Ok(None) };
    let (first, second) = (Saved::load(a)?, Saved::load(b)?);
    let refused = |what| Failure::Saved(SavedError::NotComparable { what });
    let (one, other) = (first.experiment, second.experiment);
    if !one.is_empty() && !other.is_empty() && one.as_str() != other.as_str() {
        return Err(refused("they are of different experiments"));
    }
    let mut comparison = Comparison::new(first.rows(), second.rows(), options.threshold)?;
    let Some(median) = comparison.median_ratio() else {
        return Err(refused("no point of one is a point of the other"));
    };
    let slower_by = comparison.slower_by();
    let names = [saved::shown(a), saved::shown(b)];
    let view = View {
        names: [names[0].as_str(), names[1].as_str()],
        comparison: &comparison,
        counts: [first.rows().len(), second.rows().len()],
        median,
        slower_by,
        threshold: options.threshold,
    };
    if options.format.name == "svg" && !view.is_curve() {
        return Err(refused("there is no picture of results that are not curves"));
    }
    // A write that fails is remembered by the sink.
    let _ = match options.format.name {
        "json" => view.json(out),
        "svg" => view.svg(out),
        "text" => text(out, &view, context),
        _ => return Err(options.no_such_output().into()),
    };
    Ok(slower_by.map(|by| Failure::Slower { by, threshold: options.threshold }))
}

fn text(out: &mut dyn Write, view: &View<'_>, context: &Context<'_>) -> fmt::Result {
    view.table(out)?;
    if context.options.quiet {
        return Ok(());
    }
    view.plot(out, context.terminal)
}

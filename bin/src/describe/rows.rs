//! Every measured point as a row, for readers who want to know its uncertainty.

use super::{Report, split, undisturbed};
use crate::report::document::Level;
use crate::report::shown::{Shown, ShownTable};
use crate::result::Outcome;

/// Describes every measured point, under the name that `name` pushes for its index; `what` is the heading of the names.
pub fn table(
    document: &mut Shown,
    report: &Report<'_, '_>,
    what: &str,
    name: &dyn Fn(&mut ShownTable, usize, &Outcome<'_>),
) {
    let measured = || {
        let all = report.outcomes.iter().enumerate();
        all.filter_map(|(index, outcome)| Some((index, outcome, &outcome.result.as_ref().ok()?.series)))
    };
    // The column for the steady latency exists only if the run sought it.
    let looked = measured().any(|(.., series)| series.undisturbed.is_some());
    let told_apart = measured().any(|(.., series)| series.split.is_some());
    document.tabulate("", Level::Verbose, 1, &|table| {
        table.text(what);
        table.texts(&["ns", "95% CI"]);
        if told_apart {
            table.texts(&["without translation", "translation"]);
        }
        table.texts(match looked {
            true => &["steady", "fastest", "core cycles", "interrupted"],
            false => &["fastest", "core cycles", "interrupted"],
        });
        for (index, outcome, series) in measured() {
            table.row();
            name(table, index, outcome);
            table.number(series.nanoseconds.median);
            table.range(series.nanoseconds.interval, "too few rounds");
            if told_apart {
                split::cells(table, split::parts(outcome));
            }
            if looked {
                undisturbed::cell(table, series);
            }
            table.number(series.minimum_ns);
            table.number(series.core_cycles.map(|cycles| cycles.median));
            table.cell(format_args!("{:.1}%", series.disturbed_share() * 100.0));
        }
    });
}

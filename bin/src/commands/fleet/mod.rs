//! Finds the hosts that are slower than comparable hosts. Nothing is measured.

mod association;
#[cfg(test)]
mod association_tests;
mod boots;
mod causes;
mod dates;
#[cfg(test)]
mod dates_tests;
mod expected;
mod findings;
mod history;
#[cfg(test)]
mod history_tests;
mod names;
mod programs;
mod runs;
mod settled;
#[cfg(test)]
pub mod tests;
mod values;
mod view;

use super::{Command, CommandResult};
use crate::describe::columns;
use crate::error::{Failure, NoVerdict, Outliers, SavedError, Unreliable};
use crate::options::tokens::Escaped;
use crate::options::{Descriptor, FlagId, FlagSet, MAX_OPERANDS, Operands, Options};
use alloc::vec::Vec;
use expected::Expected;
use latency_report::Shown;
use runs::{Refused, Runs};
use settled::settle;
use view::FleetView;

/// The `fleet` command.
pub const FLEET: Command = Command {
    descriptor: Descriptor {
        name: "fleet",
        summary: "find slow hosts among the saved results of many",
        details: "Each FILE contains results of many hosts, saved with --format=jsonl or json, one after the \
                  other; `-` reads standard input. Hosts with the same CPU model are compared point by point. At \
                  least 5 hosts of a kind are needed, or --baseline with known-good results.\n\
                  Where results have memory without address translation, it is judged; hosts that are slow in \
                  translation alone are listed. --of=load judges random loads.\n\
                  The newest result of each host is judged. Others are listed with a code; unreliable ones are \
                  excluded without --force.\n\
                  With --history, each host is first compared with its own older results: a host that became \
                  slower or faster is listed with the time, and with what changed in its documents at that time.\n\
                  The exit status is 5 if a host is slow, or became slower according to --history, and 6 if no \
                  host could be judged, or hosts that --expect asks for have no result. With --strict, it is 3 if hosts are only listed as not comparable, and a \
                  line that is not a result is an error; without, it is skipped.",
        flags: FlagSet::of(&[
            FlagId::Threshold,
            FlagId::Baseline,
            FlagId::Expect,
            FlagId::History,
            FlagId::Of,
            FlagId::Force,
            FlagId::Strict,
        ]),
        operands: Operands { names: "FILE...", least: 1, most: MAX_OPERANDS, sides: false },
        ..Descriptor::OF_VALUES
    },
    columns: [&programs::COLUMNS, &columns::FIELDS_OF_POINTS],
    run,
};

/// Default threshold of the excess over the usual value: memory modules of one type differ by some percent.
const THRESHOLD: f64 = 0.1;

fn run(options: &Options) -> Result<CommandResult, Failure> {
    let threshold = if options.given.contains(FlagId::Threshold) { options.threshold } else { THRESHOLD };
    let mut runs = Runs::new(options);
    let mut baseline = Vec::new();
    if let Some(path) = options.baseline {
        runs.read(path, &mut baseline)?;
    }
    let (of_baseline, first) = (core::mem::take(&mut runs.documents), runs.runs.len());
    let mut past = Vec::new();
    for path in options.operands() {
        runs.read(path, &mut past)?;
    }
    if let (0, Some(&Refused { path, problem })) = (runs.documents, runs.refused.first()) {
        return Err(SavedError::Malformed { path: Escaped(path), problem }.into());
    }
    if let (true, Some(&Refused { path, problem })) = (options.strict, runs.refused.first()) {
        let others = runs.skipped - 1;
        return Err(SavedError::Skipped { path: Escaped(path), problem, others }.into());
    }
    let expected = Expected::find(&mut runs, first)?;
    let history = options.history.then_some(options.threshold);
    let mut settled = settle(&mut past, &runs, threshold, history);
    let mut values = core::mem::take(&mut settled.values);
    let mut baseline = settle(&mut baseline, &runs, threshold, None).values;
    let is_given = options.baseline.is_some();
    let mut found = findings::find(&runs, &mut values, is_given.then_some(&mut *baseline), threshold);
    let baseline = is_given.then_some(&*baseline);
    let causes = causes::find(&runs, &past, &settled.slowed, &found, baseline, threshold);
    let associations = association::find(&runs, &mut found.judged_hosts);
    let view = FleetView {
        options,
        runs: &runs,
        found: &found,
        settled: &settled,
        associations: &associations,
        causes: &causes,
        expected: &expected,
        threshold,
        of_baseline,
    };
    let shown = Shown::of(|document| view.present(document));
    Ok(CommandResult { failure: outcome(&view), ..shown.into() })
}

/// Returns the failure that the findings mean, if they mean one.
fn outcome(view: &FleetView<'_, '_>) -> Option<Failure> {
    let FleetView { options, found, settled, threshold, .. } = *view;
    let missing = view.expected.missing;
    let slowed = settled.slower.len();
    match () {
        () if options.strict && found.slow + slowed == 0 && found.apart_hosts > 0 => {
            let code = found.apart.first().map_or("", findings::Apart::code);
            Some(Unreliable::HostsApart { code, hosts: found.apart_hosts }.into())
        }
        () if found.slow + slowed > 0 => {
            Some(Outliers { hosts: found.slow, of: found.judged, threshold, slowed, missing }.into())
        }
        () if missing.hosts > 0 => Some(NoVerdict::Missing(missing).into()),
        // A host may be judged by its own history alone.
        () if found.judged == 0 && settled.series.iter().all(|series| series.undecided.is_some()) => {
            Some(Failure::NoVerdict(&NoVerdict::Hosts))
        }
        () => None,
    }
}

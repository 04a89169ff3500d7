//! Experiments whose system calls a filter answers with SIGSYS, as on Android: a result, or an error that names the call.

use super::formats::Judged;
use super::options::{few, is_short};
use super::{Case, UNNAMED};
use crate::calls::{CALLS, IN_THEIR_PLACE, NEEDED, said_for};
use crate::enclose::{Enclose, Fate};

/// Runs an experiment with random options, and traps one or two of its system calls.
pub fn run(case: &mut Case<'_>) {
    let help = &case.surroundings.help;
    let measures = |name: &str| name == "system" || name != "report";
    let experiments: Vec<_> = help
        .0
        .iter()
        .filter(|experiment| measures(&experiment.name) && (experiment.plans || experiment.name == "system"))
        .collect();
    let experiment = experiments[case.index as usize % experiments.len()];
    let dry = experiment.plans && (!is_short(experiment) || case.random.one_in(6));
    let mut arguments = vec![experiment.name.clone()];
    arguments.extend(few(&mut case.random, experiment, dry));
    // A result may be unreliable by the load of this host, too.
    arguments.retain(|word| word != "--strict");
    arguments.push(format!("--format={}", case.random.pick(&experiment.formats)));
    let mut calls = [&CALLS[..], &IN_THEIR_PLACE].concat();
    calls.retain(|(name, _)| !NEEDED.contains(name));
    let trapped: Vec<_> = (0..=case.random.below(2)).map(|_| *case.random.pick(&calls)).collect();
    let fates: Vec<_> = trapped.iter().map(|(_, number)| (*number, Fate::Trapped)).collect();
    let names: Vec<&str> = trapped.iter().map(|(name, _)| *name).collect();
    let is_usual = case.run(&arguments).is_some_and(|run| run.status.code() == Some(0));
    let judged = Judged { width: false, numbers: true };
    let before = case.findings.len();
    let found = case.judged_with(&arguments, &[0, 1, 2, 3, 4], judged, |command| {
        command.fated(&fates, Fate::Made);
    });
    // A file is named in place of the call that should make it.
    let is_file = arguments.iter().any(|word| word.starts_with("--save"));
    let is_named = |text: &str| {
        names.iter().any(|name| text.contains(name) || text.contains(said_for(name)))
            || is_file && text.contains("'saved.json': Function not implemented (ENOSYS)")
    };
    // A busy host may use up the time of a run.
    if let Some((status, run)) = found.filter(|(_, run)| !run.stderr.contains("--budget was over"))
        && is_usual
        && (status == 1 || status != 0 && !is_named(&run.stderr))
    {
        case.note(UNNAMED, &arguments, &format!("status {status}: {}", run.stderr));
    }
    for finding in &mut case.findings[before..] {
        finding.seen.push_str(&format!("\n      SIGSYS in place of {names:?}"));
    }
}

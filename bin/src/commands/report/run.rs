//! Runs the experiments of a report, one after the other, each within the rest of the budget.
//!
//! The findings of each experiment stay in memory until the end, because formats need all of them at once. The
//! engine unmaps the measured memory before the next experiment begins. The caller supplies the clock and the
//! interrupt.

use alloc::vec::Vec;

use latency_core::ToReal;

use super::{COUNT, Came, END, Needs, SECTIONS, asked, budget_ns, least};
use crate::error::{Failure, Unreliable};
use crate::experiment::run_experiment::{self, Effort, ExperimentRun, run_experiment};
use crate::options::Options;
use latency_engine::error::PlacementError;
use latency_engine::machine::{Machine, detect};
use latency_engine::progress::Progress;
use latency_engine::session::interrupted;
use latency_engine::warning::Warnings;
use latency_sys::arguments::Arguments;

/// Multiple of its share of the time by which the points of a section have intervals, or are left out.
pub const LATE_SHARES: f64 = 1.2;
/// Multiple of its share of the time after which a section ends with what is measured.
const MOST_SHARES: f64 = 2.0;

/// The result of a section, and the conditions of its run.
struct Done {
    options: &'static Options,
    arguments: Arguments,
    ran: ExperimentRun,
    warnings: Warnings,
    started: u64,
    seconds: f64,
}

/// The outcomes of all sections.
pub struct Sections {
    /// The outcome of each section that was begun.
    came: Vec<Result<Done, Failure>>,
    /// True if an interrupt came before the end.
    pub interrupted: bool,
}

/// A function that returns the time: seconds since 1970, and nanoseconds of a monotonic clock.
pub type Now<'n> = &'n dyn Fn() -> (u64, u64);

impl Sections {
    /// Runs all sections on a machine, each within its share of the time beside its need.
    ///
    /// # Errors
    ///
    /// An invalid command line. A section that cannot measure is kept with its reason.
    pub fn run(
        options: &Options,
        mut machine: &'static Machine,
        needs: &Needs,
        progress: &mut Progress,
        now: Now<'_>,
    ) -> Result<Sections, Failure> {
        let mut sections = Sections { came: Vec::new(), interrupted: false };
        let (_, first_ns) = now();
        for (index, section) in SECTIONS.iter().enumerate() {
            let (started, begun_ns) = now();
            let left_ns = budget_ns(options) - begun_ns.saturating_sub(first_ns).real();
            let most_ns = left_ns - END * budget_ns(options);
            let share_ns = needs.share_ns(index, most_ns);
            let (asked, arguments, limit_ns) = asked(index, options, share_ns)?;
            progress.lead(format_args!(
                "{} ({} of {COUNT}, {:.0} s left): ",
                section.experiment.descriptor.name,
                index + 1,
                (left_ns / 1e9).max(0.0)
            ));
            let mut warnings = Warnings::empty();
            detect::warn(machine, &mut warnings);
            let came = run_experiment::planned(asked, machine, section.experiment).and_then(|planned| {
                if share_ns <= 0.0 {
                    return Err(PlacementError::BudgetOver.into());
                }
                let least = least(machine, &planned);
                // A section that needs more than its share, as on a busy machine, has it from the later ones, which
                // matter less.
                let longest_ns = (MOST_SHARES * share_ns).max(least.1);
                let end_ns = begun_ns.real() + longest_ns.min(most_ns);
                let intervals_by_ns = end_ns.min(begun_ns.real() + LATE_SHARES * share_ns);
                let checked = index == 0;
                let effort = Effort { limit_ns, intervals_by_ns, checked, begun_ns: f64::INFINITY, end_ns };
                let experiment = section.experiment;
                run_experiment(asked, machine, &mut warnings, progress, experiment, planned, effort)
            });
            let came = came.map(|ran| {
                // The findings about the machine are valid for the later sections too.
                machine = ran.machine;
                let seconds = now().1.saturating_sub(begun_ns).real() / 1e9;
                Done { options: asked, arguments, ran, warnings, started, seconds }
            });
            let nothing = match &came {
                Ok(done) => done.ran.findings.interrupted && done.ran.done() == 0,
                Err(failure) => matches!(failure, Failure::Interrupted),
            };
            sections.interrupted =
                nothing || interrupted() || came.as_ref().is_ok_and(|done| done.ran.findings.interrupted);
            if !nothing {
                sections.came.push(came);
            }
            if sections.interrupted {
                break;
            }
        }
        progress.lead(format_args!(""));
        progress.clear();
        Ok(sections)
    }

    /// Returns whether a section has a result.
    pub fn has_result(&self) -> bool {
        self.came.iter().any(Result::is_ok)
    }

    /// Returns whether no section has ended.
    pub fn is_empty(&self) -> bool {
        self.came.is_empty()
    }

    /// Returns the outcome of a section.
    pub fn came(&self, index: usize) -> Option<Came<'_>> {
        let done = match self.came.get(index)? {
            Ok(done) => done,
            Err(failure) => return Some(Err(failure)),
        };
        let Done { options, arguments, ran, warnings, started, seconds } = done;
        Some(Ok(ran.report(options, *arguments, warnings, (*started, *seconds))))
    }

    /// Returns the failure of a run after its result was written: an interrupt, a report in which nothing was measured,
    /// or an unreliable result if `strict` forbids it.
    ///
    /// # Errors
    ///
    /// This failure.
    pub fn verdict(&self, strict: bool) -> Result<(), Failure> {
        if self.interrupted {
            return Err(Failure::Partial);
        }
        if let (false, Some(Err(failure))) = (self.has_result(), self.came.first()) {
            return Err(*failure);
        }
        let untrusted = self.came.iter().filter_map(|came| came.as_ref().ok()?.warnings.untrusted());
        match untrusted.max_by_key(|(_, count)| *count) {
            Some((code, count)) if strict => Err(Unreliable::NotTrusted { code, count }.into()),
            _ => Ok(()),
        }
    }
}

//! The experiments of a report, one after the other, each within what is left of the budget.
//!
//! What each has found stays in mapped memory until the end, since every format is written from it at once; the memory
//! that was measured is given back by the engine before the next one begins. Asks neither clock nor signal itself.

use core::mem::ManuallyDrop;

use crate::engine::progress::Progress;
use crate::engine::session::{interrupted, Noted, Session};
use crate::error::{Failure, TimingError};
use crate::experiment::report::{asked, budget_ns, Came, COUNT, SECTIONS};
use crate::experiment::run_experiment::{self, Effort, ExperimentRun};
use crate::machine::{detect, Machine};
use crate::options::Options;
use crate::report::terminal::Terminal;
use crate::sys::arguments::Arguments;
use crate::sys::table::Table;
use crate::warning::Warnings;

/// A result, and what belongs to it.
struct Done {
    options: &'static Options<'static>,
    arguments: Arguments,
    ran: ExperimentRun<'static>,
    warnings: Warnings,
    started: u64,
    seconds: f64,
}

/// What came of a section; nothing where it was not begun. It lives as long as the process.
type Slot = ManuallyDrop<Option<Result<Done, Failure<'static>>>>;

/// What came of all of them.
pub struct Sections {
    slots: Table<Slot>,
    /// An interrupt came before the end.
    pub interrupted: bool,
}

/// The time: in seconds since 1970, and in nanoseconds of a clock that nobody sets.
pub type Now<'n> = &'n dyn Fn() -> (u64, u64);

impl Sections {
    /// Runs all of them on a machine.
    ///
    /// # Errors
    ///
    /// Those of memory for the results. What a section cannot measure is kept with its reason.
    pub fn run(
        options: &Options<'static>,
        mut machine: &'static Machine,
        progress: &mut Progress,
        now: Now<'_>,
    ) -> Result<Sections, Failure<'static>> {
        let slots = Table::made(COUNT, |_| ManuallyDrop::new(None))?;
        let mut sections = Sections { slots, interrupted: false };
        let (_, first_ns) = now();
        for (index, section) in SECTIONS.iter().enumerate() {
            let (started, begun_ns) = now();
            let left_ns = budget_ns(options) - begun_ns.saturating_sub(first_ns) as f64;
            let (asked, arguments, limit_ns) = asked(index, options, left_ns)?;
            let Some(asked) = Table::filled(1, asked)?.leak().first() else { break };
            progress.lead(format_args!(
                "{} ({} of {COUNT}, {:.0} s left): ",
                section.experiment.descriptor.name,
                index + 1,
                latency_core::decimal::Decimal((left_ns / 1e9).max(0.0))
            ));
            let mut warnings = Warnings::new();
            detect::warn(machine, &mut warnings);
            let mut noted = Noted::new();
            let mut session =
                Session { options: asked, machine, warnings: &mut warnings, progress, noted: &mut noted };
            let effort = Effort { limit_ns, checked: index == 0, begun_ns: f64::INFINITY };
            let came = run_experiment::planned(&mut session, section.experiment).and_then(|planned| {
                run_experiment::run_experiment(&mut session, section.experiment, planned, effort)
            });
            let came = came.map(|ran| {
                // What was found of the machine holds for the others, too.
                machine = ran.machine;
                let seconds = now().1.saturating_sub(begun_ns) as f64 / 1e9;
                Done { options: asked, arguments, ran, warnings, started, seconds }
            });
            let nothing = match &came {
                Ok(done) => done.ran.findings.interrupted && done.ran.done() == 0,
                Err(failure) => matches!(failure, Failure::Interrupted),
            };
            sections.interrupted =
                nothing || interrupted() || came.as_ref().is_ok_and(|done| done.ran.findings.interrupted);
            if let (false, Some(slot)) = (nothing, sections.slots.get_mut(index)) {
                *slot = ManuallyDrop::new(Some(came));
            }
            if sections.interrupted {
                break;
            }
        }
        progress.lead(format_args!(""));
        progress.clear();
        Ok(sections)
    }

    /// Whether no section has ended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.iter().all(|slot| slot.is_none())
    }

    /// What came of a section, shown on `terminal`.
    #[must_use]
    pub fn came(&self, index: usize, terminal: Terminal) -> Option<Came<'_, 'static>> {
        let done = match self.slots.get(index)?.as_ref()? {
            Ok(done) => done,
            Err(failure) => return Some(Err(failure)),
        };
        let Done { options, arguments, ran, warnings, started, seconds } = done;
        Some(Ok(ran.report(options, *arguments, warnings, terminal, (*started, *seconds))))
    }

    /// What ends a run whose result has been written: an interrupt, that nothing was measured, or that it is unreliable
    /// where `strict` forbids that.
    ///
    /// # Errors
    ///
    /// That.
    pub fn verdict(&self, strict: bool) -> Result<(), Failure<'static>> {
        if self.interrupted {
            return Err(Failure::Interrupted);
        }
        let slots = || self.slots.iter().filter_map(|slot| slot.as_ref());
        if let (None, Some(Err(failure))) = (slots().find(|came| came.is_ok()), slots().next()) {
            return Err(*failure);
        }
        let untrusted = slots().filter_map(|came| came.as_ref().ok()?.warnings.untrusted());
        match untrusted.max_by_key(|(_, count)| *count) {
            Some((code, count)) if strict => Err(TimingError::NotTrusted { code, count }.into()),
            _ => Ok(()),
        }
    }
}

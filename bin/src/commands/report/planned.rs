//! The plan of a report (`--dry-run`): the plan of each experiment, within its share of the budget.
//!
//! The experiments are planned as in a run, but nothing is measured.

use super::view::missing;
use super::{END, Needs, SECTIONS, asked, budget_ns};
use crate::describe::{self, CommandRun, trust};
use crate::error::Failure;
use crate::experiment::{dry_run, run_experiment};
use crate::options::Options;
use crate::plan::duration::{self, Range};
use crate::plan::{self, Plan};
use crate::record::members::SECTIONS_OF;
use alloc::vec::Vec;
use latency_core::math;
use latency_engine::error::PlacementError;
use latency_engine::machine::Machine;
use latency_engine::regions;
use latency_report::{Level, PageRole, Part, Role, Shown};

/// The plans of all sections.
pub struct Plans {
    /// The time that each section needs.
    pub needs: Needs,
    /// The plan of each section and its time, or the reason why it has none.
    sections: Vec<Result<(Plan, Range), Failure>>,
    /// The duration of all plans together.
    pub takes: Range,
}

impl Plans {
    /// Plans all sections for a machine.
    ///
    /// # Errors
    ///
    /// Requested nodes or CPUs that cannot measure; [`PlacementError::BudgetTooShort`].
    pub fn make(options: &Options, machine: &'static Machine) -> Result<Plans, Failure> {
        let needs = Needs::of(options, machine)?;
        let mut left_ns = budget_ns(options);
        if needs.share_ns(0, left_ns - END * budget_ns(options)) <= 0.0 {
            let seconds = math::whole(needs.least_ns() / (1.0 - END) / 1e9) + 1;
            return Err(PlacementError::BudgetTooShort { seconds }.into());
        }
        let mut plans = Plans { needs, sections: Vec::new(), takes: Range::ZERO };
        for (index, section) in SECTIONS.iter().enumerate() {
            let share_ns = plans.needs.share_ns(index, left_ns - END * budget_ns(options));
            let (asked, _, limit_ns) = asked(index, options, share_ns)?;
            let planned = run_experiment::planned(asked, machine, section.experiment).and_then(|planned| {
                let is_in_time = share_ns > 0.0;
                is_in_time.then_some(planned).ok_or_else(|| PlacementError::BudgetOver.into())
            });
            let planned = planned.map(|mut planned| {
                left_ns -= share_ns;
                let Plan { points, budget, .. } = &mut planned;
                budget.limit(limit_ns, machine, points);
                let look = plan::point_of_search(asked, machine, points).filter(|_| index == 0);
                let takes = duration::estimate(machine, points, budget)
                    + look.map_or(Range::ZERO, |_| duration::LOOK);
                plans.takes = plans.takes + takes;
                (planned, takes)
            });
            match planned {
                // The first section accepts all nodes, so its errors about nodes are valid for all sections.
                Err(failure @ Failure::Usage(_)) if index == 0 => return Err(failure),
                planned => plans.sections.push(planned),
            }
        }
        // Sections have less time each if those before took longer. Whole seconds are shown, rounded up.
        plans.takes = plans.takes.at_most(budget_ns(options) - 1.0);
        Ok(plans)
    }

    /// Returns every section that can be measured: its name, its plan and its duration.
    fn possible(&self) -> impl Iterator<Item = (&'static str, &Plan, Range)> {
        SECTIONS.iter().zip(self.sections.iter()).filter_map(|(section, planned)| {
            let (planned, takes) = planned.as_ref().ok()?;
            Some((section.experiment.descriptor.name, planned, *takes))
        })
    }

    /// Describes the plans: one line for each section, and each complete plan for programs.
    pub fn present(&self, document: &mut Shown, run: &CommandRun<'_>) {
        let (count, points) = self
            .possible()
            .fold((0, 0), |(count, points), (_, planned, _)| (count + 1, points + planned.points.len()));
        document.answer(format_args!(
            "{count} experiments, {points} points: {}; longer on a busy machine.",
            self.takes
        ));
        document.tabulate("", Level::Quiet, 1, &|table| {
            table.texts(&["experiment", "points", "memory", "time"]);
            for (name, planned, takes) in self.possible() {
                let memory = regions::bytes(planned.budget.memory, &planned.points);
                table.row().show(&name).show(&planned.points.len()).show(&memory).show(&takes);
            }
        });
        run.present(document);
        document.part(Part::Object(&describe::SUMMARY), |document| {
            document.put(&dry_run::POINTS, points);
            dry_run::time(document, self.takes);
        });
        trust::of_command(document, "good", &[]);
        document.part(Part::Records(&describe::ROWS), |document| {
            for (name, planned, _) in self.possible() {
                dry_run::rows(document, &CommandRun { name, ..*run }, &planned.points);
            }
        });
        document.put(&dry_run::PLAN, true);
        missing(document, &|index| self.sections.get(index)?.as_ref().err(), &|_| false);
        document.part(Part::List(&SECTIONS_OF), |document| {
            document.say(Role::Page(PageRole::Chapter), "Plans");
            for (name, planned, takes) in self.possible() {
                document.part(Part::Item, |document| {
                    dry_run::present(
                        document,
                        &CommandRun { name, ..*run },
                        &planned.points,
                        &planned.budget,
                        takes,
                    );
                });
            }
        });
    }
}

//! The reach of the out-of-order window: work between loads, with and without prefetch, and plain fillers.

mod view;

use self::view::WindowView;

use super::interface::{Experiment, collected};
use crate::analysis::window::{ReorderBuffer, room};
use crate::describe::{Presentation, Report, columns, lanes as chains};
use crate::engine::memory::chains::Alongside;
use crate::engine::run;
use crate::engine::schedule::window_search;
use crate::engine::session::{Findings, Session};
use crate::engine::stopwatch;
use crate::engine::stopwatch::clock::Timer;
use crate::error::Failure;
use crate::options::{Descriptor, FlagSet, Options};
use crate::plan;
use crate::plan::budget::Budget;
use crate::report::document::{Part, fields, members};
use crate::report::shown::Shown;
use crate::result::{Extra, Point};

/// Inverse throughput against the work between loads.
pub const WINDOW: Experiment = Experiment {
    descriptor: Descriptor {
        name: "window",
        summary: "size of the out-of-order window (reorder buffer)",
        details: "Sixteen chains with 0 to 48 units of dependent work after each load, with and without a \
                  software prefetch of the next line. Then two chains with up to 768 independent instructions \
                  between their loads: if the loads no longer overlap, the reorder buffer is full.",
        flags: FlagSet::MEASURING.union(FlagSet::WORKING_SET),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    plan: |planning| collected(planning, plan::lanes::window),
    budget: Budget::of_lanes,
    measure,
    present: Presentation { answer: view::answer, evidence, summary, rows: chains::records, data },
};

fn measure<'a>(
    _: &'a Options<'a>,
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
) -> Result<Findings<'a>, Failure<'a>> {
    timer.counter().ok_or(stopwatch::NEEDS_COUNTER)?;
    let mut extra = Extra::default();
    let alongside = &mut Alongside::default();
    let mut findings =
        run::measure_with(session, timer, points, budget, alongside, &mut |session, schedule| {
            schedule.run(session.progress)?;
            window_search::search(session.progress, schedule, &mut extra.reach)
        })?;
    findings.extra = extra;
    Ok(findings)
}

fields! {
    WORK_REACH "work_reach" "Number of instructions over which the out-of-order window hides dependent work.";
    HIDDEN "instructions_hidden" "Largest measured number of instructions per load that costs no extra time.";
    EXPOSED "instructions_exposed" "Smallest measured number of instructions per load that costs extra time; null if none did.";
    FILLER_REACH "filler_reach" "Number of independent instructions over which two loads still overlap.";
    BUFFER "reorder_buffer_instructions" interval "Capacity of the reorder buffer in instructions; null if not found, or larger than the test.";
    AGREE "fillers_agree" "True if the kinds of filler instructions do not contradict each other; null if they were not tested.";
}

fn evidence(document: &mut Shown, report: &Report<'_, '_>) {
    if let Some(view) = WindowView::of(report) {
        view::by_work(document, &view);
        view::pictures(document, report, &view);
    }
    chains::method(
        document,
        report,
        "16 chains with dependent work between their loads, then two chains with independent instructions between \
         their loads; times are per load, all chains together",
    );
}

fn data(document: &mut Shown, report: &Report<'_, '_>) {
    let view = WindowView::of(report);
    if let Some(view) = &view {
        view::reaches(document, report);
        view::by_fillers(document, view);
    }
    chains::points(document, report);
    let found = view.and_then(|view| view.found);
    let work = found.and_then(|found| found.work);
    document.part(Part::Object(&WORK_REACH), |document| {
        document.put(&HIDDEN, work.map(|work| work.hidden));
        document.put(&EXPOSED, work.and_then(|work| work.exposed));
    });
    document.items(Part::List(&FILLER_REACH), report.extra.reach.iter().flatten(), |document, reach| {
        let found = room(reach);
        document.put(&columns::FILLER, reach.filler.name());
        members! { document;
            "overlaps_over": reach.overlaps => "Largest measured number of instructions over which two loads overlap.";
            "alone_over": reach.alone => "Smallest measured number of instructions over which two loads no longer overlap; null if they always did.";
            "instructions" interval: found.instructions => "Instructions that fit, with the range between runs; null if there is no limit.";
            "converged": found.converged => "True if the limit is known within the differences between runs.";
        }
    });
}

fn summary(document: &mut Shown, report: &Report<'_, '_>) {
    let found = WindowView::of(report).and_then(|view| view.found);
    let work = found.and_then(|found| found.work);
    let prefetch = found.and_then(|found| found.prefetch?.gain());
    let buffer = found.map_or(ReorderBuffer::NotTested, |found| found.buffer);
    document.put(&BUFFER, buffer.holds());
    document.put(
        &AGREE,
        (buffer != ReorderBuffer::NotTested).then_some(buffer != ReorderBuffer::FillersDisagree),
    );
    members! { document;
        "integer_registers" interval: found.and_then(|found| found.registers) => "Number of integer registers for instructions in flight; null unless they run out before the reorder buffer.";
        "overlap_instructions" interval: work.and_then(|work| work.ends_at()) => "Number of instructions of dependent work at which loads no longer overlap; null if they always do.";
        "prefetch_speedup": prefetch.map(|gain| gain.speedup) => "Largest speedup by software prefetch; null if there is none.";
        "prefetch_speedup_work": prefetch.map(|gain| gain.work) => "Units of `work` at which prefetch has its largest speedup; null without a speedup.";
        "prefetch_pays_from_work": prefetch.and_then(|gain| gain.pays_from) => "Smallest `work` from which on prefetch always helps; null if it does not.";
    }
}

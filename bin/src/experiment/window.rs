//! The reach of the out-of-order window: work between loads, with and without prefetch, and plain fillers.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

use latency_core::kernel::lanes::{Filler, Gap, WINDOW as KERNELS};
use latency_core::{Estimate, Interval, ToReal, Worded, plural};

use super::Experiment;
use crate::analysis::lanes::{WorkReach, WorkingSet, regions};
use crate::analysis::reference::quantity;
use crate::analysis::window::{Gain, Prefetch, ReorderBuffer, WindowConclusion, conclude, room};
use crate::describe::method::optional;
use crate::describe::rates::percent;
use crate::describe::{Report, ReportParts, columns, lanes as chains, point, reference};
use crate::options::{Descriptor, FlagSet};
use crate::plan;
use crate::plan::budget;
use crate::record::members::REORDER_BUFFER;
use latency_engine::memory::chains::Alongside;
use latency_engine::result::{Extra, Reach, Walk};
use latency_engine::schedule::window_search;
use latency_engine::{run, stopwatch};
use latency_report::document::{fields, members};
use latency_report::{
    Axis, Chart, ChartPoint, Data, Digits, Level, Mark, Part, Picture, Role, Scale, Series, Shown, Unit,
};

/// Number of fillers between two rows of the table.
const STEP: usize = 64;

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
    plan: plan::lanes::window,
    budget: budget::of_lanes,
    measure: |_, session, points, budget| {
        session.timer.counter().ok_or(stopwatch::NEEDS_COUNTER)?;
        let mut extra = Extra::default();
        let alongside = &mut Alongside::default();
        let mut findings =
            run::measure_with(session, points, budget, alongside, &mut |session, schedule| {
                schedule.run(session.progress)?;
                window_search::search(session.progress, schedule, &mut extra.reach)
            })?;
        findings.extra = extra;
        Ok(findings)
    },
    conclude: |_, _| None,
    present,
};

fields! {
    WORK_REACH "work_reach" "Number of instructions over which the out-of-order window hides dependent work.";
    FILLER_REACH "filler_reach" "Number of independent instructions over which two loads still overlap.";
}

members! {
    fn work_reach(found: Option<WorkReach>);
    "instructions_hidden": found.map(|work| work.hidden) => "Largest measured number of instructions per load that costs no extra time.";
    "instructions_exposed": found.and_then(|work| work.exposed) => "Smallest measured number of instructions per load that costs extra time; null if none did.";
}

members! {
    fn filler_reach(reach: &Reach);
    columns::FILLER: reach.filler.word();
    "overlaps_over": reach.overlaps => "Largest measured number of instructions over which two loads overlap.";
    "alone_over": reach.alone => "Smallest measured number of instructions over which two loads no longer overlap; null if they always did.";
    "instructions" interval: room(reach).instructions => "Instructions that fit, with the range between runs; null if there is no limit.";
    "converged": room(reach).converged => "True if the limit is known within the differences between runs.";
}

members! {
    fn summary(found: Option<&WindowConclusion>, tested: Option<ReorderBuffer>, gain: Option<Gain>);
    REORDER_BUFFER: tested.and_then(|buffer| buffer.holds());
    "fillers_agree": tested.map(|buffer| buffer != ReorderBuffer::FillersDisagree) => "True if the kinds of filler instructions do not contradict each other; null if they were not tested.";
    "integer_registers" interval: found.and_then(|found| found.registers) => "Number of integer registers for instructions in flight; null unless they run out before the reorder buffer.";
    "overlap_instructions" interval: found.and_then(|found| found.work?.ends_at()) => "Number of instructions of dependent work at which loads no longer overlap; null if they always do.";
    "prefetch_speedup": gain.map(|gain| gain.speedup) => "Largest speedup by software prefetch; null if there is none.";
    "prefetch_speedup_work": gain.map(|gain| gain.work) => "Units of `work` at which prefetch has its largest speedup; null without a speedup.";
    "prefetch_pays_from_work": gain.and_then(|gain| gain.pays_from) => "Smallest `work` from which on prefetch always helps; null if it does not.";
}

/// The points in the cache, if there are any, and those in memory.
struct WindowView<'s> {
    floor: Option<&'s WorkingSet>,
    memory: &'s WorkingSet,
    /// The place of the larger working set.
    place: String,
    /// The conclusion; `None` if the larger working set lies in caches.
    found: Option<WindowConclusion>,
}

impl WindowView<'_> {
    fn gain(&self) -> Option<Gain> {
        self.found?.prefetch?.gain()
    }
}

/// Concludes from the working sets of a report; `None` without points.
fn concluded<'s>(report: &Report<'_>, sets: &'s [WorkingSet]) -> Option<WindowView<'s>> {
    let (floor, memory) = match sets {
        [] => return None,
        [memory] => (None, memory),
        [floor, memory, ..] => (Some(floor), memory),
    };
    let is_memory = report.machine.reaches_memory(memory.size);
    let found = is_memory.then(|| conclude(floor, memory, &report.extra.reach));
    let place = if is_memory { "memory".into() } else { format!("{}", memory.size) };
    Some(WindowView { floor, memory, place, found })
}

fn present(parts: &mut ReportParts, report: &Report<'_>) {
    let sets = regions(report.outcomes);
    let view = &concluded(report, &sets);
    let found = view.as_ref().and_then(|view| view.found.as_ref());
    let tested = found.map(|found| found.buffer).filter(|buffer| *buffer != ReorderBuffer::NotTested);
    summary(&mut parts.summary, found, tested, view.as_ref().and_then(WindowView::gain));
    chains::records(&mut parts.rows, report);
    let data = &mut parts.data;
    if let Some(view) = view {
        answer(&mut parts.answer, report, view);
        by_work(&mut parts.evidence, view);
        let measured = fillers(&mut parts.evidence, report, view);
        work(&mut parts.evidence, report, view, !measured);
        reaches(data, report);
        by_fillers(data, view);
    }
    chains::method(
        &mut parts.evidence,
        report,
        "16 chains with dependent work between their loads, then two chains with independent instructions between \
         their loads; times are per load, all chains together",
    );
    chains::points(data, report);
    data.part(Part::Object(&WORK_REACH), |data| work_reach(data, found.and_then(|found| found.work)));
    data.items(Part::List(&FILLER_REACH), report.extra.reach.iter().flatten(), filler_reach);
}

/// Writes the reach of the window, and the benefit of prefetches.
fn answer(document: &mut Shown, report: &Report<'_>, view: &WindowView<'_>) {
    let Some(found) = &view.found else {
        return document.answer(format_args!(
            "Not tested: the caches hold {size}, and cache hits return before the window is full. \
                 Remove --size, or use --size={least}M or more.",
            size = view.memory.size,
            least = report.machine.least_in_memory().0.div_ceil(1 << 20)
        ));
    };
    buffers(document, found);
    if let Some(WorkReach { hidden, exposed }) = found.work {
        let end = optional(exposed, |exposed, out| write!(out, "; with {exposed} they begin to serialize"));
        // Where no amount is known to be hidden, the smaller ones are undecided.
        if hidden > 0 {
            document.aside(format_args!(
                "Loads still overlap with up to {hidden} dependent instructions between them{end}."
            ));
        }
    }
    match found.prefetch {
        Some(Prefetch::Gains(gain)) => {
            let from = optional(gain.pays_from, |work, out| match work {
                0 => out.write_str(" and helps at every amount of work"),
                work => write!(out, " and helps from {work} unit{} of work", plural(work)),
            });
            document.answer(format_args!(
                "Software prefetch one load ahead is up to {ratio:.1}x faster ({work} units of work: \
                     {with} vs {without} ns){from}.",
                ratio = gain.speedup,
                work = gain.work,
                with = Digits(gain.with),
                without = Digits(gain.without)
            ));
        }
        Some(other) => document.answer(format_args!(
            "Software prefetch one load ahead brings no gain{}.",
            if other == Prefetch::Nothing { "" } else { " beyond the uncertainty" }
        )),
        None => {}
    }
    if let ReorderBuffer::Holds(instructions) = found.buffer {
        reference::published(document, report, quantity::REORDER_BUFFER, Some(instructions.value));
    }
}

/// Returns the range of an estimate as text.
fn range(found: Estimate) -> impl Display {
    optional(found.interval, |Interval { low, high }, out| {
        write!(out, " ({low:.0} to {high:.0} between runs)")
    })
}

/// Writes the sizes of the reorder buffer and of the registers.
fn buffers(document: &mut Shown, found: &WindowConclusion) {
    match found.buffer {
        ReorderBuffer::Holds(instructions) => document.answer(format_args!(
            "Reorder buffer: about {:.0} instructions{}.",
            instructions.value,
            range(instructions)
        )),
        ReorderBuffer::MoreThan(instructions) => document.answer(format_args!(
                "Reorder buffer: more than {instructions} instructions (no limit found)."
            )),
        ReorderBuffer::FillersDisagree => document.say(Role::Answer, "Reorder buffer: not found, because the kinds of instructions contradict each other (see --verbose); run \
             again on an idle machine."),
        ReorderBuffer::NotTested => {}
    }
    if let Some(registers) = found.registers {
        document.aside(format_args!(
            "Integer registers: about {count:.0} in flight{range}.",
            count = registers.value,
            range = range(registers)
        ));
    }
}

/// Shows a row for each amount of work.
fn by_work(document: &mut Shown, view: &WindowView<'_>) {
    document.tabulate(
        "ns per load, 16 chains with dependent work between their loads",
        Level::Quiet,
        0,
        &|table| {
            table.texts(&["work", "instructions"]);
            // Without points in the cache, their column is left out.
            if view.floor.is_some() {
                table.text("L1");
            }
            table.text(&view.place).texts(&["prefetched", "time saved"]);
            for [plain, _] in &KERNELS {
                let time = |set: &WorkingSet, prefetch| {
                    set.with_work(plain.work(), prefetch).map_or(f64::NAN, |time| time.value)
                };
                let (without, with) = (time(view.memory, false), time(view.memory, true));
                table.row().show(&plain.work()).show(&plain.instructions());
                if let Some(floor) = view.floor {
                    table.number(time(floor, false));
                }
                table.number(without).number(with);
                table.known(Some(1.0 - with / without).filter(|saved| saved.is_finite()).map(percent));
            }
        },
    );
}

/// Writes the reach over each kind of filler.
fn reaches(document: &mut Shown, report: &Report<'_>) {
    for reach in report.extra.reach.iter().flatten() {
        let found = room(reach);
        document.under(Role::Detail(reach.filler.word())).write(format_args!(
            "two loads overlap across up to {} instructions{}{}",
            reach.overlaps,
            optional(reach.alone, |alone, out| write!(out, "; at {alone} they serialize")),
            match (reach.alone, found.converged) {
                (None, _) => "; no limit found",
                (_, true) => "",
                (_, false) => "; the limit is uncertain",
            }
        ));
    }
}

/// Shows a row for each number of fillers: the time of both loads, compared with the time without fillers.
fn by_fillers(document: &mut Shown, view: &WindowView<'_>) {
    let time = |filler, fillers| {
        view.memory.times.iter().find_map(|(walk, time)| match walk {
            Walk::Apart(gap) if (gap.filler(), gap.fillers()) == (filler, fillers) => Some(time.value),
            _ => None,
        })
    };
    let measured = view.memory.times.iter().any(|(walk, _)| matches!(walk, Walk::Apart(_)));
    let caption = "Time of two loads with instructions between them, relative to none";
    document.tabulate(caption, Level::Verbose, 0, &|table| {
        table.text("instructions").each(Filler::ALL.iter().map(|filler| filler.word()));
        for fillers in (0..=Gap::MOST).step_by(STEP).filter(|_| measured) {
            table.row().show(&fillers);
            for filler in Filler::ALL {
                let ratio = time(filler, fillers).zip(time(filler, 0)).map(|(with, without)| with / without);
                table.known(ratio.map(|ratio| format!("{ratio:.2}")));
            }
        }
    });
}

/// Draws the time of two loads by the number of instructions of each kind between them, and the end of the window.
/// Returns whether it was measured.
fn fillers(document: &mut Shown, report: &Report<'_>, view: &WindowView<'_>) -> bool {
    let Some(found) = view.found else { return false };
    let line = |filler: Filler| {
        let times = view.memory.times.iter().filter_map(|(walk, time)| match walk {
            Walk::Apart(gap) if gap.filler() == filler => Some((gap.fillers(), *time)),
            _ => None,
        });
        let mut base = None;
        let mut points = times.map(|(fillers, time)| {
            let base = *base.get_or_insert(time.value);
            ChartPoint::of((fillers + Gap::OVERHEAD).real(), time.scaled(1.0 / base))
        });
        Series::of(filler.word(), &mut points)
    };
    let series = Filler::ALL.map(line);
    let measured =
        series.iter().any(|series| matches!(&series.data, Data::Points(points) if !points.is_empty()));
    let title = match found.buffer {
        ReorderBuffer::Holds(it) => format!("Reorder buffer: {:.0} instructions", it.value),
        ReorderBuffer::MoreThan(most) => format!("Reorder buffer: more than {most} instructions"),
        ReorderBuffer::FillersDisagree | ReorderBuffer::NotTested => "Reorder buffer: not found".into(),
    };
    let ends = [
        (found.registers, "integer registers", Some(Filler::Lea as usize)),
        (found.buffer.holds(), "instructions", None),
    ];
    let marks = ends.map(|(end, noun, series)| {
        let x = end.map_or(f64::NAN, |end| end.value);
        Mark { series, ..Mark::line(x, format_args!("{x:.0} {noun}")) }
    });
    if measured {
        let subtitle = "time of two loads, relative to that without instructions between them";
        let subtitle = point::subtitle(subtitle, report.machine, report.outcomes.last());
        let x_axis =
            Axis { title: "instructions between two loads", unit: Unit::Count, scale: Scale::Linear };
        let y_axis = Axis { title: "relative time of both", unit: Unit::Plain(""), scale: Scale::Linear };
        let (series, marks) = (series.into(), marks.into());
        document.picture(Picture::Chart(Chart { title, subtitle, x_axis, y_axis, series, marks }));
    }
    measured
}

/// Draws the time per load by the instructions between a chain's loads.
fn work(document: &mut Shown, report: &Report<'_>, view: &WindowView<'_>, in_text: bool) {
    let line = |name: &str, set: &WorkingSet, prefetch| {
        let mut points = KERNELS.iter().map(|[plain, fetching]| {
            let kernel = if prefetch { fetching } else { plain };
            let time = set.with_work(kernel.work(), prefetch);
            ChartPoint::of(kernel.instructions().real(), time.unwrap_or(f64::NAN.into()))
        });
        Series::of(name, &mut points)
    };
    let mut series =
        Vec::from([line(&view.place, view.memory, false), line("with prefetch", view.memory, true)]);
    series.extend(view.floor.map(|floor| line("L1", floor, false)));
    let title = match view.gain() {
        Some(gain) => format!("Prefetching one load ahead: up to {:.1}x", gain.speedup),
        None => "Time per load by instructions between loads".into(),
    };
    let subtitle =
        point::subtitle("time per load of 16 chains by instructions", report.machine, report.outcomes.last());
    let x_axis = Axis { title: "instructions between loads", unit: Unit::Count, scale: Scale::Linear };
    let y_axis = Axis { title: "time per load", unit: Unit::Plain("ns"), scale: Scale::Linear };
    document.draw(Picture::Chart(Chart::of([title, subtitle], [x_axis, y_axis], series)), in_text);
}

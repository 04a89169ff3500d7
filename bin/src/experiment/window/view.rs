//! The window for people: its size, the benefit of prefetches, and the measured times.

use crate::report::figures::Digits;
use alloc::format;
use alloc::vec::Vec;
use core::fmt::{self, Display};
use latency_core::math::ToReal;

use latency_core::kernel::lanes::{Filler, Gap, WINDOW as KERNELS};
use latency_core::stats::Interval;
use latency_core::text::{Text, plural};

use crate::analysis::lanes::{WorkReach, WorkingSet, regions};
use crate::analysis::reference::quantity;
use crate::analysis::window::{Prefetch, ReorderBuffer, WindowConclusion, conclude, room};
use crate::describe::method::optional;
use crate::describe::rates::percent;
use crate::describe::{Report, point, reference};
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Mark, Scale, Series, Unit};
use crate::report::document::{Level, Role};
use crate::report::shown::{Picture, Shown};
use crate::result::Walk;
use latency_core::stats::Estimate;

/// Number of fillers between two rows of the table.
const STEP: usize = 64;

/// The points in the cache, if there are any, and those in memory.
#[derive(Clone, Copy)]
pub struct WindowView<'r, 'a> {
    floor: Option<WorkingSet<'r, 'a>>,
    memory: WorkingSet<'r, 'a>,
    /// The conclusion; `None` if the larger working set lies in caches.
    pub found: Option<WindowConclusion>,
}

impl<'r, 'a> WindowView<'r, 'a> {
    /// Returns the view of a report; `None` without points.
    pub fn of(report: &Report<'r, 'a>) -> Option<WindowView<'r, 'a>> {
        let mut regions = regions(report.outcomes);
        let (floor, memory) = match (regions.next()?, regions.next()) {
            (floor, Some(memory)) => (Some(floor), memory),
            (memory, None) => (None, memory),
        };
        let is_memory = report.machine.reaches_memory(memory.size);
        let found = is_memory.then(|| conclude(floor, memory, &report.extra.reach));
        Some(WindowView { floor, memory, found })
    }

    /// Returns the place of the larger working set.
    fn place(&self) -> Text<32> {
        match self.found {
            Some(_) => Text::of(format_args!("memory")),
            None => Text::of(format_args!("{}", self.memory.size)),
        }
    }
}

/// Writes the answer: the reach of the window, and the benefit of prefetches.
pub fn answer(document: &mut Shown, report: &Report<'_, '_>) {
    let Some(view) = WindowView::of(report) else { return };
    match &view.found {
        Some(found) => {
            found_of(document, found);
            if let ReorderBuffer::Holds(instructions) = found.buffer {
                let value = Some(instructions.value);
                reference::published(document, report, quantity::REORDER_BUFFER, value);
            }
        }
        None => document.answer(format_args!(
            "Not tested: the caches hold {size}, and cache hits return before the window is full. \
                 Remove --size, or use --size={least}M or more.",
            size = view.memory.size,
            least = report.machine.least_in_memory().0.div_ceil(1 << 20)
        )),
    }
}

/// Shows the range of an estimate.
fn range(found: Estimate) -> impl Display {
    optional(found.interval, |Interval { low, high }, out| {
        write!(out, " ({low:.0} to {high:.0} between runs)")
    })
}

fn found_of(document: &mut Shown, found: &WindowConclusion) {
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
        document.answer(format_args!(
            "Integer registers: about {count:.0} in flight{range}.",
            count = registers.value,
            range = range(registers)
        ));
    }
    if let Some(WorkReach { hidden, exposed }) = found.work {
        let end = optional(exposed, |exposed, out| write!(out, "; with {exposed} they begin to serialize"));
        document.finding(format_args!(
            "Loads still overlap with up to {hidden} dependent instructions between them{end}."
        ));
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
}

/// Shows a row for each amount of work.
pub fn by_work(document: &mut Shown, view: &WindowView<'_, '_>) {
    let place = view.place();
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
            table.text(place.as_str());
            table.texts(&["prefetched", "time saved"]);
            for [plain, _] in &KERNELS {
                let time = |region: WorkingSet<'_, '_>, prefetch| {
                    region.with_work(plain.work(), prefetch).map_or(f64::NAN, |time| time.value)
                };
                let (without, with) = (time(view.memory, false), time(view.memory, true));
                table.row();
                table.show(&plain.work());
                table.show(&plain.instructions());
                if let Some(floor) = view.floor {
                    table.number(time(floor, false));
                }
                table.number(without);
                table.number(with);
                table.known(Some(1.0 - with / without).filter(|saved| saved.is_finite()).map(percent));
            }
        },
    );
}

/// Writes the reach over each kind of filler.
pub fn reaches(document: &mut Shown, report: &Report<'_, '_>) {
    for reach in report.extra.reach.iter().flatten() {
        let found = room(reach);
        document.sentence(
            Role::Detail(reach.filler.name()),
            format_args!(
                "two loads overlap across up to {} instructions{}{}",
                reach.overlaps,
                optional(reach.alone, |alone, out| write!(out, "; at {alone} they serialize")),
                match (reach.alone, found.converged) {
                    (None, _) => "; no limit found",
                    (_, true) => "",
                    (_, false) => "; the limit is uncertain",
                }
            ),
        );
    }
}

/// Shows a row for each number of fillers: the time of both loads, compared with the time without fillers.
pub fn by_fillers(document: &mut Shown, view: &WindowView<'_, '_>) {
    let time = |filler, fillers| {
        view.memory.times().find_map(|(walk, time)| match walk {
            Walk::Apart(gap) if (gap.filler(), gap.fillers()) == (filler, fillers) => Some(time.value),
            _ => None,
        })
    };
    let measured = view.memory.times().any(|(walk, _)| matches!(walk, Walk::Apart(_)));
    let caption = "Time of two loads with instructions between them, relative to none";
    document.tabulate(caption, Level::Verbose, 0, &|table| {
        table.text("instructions");
        Filler::ALL.iter().for_each(|filler| table.text(filler.name()));
        for fillers in (0..=Gap::MOST).step_by(STEP).filter(|_| measured) {
            table.row();
            table.show(&fillers);
            for filler in Filler::ALL {
                let ratio = time(filler, fillers).zip(time(filler, 0)).map(|(with, without)| with / without);
                table.known(ratio.map(|ratio| fmt::from_fn(move |out| write!(out, "{ratio:.2}"))));
            }
        }
    });
}

/// Draws the time of two loads by the instructions between them, and the time per load by the work between a chain's
/// loads. A terminal shows the latter only without the former.
pub fn pictures(document: &mut Shown, report: &Report<'_, '_>, view: &WindowView<'_, '_>) {
    let measured = fillers(document, report, view);
    work(document, report, view, !measured);
}

/// Draws the time of two loads by the number of instructions of each kind between them, and the end of the window.
/// Returns whether it was measured.
fn fillers(document: &mut Shown, report: &Report<'_, '_>, view: &WindowView<'_, '_>) -> bool {
    let Some(found) = view.found else { return false };
    let line = |filler: Filler| {
        let times = view.memory.times().filter_map(|(walk, time)| match walk {
            Walk::Apart(gap) if gap.filler() == filler => Some((gap.fillers(), time)),
            _ => None,
        });
        let mut base = None;
        let mut points = times.map(|(fillers, time)| {
            let base = *base.get_or_insert(time.value);
            ChartPoint::of((fillers + Gap::OVERHEAD).real(), time.scaled(1.0 / base))
        });
        Series::of(filler.name(), &mut points)
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
        document.picture(Picture::Chart(Chart {
            title,
            subtitle: point::subtitle(subtitle, report.machine, report.outcomes.last()),
            x_axis: Axis { title: "instructions between two loads", unit: Unit::Count, scale: Scale::Linear },
            y_axis: Axis { title: "relative time of both", unit: Unit::Plain(""), scale: Scale::Linear },
            series: series.into(),
            marks: marks.into(),
        }));
    }
    measured
}

/// Draws the time per load by the instructions between a chain's loads.
fn work(document: &mut Shown, report: &Report<'_, '_>, view: &WindowView<'_, '_>, in_text: bool) {
    let line = |name: &str, region: WorkingSet<'_, '_>, prefetch| {
        let mut points = KERNELS.iter().map(|[plain, fetching]| {
            let kernel = if prefetch { fetching } else { plain };
            let time = region.with_work(kernel.work(), prefetch);
            ChartPoint::of(kernel.instructions().real(), time.unwrap_or(f64::NAN.into()))
        });
        Series::of(name, &mut points)
    };
    let mut series = Vec::from([
        line(view.place().as_str(), view.memory, false),
        line("with prefetch", view.memory, true),
    ]);
    series.extend(view.floor.map(|floor| line("L1", floor, false)));
    let gain = view.found.and_then(|found| found.prefetch?.gain());
    let title = match gain {
        Some(gain) => format!("Prefetching one load ahead: up to {:.1}x", gain.speedup),
        None => "Time per load by instructions between loads".into(),
    };
    let subtitle =
        point::subtitle("time per load of 16 chains by instructions", report.machine, report.outcomes.last());
    let chart = Chart {
        title,
        subtitle,
        x_axis: Axis { title: "instructions between loads", unit: Unit::Count, scale: Scale::Linear },
        y_axis: Axis { title: "time per load", unit: Unit::Plain("ns"), scale: Scale::Linear },
        series,
        marks: Vec::new(),
    };
    document.draw(Picture::Chart(chart), in_text);
}

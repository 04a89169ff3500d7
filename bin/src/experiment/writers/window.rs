//! Work between loads, written down: what the window hides, what prefetch wins back, and how far it reaches.

use core::fmt::{self, Write};

use latency_core::decimal::Decimal;
use latency_core::json::{Layout, Writer};
use latency_core::kernel::lanes::{Filler, Gap, WINDOW};
use latency_core::text::Text;

pub use super::lanes::rows as csv;
use super::lanes::{self, number};
use super::{counters, facts, health, Report};
use crate::analysis::lanes::{regions, work_reach, Region, WorkReach};
use crate::report::chart::{Axis, Chart, Data, Point, Scale, Series, Unit};
use crate::report::figures::Figure;
use crate::report::{plot, svg};
use crate::result::{Reach, Walk};

/// Fillers between two lines of the table.
const STEP: usize = 64;
/// Each run finds the end of the window within a few fillers, and the next one elsewhere: 348 to 380 mixed ones on Zen 4.
const RUN_TO_RUN: usize = 16;

/// The working set in the cache, if there is one, and the one in memory.
fn floor_and_memory<'r, 'a>(report: &Report<'r, 'a>) -> Option<(Option<Region<'r, 'a>>, Region<'r, 'a>)> {
    let mut regions = regions(report.outcomes);
    match (regions.next()?, regions.next()) {
        (floor, Some(memory)) => Some((Some(floor), memory)),
        (memory, None) => Some((None, memory)),
    }
}

/// Where the larger working set lies: memory, if caches cannot hold it.
fn place(report: &Report<'_, '_>, larger: &Region<'_, '_>) -> Text<24> {
    match report.machine.reaches_memory(larger.size) {
        true => {
            let mut text = Text::EMPTY;
            // It is shorter than the text.
            let _ = text.write_str("memory");
            text
        }
        false => lanes::region_name(larger),
    }
}

/// Writes the report for people.
///
/// # Errors
///
/// Those of `out`.
pub fn text(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let Some((floor, memory)) = floor_and_memory(report) else { return Ok(()) };
    let place = place(report, &memory);
    work_table(out, floor, memory, place.as_str())?;
    out.write_char('\n')?;
    if !report.options.quiet {
        let mut drawn = Ok(());
        chart(report, |chart| drawn = plot::write(out, chart, report.terminal));
        drawn?;
        out.write_char('\n')?;
        if memory.samples().any(|sample| matches!(sample.outcome.point.walk, Walk::Apart(_))) {
            gap_table(out, memory)?;
            out.write_char('\n')?;
        }
    }
    if report.partial {
        writeln!(out, "partial: interrupted before all points were measured to the end")?;
    }
    if report.machine.reaches_memory(memory.size) {
        work_conclusion(out, work_reach(floor, memory))?;
        prefetch_conclusion(out, memory)?;
        for reach in report.extra.reach.iter().flatten() {
            reach_conclusion(out, reach)?;
        }
    } else {
        writeln!(
            out,
            "Window:     not tested, since a load from a cache is back before the window is full, and caches hold \
             {}; give no --size, or at least {}",
            lanes::region_name(&memory),
            report.machine.least_in_memory()
        )?;
    }
    if report.options.quiet {
        return Ok(());
    }
    facts::conditions(out, &lanes::in_memory(report))?;
    facts::clock_line(out, report)?;
    health::text(out, &lanes::in_memory(report))?;
    counters::text(out, report)
}

/// A line for each amount of work.
fn work_table(
    out: &mut dyn Write,
    floor: Option<Region<'_, '_>>,
    memory: Region<'_, '_>,
    place: &str,
) -> fmt::Result {
    writeln!(out, "ns a load, 16 lanes, inverse throughput")?;
    writeln!(
        out,
        "{:>5} {:>12} {:>9} {:>9} {:>9} {:>15}",
        "work", "instructions", "in L1", place, "prefetch", "prefetch saves"
    )?;
    for [plain, fetching] in &WINDOW {
        let time = |region: Option<Region<'_, '_>>, prefetch| {
            let sample = region.and_then(|region| region.with_work(plain.work(), prefetch));
            sample.map_or(f64::NAN, |sample| sample.nanoseconds)
        };
        let without = time(Some(memory), false);
        let with = time(Some(memory), fetching.prefetch());
        let floor = time(floor, false);
        write!(out, "{:>5} {:>12} ", plain.work(), plain.instructions())?;
        write!(out, "{:>9} {:>9} {:>9} ", Figure(floor), Figure(without), Figure(with))?;
        writeln!(out, "{:>13.0} %", Decimal((1.0 - with / without) * 100.0))?;
    }
    Ok(())
}

/// A line for each number of fillers: the time of both loads, against that without fillers.
fn gap_table(out: &mut dyn Write, memory: Region<'_, '_>) -> fmt::Result {
    let time = |filler, fillers| {
        memory.samples().find_map(|sample| match sample.outcome.point.walk {
            Walk::Apart(gap) if (gap.filler(), gap.fillers()) == (filler, fillers) => {
                Some(sample.nanoseconds)
            }
            _ => None,
        })
    };
    write!(out, "two loads, time against no fillers\n{:>7}", "fillers")?;
    for filler in Filler::ALL {
        write!(out, "{:>8}", filler.name())?;
    }
    out.write_char('\n')?;
    for fillers in (0..=Gap::MOST).step_by(STEP) {
        write!(out, "{fillers:>7}")?;
        for filler in Filler::ALL {
            match (time(filler, fillers), time(filler, 0)) {
                (Some(with), Some(without)) => write!(out, "{:>8.2}", Decimal(with / without))?,
                _ => write!(out, "{:>8}", "-")?,
            }
        }
        out.write_char('\n')?;
    }
    Ok(())
}

fn work_conclusion(out: &mut dyn Write, reach: Option<WorkReach>) -> fmt::Result {
    let Some(WorkReach { hidden, exposed }) = reach else { return Ok(()) };
    write!(out, "Work:       ")?;
    match exposed {
        Some(exposed) => writeln!(
            out,
            "the window reaches a lane's next load over {hidden} instructions, and no longer over {exposed}"
        ),
        None => writeln!(out, "the window reaches a lane's next load over all of {hidden} instructions"),
    }
}

/// Where prefetch wins most.
fn prefetch_conclusion(out: &mut dyn Write, memory: Region<'_, '_>) -> fmt::Result {
    let best = WINDOW
        .iter()
        .filter_map(|[plain, _]| {
            let without = memory.with_work(plain.work(), false)?.nanoseconds;
            let with = memory.with_work(plain.work(), true)?.nanoseconds;
            Some((plain.work(), without, with))
        })
        .max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)));
    let Some((work, without, with)) = best.filter(|(_, without, with)| without > with) else { return Ok(()) };
    writeln!(
        out,
        "Prefetch:   wins most at {work} units of work: {} ns a load in place of {} ns, {:.2} times as fast",
        Figure(with),
        Figure(without),
        Decimal(without / with)
    )
}

fn reach_conclusion(out: &mut dyn Write, reach: &Reach) -> fmt::Result {
    let name = reach.filler.name();
    write!(out, "{name:<12}")?;
    match reach.alone {
        Some(alone) => writeln!(
            out,
            "two loads overlap over {} fillers, and no longer over {alone}: room for {} +- {} (run to run) {}",
            reach.overlaps,
            reach.overlaps.midpoint(alone) + Gap::OVERHEAD,
            alone.saturating_sub(reach.overlaps).div_ceil(2) + RUN_TO_RUN,
            needs(reach.filler)
        ),
        None => writeln!(
            out,
            "two loads still overlap over {} fillers: no limit seen, so that these may take no place in the window",
            reach.overlaps
        ),
    }
}

/// What the instructions take room in.
const fn needs(filler: Filler) -> &'static str {
    match filler {
        Filler::Nop => "instructions in the reorder buffer",
        Filler::Lea => "instructions that each take an integer register",
        Filler::Mixed => "instructions in the reorder buffer, or in what else they need",
    }
}

/// Writes the document.
///
/// # Errors
///
/// Those of `out`.
pub fn json(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let mut json = Writer::new(out, Layout::Lines);
    json.begin_object()?;
    lanes::points(&mut json, report)?;
    let reach = floor_and_memory(report)
        .filter(|(_, memory)| report.machine.reaches_memory(memory.size))
        .and_then(|(floor, memory)| work_reach(floor, memory));
    let count = |value: Option<usize>| value.map(|value| value as f64);
    json.key("work_reach")?.begin_object()?;
    number(&mut json, "instructions_hidden", count(reach.map(|reach| reach.hidden)))?;
    number(&mut json, "instructions_exposed", count(reach.and_then(|reach| reach.exposed)))?;
    json.end_object()?;
    json.key("filler_reach")?.begin_array()?;
    for reach in report.extra.reach.iter().flatten() {
        json.begin_object()?;
        json.key("filler")?.string(reach.filler.name())?;
        json.key("overlaps_over")?.u64(reach.overlaps as u64)?;
        json.key("alone_over")?;
        match reach.alone {
            Some(alone) => json.u64(alone as u64)?,
            None => json.null()?,
        }
        json.end_object()?;
    }
    json.end_array()?;
    lanes::end(&mut json, report)?;
    json.end_object()?;
    json.finish()?.write_char('\n')
}

/// Writes the picture.
///
/// # Errors
///
/// Those of `out`.
pub fn picture(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let mut drawn = Ok(());
    chart(report, |chart| drawn = svg::write_chart(out, chart));
    drawn
}

/// Makes the chart: the time for each load against work.
fn chart(report: &Report<'_, '_>, draw: impl FnOnce(&Chart<'_>)) {
    let Some((floor, memory)) = floor_and_memory(report) else { return };
    let line = |region: Option<Region<'_, '_>>, prefetch| {
        let mut points = [Point::new(f64::NAN, f64::NAN); WINDOW.len()];
        for (point, [kernel, _]) in points.iter_mut().zip(&WINDOW) {
            let sample = region.and_then(|region| region.with_work(kernel.work(), prefetch));
            *point = Point::new(kernel.work() as f64, sample.map_or(f64::NAN, |sample| sample.nanoseconds));
        }
        points
    };
    let mut name = place(report, &memory);
    if report.machine.reaches_memory(memory.size) {
        // It is shorter than the text.
        let _ = write!(name, ", {}", lanes::region_name(&memory));
    }
    let (without, with, cache) = (line(Some(memory), false), line(Some(memory), true), line(floor, false));
    let series = [
        Series { name: name.as_str(), data: Data::Points(&without) },
        Series { name: "the same, prefetched", data: Data::Points(&with) },
        Series { name: "L1", data: Data::Points(&cache) },
    ];
    let subtitle = facts::subtitle(report.outcomes.last());
    draw(&Chart {
        title: "Inverse throughput against work between loads of 16 lanes",
        subtitle: subtitle.as_str(),
        x_axis: Axis { title: "units of work", unit: Unit::Count, scale: Scale::Ordinal },
        y_axis: Axis { title: "time for each load", unit: Unit::Plain("ns"), scale: Scale::Linear },
        series: if floor.is_some() { &series } else { series.get(..2).unwrap_or_default() },
        marks: &[],
    });
}

//! Chains side by side, written down: the time for each load, loads in flight, and where they end.

use core::fmt::{self, Write};

use latency_core::decimal::Decimal;
use latency_core::json::{Layout, Writer};
use latency_core::kernel::lanes::PARALLEL;
use latency_core::text::Text;
use latency_core::units::Bytes;

use super::json::value::{interval, Json};
pub use super::lanes::rows as csv;
use super::lanes::{self, between, number, region_name};
use super::{facts, Report};
use crate::analysis::claims::Claims;
use crate::analysis::lanes::{regions, Region};
use crate::report::chart::{Axis, Chart, Data, Point, Scale, Series, Unit};
use crate::report::figures::Figure;
use crate::report::{plot, svg};

/// What one load brings.
const LINE: Bytes = Bytes(64);
/// The working sets that are shown.
const REGIONS: usize = 4;
const WIDTH: usize = 10;

/// Writes the report for people.
///
/// # Errors
///
/// Those of `out`.
pub fn text(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    table(out, report)?;
    out.write_char('\n')?;
    if !report.options.quiet {
        let mut drawn = Ok(());
        chart(report, |chart| drawn = plot::write(out, chart, report.terminal));
        drawn?;
        out.write_char('\n')?;
    }
    if report.partial {
        writeln!(out, "partial: interrupted before all points were measured to the end")?;
    }
    for region in regions(report.outcomes) {
        conclusion(out, &region)?;
    }
    fill_buffers(out, report)?;
    if report.options.quiet {
        return Ok(());
    }
    out.write_str(
        "The time for each load of several lanes is the inverse of a throughput; of one lane alone, a latency.\n",
    )?;
    facts::conditions(out, &lanes::in_memory(report))?;
    facts::ending(out, report)
}

/// A line for each number of lanes, two columns for each working set.
fn table(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    write!(out, "{:>5}", "")?;
    for region in regions(report.outcomes) {
        let name = region_name(&region);
        write!(out, "{:>WIDTH$}{:>WIDTH$}", name.as_str(), "in")?;
    }
    write!(out, "\n{:>5}", "lanes")?;
    for _ in regions(report.outcomes) {
        write!(out, "{:>WIDTH$}{:>WIDTH$}", "ns/load", "flight")?;
    }
    out.write_char('\n')?;
    for kernel in &PARALLEL {
        write!(out, "{:>5}", kernel.lanes())?;
        for region in regions(report.outcomes) {
            match region.with_lanes(kernel.lanes()) {
                Some(sample) => {
                    let in_flight = region.in_flight(sample.nanoseconds).unwrap_or(f64::NAN);
                    write!(out, "{:>WIDTH$}{:>WIDTH$.1}", Figure(sample.nanoseconds), Decimal(in_flight))?;
                }
                None => write!(out, "{:>WIDTH$}{:>WIDTH$}", "-", "-")?,
            }
        }
        out.write_char('\n')?;
    }
    Ok(())
}

/// Where more lanes bring no more.
fn conclusion(out: &mut dyn Write, region: &Region<'_, '_>) -> fmt::Result {
    let name = region_name(region);
    let Some(found) = region.saturation() else { return Ok(()) };
    write!(out, "{:<12}", name.as_str())?;
    writeln!(
        out,
        "about {:.1} loads in flight ({}) from {} lanes on; at best {} ns a load with {} lanes: {:.1} GB/s",
        Decimal(found.in_flight),
        between(found.interval).as_str(),
        found.from_lanes,
        Figure(found.fastest_ns),
        found.fastest_lanes,
        Decimal(found.gigabytes_per_second(LINE))
    )
}

/// The last-level cache is near enough for memory not to be the limit, and far enough for the buffers for lines under
/// way to fill up. Memory alone gives a lower bound, and a nearer cache nothing.
fn fill_buffers(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let near = Claims::of(report.machine).level(2).map_or(Bytes(0), |claim| claim.size);
    let last = report.machine.last_level_cache();
    let mut all = regions(report.outcomes);
    let shared = regions(report.outcomes).find(|region| region.size > near && region.size <= last);
    let mut in_memory = || all.find(|region| report.machine.reaches_memory(region.size));
    let (bound, region, why) = match shared {
        Some(region) => ("at most about", Some(region), ""),
        None => ("at least about", in_memory(), ", where memory may be the limit and not the buffers"),
    };
    let found = region.and_then(|region| Some((region_name(&region), region.saturation()?)));
    let Some((name, saturation)) = found else {
        return writeln!(
            out,
            "Fill buffers: no working set fills them up; give no --size, or one between {near} and {last}"
        );
    };
    writeln!(
        out,
        "Fill buffers: {bound} {:.0} lines under way to one core ({}), by the saturation in {name}{why}",
        Decimal(saturation.in_flight),
        between(saturation.interval).as_str(),
    )
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
    json.key("saturation")?.begin_array()?;
    for region in regions(report.outcomes) {
        saturation(&mut json, &region)?;
    }
    json.end_array()?;
    lanes::end(&mut json, report)?;
    json.end_object()?;
    json.finish()?.write_char('\n')
}

fn saturation(json: &mut Json<'_>, region: &Region<'_, '_>) -> fmt::Result {
    let Some(found) = region.saturation() else { return Ok(()) };
    json.begin_object()?;
    json.key("working_set_bytes")?.u64(region.size.0)?;
    number(json, "loads_in_flight", Some(found.in_flight))?;
    json.key("ci95_loads_in_flight")?;
    interval(json, found.interval)?;
    json.key("from_lanes")?.u64(found.from_lanes as u64)?;
    number(json, "fastest_ns", Some(found.fastest_ns))?;
    json.key("fastest_lanes")?.u64(found.fastest_lanes as u64)?;
    number(json, "gigabytes_per_second", Some(found.gigabytes_per_second(LINE)))?;
    json.end_object()
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

/// Makes the chart: loads in flight against lanes.
fn chart(report: &Report<'_, '_>, draw: impl FnOnce(&Chart<'_>)) {
    let mut points = [[Point::new(f64::NAN, f64::NAN); PARALLEL.len()]; REGIONS];
    let mut names = [Text::<24>::EMPTY; REGIONS];
    let mut count = 0;
    for ((points, name), region) in points.iter_mut().zip(&mut names).zip(regions(report.outcomes)) {
        for (point, kernel) in points.iter_mut().zip(&PARALLEL) {
            let sample = region.with_lanes(kernel.lanes());
            let in_flight = sample.and_then(|sample| region.in_flight(sample.nanoseconds));
            *point = Point::new(kernel.lanes() as f64, in_flight.unwrap_or(f64::NAN));
        }
        *name = region_name(&region);
        count += 1;
    }
    let mut series = [Series { name: "", data: Data::Points(&[]) }; REGIONS];
    for ((series, points), name) in series.iter_mut().zip(&points).zip(&names) {
        *series = Series { name: name.as_str(), data: Data::Points(points) };
    }
    let subtitle = facts::subtitle(report.outcomes.last());
    draw(&Chart {
        title: "Loads in flight against lanes",
        subtitle: subtitle.as_str(),
        x_axis: Axis { title: "lanes", unit: Unit::Count, scale: Scale::Ordinal },
        y_axis: Axis { title: "loads in flight", unit: Unit::Plain("t(1)/t(B)"), scale: Scale::Linear },
        series: series.get(..count).unwrap_or_default(),
        marks: &[],
    });
}

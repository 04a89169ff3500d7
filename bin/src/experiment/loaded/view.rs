//! Latency under load for people: what it is idle and at the limit, where it doubles, and a row for each level.

use core::fmt;

use latency_core::decimal::Decimal;
use latency_core::stats::Interval;
use latency_core::units::Bytes;

use super::super::facts::{method, trust, Report};
use crate::analysis::load::{lines_in_flight, Verdict, KNEES};
use crate::analysis::loaded::{loadings, Loading, Step, Steps};
use crate::analysis::traffic::shares;
use crate::options::Choice;
use crate::report::chart::{Axis, Chart, Data, Mark, Point, Scale, Series, Unit};
use crate::report::document::{Document, Level, Picture, Role, Table};
use crate::report::figures::Digits;
use crate::result::words::page_words;

/// Bytes in the unit that people use.
const GIGA: f64 = 1e9;
/// The curves that a picture has room for, and the levels of each.
const CURVES: usize = 6;
const LEVELS: usize = 32;

/// Describes everything for people.
pub fn present(document: &mut dyn Document, report: &Report<'_, '_>) {
    for loading in loadings(report.outcomes) {
        line(document, &loading);
    }
    for loading in loadings(report.outcomes) {
        answer(document, &loading);
    }
    if report.partial {
        document.sentence(
            Role::Answer,
            format_args!("Partial: interrupted before every level was measured to the end."),
        );
    }
    trust::line(document, report.warnings);
    for loading in loadings(report.outcomes) {
        table(document, report, &loading);
    }
    picture(document, report);
    method::memory(document, report);
    fields(document, report);
    document.sentence(
        Role::Method("Method"),
        format_args!(
            "latency and bandwidth are means over the same windows of 20 ms, median over rounds in random order; {} \
             gaps between the lines of each generator; each load of the chain waits for the one before, random order, \
             seed {}; GB/s are 10^9 bytes, lines touched, 64 bytes each",
            if report.options.pacing.word() == "even" { "even" } else { "exponential" },
            report.options.seed
        ),
    );
    method::ending(document, report);
}

/// The line that scripts look for.
fn line(document: &mut dyn Document, loading: &Loading<'_, '_>) {
    let (kind, steps) = (loading.traffic.kind.name, loading.steps());
    let from_to = format_args!("Node {} -> Node {}", loading.from(), loading.to());
    let (first, last) = (steps.as_slice().first(), steps.as_slice().last());
    match (first, last) {
        (Some(first), Some(last)) if first.index != last.index => document.sentence(
            Role::Line,
            format_args!(
                "{from_to} ({kind}): {} ns at {} GB/s, {} ns at {} GB/s",
                Digits(first.level.latency.value),
                Digits(first.level.delivered.value / GIGA),
                Digits(last.level.latency.value),
                Digits(last.level.delivered.value / GIGA)
            ),
        ),
        _ => {
            if let Some(Err(exclusion)) = loading.missing().next().map(|outcome| &outcome.result) {
                document.sentence(Role::Line, format_args!("{from_to} ({kind}): not measured: {exclusion}"));
            }
        }
    }
}

/// Where latency rises, and whose limit ends the curve.
fn answer(document: &mut dyn Document, loading: &Loading<'_, '_>) {
    let kind = loading.traffic.kind.name;
    if let Some(limit) = loading.limit() {
        let rate = Digits(limit.rate.value / GIGA);
        let half = method::optional(limit.half, |half, out| {
            write!(
                out,
                "; half of the cores deliver {:.0} % of it",
                Decimal(half.value / limit.rate.value * 100.0)
            )
        });
        let of = limit.generators;
        let one = limit.verdict == Verdict::OneGenerator;
        document.sentence(
            Role::Answer,
            format_args!(
                "{kind}: {of} core{} deliver{} {rate} GB/s{half}; {}.",
                if one { "" } else { "s" },
                if one { "s" } else { "" },
                match limit.verdict {
                    Verdict::LimitReached => "that is the limit of the memory, or of the way to it",
                    Verdict::OneGenerator => "one core may not fill this memory, whose curve may go on",
                    Verdict::GeneratorsExhausted =>
                        "more cores would deliver more, so the memory's limit is not reached",
                    Verdict::NotShown => "whether that is the memory's limit is not shown",
                }
            ),
        );
    }
    let knees = || KNEES.into_iter().filter_map(|ratio| loading.knee(ratio));
    if knees().next().is_some() {
        document.sentence(
            Role::Finding,
            format_args!(
                "{kind}: latency is {}.",
                fmt::from_fn(|out| {
                    for (index, knee) in knees().enumerate() {
                        out.write_str(if index == 0 { "" } else { ", " })?;
                        write!(out, "{} times that of idle memory at ", Digits(knee.ratio))?;
                        match knee.bandwidth.interval {
                            Some(Interval { low, high }) => {
                                write!(out, "{} to {} GB/s", Digits(low / GIGA), Digits(high / GIGA))?;
                            }
                            None => write!(out, "about {} GB/s", Digits(knee.bandwidth.value / GIGA))?,
                        }
                    }
                    Ok(())
                })
            ),
        );
    }
    if let Some(bend) = loading.curve().and_then(|curve| curve.bends_back()) {
        document.sentence(
            Role::Finding,
            format_args!(
                "{kind}: more load delivers less: {} GB/s at most, {:.0} % of that lost beyond.",
                Digits(bend.best.delivered.value / GIGA),
                Decimal(bend.lost * 100.0)
            ),
        );
    }
}

/// Writes how the generators are: `load on node 0 from 23 cores: 2:1, 512 MiB`.
fn table(document: &mut dyn Document, report: &Report<'_, '_>, loading: &Loading<'_, '_>) {
    const HEADINGS: [&str; 8] =
        ["offered", "delivered", "of limit", "ns", "95 % within run", "x idle", "core GHz", "in flight"];
    let steps = loading.steps();
    let rows = || rows(&steps);
    let limit = loading.limit().map_or(f64::NAN, |limit| limit.rate.value);
    let idle = loading.curve().map_or(f64::NAN, |curve| curve.idle().value);
    let read = shares(loading.traffic.kind).read;
    let traffic = loading.traffic;
    document.sentence(
        Role::Finding,
        format_args!(
            "Node {} -> Node {}, load on node {} from {} core{}: {} ({}), {}; GB/s:",
            loading.from(),
            loading.to(),
            traffic.node,
            traffic.generators,
            if traffic.generators == 1 { "" } else { "s" },
            traffic.kind.name,
            traffic.kind.summary,
            Each(traffic.generators, traffic.footprint)
        ),
    );
    document.table(&Table {
        caption: "",
        level: Level::Quiet,
        words: 1,
        columns: HEADINGS.len(),
        rows: rows().count(),
        heading: &|out, column| out.write_str(HEADINGS.get(column).copied().unwrap_or_default()),
        cell: &|out, row, column| {
            let Some(step) = rows().nth(row) else { return Ok(()) };
            let level = step.level;
            let clock = || {
                let measured = report.outcomes.get(step.index)?.result.as_ref().ok()?;
                measured.series.core_gigahertz.map(|clock| clock.median)
            };
            match column {
                0 => match level.offered {
                    Some(0.0) => out.write_str("idle"),
                    Some(offered) => write!(out, "{}", Digits(offered / GIGA)),
                    None if step.generators == traffic.generators => out.write_str("max"),
                    None => write!(out, "max, {} cores", step.generators),
                },
                1 => write!(out, "{}", Digits(level.delivered.value / GIGA)),
                2 if limit.is_finite() => {
                    write!(out, "{:.0} %", Decimal(level.delivered.value / limit * 100.0))
                }
                2 => out.write_str("-"),
                3 => write!(out, "{}", Digits(level.latency.value)),
                4 => match level.latency.interval {
                    Some(interval) => write!(out, "{} to {}", Digits(interval.low), Digits(interval.high)),
                    None => out.write_str("too few rounds"),
                },
                5 => write!(out, "{:.2}", Decimal(level.latency.value / idle)),
                6 => write!(out, "{:.2}", Decimal(clock().unwrap_or(f64::NAN))),
                _ => {
                    let lines = lines_in_flight(
                        level.delivered.value * read,
                        level.latency.value,
                        step.generators.max(1) as usize,
                    );
                    write!(out, "{}", Digits(lines.unwrap_or(f64::NAN)))
                }
            }
        },
    });
}

fn rows(steps: &Steps) -> impl Iterator<Item = &Step> {
    steps.as_slice().iter()
}

/// The memory of so many generators: `23 x 64 MiB`.
struct Each(u32, Bytes);

impl fmt::Display for Each {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Each(generators, all) = *self;
        match generators {
            0 | 1 => write!(out, "{all}"),
            _ => write!(out, "{generators} x {}", Bytes(all.0 / u64::from(generators))),
        }
    }
}

/// Says where the memory of the generators was, and how that is known.
fn fields(document: &mut dyn Document, report: &Report<'_, '_>) {
    let mut told = [None; CURVES];
    for loading in loadings(report.outcomes) {
        let Some(field) = loading.field() else { continue };
        let key = Some((loading.traffic.node, loading.traffic.footprint));
        if told.contains(&key) {
            continue;
        }
        if let Some(slot) = told.iter_mut().find(|slot| slot.is_none()) {
            *slot = key;
        }
        document.sentence(
            Role::Method("Generators"),
            format_args!(
                "{} on node {} in {}; {}",
                loading.traffic.footprint,
                loading.traffic.node,
                page_words(field.pages),
                if field.verified {
                    "all pages proven there, before and after"
                } else {
                    "where it is is not proven"
                }
            ),
        );
    }
}

/// Latency against bandwidth, a line for each curve.
fn picture(document: &mut dyn Document, report: &Report<'_, '_>) {
    let mut points = [[Point::new(f64::NAN, f64::NAN); LEVELS]; CURVES];
    let mut names = [latency_core::text::Text::<48>::EMPTY; CURVES];
    let mut marks = [None::<(f64, f64)>; 2 * CURVES];
    let (mut count, mut marked) = (0, 0);
    let several = loadings(report.outcomes).any(|loading| loading.to() != loading.from());
    for ((points, name), loading) in points.iter_mut().zip(&mut names).zip(loadings(report.outcomes)) {
        use core::fmt::Write;
        // What does not fit is left out.
        let _ = match several {
            true => write!(name, "to {}: {}", loading.to(), loading.traffic.kind.name),
            false => write!(name, "{}", loading.traffic.kind.name),
        };
        let steps = loading.steps();
        let own = steps
            .as_slice()
            .iter()
            .filter(|step| step.level.offered.is_some() || step.generators == loading.traffic.generators);
        for (slot, step) in points.iter_mut().zip(own) {
            let (x, y) = (step.level.delivered.value / GIGA, step.level.latency.value);
            let whiskers = step.level.delivered.interval.map(|at| (at.low / GIGA, at.high / GIGA));
            let band = step.level.latency.interval.map(|at| (at.low, at.high));
            *slot = Point { x, y, band, whiskers };
        }
        for knee in KNEES.into_iter().filter_map(|ratio| loading.knee(ratio)) {
            if let Some(slot) = marks.get_mut(marked) {
                *slot = Some((knee.bandwidth.value / GIGA, knee.ratio));
                marked += 1;
            }
        }
        count += 1;
    }
    let mut series = [Series { name: "", data: Data::Points(&[]) }; CURVES];
    for ((series, points), name) in series.iter_mut().zip(&points).zip(&names) {
        *series = Series { name: name.as_str(), data: Data::Points(points) };
    }
    let mut shown = [Mark { x: 0.0, label: "" }; 2 * CURVES];
    for (slot, mark) in shown.iter_mut().zip(marks.iter().flatten()) {
        *slot = Mark { x: mark.0, label: if mark.1 < 2.0 { "1.25 x idle" } else { "2 x idle" } };
    }
    document.picture(Picture::Chart(&Chart {
        title: "Latency under load",
        subtitle: report.machine.processor.brand.as_str(),
        x_axis: Axis { title: "bandwidth", unit: Unit::Plain("GB/s"), scale: Scale::Linear },
        y_axis: Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Linear },
        series: series.get(..count).unwrap_or_default(),
        marks: shown.get(..marked).unwrap_or_default(),
    }));
}

//! A curve as presented by `curve` and `fit`: the answer, the levels, the picture and the points.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use latency_core::{Bytes, Estimate, Interval, ToReal};

use super::levels;
use crate::analysis::curve::Analysis;
use crate::describe::{method, split};
use latency_engine::result::{LoadParts, Sample};
use latency_report::chart::{MarkKind, vector};
use latency_report::lists::joined;
use latency_report::{
    Axis, Chart, ChartPoint, Data, Digits, Level, Mark, Picture, Role, Scale, Series, Shown, Unit,
};

/// Writes the levels in one sentence, and the findings about them. `apart` is the latency of memory without address
/// translation, if it is known.
pub fn answer(document: &mut Shown, analysis: &Analysis, side_cache: Option<Bytes>, apart: Option<Estimate>) {
    if let Err(error) = &analysis.stair {
        return document.answer(format_args!("No levels: {error}."));
    }
    let mut words = String::new();
    // A level that cannot be distinguished from memory is left out.
    for cache in analysis.caches().iter().filter(|cache| !cache.like_memory) {
        let (number, latency) = (cache.number, Digits(analysis.of_cache(cache).value));
        words += &match (cache.middle(), levels::size(cache.least())) {
            (None, size) => format!("L{number} {latency} ns up to at least {size}, "),
            (_, size) if cache.is_vague() => format!("L{number} about {size} {latency} ns, "),
            (_, size) => format!("L{number} {size} {latency} ns, "),
        };
    }
    document.answer(format_args!("{words}{}.", last_level(analysis, side_cache, apart)));
    if analysis.caches().is_empty() {
        document.say(Role::Finding, "Latency is the same at all sizes: no cache level visible.");
    }
    levels::findings(document, analysis);
}

/// Describes the levels under a caption, and the points that were fitted, by ascending size, with the parts of their
/// latency that `parts` returns; `reciprocal` plots accesses per second instead of latencies.
pub fn evidence(
    document: &mut Shown,
    analysis: &Analysis,
    samples: &[Sample],
    parts: &dyn Fn(Bytes) -> Option<LoadParts>,
    [caption, subtitle]: [&str; 2],
    reciprocal: bool,
) {
    levels::details(document, analysis);
    levels::table(document, analysis, caption);
    picture(document, analysis, samples, parts, subtitle, reciprocal);
    rows(document, samples, parts);
}

/// Number of points of the drawn model from one measured size to the next.
const PER_GAP: u32 = 4;

/// Draws the curve: points with their intervals, the same without address translation, the fitted stair, and a mark for
/// each level.
fn picture(
    document: &mut Shown,
    analysis: &Analysis,
    samples: &[Sample],
    parts: &dyn Fn(Bytes) -> Option<LoadParts>,
    subtitle: &str,
    reciprocal: bool,
) {
    let value = move |nanoseconds: f64| if reciprocal { 1e9 / nanoseconds } else { nanoseconds };
    let point = |size: Bytes, nanoseconds: f64, interval: Option<Interval>| {
        let (x, y) = (size.0.real(), value(nanoseconds));
        match interval.map(|interval| (value(interval.low), value(interval.high))) {
            Some((one, other)) => ChartPoint::with_band(x, y, one.min(other), one.max(other)),
            None => ChartPoint::new(x, y),
        }
    };
    let mut measured = samples.iter().map(|sample| point(sample.size, sample.nanoseconds, sample.interval));
    let measured = vector(&mut measured);
    let mut told = samples.iter().filter_map(|sample| {
        let Estimate { value, interval } = parts(sample.size)?.without_translation;
        Some(point(sample.size, value, interval))
    });
    let apart = vector(&mut told);
    let has_levels = analysis.stair.is_ok();
    let mut marks = Vec::new();
    if has_levels {
        levels_of(analysis, &measured, &value, &mut marks);
    }
    let with = if apart.is_empty() { "" } else { " with address translation" };
    let title = match has_levels {
        true => format!("{}{with}", all_levels(analysis)),
        false => "No cache levels found".into(),
    };
    let mut series = Vec::from([Series { name: "measured".into(), data: Data::Points(measured) }]);
    if !apart.is_empty() {
        series.push(Series { name: "without translation".into(), data: Data::Points(apart) });
    }
    if let Ok(fit) = &analysis.stair {
        let model = |size: f64| ChartPoint::new(size, value(analysis.nanoseconds(fit.evaluate(size))));
        let sizes = samples.iter().map(|sample| sample.size.0.real());
        let gaps = sizes.clone().zip(sizes.skip(1));
        let between = gaps.flat_map(|(from, to)| {
            (0..PER_GAP).map(move |step| from + (to - from) * f64::from(step) / f64::from(PER_GAP))
        });
        let last = samples.last().map(|sample| sample.size.0.real());
        let mut points = between.chain(last).map(model);
        series.push(Series { name: "model".into(), data: Data::Curve(vector(&mut points)) });
    }
    let y_axis = match reciprocal {
        true => Axis { title: "accesses", unit: Unit::Prefixed("1/s"), scale: Scale::Auto },
        false => Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Auto },
    };
    let chart = Chart::of([title, subtitle.into()], [Axis::WORKING_SET, y_axis], series);
    document.picture(Picture::Chart(Chart { marks, ..chart }));
}

/// Returns the latencies of all levels: `L1 1.08 ns, memory 104 ns`.
fn all_levels(analysis: &Analysis) -> String {
    let caches = analysis.caches().iter();
    let levels =
        caches.map(|cache| format!("L{} {} ns", cache.number, Digits(analysis.of_cache(cache).value)));
    joined("", ", ", levels.chain([last_level(analysis, None, None)]))
}

/// Returns the level behind the last cache: memory, with its latency without translation if that is known, or the level on
/// which a curve that does not reach memory ends.
fn last_level(analysis: &Analysis, side_cache: Option<Bytes>, apart: Option<Estimate>) -> String {
    if let Some(memory) = &analysis.memory {
        let through = method::through(side_cache);
        let (name, ns) = (levels::beyond(analysis), Digits(memory.nanoseconds().value));
        return match apart.map(|apart| Digits(apart.value)) {
            None => format!("{name}{through} {ns} ns"),
            Some(own) => format!("{name}{through} {own} ns ({ns} ns with address translation)"),
        };
    }
    let level = method::optional(analysis.open_end.flatten(), |level, out| {
        let number = analysis.caches().last().map_or(1, |cache| cache.number + 1);
        write!(out, "L{number} {} ns, ", Digits(level.nanoseconds().value))
    });
    let ns = analysis.largest_ns.unwrap_or(f64::NAN);
    format!("{level}memory not reached: {} ns at {} and rising", Digits(ns), analysis.largest)
}

/// Marks the area of each level with its latency, its end, and its reported size if that differs.
fn levels_of(analysis: &Analysis, points: &[ChartPoint], value: &dyn Fn(f64) -> f64, marks: &mut Vec<Mark>) {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    let mut put = |x, kind, label: fmt::Arguments<'_>| marks.push(Mark { kind, ..Mark::line(x, label) });
    let cycles = |latency: f64| {
        method::optional(analysis.cycles(latency), |cycles, out| write!(out, ", {} cycles", Digits(cycles)))
    };
    let mut start = first.x;
    for cache in analysis.caches() {
        let (end, ns) = (cache.least(), analysis.of_cache(cache).value);
        let area = MarkKind::Area(end, value(ns));
        let number = cache.number;
        put(start, area, format_args!("L{number} {} ns{}", Digits(ns), cycles(cache.latency.value)));
        let size = levels::size_of(cache);
        let claim = cache.claim.map(|claim| claim.size).filter(|claim| *claim != levels::size(end));
        let reported = claim.map_or(f64::NAN, |claim| claim.0.real());
        let tick = (reported, MarkKind::Tick);
        let line = (end, MarkKind::Line);
        for (x, kind) in if reported < end { [tick, line] } else { [line, tick] } {
            match (kind, claim) {
                (MarkKind::Tick, Some(claim)) => put(x, kind, format_args!("{claim} reported")),
                (MarkKind::Tick, None) => {}
                _ => put(x, kind, format_args!("{size}")),
            }
        }
        start = end;
    }
    if let Some(memory) = &analysis.memory {
        let ns = memory.nanoseconds().value;
        let area = MarkKind::Area(last.x, value(ns));
        let name = levels::beyond(analysis);
        put(start, area, format_args!("{name} {} ns{}", Digits(ns), cycles(memory.latency.value)));
    }
}

/// Shows every size, for readers who want all of them.
fn rows(document: &mut Shown, samples: &[Sample], parts: &dyn Fn(Bytes) -> Option<LoadParts>) {
    let are_apart = samples.iter().any(|sample| parts(sample.size).is_some());
    document.tabulate("", Level::Verbose, 1, &|table| {
        table.texts(&["working set", "ns", "core cycles", "95% CI within run, ns"]);
        if are_apart {
            table.texts(&["without translation", "translation"]);
        }
        for sample in samples {
            table.row().show(&sample.size).number(sample.nanoseconds).number(sample.core_cycles);
            table.range(sample.interval, "too few rounds");
            if are_apart {
                split::cells(table, parts(sample.size));
            }
        }
    });
}

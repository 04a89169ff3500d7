//! Bandwidth by working set: what one core and all cores move through each level of the caches, and from memory.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::topology::Shared;
use latency_core::{Bytes, Estimate, ToReal};

use super::tables::{accesses, cores};
use crate::analysis::traffic::rate;
use crate::describe::rates::{GIGA, Gigabytes, gigabytes, half};
use crate::describe::{Report, trust};
use crate::plan::generators;
use latency_engine::result::{Point, Traffic, TrafficSubject};
use latency_report::chart::vector;
use latency_report::lists::joined;
use latency_report::{Axis, Chart, ChartPoint, Level, Mark, Picture, Scale, Series, Shown, Unit};

/// The highest level of caches that is looked for.
const LEVELS: u8 = 4;

/// The rates of one kind of traffic and one number of cores, by ascending working set of a core.
pub struct Line {
    /// The first point.
    point: Point,
    traffic: Traffic,
    rates: Vec<(Bytes, Estimate)>,
}

/// Returns the lines of a report, in the order of their first points.
pub fn lines(report: &Report<'_>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for outcome in report.outcomes {
        let Some((traffic, rate)) = rate(outcome) else { continue };
        let TrafficSubject::WorkingSet(size) = traffic.subject else { continue };
        let key = (traffic.kind.name, traffic.generators);
        match lines.iter_mut().find(|line| (line.traffic.kind.name, line.traffic.generators) == key) {
            Some(line) => line.rates.push((size, rate)),
            None => lines.push(Line { point: outcome.point, traffic, rates: [(size, rate)].into() }),
        }
    }
    lines
}

impl Line {
    /// Returns the part of a cache of a level that each core has.
    fn share(&self, report: &Report<'_>, level: u8) -> Option<Bytes> {
        let kind = match level {
            1 => Shared::Core,
            2 => Shared::L2,
            _ => Shared::L3,
        };
        let lowest = |cpu: u32| report.machine.sharing.lowest(kind, cpu);
        let cpus = generators::generating(report.options, report.machine, &self.point, &self.traffic);
        let sharers = cpus.iter().filter(|cpu| lowest(*cpu) == lowest(self.point.cpu.0)).count();
        Some(Bytes(report.machine.cache(level)?.0 / sharers.max(1) as u64))
    }

    /// Returns the name of each cache, and of memory, with the rate of the working set that shows it: the largest one that
    /// leaves half of a cache free and is larger than the cache before, or the largest of all in memory.
    fn levels(&self, report: &Report<'_>) -> Vec<(String, Bytes, Estimate)> {
        let mut levels = Vec::new();
        // Stores past the caches reach memory from every working set.
        if self.traffic.kind.is_fenced() {
            return levels;
        }
        let mut before = Bytes(0);
        for level in 1..=LEVELS {
            let Some(cache) = self.share(report, level) else { continue };
            let is_within = |(size, _): &&(Bytes, Estimate)| before < *size && size.times(2) <= cache;
            let within = self.rates.iter().rfind(is_within);
            levels.extend(within.map(|(size, rate)| (format!("L{level}"), *size, *rate)));
            before = cache;
        }
        levels.extend(self.in_memory(report).map(|(size, rate)| ("memory".into(), size, rate)));
        levels
    }

    /// Returns the rate of the largest working set, if it is in memory for the most part.
    fn in_memory(&self, report: &Report<'_>) -> Option<(Bytes, Estimate)> {
        let (size, rate) = *self.rates.last()?;
        let cache = (1..=LEVELS).rev().find_map(|level| self.share(report, level));
        let is_beyond = cache.is_none_or(|cache| size >= cache.times(2));
        let all = size.times(self.traffic.generators.into());
        (is_beyond && report.machine.reaches_memory(all)).then_some((size, rate))
    }
}

/// Writes the rate within each cache and in memory, for each number of cores.
pub fn answer(document: &mut Shown, report: &Report<'_>, lines: &[Line]) {
    let of_all = lines.iter().max_by_key(|line| line.traffic.generators);
    if let Some((_, rate)) = of_all.and_then(|line| line.in_memory(report)) {
        trust::figure(document, report, &("Memory bandwidth", "GB/s", GIGA, None), rate);
    }
    for line in lines {
        let each = if line.traffic.generators > 1 { " each" } else { "" };
        let mut words =
            vector(line.levels(report).iter().map(|(name, size, rate)| {
                format!("{} GB/s in {name} ({size}{each})", Gigabytes(rate.value))
            }));
        if let (true, Some((size, rate))) = (words.is_empty(), line.rates.last()) {
            words.push(format!("{} GB/s within {size}{each}", Gigabytes(rate.value)));
        }
        let accesses = if is_only_kind(lines) { accesses(line.traffic.kind) } else { line.traffic.kind.name };
        document.answer(format_args!(
            "{} ({accesses}): {}.",
            cores(line.traffic.generators),
            joined("", ", ", words.iter())
        ));
    }
}

fn is_only_kind(lines: &[Line]) -> bool {
    lines
        .iter()
        .all(|line| lines.first().is_some_and(|first| first.traffic.kind.name == line.traffic.kind.name))
}

/// Shows a row for each working set, and the picture of all.
pub fn present(document: &mut Shown, report: &Report<'_>, lines: &[Line]) {
    let Some(longest) = lines.iter().max_by_key(|line| line.rates.len()) else { return };
    let name = |line: &Line| match is_only_kind(lines) {
        true => cores(line.traffic.generators),
        false => format!("{}, {}", line.traffic.kind.name, cores(line.traffic.generators)),
    };
    document.tabulate("", Level::Quiet, 1, &|table| {
        table.text("each core");
        for line in lines {
            table.cell(format_args!("{}, GB/s", name(line))).text("95% CI");
        }
        for (size, _) in &longest.rates {
            table.row().show(size);
            for line in lines {
                let rate = line.rates.iter().find(|(other, _)| other == size).map(|(_, rate)| *rate);
                table.show(&gigabytes(rate)).show(&half(rate));
            }
        }
    });
    let mut most: f64 = 0.0;
    for line in lines {
        line.rates.iter().for_each(|(_, rate)| most = most.max(rate.value));
    }
    let point = |(size, rate): &(Bytes, Estimate)| ChartPoint::of(size.0.real(), rate.scaled(1.0 / GIGA));
    let first = lines.first().unwrap_or(longest);
    let caches = (1..=LEVELS).filter_map(|level| Some((level, first.share(report, level)?)));
    let title = format!("Bandwidth: up to {} GB/s", Gigabytes(most));
    let subtitle = format!("by working set of each core; {}", report.machine.processor.brand.as_str());
    let x_axis = Axis { title: "working set of each core", ..Axis::WORKING_SET };
    let y_axis = Axis { title: "bandwidth", unit: Unit::Plain("GB/s"), scale: Scale::Logarithmic };
    let series = lines.iter().map(|line| Series::of(name(line), &mut line.rates.iter().map(point))).collect();
    let marks = caches.map(|(level, size)| Mark::line(size.0.real(), format_args!("L{level}"))).collect();
    document.picture(Picture::Chart(Chart { title, subtitle, x_axis, y_axis, series, marks }));
}

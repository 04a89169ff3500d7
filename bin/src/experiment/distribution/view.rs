//! Single loads for people: first the percentiles, then how they were obtained.

use alloc::format;
use alloc::string::String;
use core::fmt::{self, Display};

use latency_core::arch::Cycles;
use latency_core::decimal::Trimmed;
use latency_core::math::ToReal;
use latency_core::stats::Interval;
use latency_core::text::Text;

use crate::analysis::distribution::{exceedances, is_wide, left_out};
use crate::describe::Report;
use crate::describe::method::optional;
use crate::describe::split::is_memory;
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Mark, Scale, Series, Unit};
use crate::report::document::Level;
use crate::report::figures::Digits;
use crate::report::shown::{Picture, Shown, ShownTable};
use crate::report::words::words;
use crate::result::Outcome;
use crate::result::distribution::{Distribution, PERCENTAGES};

/// The number of points of the picture.
const POINTS: usize = 96;
/// Percentiles marked in the picture.
const MARKED: [f64; 4] = [50.0, 99.0, 99.9, 99.99];

/// A point and its single loads.
pub type KnownPoint<'r, 'a> = (&'r Outcome<'a>, &'r Distribution);

/// Returns the point of this index and its single loads, if it was measured and has any.
pub fn at<'r, 'a>(report: &Report<'r, 'a>, index: usize) -> Option<KnownPoint<'r, 'a>> {
    let outcome = report.outcomes.get(index).filter(|outcome| outcome.result.is_ok())?;
    let found = report.distributions.get(index).filter(|found| found.windows.total() > 0)?;
    Some((outcome, found))
}

/// Returns the points that have single loads.
pub fn known<'r, 'a>(report: &Report<'r, 'a>) -> impl Iterator<Item = KnownPoint<'r, 'a>> {
    let report = *report;
    (0..report.outcomes.len()).filter_map(move |index| at(&report, index))
}

/// Writes the pair in front of a sentence, if there are several pairs.
pub fn whose(report: &Report<'_, '_>, outcome: &Outcome<'_>) -> impl Display {
    let (from, to) = (outcome.point.initiator, outcome.point.target);
    let several = (report.outcomes.len() > 1).then_some(());
    optional(several, move |(), out| write!(out, "{from} -> {to}: "))
}

/// Writes the latencies of most loads and of the slowest, the loads that were left out, and the period of slow ones.
pub fn answers(document: &mut Shown, report: &Report<'_, '_>) {
    for (outcome, found) in known(report) {
        let nanoseconds = |percent| Digits(found.percentile_ns(percent).unwrap_or(f64::NAN));
        let each = found.each;
        document.answer(format_args!(
            "{}Median latency of a single load{} {} ns; p99 {} ns.",
            whose(report, outcome),
            if is_memory(report.machine, outcome) { ", address translation included," } else { "" },
            nanoseconds(50.0),
            nanoseconds(99.0)
        ));
        if each > 1 {
            document.finding(format_args!(
                "Loads are too short to time individually: each sample is the mean of {each} \
                     consecutive loads."
            ));
        }
        if let Some((microseconds, name)) = found.refresh() {
            document.finding(format_args!(
                "{}Slow loads ({} ns and more) recur every {} µs: {}.",
                whose(report, outcome),
                Digits(found.nanoseconds(found.slow_from.real())),
                Digits(microseconds),
                fmt::from_fn(|out| match name {
                    Some(name) => write!(out, "DRAM refresh ({name})"),
                    None => out.write_str("no known interval of DRAM refresh"),
                })
            ));
        }
        document.finding(format_args!(
            "{}{} of {} timed loads were interrupted and are excluded.",
            whose(report, outcome),
            left_out(found),
            fmt::from_fn(|out| match found.total() * u64::from(each) {
                many if many >= 1_000_000 => write!(out, "{:.1} million", many.real() / 1e6),
                few => write!(out, "{few}"),
            })
        ));
    }
}

/// Pushes the headings of percentiles.
fn headings(table: &mut ShownTable) {
    PERCENTAGES.iter().for_each(|percent| table.cell(format_args!("p{}", Trimmed(*percent))));
}

/// Shows a row for each pair.
pub fn percentiles(document: &mut Shown, report: &Report<'_, '_>) {
    document.tabulate("", Level::Quiet, 1, &|table| {
        table.text("ns");
        headings(table);
        table.texts(&["max", "mean"]);
        for (outcome, found) in known(report) {
            table.row();
            table.cell(format_args!("{} -> {}", outcome.point.initiator, outcome.point.target));
            PERCENTAGES.iter().for_each(|percent| table.number(found.percentile_ns(*percent)));
            table.number(found.maximum_ns());
            table.number(found.mean_ns());
        }
    });
    known(report).for_each(|known| certainty(document, report, known));
}

/// Shows the percentiles of one pair in cycles, with their bounds.
fn certainty(document: &mut Shown, report: &Report<'_, '_>, (outcome, found): KnownPoint<'_, '_>) {
    const ENDS: [(&str, bool); 2] = [("95% CI from, ns", true), ("95% CI to, ns", false)];
    let quantiles = PERCENTAGES.map(|percent| found.quantile_ns(percent));
    let wide = quantiles.iter().flatten().any(|quantile| is_wide(found, quantile));
    let caption = match report.outcomes.len() {
        1 => Text::EMPTY,
        _ => Text::<32>::of(format_args!("{} -> {}", outcome.point.initiator, outcome.point.target)),
    };
    document.tabulate(caption.as_str(), Level::Verbose, 1, &|table| {
        table.text("");
        headings(table);
        table.row();
        table.cell(format_args!(
            "{} cycles",
            match report.cycles_are() {
                Cycles::Counter => words().counter_name,
                Cycles::Core => "core",
            }
        ));
        let series = outcome.result.as_ref().map(|measured| &measured.series);
        for quantile in quantiles {
            let cycles = |series| report.cycles(series, quantile?.value);
            table.number(series.ok().and_then(cycles));
        }
        // The intervals are left out if none is wider than a bucket of the histogram.
        for (words, is_low) in ENDS.into_iter().filter(|_| wide) {
            table.row();
            table.text(words);
            for quantile in quantiles {
                let interval = quantile.and_then(|quantile| quantile.interval);
                table.number(interval.map(|Interval { low, high }| if is_low { low } else { high }));
            }
        }
    });
}

/// Draws the share of slow loads of one pair.
pub fn shares(document: &mut Shown, (outcome, found): KnownPoint<'_, '_>) {
    let point = &outcome.point;
    let mut points = [ChartPoint::new(f64::NAN, f64::NAN); POINTS];
    exceedances(found, &mut points);
    let ns = |percent| found.percentile_ns(percent).unwrap_or(f64::NAN);
    let most = found.maximum_ns().unwrap_or(f64::NAN);
    let title = format!(
        "Memory latency: median {} ns, p99.9 {} ns, maximum {} ns",
        Digits(ns(50.0)),
        Digits(ns(99.9)),
        Digits(most)
    );
    let subtitle = format!(
        "share of {} that are as slow or slower; node {} to node {}, {}",
        if found.each == 1 { "single loads" } else { "means of several loads" },
        point.initiator,
        point.target,
        point.size
    );
    let marks = MARKED.map(|percent| {
        // The median over visits may lie beyond the slowest load.
        let x = ns(percent).min(most);
        Mark::line(x, format_args!("p{} {} ns", Trimmed(percent), Digits(x)))
    });
    document.picture(Picture::Chart(Chart {
        title,
        subtitle,
        x_axis: Axis { title: "time of a load", unit: Unit::Plain("ns"), scale: Scale::Auto },
        y_axis: Axis { title: "as slow or slower", unit: Unit::Plain("%"), scale: Scale::Logarithmic },
        series: [Series { name: String::new(), data: Data::Points(points.into()) }].into(),
        marks: marks.into(),
    }));
}

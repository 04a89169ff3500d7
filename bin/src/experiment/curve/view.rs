//! A curve as presented by `curve` and `fit`: the answer, the levels, the picture and the points.

use core::fmt::{self, Write};

use latency_core::model::{MAX_LEVELS, MAX_POINTS};
use latency_core::text::Text;
use latency_core::units::Bytes;

use super::levels;
use crate::analysis::curve::Analysis;
use crate::describe::method;
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Mark, Scale, Series, Unit};
use crate::report::document::{Document, Level, Picture};
use crate::report::figures::Digits;
use crate::result::sample::{Sample, collect};

/// Writes the levels in one sentence.
pub fn answer(document: &mut dyn Document, analysis: &Analysis, side_cache: Option<Bytes>) {
    let memory = match (&analysis.stair, &analysis.memory) {
        (Ok(_), Some(memory)) => memory.nanoseconds(),
        (Err(error), _) => return document.answer(format_args!("No levels: {error}.")),
        (Ok(_), None) => return,
    };
    document.answer(format_args!(
        "{}{}{} {} ns.",
        fmt::from_fn(|out| {
            // A level that may be memory is not in the answer.
            for cache in analysis.caches().iter().filter(|cache| !cache.like_memory) {
                let latency = analysis.of_cache(cache).value;
                write!(out, "L{} {} {} ns, ", cache.number, levels::size(cache.size.value), Digits(latency))?;
            }
            Ok(())
        }),
        levels::beyond(analysis),
        method::through(side_cache),
        Digits(memory.value)
    ));
    if analysis.caches().is_empty() {
        document.finding(format_args!("The curve is flat: it shows no cache."));
    }
}

/// Describes the levels under a caption, and the points that were fitted, by ascending size; `reciprocal` plots
/// accesses per second instead of latencies.
pub fn evidence(
    document: &mut dyn Document,
    analysis: &Analysis,
    samples: &[Sample],
    [caption, subtitle]: [&str; 2],
    reciprocal: bool,
) {
    levels::remarks(document, analysis);
    levels::table(document, analysis, caption);
    picture(document, analysis, samples, subtitle, reciprocal);
    rows(document, samples);
}

/// Draws the curve: points with their intervals, the fitted stair, and a mark for each level.
fn picture(
    document: &mut dyn Document,
    analysis: &Analysis,
    samples: &[Sample],
    subtitle: &str,
    reciprocal: bool,
) {
    let value = |nanoseconds: f64| if reciprocal { 1e9 / nanoseconds } else { nanoseconds };
    let mut points = [ChartPoint::new(f64::NAN, f64::NAN); MAX_POINTS];
    let measured = samples.iter().map(|sample| {
        let (x, y) = (sample.size.0 as f64, value(sample.nanoseconds));
        match sample.interval.map(|interval| (value(interval.low), value(interval.high))) {
            Some((one, other)) => ChartPoint::with_band(x, y, one.min(other), one.max(other)),
            None => ChartPoint::new(x, y),
        }
    });
    let points = collect(&mut points, measured);
    let fit = analysis.stair.as_ref().ok();
    let model = |size: f64| fit.map_or(f64::NAN, |fit| value(analysis.nanoseconds(fit.evaluate(size))));
    let series = [
        Series { name: "measured", data: Data::Points(points) },
        Series { name: "model", data: Data::Curve(&model) },
    ];
    let series = if fit.is_some() { &series[..] } else { series.get(..1).unwrap_or_default() };

    let mut labels = [Text::<48>::EMPTY; MAX_LEVELS];
    for (label, cache) in labels.iter_mut().zip(analysis.caches()) {
        let latency = Digits(analysis.of_cache(cache).value);
        // A label that does not fit is left out as a whole.
        let size = Bytes(cache.size.value as u64 / 64 * 64);
        let _ = write!(label, "L{} {size} {latency} ns", cache.number);
    }
    let mut marks = [Mark { x: 0.0, label: "" }; MAX_LEVELS];
    let levels = analysis.caches().iter().zip(&labels);
    let marks =
        collect(&mut marks, levels.map(|(cache, label)| Mark { x: cache.size.value, label: label.as_str() }));
    let y_axis = match reciprocal {
        true => Axis { title: "accesses", unit: Unit::Prefixed("1/s"), scale: Scale::Auto },
        false => Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Auto },
    };
    document.picture(Picture::Chart(&Chart {
        title: "Latency against working set",
        subtitle,
        x_axis: Axis { title: "working set", unit: Unit::Bytes, scale: Scale::Logarithmic },
        y_axis,
        series,
        marks,
    }));
}

/// Shows every size, for readers who want all of them.
fn rows(document: &mut dyn Document, samples: &[Sample]) {
    document.tabulate("", Level::Verbose, 1, &|table| {
        table.texts("working set|ns|core cycles|95 % within run, ns");
        for sample in samples {
            table.row();
            table.show(&sample.size);
            table.number(sample.nanoseconds);
            table.number(sample.core_cycles);
            table.range(sample.interval, "too few rounds");
        }
    });
}

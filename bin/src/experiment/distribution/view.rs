//! Single loads for people: percentiles first, then what they are made of.

use core::fmt::{self, Display, Write};

use latency_core::decimal::{Decimal, Trimmed};
use latency_core::text::Text;

use super::known::known;
use crate::analysis::distribution::{bars, is_wide, left_out, SHOWN_PERCENT};
use crate::experiment::facts::method::optional;
use crate::experiment::facts::Report;
use crate::report::chart::{Axis, Bar, Chart, Data, Mark, Scale, Series, Unit};
use crate::report::document::{Document, Level, Picture, Role, Table};
use crate::report::figures::Digits;
use crate::result::distribution::{Distribution, Percentile, PERCENTAGES};
use crate::result::Outcome;

/// More would be narrower than the columns of a terminal.
const BARS: usize = 60;
/// Percentiles that are marked.
const MARKED: [f64; 3] = [50.0, 95.0, 99.0];

/// The pair before a sentence, where there are several.
pub fn whose(report: &Report<'_, '_>, outcome: &Outcome<'_>) -> impl Display {
    let (from, to) = (outcome.point.initiator, outcome.point.target);
    let several = (report.outcomes.len() > 1).then_some(());
    optional(several, move |(), out| write!(out, "{from} -> {to}: "))
}

/// Says how long most loads take and the slowest, what was left out, and with which period slow ones recur.
#[inline(never)] // offsets into a small frame are short
pub fn answers(document: &mut dyn Document, report: &Report<'_, '_>) {
    for (outcome, found) in known(report) {
        let nanoseconds = |percent| Digits(found.percentile_ns(percent).unwrap_or(f64::NAN));
        let each = found.each;
        document.sentence(
            Role::Answer,
            format_args!(
                "{}Half of all loads take up to {} ns; 1 in 100 takes {} ns or more.",
                whose(report, outcome),
                nanoseconds(50.0),
                nanoseconds(99.0)
            ),
        );
        if each > 1 {
            document.sentence(
                Role::Finding,
                format_args!(
                    "They are too short to be timed one by one: a load here is the mean of {each} in a row."
                ),
            );
        }
        if let Some((microseconds, name)) = found.refresh() {
            document.sentence(
                Role::Finding,
                format_args!(
                    "{}Slow loads (from {} ns) recur every {} us: {}.",
                    whose(report, outcome),
                    Digits(found.nanoseconds(found.slow_from as f64)),
                    Digits(microseconds),
                    name.unwrap_or("no refresh interval that DRAM is known for")
                ),
            );
        }
        let left_out = left_out(found);
        document.sentence(
            Role::Finding,
            format_args!(
                "{}The system interrupted {} of {} timed loads, which are left out.",
                whose(report, outcome),
                left_out.total(),
                Many(left_out.of * u64::from(each))
            ),
        );
    }
}

/// A large number in words.
struct Many(u64);

impl Display for Many {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            millions if millions >= 1_000_000 => {
                write!(out, "{:.1} million", Decimal(millions as f64 / 1e6))
            }
            few => few.fmt(out),
        }
    }
}

/// Writes a heading of the columns behind the first: percentiles, maximum, mean.
fn heading(out: &mut dyn Write, column: usize) -> fmt::Result {
    match PERCENTAGES.get(column.wrapping_sub(1)) {
        Some(percent) => write!(out, "p{}", Trimmed(*percent)),
        None if column == PERCENTAGES.len() + 1 => out.write_str("max"),
        None => out.write_str("mean"),
    }
}

/// A row for each pair.
#[inline(never)] // offsets into a small frame are short
pub fn percentiles(document: &mut dyn Document, report: &Report<'_, '_>) {
    document.table(&Table {
        caption: "",
        level: Level::Quiet,
        words: 1,
        columns: PERCENTAGES.len() + 3,
        rows: known(report).count(),
        heading: &|out, column| if column == 0 { out.write_str("ns") } else { heading(out, column) },
        cell: &|out, row, column| {
            let Some((outcome, found)) = known(report).nth(row) else { return Ok(()) };
            match (column, PERCENTAGES.get(column.wrapping_sub(1))) {
                (0, _) => write!(out, "{} -> {}", outcome.point.initiator, outcome.point.target),
                (_, Some(percent)) => {
                    write!(out, "{}", Digits(found.percentile_ns(*percent).unwrap_or(f64::NAN)))
                }
                (column, None) if column == PERCENTAGES.len() + 1 => {
                    write!(out, "{}", Digits(found.maximum_ns().unwrap_or(f64::NAN)))
                }
                _ => write!(out, "{}", Digits(found.mean_ns())),
            }
        },
    });
    for (outcome, found) in known(report) {
        certainty(document, report, outcome, found);
    }
}

/// The percentiles of one pair in ticks, and between which times they lie.
#[inline(never)] // offsets into a small frame are short
fn certainty(
    document: &mut dyn Document,
    report: &Report<'_, '_>,
    outcome: &Outcome<'_>,
    found: &Distribution,
) {
    const ROWS: [&str; 3] = ["TSC cycles", "95 % of visits from, ns", "95 % of visits to, ns"];
    let quantiles = PERCENTAGES.map(|percent| found.quantile_ns(percent));
    let wide = quantiles.iter().flatten().any(|quantile| is_wide(found, quantile));
    let mut caption = Text::<32>::EMPTY;
    if report.outcomes.len() > 1 {
        // Node numbers are shorter than the text.
        let _ = write!(caption, "{} -> {}", outcome.point.initiator, outcome.point.target);
    }
    document.table(&Table {
        caption: caption.as_str(),
        level: Level::Verbose,
        words: 1,
        columns: PERCENTAGES.len() + 1,
        // Without the intervals, where none is wider than the histogram is fine.
        rows: if wide { ROWS.len() } else { 1 },
        heading: &|out, column| if column == 0 { Ok(()) } else { heading(out, column) },
        cell: &|out, row, column| match (row, quantiles.get(column.wrapping_sub(1)).copied().flatten()) {
            (row, _) if column == 0 => out.write_str(ROWS.get(row).copied().unwrap_or_default()),
            (_, None) => out.write_char('-'),
            (0, Some(quantile)) => {
                write!(out, "{}", Digits(report.clock.ticks(quantile.value).unwrap_or(f64::NAN)))
            }
            (row, Some(Percentile { interval: Some(interval), .. })) => {
                write!(out, "{}", Digits(if row == 1 { interval.low } else { interval.high }))
            }
            _ => out.write_char('-'),
        },
    });
}

/// Draws the loads of one pair.
#[inline(never)] // offsets into a small frame are short
pub fn histogram(document: &mut dyn Document, outcome: &Outcome<'_>, found: &Distribution) {
    let point = &outcome.point;
    let mut drawn = [Bar { low: 0.0, high: 0.0, height: 0.0 }; BARS];
    let count = bars(found, &mut drawn);
    let mut title = Text::<64>::EMPTY;
    let mut subtitle = Text::<96>::EMPTY;
    // Both are longer than what is written to them.
    let _ = write!(title, "Time of single loads, node {} -> node {}", point.initiator, point.target);
    let _ = write!(
        subtitle,
        "{} loads over {}, without the slowest {} %",
        if found.each == 1 { "single" } else { "means of several" },
        point.size,
        Trimmed(100.0 - SHOWN_PERCENT)
    );
    let mut labels = [Text::<32>::EMPTY; MARKED.len()];
    let mut marks = [Mark { x: 0.0, label: "" }; MARKED.len()];
    for ((mark, label), percent) in marks.iter_mut().zip(&mut labels).zip(MARKED) {
        let value = found.percentile_ns(percent).unwrap_or(0.0);
        let _ = write!(label, "p{} {} ns", Trimmed(percent), Digits(value));
        *mark = Mark { x: value, label: label.as_str() };
    }
    document.picture(Picture::Chart(&Chart {
        title: title.as_str(),
        subtitle: subtitle.as_str(),
        x_axis: Axis { title: "time of a load", unit: Unit::Plain("ns"), scale: Scale::Linear },
        y_axis: Axis { title: "share of the loads", unit: Unit::Plain("%"), scale: Scale::Linear },
        series: &[Series { name: "", data: Data::Bars(drawn.get(..count).unwrap_or_default()) }],
        marks: &marks,
    }));
}

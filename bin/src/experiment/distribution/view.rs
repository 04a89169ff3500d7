//! Single loads for people: percentiles first, then what they are made of.

use core::fmt::{self, Display, Write};

use latency_core::decimal::{Decimal, Trimmed};
use latency_core::hops::Quantile;
use latency_core::text::Text;

use super::known;
use crate::analysis::distribution::{agrees, bars, is_wide, left_out, SHOWN_PERCENT};
use crate::experiment::facts::method::optional;
use crate::experiment::facts::Report;
use crate::report::chart::{Axis, Bar, Chart, Data, Mark, Scale, Series, Unit};
use crate::report::document::{Document, Level, Picture, Role, Table};
use crate::report::figures::Digits;
use crate::result::distribution::{Distribution, PERCENTAGES};
use crate::result::{Outcome, Timer};

/// More would be narrower than the columns of a terminal.
const BARS: usize = 60;
/// Percentiles that are marked.
const MARKED: [f64; 3] = [50.0, 95.0, 99.0];

/// The pair before a sentence, where there are several.
fn whose(report: &Report<'_, '_>, outcome: &Outcome<'_>) -> impl Display {
    let (from, to) = (outcome.point.initiator, outcome.point.target);
    let several = (report.outcomes.len() > 1).then_some(());
    optional(several, move |(), out| write!(out, "{from} -> {to}: "))
}

/// Says how long most loads take and the slowest, what was left out, and with which period slow ones recur.
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
    for (_, found) in known(report) {
        certainty(document, report.clock, found);
    }
}

/// The percentiles of one pair in ticks, and between which times they lie.
fn certainty(document: &mut dyn Document, clock: &Timer, found: &Distribution) {
    const ROWS: [&str; 3] = ["TSC cycles", "95 % from, ns", "95 % to, ns"];
    let quantiles = PERCENTAGES.map(|percent| found.quantile_ns(percent));
    let wide = quantiles.iter().flatten().any(|quantile| is_wide(found, quantile));
    document.table(&Table {
        caption: "",
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
                write!(out, "{}", Digits(clock.ticks(quantile.value).unwrap_or(f64::NAN)))
            }
            (1, Some(quantile)) => write!(out, "{}", Digits(quantile.low)),
            (_, Some(quantile)) => write!(out, "{}", Digits(quantile.high)),
        },
    });
}

/// Draws the loads of one pair.
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

/// Says what the percentiles are made of, for readers who want to check it.
pub fn details(document: &mut dyn Document, report: &Report<'_, '_>) {
    for (outcome, found) in known(report) {
        steps(document, found);
        check(document, report, outcome, found);
        timer(document, found);
        left_out_by(document, found);
        interruptions(document, found);
        if found.refresh().is_none() {
            no_refresh(document, found);
        }
    }
}

/// Percentiles between two clusters of times.
fn steps(document: &mut dyn Document, found: &Distribution) {
    for percent in PERCENTAGES {
        let Some(Quantile { low, high, .. }) = found.quantile_ns(percent).filter(|found| found.on_step)
        else {
            continue;
        };
        document.sentence(
            Role::Detail("Step"),
            format_args!(
                "p{} lies between loads of {} and of {}; the table has the upper end, which the slowest {} % take",
                Trimmed(percent),
                Span(low),
                Span(high),
                Trimmed(100.0 - percent)
            ),
        );
    }
}

/// Whether single loads and batches agree; where they do not, everyone is told.
fn check(document: &mut dyn Document, report: &Report<'_, '_>, outcome: &Outcome<'_>, found: &Distribution) {
    let agreed = agrees(found);
    let role = if agreed == Some(false) { Role::Method("Check") } else { Role::Detail("Check") };
    let verdict = match agreed {
        Some(true) => "agree within 3 %",
        Some(false) => "differ by more than 3 %",
        None => "had too few rounds to be compared",
    };
    document.sentence(
        role,
        format_args!(
            "{}means of single loads and of batches {verdict} ({}, {} ns{}), by rounds as `matrix` has them",
            whose(report, outcome),
            Digits(found.round_ns),
            Digits(found.batch_ns),
            optional(found.ratio, |ratio, out| {
                write!(out, "; ratio {:.3}", Decimal(ratio.median))?;
                match ratio.interval {
                    Some(interval) => {
                        write!(out, ", {:.3} to {:.3}", Decimal(interval.low), Decimal(interval.high))
                    }
                    None => Ok(()),
                }
            })
        ),
    );
}

/// What a pair of stamps costs by itself.
fn timer(document: &mut dyn Document, found: &Distribution) {
    let empty = |percent| found.empty_ticks(percent).unwrap_or(0);
    document.sentence(
        Role::Detail("Timer"),
        format_args!(
            "two stamps around nothing, after every load: p1 {}, p50 {}, p99 {} ticks; their mean of {:.1} ticks ({} \
             ns) is subtracted; step {} ticks ({} ns), within which percentiles are interpolated; histogram to 0.4 %",
            empty(1.0),
            empty(50.0),
            empty(99.0),
            Decimal(found.overhead),
            Digits(found.time(found.overhead)),
            found.step,
            Digits(found.time(found.step as f64))
        ),
    );
}

/// What was not memory.
fn left_out_by(document: &mut dyn Document, found: &Distribution) {
    let (left_out, seen) = (left_out(found), &found.interruptions);
    let mean_and_longest = (left_out.by_kernel > 0).then_some((seen.marked_mean, seen.marked_longest as f64));
    document.sentence(
        Role::Detail("Left out"),
        format_args!(
            "{} of {} windows: the kernel was entered in {}{}; {} took longer than memory does{}",
            left_out.total(),
            left_out.of,
            left_out.by_kernel,
            optional(mean_and_longest, |(mean, longest), out| {
                write!(out, " ({} on average, {} at most)", Span(found.time(mean)), Span(found.time(longest)))
            }),
            left_out.by_time,
            optional(found.interrupted_from, |from, out| {
                let (from, to) = (found.nanoseconds(from as f64), found.longest_ns().unwrap_or(0.0));
                write!(out, " ({} to {}; {} expected)", Span(from), Span(to), Digits(seen.expected))
            })
        ),
    );
}

/// What was seen of interruptions where no memory was touched.
fn interruptions(document: &mut dyn Document, found: &Distribution) {
    let seen = &found.interruptions;
    document.sentence(
        Role::Detail("Interruptions"),
        format_args!(
            "a loop without memory had {} gaps of {} to {} in {} that left no mark; {} context switches",
            seen.gaps,
            Span(found.time(seen.least_gap as f64)),
            Span(found.time(seen.longest_gap.max(seen.least_gap) as f64)),
            Span(found.time(seen.watched as f64)),
            seen.switches
        ),
    );
}

/// That slow loads have no rhythm.
fn no_refresh(document: &mut dyn Document, found: &Distribution) {
    match found.period {
        Some(period) => document.sentence(
            Role::Detail("DRAM refresh"),
            format_args!(
                "not seen: slow loads (from {} ns) have no period of 1.5 to 20 us (best: {:.1} standard deviations)",
                Digits(found.nanoseconds(found.slow_from as f64)),
                Decimal(period.significance)
            ),
        ),
        None => document
            .sentence(Role::Detail("DRAM refresh"), format_args!("not searched for: too few slow loads")),
    }
}

/// A time in the unit that suits it.
struct Span(f64);

impl Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            small if small < 1e3 => write!(out, "{} ns", Digits(small)),
            middle if middle < 1e6 => write!(out, "{} us", Digits(middle / 1e3)),
            large if large < 1e9 => write!(out, "{} ms", Digits(large / 1e6)),
            long => write!(out, "{} s", Digits(long / 1e9)),
        }
    }
}

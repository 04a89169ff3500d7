//! Single loads for readers who want to check them: the timer, the batches for comparison, interruptions, refresh.

use core::fmt::{self, Display};
use latency_core::decimal::Trimmed;
use latency_core::math::ToReal;

use latency_core::stats::Interval;

use crate::analysis::distribution::{agrees, left_out};
use crate::describe::method::optional;
use crate::report::document::Role;
use crate::report::figures::Digits;
use crate::report::shown::Shown;
use crate::result::distribution::{Distribution, PERCENTAGES};

/// Writes how the percentiles were obtained, for readers who want to check it; `whose` names the pair if there are several.
pub fn paragraphs(document: &mut Shown, whose: &str, found: &Distribution) {
    steps(document, whose, found);
    check(document, whose, found);
    timer(document, whose, found);
    left_out_by(document, whose, found);
    interruptions(document, whose, found);
    if found.refresh().is_none() {
        no_refresh(document, whose, found);
    }
}

/// Writes the percentiles that lie between two clusters of times.
fn steps(document: &mut Shown, whose: &str, found: &Distribution) {
    for percent in PERCENTAGES {
        let Some(Interval { low, high }) = found.quantile_ns(percent).and_then(|found| found.step) else {
            continue;
        };
        document.sentence(
            Role::Detail("Step"),
            format_args!(
                "{whose}p{percent} lies between loads of {low} and loads of {high}; the table shows the \
                 upper end, which the slowest {rest}% reach",
                percent = Trimmed(percent),
                low = span(low),
                high = span(high),
                rest = Trimmed(100.0 - percent)
            ),
        );
    }
}

/// Writes whether single loads and batches agree; a disagreement is a finding.
fn check(document: &mut Shown, whose: &str, found: &Distribution) {
    let agreed = agrees(found);
    let role = if agreed == Some(false) { Role::Method("Check") } else { Role::Detail("Check") };
    let verdict = match agreed {
        Some(true) => "agree within 3%",
        Some(false) => "differ by more than 3%",
        None => "cannot be compared (too few rounds)",
    };
    document.sentence(
        role,
        format_args!(
            "{whose}means of single loads and of batches {verdict} ({} vs {} ns{}), by rounds as in `matrix`",
            Digits(found.round_ns),
            Digits(found.batch_ns),
            optional(found.ratio, |ratio, out| {
                write!(out, "; ratio {:.3}", ratio.median)?;
                let ends =
                    ratio.interval.map(|Interval { low, high }| write!(out, ", {low:.3} to {high:.3}"));
                ends.unwrap_or(Ok(()))
            })
        ),
    );
}

/// Writes the time of an empty pair of stamps.
fn timer(document: &mut Shown, whose: &str, found: &Distribution) {
    let empty = |percent| found.empty_ticks(percent).unwrap_or(0);
    document.sentence(
        Role::Detail("Timer"),
        format_args!(
            "{whose}two stamps without a load, after every load: p1 {p1}, p50 {p50}, p99 {p99} ticks; \
             their mean of {mean:.1} ticks ({ns} ns) is subtracted; step {step} ticks ({step_ns} ns), \
             within which percentiles are interpolated; histogram to 0.4%",
            p1 = empty(1.0),
            p50 = empty(50.0),
            p99 = empty(99.0),
            mean = found.overhead,
            ns = Digits(found.time(found.overhead)),
            step = found.step,
            step_ns = Digits(found.time(found.step.real()))
        ),
    );
}

/// Writes the times that were left out because they are not latencies of memory.
fn left_out_by(document: &mut Shown, whose: &str, found: &Distribution) {
    let seen = &found.interruptions;
    let mean_and_longest = (seen.marked > 0).then_some((seen.marked_mean, seen.marked_longest.real()));
    let marks = optional(mean_and_longest, |(mean, longest), out| {
        write!(out, " ({} on average, {} at most)", span(found.time(mean)), span(found.time(longest)))
    });
    let long = optional(found.interrupted_from, |from, out| {
        let (from, to) = (found.nanoseconds(from.real()), found.longest_ns().unwrap_or(0.0));
        write!(out, " ({} to {}; {} expected)", span(from), span(to), Digits(seen.expected))
    });
    document.sentence(
        Role::Detail("Excluded"),
        format_args!(
            "{whose}{left_out} of {all} windows: the kernel ran in {marked}{marks}; {interrupted} were \
             longer than any memory access{long}",
            left_out = left_out(found),
            all = found.total(),
            marked = seen.marked,
            interrupted = found.interrupted()
        ),
    );
}

/// Writes the interruptions that a loop without loads has seen.
fn interruptions(document: &mut Shown, whose: &str, found: &Distribution) {
    let seen = &found.interruptions;
    document.sentence(
        Role::Detail("Interruptions"),
        format_args!(
            "{whose}a loop without loads saw {gaps} gaps of {least} to {longest} in {watched} that left \
             no mark; {switches} context switches",
            gaps = seen.gaps,
            least = span(found.time(seen.least_gap.real())),
            longest = span(found.time(seen.longest_gap.max(seen.least_gap).real())),
            watched = span(found.time(seen.watched.real())),
            switches = seen.switches
        ),
    );
}

/// Writes that slow loads have no period.
fn no_refresh(document: &mut Shown, whose: &str, found: &Distribution) {
    let Some(period) = found.period else {
        return document.sentence(
            Role::Detail("DRAM refresh"),
            format_args!("{whose}not searched for: too few slow loads"),
        );
    };
    document.sentence(
        Role::Detail("DRAM refresh"),
        format_args!(
            "{whose}not seen: slow loads ({} ns and more) have no period of 1.5 to 20 µs (best: {:.1} \
             standard deviations)",
            Digits(found.nanoseconds(found.slow_from.real())),
            period.significance
        ),
    );
}

/// Writes a time in a suitable unit.
fn span(nanoseconds: f64) -> impl Display {
    fmt::from_fn(move |out| match nanoseconds {
        small if small < 1e3 => write!(out, "{} ns", Digits(small)),
        middle if middle < 1e6 => write!(out, "{} µs", Digits(middle / 1e3)),
        large if large < 1e9 => write!(out, "{} ms", Digits(large / 1e6)),
        long => write!(out, "{} s", Digits(long / 1e9)),
    })
}

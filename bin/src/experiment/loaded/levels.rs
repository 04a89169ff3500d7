//! The levels of one curve for people: a row for each, and what they say together.

use core::fmt::{self, Display, Write};

use latency_core::decimal::Decimal;
use latency_core::stats::Interval;
use latency_core::text::{plural, Text};
use latency_core::traffic::pace::Pacing;
use latency_core::units::Bytes;

use super::members::burst;
use super::words::{CoresDeliver, Multiple};
use crate::analysis::load::{Verdict, KNEES};
use crate::analysis::loaded::{BandwidthLimit, Loading, Step, Steps};
use crate::analysis::traffic::shares;
use crate::describe::rates::{Gigabytes, Within};
use crate::describe::{method::optional, Report};
use crate::report::document::{Document, Level, Role, Rows};
use crate::report::figures::Digits;

/// Describes a curve.
#[inline(never)] // offsets into a small frame are short
pub fn table(document: &mut dyn Document, report: &Report<'_, '_>, loading: &Loading<'_, '_>) {
    let steps = loading.steps();
    let all = loading.traffic.generators;
    let own = || steps.as_slice().iter().filter(|step| loading.is_level(step));
    // Most machines do not report the clock of the uncore.
    let tells = own().any(|step| loading.uncore_gigahertz(step).is_some());
    let limit = loading.limit();
    let idle = loading.curve().map(|curve| curve.idle().value);
    let mut caption = Text::<160>::EMPTY;
    let (traffic, from, to) = (loading.traffic, loading.from(), loading.to());
    // What does not fit is left out.
    let _ = write!(
        caption,
        "Node {from} -> Node {to}, {all} core{} load{} node {}: {}, {}; GB/s",
        plural(all),
        if all == 1 { "s" } else { "" },
        traffic.node,
        traffic.kind.name,
        GeneratorMemory(traffic.generators, traffic.footprint)
    );
    let rounded = |table: &mut Rows<'_>, decimals, value: Option<f64>| match value {
        Some(value) => table.cell(format_args!("{:.decimals$}", Decimal(value))),
        None => table.text("-"),
    };
    document.tabulate(caption.as_str(), Level::Quiet, 1, &|table| {
        // The table must not be wider than a terminal.
        table.texts(match tells {
            true => "offered|delivered|limit|ns|95 % interval|x idle|GHz|uncore|lines",
            false => "offered|delivered|of limit|ns|95 % interval|x idle|GHz|in flight",
        });
        for step in own() {
            let level = step.level;
            let clock = || {
                let measured = report.outcomes.get(step.index)?.result.as_ref().ok()?;
                measured.series.core_gigahertz.map(|clock| clock.median)
            };
            table.row();
            match level.offered {
                Some(0.0) => table.text("idle"),
                Some(offered) => table.show(&Gigabytes(offered)),
                None => table.text("max"),
            }
            table.show(&Gigabytes(level.delivered.value));
            match limit {
                Some(limit) => table
                    .cell(format_args!("{:.0} %", Decimal(level.delivered.value / limit.rate.value * 100.0))),
                None => table.text("-"),
            }
            table.show(&Nanoseconds(level.latency.value));
            match level.latency.interval {
                Some(Interval { low, high }) => {
                    table.cell(format_args!("{} to {}", Nanoseconds(low), Nanoseconds(high)));
                }
                None => table.text("-"),
            }
            rounded(table, 2, idle.map(|idle| level.latency.value / idle));
            rounded(table, 2, clock());
            if tells {
                rounded(table, 2, loading.uncore_gigahertz(step));
            }
            rounded(table, 1, loading.in_flight(step));
        }
    });
    if let Some(limit) = limit {
        knee(document, loading, &limit);
        most(document, loading, &limit);
    }
    pacing(document, report, loading, &steps);
    check(document, report, loading, &steps);
    fewer(document, loading, &steps);
}

/// Says where latency reaches multiples of the lowest one.
fn knee(document: &mut dyn Document, loading: &Loading<'_, '_>, limit: &BandwidthLimit) {
    if limit.is_of_generators() {
        return document.sentence(
            Role::Method(&"Knee"),
            format_args!("none is claimed: the generators end this curve, and not the memory"),
        );
    }
    if loading.curve().is_none() {
        return;
    }
    let lowest = loading.slow_idle().map(|(lowest, _)| lowest);
    document.sentence(
        Role::Method(&"Knee"),
        format_args!(
            "{}",
            fmt::from_fn(|out| {
                for (index, ratio) in KNEES.into_iter().enumerate() {
                    let before = if index == 0 { "" } else { "; " };
                    write!(out, "{before}{} ", Multiple(ratio, lowest))?;
                    match loading.knee(ratio) {
                        Some(knee) => write!(out, "at {}", Within(knee.bandwidth))?,
                        None => out.write_str("is not reached")?,
                    }
                }
                Ok(())
            })
        ),
    );
}

/// Says the bandwidth without pacing, and whether memory or the cores limit it.
#[inline(never)] // offsets into a small frame are short
fn most(document: &mut dyn Document, loading: &Loading<'_, '_>, limit: &BandwidthLimit) {
    let shares = shares(loading.traffic.kind);
    let part = |share: f64, word: &'static str| {
        let rate = limit.rate.value * share;
        optional(Some(rate).filter(|_| share > 0.0 && share < 1.0), move |rate, out| {
            write!(out, "; {} {word}", Gigabytes(rate))
        })
    };
    document.sentence(
        Role::Method(&"Limit"),
        format_args!(
            "{} by {} core{} without a pace, {}{}{}{}{}",
            Within(limit.rate),
            limit.generators,
            plural(limit.generators),
            match limit.verdict {
                Verdict::LimitReached => "reached",
                Verdict::OverSaturated => "reached by fewer than all",
                Verdict::OneGenerator => "which is that of one core",
                Verdict::GeneratorsExhausted => "not reached: the generators are exhausted",
                Verdict::NotShown => "not shown to be the memory's",
            },
            optional(limit.others(), |(count, other), out| {
                let percent = Decimal(other.value / limit.rate.value * 100.0);
                write!(out, "; {} {percent:.0} % of it", CoresDeliver(count))
            }),
            part(shares.read, "read"),
            part(shares.written, "written"),
            part(shares.owned, "more may be read for ownership"),
        ),
    );
}

/// Says how generators were paced, and up to which rate they kept the pace.
#[inline(never)] // offsets into a small frame are short
fn pacing(document: &mut dyn Document, report: &Report<'_, '_>, loading: &Loading<'_, '_>, steps: &Steps) {
    /// The relative difference up to which a delivered rate counts as the offered one.
    const SAME: f64 = 0.01;
    let paced = || {
        steps
            .as_slice()
            .iter()
            .filter_map(|step| Some((step, step.level.offered.filter(|rate| *rate > 0.0)?)))
    };
    let Some((first, offered)) = paced().next() else { return };
    let off = |step: &Step, offered: f64| (step.level.delivered.value / offered - 1.0).abs();
    let kept = || paced().take_while(|(step, offered)| off(step, *offered) <= SAME);
    let most = kept().map(|(step, offered)| off(step, offered)).fold(0.0, f64::max);
    document.sentence(
        Role::Method(&"Pacing"),
        format_args!(
            "{} gaps{}; {}",
            if report.options.pacing == Pacing::Even { "even" } else { "exponential" },
            fmt::from_fn(|out| {
                let mut last = None;
                for (step, offered) in paced() {
                    let Some(lines) = burst(report, loading, step) else { continue };
                    match last {
                        None => write!(out, ", {lines} line{} at a time", plural(lines))?,
                        Some(before) if before != lines => {
                            write!(out, ", {lines} from {} GB/s", Gigabytes(offered))?;
                        }
                        Some(_) => {}
                    }
                    last = Some(lines);
                }
                Ok(())
            }),
            fmt::from_fn(|out| match kept().last() {
                Some((_, to)) => write!(
                    out,
                    "delivered = offered within {} % up to {} GB/s",
                    Tenths(most * 100.0),
                    Gigabytes(to)
                ),
                None => write!(
                    out,
                    "delivered and offered differ by {} % at {} GB/s",
                    Tenths(off(first, offered) * 100.0),
                    Gigabytes(offered)
                ),
            })
        ),
    );
}

/// Nanoseconds with as many decimals as tell levels apart.
struct Nanoseconds(f64);

impl Display for Nanoseconds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = usize::from(self.0 < 1000.0);
        write!(out, "{:.decimals$}", Decimal(self.0))
    }
}

/// A percentage, rounded up to one decimal, so that it stays an upper bound.
struct Tenths(f64);

impl Display for Tenths {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0) as u64;
        let tenths = tenths + u64::from((tenths as f64) < self.0 * 10.0);
        write!(out, "{}.{}", tenths / 10, tenths % 10)
    }
}

/// Says which checks confirm the numbers of a curve.
#[inline(never)] // offsets into a small frame are short
fn check(document: &mut dyn Document, report: &Report<'_, '_>, loading: &Loading<'_, '_>, steps: &Steps) {
    let measured = |step: &Step| report.outcomes.get(step.index)?.result.as_ref().ok();
    let (mut disturbed, mut throttled, mut windows, mut most) = (0, 0, 0, None::<f64>);
    for step in steps.as_slice() {
        let Some(measured) = measured(step) else { continue };
        disturbed += measured.series.disturbed;
        throttled += measured.series.throttled;
        windows += measured.series.batches;
        most = most.into_iter().chain(loading.in_flight(step)).reduce(f64::max);
    }
    if windows > 0 {
        document.sentence(
            Role::Method(&"Check"),
            format_args!(
                "{}{disturbed} of {windows} windows interrupted{}",
                optional(most, |most, out| write!(
                    out,
                    "at most {} lines in flight per core; ",
                    Digits(most)
                )),
                optional(Some(throttled).filter(|count| *count > 0), |count, out| write!(
                    out,
                    ", {count} throttled"
                ))
            ),
        );
    }
}

/// Says what fewer generators deliver without a pace.
fn fewer(document: &mut dyn Document, loading: &Loading<'_, '_>, steps: &Steps) {
    for step in steps.as_slice().iter().filter(|step| !loading.is_level(step)) {
        document.sentence(
            Role::Detail(&"Fewer cores"),
            format_args!(
                "{} deliver{} {} GB/s without a pace, and a load takes {} ns meanwhile",
                step.generators,
                if step.generators == 1 { "s" } else { "" },
                Gigabytes(step.level.delivered.value),
                Digits(step.level.latency.value)
            ),
        );
    }
}

/// The memory of all generators: `23 x 64 MiB`.
struct GeneratorMemory(u32, Bytes);

impl Display for GeneratorMemory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GeneratorMemory(generators, all) = *self;
        match generators {
            0 | 1 => write!(out, "{all}"),
            _ => write!(out, "{generators} x {}", Bytes(all.0 / u64::from(generators))),
        }
    }
}

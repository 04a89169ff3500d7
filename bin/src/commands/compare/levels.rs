//! The levels of two curves side by side, in nanoseconds and in core cycles.

use core::fmt;

use latency_core::joined;

use crate::analysis::curve::Analysis;
use crate::analysis::side_by_side::{ComparedLevel, Follows, Levels};
use crate::record::columns::{ColumnSet, STRIDE, WORKING_SET};
use crate::record::row::Row;
use crate::result::Samples;
use crate::saved::{Saved, tlb};
use latency_report::Part;
use latency_report::Shown;
use latency_report::document::{self, fields, members};

fields! {
    LEVELS "levels" "Cache levels of both curves, nearest first, then memory; empty if A or B is not a curve.";
    FOLLOWS "follows" "`clock` (equal in core cycles), `time` (equal in nanoseconds) or `neither`; null if `clock_ratio` is null.";
    CLOCK_RATIO "clock_ratio" "Core clock of A divided by core clock of B; null if they are nearly equal or unknown.";
}

/// Returns the levels of the first file of each side, if both are curves.
pub fn of(sides: [&[Saved]; 2]) -> Option<Levels> {
    let [first, second] = sides.map(<[Saved]>::first);
    Some(levels(first?)?.beside(&levels(second?)?))
}

fn levels(saved: &Saved) -> Option<Levels> {
    let like = saved.rows.first()?;
    let alike = ColumnSet::POINTS.without(ColumnSet::of(&[WORKING_SET, STRIDE]));
    let sample = |index: usize| {
        saved.rows.get(index).filter(|row| row.size().0 > 0 && row.is_same(like, alike)).map(Row::sample)
    };
    let samples = Samples::new(saved.rows.len(), &sample);
    Levels::of(&Analysis::new(samples, tlb::of_row(&saved.tlb, like), saved.claims, None, &|| false))
}

fn name(level: &ComparedLevel) -> impl fmt::Display {
    let number = level.number;
    fmt::from_fn(move |out| match number {
        0 => out.write_str("memory"),
        number => write!(out, "L{number}"),
    })
}

/// States which levels scale with the clock, if the core clocks of the two sides differ.
pub fn answer(document: &mut Shown, levels: Option<&Levels>) {
    let Some((levels, clock)) = levels.and_then(|levels| Some((levels, levels.clock_ratio()?))) else {
        return;
    };
    let group = |follows| levels.all.iter().filter(move |level| levels.follows(level) == Some(follows));
    let names = |follows| joined("", ", ", group(follows).map(name));
    let ratio = |level: &ComparedLevel| {
        let ratio = level.ratio();
        fmt::from_fn(move |out| write!(out, "{ratio:.2}x"))
    };
    let ratios = |follows| joined("", ", ", group(follows).map(ratio));
    let said = [
        (Follows::Clock, ["scales with the core clock", "scale with the core clock"]),
        (Follows::Time, ["does not", "do not"]),
        (Follows::Neither, ["does partly", "do partly"]),
    ];
    let all = fmt::from_fn(|out| {
        let mut separator = "";
        for (follows, [one, several]) in said {
            let verb = match group(follows).count() {
                0 => continue,
                1 => one,
                _ => several,
            };
            write!(out, "{separator}{} {verb} (", names(follows))?;
            match follows {
                Follows::Clock => write!(out, "{clock:.2}x)")?,
                _ => write!(out, "{})", ratios(follows))?,
            }
            separator = "; ";
        }
        Ok(())
    });
    document.finding(format_args!("{all}."));
}

/// Shows the levels as a table.
pub fn table(document: &mut Shown, levels: Option<&Levels>) {
    let Some(levels) = levels else { return };
    document.tabulate("", document::Level::Normal, 1, &|table| {
        table.texts(&["level", "A, ns", "B, ns", "B/A", "A, core cycles", "B, core cycles", "B/A"]);
        for level in &levels.all {
            table.row();
            table.show(&name(level));
            for ([a, b], ratio) in
                [(level.nanoseconds, level.ratio()), (level.cycles, level.ratio_in_cycles())]
            {
                table.number(a);
                table.number(b);
                match ratio.is_finite() {
                    true => table.cell(format_args!("{ratio:.3}")),
                    false => table.text("-"),
                }
            }
        }
    });
}

/// Describes the levels for programs.
pub fn programs(document: &mut Shown, levels: Option<&Levels>) {
    document.items(Part::List(&LEVELS), levels.into_iter().flat_map(|levels| &levels.all), |document, level| {
        members! { document;
            "level": level.number => "Cache level, counted from the core; 0 is memory.";
            "a_ns": level.nanoseconds[0] => "Latency in A, in nanoseconds.";
            "b_ns": level.nanoseconds[1] => "Latency in B, in nanoseconds.";
            "ratio": level.ratio() => "Latency of B divided by latency of A, both in nanoseconds.";
            "a_core_cycles": level.cycles[0] => "Latency in A, in core cycles; null if the core clock is unknown.";
            "b_core_cycles": level.cycles[1] => "Latency in B, in core cycles; null if the core clock is unknown.";
            "core_cycles_ratio": level.ratio_in_cycles() => "Latency of B divided by latency of A, both in core cycles; null if a core clock is unknown.";
        }
        let follows = levels.and_then(|levels| levels.follows(level));
        document.put(
            &FOLLOWS,
            follows.map(|follows| match follows {
                Follows::Clock => "clock",
                Follows::Time => "time",
                Follows::Neither => "neither",
            }),
        );
    });
    document.put(&CLOCK_RATIO, levels.and_then(Levels::clock_ratio));
}

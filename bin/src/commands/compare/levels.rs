//! The levels of two curves side by side, in nanoseconds and in core cycles.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::Worded;

use crate::analysis::side_by_side::{ComparedLevel, Follows, Levels};
use crate::record::columns::{ColumnSet, STRIDE, WORKING_SET};
use crate::record::row::Row;
use crate::saved::Saved;
use latency_report::chart::vector;
use latency_report::document::{self, fields, members};
use latency_report::lists::joined;
use latency_report::{Part, Shown};

fields! {
    LEVELS "levels" "Cache levels of both curves, nearest first, then memory; empty if A or B is not a curve.";
}

/// Returns the levels of the first file of each side, if both are curves.
pub fn of(sides: [&[Saved]; 2]) -> Option<Levels> {
    let [first, second] = sides.map(<[Saved]>::first);
    Some(levels(first?)?.beside(&levels(second?)?))
}

fn levels(saved: &Saved) -> Option<Levels> {
    let like = saved.rows.first()?;
    let alike = ColumnSet::POINTS.without(ColumnSet::of(&[WORKING_SET, STRIDE]));
    let rows = saved.rows.iter().filter(|row| row.size().0 > 0 && row.is_same(like, alike));
    Levels::of(&saved.analysis(&vector(rows.map(Row::sample)), like))
}

fn name(level: &ComparedLevel) -> String {
    if level.number == 0 { "memory".into() } else { format!("L{}", level.number) }
}

/// States which levels scale with the clock, if the core clocks of the two sides differ.
pub fn answer(document: &mut Shown, levels: Option<&Levels>) {
    let Some((levels, clock)) = levels.and_then(|levels| Some((levels, levels.clock_ratio()?))) else {
        return;
    };
    let said = [
        (Follows::Clock, ["scales with the core clock", "scale with the core clock"]),
        (Follows::Time, ["does not", "do not"]),
        (Follows::Neither, ["does partly", "do partly"]),
    ];
    let mut all = Vec::new();
    for (follows, verbs) in said {
        let group = vector(levels.all.iter().filter(|level| levels.follows(level) == Some(follows)));
        let names = joined("", ", ", group.iter().map(|level| name(level)));
        let ratios = match follows {
            Follows::Clock => format!("{clock:.2}x"),
            _ => joined("", ", ", group.iter().map(|level| format!("{:.2}x", level.ratio()))),
        };
        if !group.is_empty() {
            all.push(format!("{names} {} ({ratios})", verbs[usize::from(group.len() > 1)]));
        }
    }
    document.finding(format_args!("{}.", joined("", "; ", all.iter())));
}

/// Shows the levels as a table.
pub fn table(document: &mut Shown, levels: Option<&Levels>) {
    let Some(levels) = levels else { return };
    document.tabulate("", document::Level::Normal, 1, &|table| {
        table.texts(&["level", "A, ns", "B, ns", "B/A", "A, core cycles", "B, core cycles", "B/A"]);
        for level in &levels.all {
            table.row().show(&name(level));
            for ([a, b], ratio) in
                [(level.nanoseconds, level.ratio()), (level.cycles, level.ratio_in_cycles())]
            {
                table.number(a).number(b).known(ratio.is_finite().then_some(format_args!("{ratio:.3}")));
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
            "follows": levels.and_then(|levels| levels.follows(level)).map(Follows::word) => "`clock` (equal in core cycles), `time` (equal in nanoseconds) or `neither`; null if `clock_ratio` is null.";
        }
    });
    members! { document;
        "clock_ratio": levels.and_then(Levels::clock_ratio) => "Core clock of A divided by core clock of B; null if they are nearly equal or unknown.";
    }
}

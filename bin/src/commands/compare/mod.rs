//! Compares saved results of one experiment. Nothing is measured.

mod differs;
mod levels;
mod points;
mod verdict;
mod view;

use latency_core::decimal::Decimal;
use latency_core::math::exp;
use latency_core::text::plural;

use super::{Command, Write};
use crate::analysis::comparison::significance::HALF;
use crate::analysis::comparison::{CURVE, Comparison, ComparisonVerdict, Files, PointPair, obstacle};
use crate::describe::{self, columns, trust};
use crate::error::{Failure, Regression, SavedError};
use crate::options::{Descriptor, FlagId, FlagSet, Of, Operands, Options};
use crate::report::document::{Document, Part, Role, fields};
use crate::report::format::Purpose;
use crate::saved::{self, Saved};
use crate::sys::table::List;
use latency_core::words::Worded;

use points::COLUMNS;
use view::{ComparisonView, first_name};

/// The `compare` command.
pub const COMPARE: Command = Command {
    descriptor: Descriptor {
        name: "compare",
        summary: "is B slower than A? saved results of two sides",
        details: "A and B are results saved with --json or --csv, tables of sizes and nanoseconds, Intel MLC's \
                  latency matrix or core-to-core-latency's CSV; several runs of a side are given before and behind `--`. What differs in their conditions comes first: \
                  there is no verdict over other pages, sizes (by half an octave) or nodes, unproven memory or an \
                  unreliable result without --force, which names what it overrides. The exit \
                  status is 5 if B as a whole, a pair, row, column or node of a matrix, or a run of sizes \
                  of a curve is slower beyond the threshold and the scatter of runs.\nOne file a side does \
                  not show how far runs lie apart; 2 % are assumed, and 3 % of lines between CPUs. Three \
                  files a side show it, and smaller differences with it.",
        flags: FlagSet::of(&[FlagId::Threshold, FlagId::Of, FlagId::Force, FlagId::Unit]),
        picture: true,
        operands: Operands { names: "A... -- B...", least: 2, most: MOST, sides: true },
        ..Descriptor::OF_VALUES
    },
    columns: [&columns::SAVED, &COLUMNS],
    run,
};

fields! {
    COMPARABLE "comparable" "Whether the conditions are alike, so that there is a verdict without --force.";
    FORCED "forced" "Whether --force gave a verdict although they are not: `differs` says what it overrides.";
    OF "of" "The value that is judged: `typical` (of the whole run) or `undisturbed` (while neighbours were quiet).";
    VERDICT "verdict" "`slower`, `faster` (and nowhere slower), `same`, or `none` where the conditions forbid one.";
    MEDIAN_RATIO "median_ratio" "The median of all ratios B/A.";
    THRESHOLD "threshold" "The difference that is allowed, as a fraction of A.";
    SLOWER_BY "slower_by" "By how much B is slower where it is slower, as a fraction of A; null where it is not.";
    SHOWS_FROM "shows_from" "The difference of the whole that would be beyond chance, as a fraction of A; null where the values are too uncertain to show any.";
    FILES_A "files_a" "The files of A.";
    FILES_B "files_b" "The files of B.";
    COMPARED "points_compared" "Points that both sides have.";
    SLOWER "points_slower" "Points at which B is slower.";
    FASTER "points_faster" "Points at which B is faster.";
    WITHOUT "points_without_value" "Points of all files without the value that is judged, which are left out.";
}

/// The maximum number of files: 24 runs per side.
const MOST: usize = 48;
/// Maximum number of slower (and of faster) parts of the result that are named.
const NAMED: usize = 4;

/// Loads the results of a side. Returns them and the number of points that are left out because they lack the requested
/// value.
fn load<'a>(paths: &[&'a [u8]], options: &'a Options<'a>) -> Result<(List<Saved>, usize), Failure<'a>> {
    let mut without = 0;
    let mut all = List::new(paths.len())?;
    for path in paths {
        let mut saved = Saved::load(path, options.unit)?;
        if options.of == Of::Undisturbed {
            without += undisturbed(&mut saved)?;
        }
        all.push(saved);
    }
    Ok((all, without))
}

/// Replaces each latency of the whole run with the latency while neighbours were quiet, and leaves out the points
/// without one. Returns the number of points that were left out.
#[inline(never)] // offsets into a small frame are short
fn undisturbed(saved: &mut Saved) -> Result<usize, Failure<'static>> {
    let seen = saved.rows.iter().copied().filter_map(|mut row| row.take_undisturbed().then_some(row));
    let rows = List::of(seen)?;
    if rows.is_empty() {
        let what = "one has no undisturbed value (run with --until=quiet)";
        return Err(SavedError::NotComparable { what, field: "" }.into());
    }
    let without = saved.rows.len() - rows.len();
    saved.rows = rows.leak();
    Ok(without)
}

fn run<'a>(options: &'a Options<'a>, write: Write<'_>) -> Result<Option<Failure<'a>>, Failure<'a>> {
    let (ours, theirs) = options.sides();
    let [(one, without), (other, others)] = [load(ours, options)?, load(theirs, options)?];
    let sides = [one, other];
    let refused = |what, field| Failure::from(SavedError::NotComparable { what, field });
    let mut names = sides.iter().flat_map(|side| side.iter()).map(|saved| saved.experiment.as_str());
    let known = || names.clone().filter(|name| !name.is_empty());
    if known().any(|name| known().next() != Some(name)) {
        return Err(refused("they are of different experiments", ""));
    }
    let experiment = known().next().unwrap_or_default();
    let is_curve = names.all(|name| matches!(name, "" | "curve"));
    let saved = |side: usize, file: usize| sides.get(side).and_then(|side| side.get(file));
    let rows = |side: usize, file: usize| saved(side, file).map_or(&[][..], |saved| saved.rows);
    let files = Files { counts: [ours.len(), theirs.len()], rows: &rows };
    let comparison = Comparison::new(&files, options.threshold)?;
    let Some(median) = comparison.median_ratio()? else {
        return Err(match obstacle(&files) {
            "" => refused("no point of one is a point of the other", ""),
            field => refused("no point of one is a point of the other: they differ in ", field),
        });
    };
    let differs = differs::all([&sides[0], &sides[1]], files, &comparison)?;
    let judged = options.force || differs.iter().all(|differs| !differs.blocks);
    let slower = comparison.parts(ComparisonVerdict::Slower, NAMED)?;
    let faster = comparison.parts(ComparisonVerdict::Faster, NAMED)?;
    let view = ComparisonView {
        files,
        paths: [ours, theirs],
        experiment,
        comparison: &comparison,
        differs: &differs,
        judged,
        median,
        options,
        without: [without, others],
        slower_by: comparison.slower_by()?.filter(|_| judged),
        parts: [&slower, &faster],
    };
    if options.format.purpose == Purpose::Picture && !view.is_curve() {
        return Err(refused("there is no picture of results that are not curves", ""));
    }
    let levels = if is_curve { levels::of([&sides[0], &sides[1]]) } else { None };
    write(&mut |document| {
        view.conditions(document);
        view.answer(document);
        levels::answer(document, levels.as_ref());
        view.table(document);
        levels::table(document, levels.as_ref());
        view.picture(document);
        view.method(document);
        view.programs(document);
        levels::programs(document, levels.as_ref());
    });
    let (points, of) = (comparison.count(ComparisonVerdict::Slower), comparison.pairs().len());
    Ok(view.slower_by.map(|by| Regression { by, threshold: options.threshold, points, of }.into()))
}

impl ComparisonView<'_> {
    /// Returns the smallest relative difference of the whole that would be significant; `None` if it is above tenfold.
    pub fn shows_from(&self) -> Option<f64> {
        const LARGEST: f64 = 10.0;
        let least = HALF * self.comparison.whole.error;
        Some((exp(least) - 1.0).max(self.options.threshold)).filter(|from| *from < LARGEST)
    }

    /// Returns whether both sides are curves.
    pub fn is_curve(&self) -> bool {
        let pairs = self.comparison.pairs();
        let larger =
            |two: &&[PointPair]| matches!(two, [one, other] if one.row.sample.size < other.row.sample.size);
        pairs.windows(2).filter(larger).count() + 1 >= CURVE
    }

    /// Describes the files, and the conclusions that they allow.
    fn method(&self, document: &mut dyn Document) {
        if self.options.of == Of::Undisturbed {
            let [one, other] = self.without;
            document.sentence(
                Role::Method(&"Values"),
                format_args!("those while neighbours were quiet; points without one: A {one}, B {other} (--until=quiet)"),
            );
        }
        for (label, side, paths) in [("A", 0, self.paths[0]), ("B", 1, self.paths[1])] {
            let name = first_name(paths);
            let points = self.files.first(side).len();
            let others = paths.len().saturating_sub(1);
            document.sentence(
                Role::Method(&label),
                format_args!(
                    "{}, {points} point{}{}",
                    name.as_str(),
                    plural(points),
                    core::fmt::from_fn(|out| match others {
                        0 => Ok(()),
                        others => write!(out, ", and {others} more"),
                    })
                ),
            );
        }
        let shows = core::fmt::from_fn(|out| match self.shows_from() {
            Some(from) => write!(out, "shows from {:.1} % on", Decimal(from * 100.0)),
            None => out.write_str("cannot show below 1000 %"),
        });
        match self.files.counts {
            [1, 1] => document.sentence(
                Role::Method(&"Uncertainty"),
                format_args!(
                    "of one file a side: {} % between runs are assumed, so that a difference of the whole \
                     {shows}; compare A... -- B... takes several",
                    Decimal(self.comparison.assumed() * 100.0)
                ),
            ),
            _ => document.sentence(
                Role::Method(&"Uncertainty"),
                format_args!("by the scatter between files: a difference of the whole {shows}"),
            ),
        }
    }

    /// Describes the conclusions for programs.
    fn programs(&self, document: &mut dyn Document) {
        let blocks = || self.differs.iter().filter(|differs| differs.blocks).map(|differs| differs.what);
        let comparable = blocks().next().is_none();
        let count = |verdict| if self.judged { self.comparison.count(verdict) } else { 0 };
        let (slower, faster) = (count(ComparisonVerdict::Slower), count(ComparisonVerdict::Faster));
        document.part(Part::Object(&describe::SUMMARY), |document| {
            document.put(
                &VERDICT,
                match () {
                    () if !self.judged => "none",
                    () if slower > 0 => "slower",
                    () if faster > 0 => "faster",
                    () => "same",
                },
            );
            document.put(&MEDIAN_RATIO, self.median);
            document.put(&SLOWER_BY, self.slower_by);
            document.put(&SHOWS_FROM, self.shows_from());
            document.put(&COMPARED, self.comparison.pairs().len());
            document.put(&SLOWER, slower);
            document.put(&FASTER, faster);
            document.put(&WITHOUT, self.without[0] + self.without[1]);
        });
        trust::of_command(document, if comparable { "good" } else { "poor" }, &mut blocks());
        self.points(document);
        differs::programs(document, self.differs);
        document.put(&COMPARABLE, comparable);
        document.put(&FORCED, !comparable && self.judged);
        document.put(&OF, self.options.of.word());
        document.put(&THRESHOLD, self.options.threshold);
        self.differences(document);
        for (list, paths) in [(&FILES_A, self.paths[0]), (&FILES_B, self.paths[1])] {
            document.part(Part::List(list), |document| {
                for path in paths {
                    document.put(list, saved::shown(path).as_str());
                }
            });
        }
    }
}

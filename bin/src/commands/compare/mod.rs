//! Compares saved results of one experiment. Nothing is measured.

pub mod cause;
mod levels;
mod points;
mod verdict;
mod view;

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::{Estimate, Text, Trimmed, Worded, plural};

use super::{Command, CommandResult};
use crate::analysis::comparison::{Comparison, ComparisonVerdict, PointPair, join, median};
use crate::describe::{self, columns, trust};
use crate::error::{Failure, NoVerdict, Regression, SavedError};
use crate::options::{Descriptor, FlagId, FlagSet, Of, Operands, Options};
use crate::record::columns::{ColumnSet, TRANSLATION};
use crate::record::row::Row;
use crate::saved::{self, Saved};
use latency_report::chart::vector;
use latency_report::document::{fields, members};
use latency_report::{ByPercent, Digits, Part, Purpose, Role, Shown, Value};
use points::COLUMNS;
use view::{ComparisonView, first_name};

/// The `compare` command.
pub const COMPARE: Command = Command {
    descriptor: Descriptor {
        name: "compare",
        summary: "compare saved results of A and B (exit 5 on regression)",
        details: "A and B are results saved with --json or --csv, tables of sizes and nanoseconds, Intel MLC's \
                  latency matrix or core-to-core-latency's CSV. Several runs per side go before and after `--`; \
                  `-` reads standard input.\n\
                  Without --force there is no verdict if pages, nodes or working sets (by 1.41x) differ, if \
                  placement was not verified, or if a result is unreliable.\n\
                  The exit status is 5 if B is slower beyond --threshold and the variation between runs: as a \
                  whole, in one pair, row, column or node of a matrix, or in a range of sizes of a curve. It is 6 \
                  without a verdict.\n\
                  With one file per side, a variation between runs of 2% is assumed (3% core to core). Three \
                  files per side measure it, and smaller differences are detected.",
        flags: FlagSet::of(&[FlagId::Threshold, FlagId::Of, FlagId::Force, FlagId::Unit]),
        picture: true,
        operands: Operands { names: "A... -- B...", least: 2, most: MOST, sides: true },
        ..Descriptor::OF_VALUES
    },
    columns: [&columns::FIELDS_OF_POINTS, &COLUMNS],
    run,
};

fields! {
    VERDICT "verdict" "`slower`, `faster` (and nowhere slower), `same`, or `none` if the conditions or the uncertainty do not allow one.";
    FILES_A "files_a" "Files of A.";
    FILES_B "files_b" "Files of B.";
}

/// The maximum number of files: 24 runs per side.
const MOST: usize = 48;
/// Maximum number of slower (and of faster) parts of the result that are named.
const NAMED: usize = 4;

/// Adds the results of a side to `all`. Returns the number of points that are left out because they lack the requested
/// value.
///
/// # Errors
///
/// The errors of `Saved::load`, and a result without any requested value.
pub fn load(paths: &[&'static [u8]], options: &Options, all: &mut Vec<Saved>) -> Result<usize, Failure> {
    let mut without = 0;
    for path in paths {
        let mut saved = Saved::load(path, options.unit)?;
        if options.of == Of::Undisturbed {
            without += undisturbed(&mut saved)?;
        }
        all.push(saved);
    }
    Ok(without)
}

/// Replaces each latency of the whole run with the steady latency, and leaves out the points
/// without one. Returns the number of points that were left out.
fn undisturbed(saved: &mut Saved) -> Result<usize, Failure> {
    let all = saved.rows.len();
    saved.rows = replaced(saved.rows, &mut |row| row.replace(row.undisturbed()));
    if saved.rows.is_empty() {
        return Err(SavedError::NoUndisturbed.into());
    }
    Ok(all - saved.rows.len())
}

/// Returns copies of rows, as `change` leaves them; those for which it returns false are left out.
fn replaced(rows: &[Row], change: &mut dyn FnMut(&mut Row) -> bool) -> &'static [Row] {
    let mut list = Vec::new();
    for row in rows {
        let mut row = row.clone();
        if change(&mut row) {
            list.push(row);
        }
    }
    list.leak()
}

/// Replaces each random load by its latency without address translation, if it is `wanted` and every file has both;
/// other points lose their parts. Returns true if points were replaced.
fn without_translation(all: &mut [Saved], join: ColumnSet, wanted: bool) -> bool {
    let mut is_replaced = false;
    // Files that are not replaced yet tell which points have parts.
    let before: Vec<_> = vector(all.iter().map(|saved| saved.rows));
    for saved in all {
        saved.rows = replaced(saved.rows, &mut |row| {
            let has_parts = |rows: &&[Row]| {
                let mut same = rows.iter().filter(|other| row.is_same(other, join)).peekable();
                same.peek().is_some() && same.all(|other| other.parts().is_some())
            };
            let parts = row.parts().filter(|_| wanted && before.iter().all(has_parts));
            if row.replace(parts.map(|parts| parts.without_translation)) {
                is_replaced = true;
            } else {
                row.hide(TRANSLATION);
            }
            true
        });
    }
    is_replaced
}

fn run(options: &Options) -> Result<CommandResult, Failure> {
    let (ours, theirs) = options.sides();
    let mut all = Vec::new();
    let without = [load(ours, options, &mut all)?, load(theirs, options, &mut all)?];
    let sides: [&[Saved]; 2] = all.split_at(ours.len()).into();
    let is_curve = all.iter().all(|saved| matches!(saved.experiment.as_str(), "" | "curve"));
    // Levels are those of random loads at every size.
    let levels = if is_curve { levels::of(sides) } else { None };
    let parts_of =
        sides.map(|side| side.iter().flat_map(|saved| saved.rows).any(|row| row.parts().is_some()));
    let of_memory = parts_of.contains(&true) && {
        let join = join(&cause::rows(sides).conditions());
        without_translation(&mut all, join, options.of == Of::Typical)
    };
    let mut known = all.iter().map(|saved| &saved.experiment).filter(|name| !name.is_empty());
    let named = known.next();
    if let Some(first) = named
        && let Some(second) = known.find(|name| *name != first)
    {
        return Err(SavedError::Different { first: *first, second: *second }.into());
    }
    let experiment = named.map_or("", Text::as_str);
    let sides: [&[Saved]; 2] = all.split_at(ours.len()).into();
    let files = cause::rows(sides);
    let comparison = Comparison::new(&files, options.threshold);
    let Some(median_ratio) = comparison.median_ratio() else {
        return Err(SavedError::NothingCommon { field: files.obstacle() }.into());
    };
    let differs = view::differing(sides, &comparison);
    let judged = options.force || differs.iter().all(|differs| !differs.blocks);
    let threshold = options.threshold;
    let (points, of) = (comparison.count(ComparisonVerdict::Slower), comparison.pairs().len());
    let regression = |by| Regression { by, threshold, points, of };
    let view = ComparisonView {
        sides,
        paths: [ours, theirs],
        experiment,
        comparison: &comparison,
        differs: &differs,
        judged,
        median: median_ratio,
        options,
        without,
        of_memory,
        parts_of,
        regression: comparison.by(ComparisonVerdict::Slower).filter(|_| judged).map(regression),
        parts: [ComparisonVerdict::Slower, ComparisonVerdict::Faster]
            .map(|verdict| comparison.parts(verdict, NAMED)),
        naming: points::naming(&comparison),
    };
    if options.writes(Purpose::Picture) && !view.is_curve() {
        return Err(SavedError::NoPicture { drawn: "curves are compared" }.into());
    }
    let cause = cause::of(sides, experiment, &comparison, &differs);
    let shown = Shown::of(|document| {
        describe::machine::saved_footer(document, &|index| all.get(index));
        view::answer(document, &comparison, &differs, judged);
        view.answer(document);
        view.translation(document);
        cause::answer(document, cause.as_ref());
        levels::answer(document, levels.as_ref());
        view.table(document);
        levels::table(document, levels.as_ref());
        view.picture(document);
        view.method(document);
        view.programs(document);
        levels::programs(document, levels.as_ref());
        cause::programs(document, cause.as_ref());
    });
    let failure = match judged {
        true if view.is_blind() => Some(Failure::NoVerdict(&NoVerdict::Uncertain)),
        true => view.regression.map(Failure::from),
        false => Some(Failure::NoVerdict(&NoVerdict::Sides)),
    };
    Ok(CommandResult { failure, ..shown.into() })
}

impl ComparisonView<'_> {
    /// Says that memory is compared, and how address translation differs, which is not judged.
    fn translation(&self, document: &mut Shown) {
        const NOT_JUDGED: &str = "(not judged; --of=load compares random loads)";
        if !self.of_memory {
            if self.options.of == Of::Typical && self.parts_of[0] != self.parts_of[1] {
                document.finding(format_args!(
                    "Compared: random loads, address translation included, because {} has no memory without \
                     translation.",
                    if self.parts_of[0] { "B" } else { "A" }
                ));
            }
            return;
        }
        // The translations of the first file of each side.
        let pairs = self.comparison.pairs();
        let of = |pair: &PointPair| {
            let [one, other] = self.sides.map(|side| {
                let found = side[0].rows.iter().find(|row| row.is_same(&pair.row, self.comparison.join));
                found.and_then(Row::parts).map(|parts| parts.translation)
            });
            one.zip(other)
        };
        let all = vector(pairs.iter().filter_map(of));
        let is_slower = |(one, other): &&(Estimate, Estimate)| {
            let ends = one.interval.zip(other.interval);
            other.value > one.value * (1.0 + self.options.threshold)
                && ends.is_none_or(|(one, other)| other.low > one.high)
        };
        let slower = 2 * all.iter().filter(is_slower).count() > all.len();
        let words = if slower { "Address translation is slower" } else { "Address translation" };
        match (pairs, all.as_slice()) {
            ([_], []) => {}
            ([_], [(one, other), ..]) => document.finding(format_args!(
                "Compared: memory without address translation. {words}: {} -> {} ns {NOT_JUDGED}.",
                Digits(one.value),
                Digits(other.value)
            )),
            _ => {
                let ratios = all.iter().map(|(one, other)| other.value / one.value);
                let median = median(&mut ratios.filter(|ratio| ratio.is_finite())).unwrap_or(f64::NAN);
                document.finding(format_args!(
                    "Compared: memory without address translation where both have it ({} of {} points). \
                     {words}: median B/A {median:.2} {NOT_JUDGED}.",
                    all.len(),
                    pairs.len()
                ));
            }
        }
    }

    /// Describes the files, and the conclusions that they allow.
    fn method(&self, document: &mut Shown) {
        if self.options.of == Of::Undisturbed {
            let [one, other] = self.without;
            document
                .under(Role::Method("Values"))
                .write(format_args!("steady (--until=quiet); points without one: A {one}, B {other}"));
        }
        for (label, side, paths) in [("A", 0, self.paths[0]), ("B", 1, self.paths[1])] {
            let name = first_name(paths);
            let points = self.sides[side][0].rows.len();
            let others = match paths.len().saturating_sub(1) {
                0 => String::new(),
                others => format!(", and {others} more file{}", plural(others)),
            };
            let left_out = match self.sides[side][0].left_out {
                0 => String::new(),
                count => format!(
                    "; left out: {count} line{} of bandwidths and of latencies under load",
                    plural(count)
                ),
            };
            document
                .under(Role::Method(label))
                .write(format_args!("{name}, {points} point{}{others}{left_out}", plural(points)));
        }
        let limit = match self.shows_from() {
            Some(from) => format!("{}", ByPercent(from)),
            None => "above 1000%".into(),
        };
        let how = match self.paths.map(<[_]>::len) {
            [1, 1] => format!(
                "one file per side, assumed variation between runs {}%); give several files per side to lower it",
                Trimmed(self.comparison.assumed() * 100.0)
            ),
            _ => "from the variation between files)".into(),
        };
        document.under(Role::Method("Detection limit")).write(format_args!("{limit} ({how}"));
    }

    /// Describes the conclusions for programs.
    fn programs(&self, document: &mut Shown) {
        let blocking = self.differs.iter().filter(|differs| differs.blocks);
        let blocking = vector(blocking.map(|differs| differs.what));
        let comparable = blocking.is_empty();
        let count = |verdict| if self.judged { self.comparison.count(verdict) } else { 0 };
        let (slower, faster) = (count(ComparisonVerdict::Slower), count(ComparisonVerdict::Faster));
        document.part(Part::Object(&describe::SUMMARY), |document| {
            document.put(
                &VERDICT,
                match () {
                    () if !self.judged || self.is_blind() => "none",
                    () if slower > 0 => "slower",
                    () if faster > 0 => "faster",
                    () => "same",
                },
            );
            members! { document;
                "median_ratio": self.median => "Median of all ratios B/A.";
                "slower_by": self.regression.map(|regression| regression.by) => "Median difference of the slower points, as a fraction of A; null without slower points or without a verdict.";
                "shows_from": self.shows_from() => "Smallest difference of the whole result that would be significant, as a fraction of A; null if above 10.";
                "points_compared": self.comparison.pairs().len() => "Number of points that both sides have.";
                "points_slower": slower => "Number of points at which B is slower; 0 without a verdict.";
                "points_faster": faster => "Number of points at which B is faster; 0 without a verdict.";
                "points_without_value": self.without[0] + self.without[1] => "Number of points without the judged value, which are left out.";
            }
        });
        trust::of_command(document, if comparable { "good" } else { "poor" }, &blocking);
        self.points(document);
        view::differing_for_programs(document, self.differs);
        members! { document;
            "comparable": comparable => "True if the conditions agree, so that there is a verdict without --force.";
            "forced": !comparable && self.judged => "True if --force gave the verdict although conditions differ; `differs` lists them.";
            "of": if self.of_memory { "memory" } else { self.options.of.word() } => "Judged value: `typical` (whole run), `memory` (the same without address translation, where both sides have it), `load` (random loads) or `undisturbed` (steady: rounds in separate seconds agree on it).";
            "threshold": self.options.threshold => "Allowed difference, as a fraction of A.";
        }
        self.differences(document);
        for (list, paths) in [(&FILES_A, self.paths[0]), (&FILES_B, self.paths[1])] {
            document.values(list, paths.iter().map(|path| Value::from(saved::shown(path).as_str())));
        }
    }
}

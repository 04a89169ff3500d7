//! The verdict in a sentence: the number of points that differ, their names, and the difference.

use core::fmt::{self, Display};

use latency_core::{Text, Trimmed, joined, plural};

use super::points::SideValue;
use super::view::{ComparisonView, Differs, TRUST};
use crate::analysis::comparison::{ComparisonVerdict, DifferingPart, PointGroup, partners};
use crate::commands::listed;
use crate::record::columns::{ColumnSet, INITIATOR_NODE, TARGET_NODE, WORKING_SET};
use crate::record::label::{Label, shown as shown_value};
use latency_report::document::fields;
use latency_report::{ByPercent, Part, Shown};

fields! {
    DIFFERENCES "differences" "Parts of the result that differ, largest difference first; empty if there is no verdict.";
    WHICH "which" "Part of the result, in words.";
    DIRECTION "direction" "`slower` or `faster`.";
    POINTS "points" "Number of points of this part.";
    BY "by" "Median difference of these points, as a fraction of A.";
}

impl<'v> ComparisonView<'v> {
    /// States the conclusion of the comparison.
    pub fn answer(&self, document: &mut Shown) {
        let pairs = self.comparison.pairs();
        let of = pairs.len();
        let median =
            fmt::from_fn(|out| write!(out, "median B/A {:.3} over {of} point{}", self.median, plural(of)));
        if !self.judged {
            let why = self.why_not();
            document.answer(format_args!("No verdict: {why} (--force overrides); {median}."));
            return;
        }
        let threshold = Trimmed(self.options.threshold * 100.0);
        match (&self.regression, pairs) {
            (Some(regression), [pair]) => document.answer(format_args!(
                "REGRESSION: {regression}: {} -> {}.",
                SideValue::of(pair, 0),
                SideValue::of(pair, 1)
            )),
            (Some(regression), _) => document.answer(format_args!(
                "REGRESSION: {regression}{}.",
                self.differing(ComparisonVerdict::Slower, &self.parts[0])
            )),
            (None, _) => match self.shows_from().filter(|_| !self.is_blind()) {
                Some(from) => document.answer(format_args!(
                    "No regression of {} or more: {median} (threshold {threshold}%).",
                    ByPercent(from)
                )),
                None => document.answer(format_args!(
                    "Inconclusive: the uncertainty far exceeds the {threshold}% threshold; {median}."
                )),
            },
        }
        if let Some(by) = self.comparison.by(ComparisonVerdict::Faster) {
            document.finding(format_args!(
                "Faster: {} of {of} point{} by {}{}.",
                self.comparison.count(ComparisonVerdict::Faster),
                plural(of),
                ByPercent(by),
                self.differing(ComparisonVerdict::Faster, &self.parts[1])
            ));
        }
        self.one_sided(document);
    }

    /// Shows the reason why there is no verdict: unreliable results, or else conditions that differ.
    fn why_not(&self) -> impl Display {
        fmt::from_fn(|out| {
            let mut blocking = self.differs.iter().filter(|differs| differs.blocks);
            let (Some(Differs { what: TRUST, sides, .. }), None) = (blocking.next(), blocking.next()) else {
                return out.write_str("the conditions differ");
            };
            let [one, other] = [&sides[0], &sides[1]].map(Text::as_str);
            match one == other {
                true => write!(out, "both results are {one}"),
                false => write!(out, "A is {one}, B is {other}"),
            }
        })
    }

    /// Names the points that only one side has.
    fn one_sided(&self, document: &mut Shown) {
        /// Maximum number of points that are named; further points are only counted.
        const NAMED: usize = 6;
        // Curves that are interpolated between their points have few sizes in common, so missing sizes are not named.
        if self.comparison.pairs().iter().any(|pair| pair.interpolated) {
            return;
        }
        let rows = self.sides.map(|side| side[0].rows);
        for (name, own, other) in [("A", rows[0], rows[1]), ("B", rows[1], rows[0])] {
            let partners = partners(&mut own.iter(), other, self.comparison.join);
            let alone = own.iter().zip(&partners).filter(|(_, partner)| partner.is_none());
            let count = alone.clone().count();
            if count > 0 {
                let labels = alone.map(|(row, _)| Label { row, shown: self.naming });
                document.missing(format_args!("Only in {name}: {}", listed(NAMED, count, labels)));
            }
        }
    }

    /// Describes the parts of the result that differ, for programs.
    pub fn differences(&self, document: &mut Shown) {
        let parts = self.parts.iter().zip(["slower", "faster"]).filter(|_| self.judged);
        let parts = parts.flat_map(|(parts, direction)| parts.iter().map(move |part| (part, direction)));
        document.items(Part::List(&DIFFERENCES), parts, |document, (part, direction)| {
            document.show(&WHICH, &self.which(part));
            document.put(&DIRECTION, direction);
            document.put(&POINTS, part.points);
            document.put(&BY, part.by);
        });
    }

    /// Shows the parts that differ, and the difference of the other points: `: 16 MiB to 128 MiB; the other points by
    /// 1.0%`. Writes nothing about parts if all points differ.
    fn differing(
        &self,
        verdict: ComparisonVerdict,
        parts: &'v [DifferingPart<'v>],
    ) -> impl Display + use<'_, 'v> {
        fmt::from_fn(move |out| {
            if let [DifferingPart { group: PointGroup::Whole, .. }] = parts {
                return Ok(());
            }
            let like_first =
                parts.iter().all(|part| parts.first().is_some_and(|first| alike(part.by, first.by)));
            let named = |part: &'v DifferingPart<'v>| {
                fmt::from_fn(move |out| match like_first {
                    true => write!(out, "{}", self.which(part)),
                    false => write!(out, "{} ({})", self.which(part), ByPercent(part.by)),
                })
            };
            joined(": ", "; ", parts.iter().map(named)).fmt(out)?;
            let named = parts.iter().map(|part| part.points).sum();
            match self.comparison.count(verdict).saturating_sub(named) {
                0 => {}
                more => write!(out, "; and {more} more")?,
            }
            match self.comparison.by(ComparisonVerdict::Same) {
                Some(by) if by >= ALIKE => write!(out, "; the other points by {}", ByPercent(by)),
                Some(by) if by <= -ALIKE => write!(out, "; the other points are {} faster", ByPercent(by)),
                _ => Ok(()),
            }
        })
    }

    /// Shows the name of a part in words.
    fn which<'p>(&'p self, part: &'p DifferingPart<'p>) -> impl Display + use<'p, 'v> {
        let DifferingPart { group, ends: [first, last], .. } = *part;
        let shown = self.naming;
        // A part of one node or one CPU is named after one of its points, because the node or the CPU may be the
        // initiator in some of its points and the target in others.
        let like = move |point: usize| self.comparison.pairs().get(point).map_or(first, |pair| &pair.row);
        fmt::from_fn(move |out| match group {
            PointGroup::Whole => out.write_str("all points"),
            PointGroup::Point(_) => write!(out, "{}", Label { row: first, shown }),
            PointGroup::Field(place, _) => match crate::record::columns::POINTS[place] {
                INITIATOR_NODE => {
                    write!(out, "all accesses from node {}", shown_value(first, INITIATOR_NODE))
                }
                TARGET_NODE => write!(out, "all accesses to node {}", shown_value(first, TARGET_NODE)),
                column => {
                    write!(out, "all points with {} {}", column.words(), shown_value(first, column))
                }
            },
            PointGroup::Cpu(field, point) => {
                write!(out, "all pairs of CPU {}", shown_value(like(point), field))
            }
            PointGroup::Node(point) => {
                write!(out, "all accesses from and to node {}", shown_value(like(point), INITIATOR_NODE))
            }
            PointGroup::Local(true) => out.write_str("all local accesses"),
            PointGroup::Local(false) => out.write_str("all remote accesses"),
            PointGroup::Run(..) => {
                let others = shown.without(WORKING_SET.into());
                if others != ColumnSet::EMPTY {
                    write!(out, "{}, ", Label { row: first, shown: others })?;
                }
                write!(out, "{} to {}", shown_value(first, WORKING_SET), shown_value(last, WORKING_SET))
            }
        })
    }
}

/// Returns whether two relative differences are shown as the same number.
fn alike(one: f64, other: f64) -> bool {
    (one - other).abs() < 5e-4
}

/// Difference of the other points up to which it is not mentioned.
const ALIKE: f64 = 0.005;

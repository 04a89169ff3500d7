//! The verdict in a sentence: the number of points that differ, their names, and the difference.

use alloc::string::String;

use latency_core::{Trimmed, plural};

use super::points::SideValue;
use super::view::{ComparisonView, Differs, TRUST};
use crate::analysis::comparison::{ComparisonVerdict, DifferingPart, PointGroup, partners};
use crate::record::columns::{INITIATOR_NODE, TARGET_NODE, WORKING_SET};
use crate::record::label::{Label, shown as shown_value};
use latency_report::document::{fields, members};
use latency_report::lists::{joined, listed};
use latency_report::{ByPercent, Part, Shown};

fields! {
    DIFFERENCES "differences" "Parts of the result that differ, largest difference first; empty if there is no verdict.";
}

impl ComparisonView<'_> {
    /// States the conclusion of the comparison.
    pub fn answer(&self, document: &mut Shown) {
        let pairs = self.comparison.pairs();
        let of = pairs.len();
        let median = format!("median B/A {:.3} over {of} point{}", self.median, plural(of));
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

    /// Returns the reason why there is no verdict: unreliable results, or else conditions that differ.
    fn why_not(&self) -> String {
        let mut blocking = self.differs.iter().filter(|differs| differs.blocks);
        match (blocking.next(), blocking.next()) {
            (Some(Differs { what: TRUST, sides: [one, other], .. }), None) if one == other => {
                format!("both results are {one}")
            }
            (Some(Differs { what: TRUST, sides: [one, other], .. }), None) => {
                format!("A is {one}, B is {other}")
            }
            _ => "the conditions differ".into(),
        }
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
            members! { document;
                "which": self.which(part) => "Part of the result, in words.";
                "direction": direction => "`slower` or `faster`.";
                "points": part.points => "Number of points of this part.";
                "by": part.by => "Median difference of these points, as a fraction of A.";
            }
        });
    }

    /// Returns the parts that differ, and the difference of the other points: `: 16 MiB to 128 MiB; the other points by
    /// 1.0%`. Parts are not named if all points differ.
    fn differing(&self, verdict: ComparisonVerdict, parts: &[DifferingPart<'_>]) -> String {
        if let [DifferingPart { group: PointGroup::Whole, .. }] = parts {
            return String::new();
        }
        let like_first = parts.iter().all(|part| alike(part.by, parts[0].by));
        let named = parts.iter().map(|part| match like_first {
            true => self.which(part),
            false => format!("{} ({})", self.which(part), ByPercent(part.by)),
        });
        let mut words = joined(": ", "; ", named);
        match self.comparison.count(verdict).saturating_sub(parts.iter().map(|part| part.points).sum()) {
            0 => {}
            more => words += &format!("; and {more} more"),
        }
        match self.comparison.by(ComparisonVerdict::Same) {
            Some(by) if by >= ALIKE => words += &format!("; the other points by {}", ByPercent(by)),
            Some(by) if by <= -ALIKE => words += &format!("; the other points are {} faster", ByPercent(by)),
            _ => {}
        }
        words
    }

    /// Returns the name of a part in words.
    fn which(&self, part: &DifferingPart<'_>) -> String {
        let DifferingPart { group, ends: [first, last], .. } = *part;
        let shown = self.naming;
        // A part of one node or one CPU is named after one of its points, because the node or the CPU may be the
        // initiator in some of its points and the target in others.
        let like = |point: usize| &self.comparison.pairs()[point].row;
        match group {
            PointGroup::Whole => "all points".into(),
            PointGroup::Point(_) => format!("{}", Label { row: first, shown }),
            PointGroup::Field(place, _) => {
                let column = crate::record::columns::POINTS[place];
                let value = shown_value(first, column);
                match column {
                    INITIATOR_NODE => format!("all accesses from node {value}"),
                    TARGET_NODE => format!("all accesses to node {value}"),
                    column => format!("all points with {} {value}", column.words()),
                }
            }
            PointGroup::Cpu(field, point) => format!("all pairs of CPU {}", shown_value(like(point), field)),
            PointGroup::Node(point) => {
                format!("all accesses from and to node {}", shown_value(like(point), INITIATOR_NODE))
            }
            PointGroup::Local(true) => "all local accesses".into(),
            PointGroup::Local(false) => "all remote accesses".into(),
            PointGroup::Run(..) => {
                let [from, to] = [first, last].map(|row| shown_value(row, WORKING_SET));
                let others = format!("{}", Label { row: first, shown: shown.without(WORKING_SET.into()) });
                let comma = if others.is_empty() { "" } else { ", " };
                format!("{others}{comma}{from} to {to}")
            }
        }
    }
}

/// Returns whether two relative differences are shown as the same number.
fn alike(one: f64, other: f64) -> bool {
    (one - other).abs() < 5e-4
}

/// Difference of the other points up to which it is not mentioned.
const ALIKE: f64 = 0.005;

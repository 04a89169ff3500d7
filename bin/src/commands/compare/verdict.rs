//! The verdict in a sentence: the number of points that differ, their names, and the difference.

use core::fmt::{self, Display};

use latency_core::decimal::Decimal;
use latency_core::text::{joined, plural};

use super::view::ComparisonView;
use crate::analysis::comparison::{ComparisonVerdict, DifferingPart, PointGroup};
use crate::commands::listed;
use crate::report::document::{Document, Part, fields};
use crate::report::figures::Digits;
use crate::result::row::{FIELDS, FROM, Label, Row, SIZE, TO};

fields! {
    DIFFERENCES "differences" "The parts that differ, from the largest to the smallest; empty where there is no verdict.";
    WHICH "which" "The part in words.";
    DIRECTION "direction" "`slower` or `faster`.";
    POINTS "points" "How many points it has.";
    BY "by" "By how much, as a fraction of A; against the other points, where the whole does not differ.";
}

/// The detectable difference above which a comparison is useless, because it would miss differences that matter.
const BLIND: f64 = 0.2;

impl<'v> ComparisonView<'v> {
    /// States the conclusion of the comparison.
    pub fn answer(&self, document: &mut dyn Document) {
        let pairs = self.comparison.pairs();
        let of = pairs.len();
        let s = plural(of);
        let allowed = Digits(self.options.threshold * 100.0);
        let median = Decimal(self.median);
        if !self.judged {
            document.answer(format_args!(
                "No verdict: the conditions are not the same (--force gives one). The median ratio B/A is \
                     {median:.3} ({of} point{s})."
            ));
            return;
        }
        match (self.slower_by, pairs) {
            (Some(by), [pair]) => document.answer(format_args!(
                    "REGRESSION: B is {} % slower than A ({} -> {} ns); {allowed} % are allowed.",
                    Digits(by * 100.0),
                    Digits(pair.nanoseconds[0]),
                    Digits(pair.nanoseconds[1])
                )),
            (Some(_), _) => document.answer(format_args!(
                    "REGRESSION: {}; the median ratio is {median:.3}, {allowed} % are allowed.",
                    self.differing(ComparisonVerdict::Slower)
                )),
            (None, _) => document.answer(format_args!(
                    "No regression{}: the median ratio B/A is {median:.3} ({of} point{s}; {allowed} % are allowed).",
                    if self.shows_from().is_some_and(|from| from < BLIND) { "" } else { " seen, but the values are too uncertain to show one" }
                )),
        }
        if self.comparison.count(ComparisonVerdict::Faster) > 0 {
            document.finding(format_args!("Faster: {}.", self.differing(ComparisonVerdict::Faster)));
        }
        self.one_sided(document);
    }

    /// Names the points that only one side has.
    fn one_sided(&self, document: &mut dyn Document) {
        /// Maximum number of points that are named; further points are only counted.
        const NAMED: usize = 6;
        let join = crate::analysis::comparison::Join::of(&self.files);
        for (name, side) in [("A", 0), ("B", 1)] {
            let other = self.files.first(1 - side);
            let alone = || self.files.first(side).iter().filter(|row| join.find(row, other).is_none());
            let count = alone().count();
            // Curves that are interpolated between their points have few sizes in common, so missing sizes are not
            // named.
            if count == 0 || self.comparison.pairs().iter().any(|pair| pair.interpolated) {
                continue;
            }
            document.missing(format_args!(
                "Only in {name}: {}",
                listed(NAMED, count, alone().map(|row| Label { row, shown: self.naming() }))
            ));
        }
    }

    /// Describes the parts of the result that differ, for programs.
    pub fn differences(&self, document: &mut dyn Document) {
        let parts = if self.judged { self.parts } else { [&[][..]; 2] };
        let of = |(parts, direction)| <[_]>::iter(parts).map(move |part| (part, direction));
        let parts = parts.into_iter().zip(["slower", "faster"]).flat_map(of);
        document.items(Part::List(&DIFFERENCES), parts, |document, (part, direction)| {
            document.show(&WHICH, &self.which(part));
            document.put(&DIRECTION, direction);
            document.put(&POINTS, part.points);
            document.put(&BY, part.by);
        });
    }

    /// Shows the points that differ: `8 of 80 points are slower: all reads of node 9, by 50 %`.
    fn differing(&self, verdict: ComparisonVerdict) -> impl Display + use<'_, 'v> {
        let (parts, word) = match verdict {
            ComparisonVerdict::Slower => (self.parts[0], "slower"),
            _ => (self.parts[1], "faster"),
        };
        let (count, of) = (self.comparison.count(verdict), self.comparison.pairs().len());
        let by = |part: &DifferingPart<'_>| Digits(part.by.abs() * 100.0);
        fmt::from_fn(move |out| {
            if let (true, [part @ DifferingPart { group: PointGroup::Whole, .. }]) = (count == of, parts) {
                return write!(out, "all {of} points are {word}, by {} %", by(part));
            }
            write!(out, "{count} of {of} points {} {word}: ", if count == 1 { "is" } else { "are" })?;
            let named =
                |part| fmt::from_fn(move |out| write!(out, "{}, by {} %", self.which(part), by(part)));
            joined("", "; ", parts.iter().map(named)).fmt(out)?;
            // A difference that all points share may be drift, so the difference of a part is relative to the other
            // points.
            if !self.comparison.is_whole && (self.median - 1.0).abs() > ALIKE {
                out.write_str(" against the others")?;
            }
            match count.saturating_sub(parts.iter().map(|part| part.points).sum()) {
                0 => Ok(()),
                more => write!(out, "; and {more} more"),
            }
        })
    }

    /// Shows the name of a part in words.
    fn which<'p>(&'p self, part: &'p DifferingPart<'p>) -> impl Display + use<'p, 'v> {
        let DifferingPart { group, ends: [first, last], .. } = *part;
        let shown = self.naming();
        // A part of one node or one CPU is named after one of its points, because the node or the CPU may be the
        // initiator in some of its points and the target in others.
        let like = move |point: usize| self.comparison.pairs().get(point).map_or(first, |pair| &pair.row);
        fmt::from_fn(move |out| match group {
            PointGroup::Whole => out.write_str("all of them"),
            PointGroup::Point(_) => write!(out, "{}", Label { row: first, shown }),
            PointGroup::Field(FROM, _) => write!(out, "all reads from node {}", field_of(first, FROM)),
            PointGroup::Field(TO, _) => write!(out, "all reads of node {}", field_of(first, TO)),
            PointGroup::Field(field, _) => {
                let words = FIELDS.get(field).map_or("", |(_, words)| words);
                write!(out, "all of {words} {}", field_of(first, field))
            }
            PointGroup::Cpu(field, point) => write!(out, "all of CPU {}", field_of(like(point), field)),
            PointGroup::Node(point) => {
                write!(out, "all reads from and of node {}", field_of(like(point), FROM))
            }
            PointGroup::Local(true) => out.write_str("all reads of the own node"),
            PointGroup::Local(false) => out.write_str("all reads of another node"),
            PointGroup::Run(..) => {
                let others = shown & !(1 << SIZE);
                if others != 0 {
                    write!(out, "{}, ", Label { row: first, shown: others })?;
                }
                write!(out, "{} to {}", field_of(first, SIZE), field_of(last, SIZE))
            }
        })
    }
}

/// Distance of the median ratio from 1 up to which the median is not mentioned.
const ALIKE: f64 = 0.005;

/// Shows a field of a row for people.
fn field_of(row: &Row, field: usize) -> impl Display + '_ {
    fmt::from_fn(move |out| row.show(out, field))
}

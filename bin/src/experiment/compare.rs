//! Sets two saved results of one experiment side by side. Nothing is measured.

use core::fmt::Write as _;

use latency_core::decimal::Decimal;
use latency_core::model::MAX_POINTS;
use latency_core::sort::sort_by;
use latency_core::text::Text;

use super::command::{Command, Write};
use super::facts;
use crate::analysis::comparison::{Comparison, Pair, Verdict};
use crate::error::{Failure, Regression, SavedError};
use crate::options::{Descriptor, FlagId, FlagSet, Operands, Options};
use crate::report::chart::{Axis, Chart, Data, Point, Scale, Series, Unit};
use crate::report::document::{fields, Document, Field, Level, Part, Picture, Role, Table};
use crate::report::figures::Digits;
use crate::result::row::Row;
use crate::saved::{self, Saved};

/// The command that compares.
pub const COMPARE: Command = Command {
    descriptor: Descriptor {
        name: "compare",
        summary: "is B slower than A? two saved results",
        details: "A and B are results saved with --json or --csv, or tables of bytes and nanoseconds. The \
                  table has each point that both have, with the ratio, and whether it exceeds the \
                  threshold and both intervals. The exit status is 5 if B is slower: at one point of a \
                  few, or at more than a tenth of many.",
        flags: FlagSet::of(&[FlagId::Threshold]),
        picture: true,
        operands: Operands { names: "A B", least: 2, most: 2 },
    },
    columns: &COLUMNS,
    run,
};

/// From so many points of different size on there is a picture.
const CURVE: usize = 6;

fields! {
    POINTS "points" "Every point that both results have.";
    FROM "from" "The node whose CPU did the loads.";
    TO "to" "The node whose memory was walked.";
    WORKING_SET "working_set_bytes" "The memory walked.";
    STRIDE "stride_bytes" "The spacing of the lines.";
    POINT "point" "What else tells this point from others.";
    A_NS "a_ns" "The latency in A.";
    B_NS "b_ns" "The latency in B.";
    RATIO "ratio" "B over A.";
    INTERPOLATED "interpolated" "Whether B is read between two of its points.";
    VERDICT "verdict" "`slower` or `faster` beyond threshold and uncertainty, or `same`.";
    MEDIAN_RATIO "median_ratio" "The median of all ratios B/A.";
    THRESHOLD "threshold" "The difference that is allowed, as a fraction of A.";
    SLOWER_BY "slower_by" "By how much B is slower as a whole, as a fraction of A; null where it is not.";
    A "a" "The first file.";
    B "b" "The second file.";
    SUMMARY "summary" "The conclusions as named numbers.";
    COMPARED "points_compared" "Points that both results have.";
    SLOWER "points_slower" "Points at which B is slower.";
    FASTER "points_faster" "Points at which B is faster.";
}

static COLUMNS: [&Field; 10] =
    [&FROM, &TO, &WORKING_SET, &STRIDE, &POINT, &A_NS, &B_NS, &RATIO, &INTERPOLATED, &VERDICT];

/// What is shown of two results.
struct View<'v> {
    names: [&'v str; 2],
    pairs: &'v [Pair],
    counts: [usize; 2],
    median: f64,
    slower_by: Option<f64>,
    threshold: f64,
}

fn run<'a>(options: &'a Options<'a>, write: Write<'_>) -> Result<Option<Failure<'a>>, Failure<'a>> {
    let &[a, b, ..] = options.operands() else { return Ok(None) };
    let (first, second) = (Saved::load(a)?, Saved::load(b)?);
    let refused = |what| Failure::from(SavedError::NotComparable { what });
    let (one, other) = (first.experiment, second.experiment);
    if !one.is_empty() && !other.is_empty() && one.as_str() != other.as_str() {
        return Err(refused("they are of different experiments"));
    }
    let mut comparison = Comparison::new(first.rows(), second.rows(), options.threshold)?;
    let Some(median) = comparison.median_ratio() else {
        return Err(refused("no point of one is a point of the other"));
    };
    let slower_by = comparison.slower_by();
    let names = [saved::shown(a), saved::shown(b)];
    let view = View {
        names: [names[0].as_str(), names[1].as_str()],
        pairs: comparison.pairs(),
        counts: [first.rows().len(), second.rows().len()],
        median,
        slower_by,
        threshold: options.threshold,
    };
    if options.format.name == "svg" && !view.is_curve() {
        return Err(refused("there is no picture of results that are not curves"));
    }
    write(&mut |document| view.present(document));
    Ok(slower_by.map(|by| Regression { by, threshold: options.threshold }.into()))
}

impl View<'_> {
    fn present(&self, document: &mut dyn Document) {
        self.answer(document);
        self.table(document);
        self.picture(document);
        document.sentence(Role::Method("A"), format_args!("{}, {} points", self.names[0], self.counts[0]));
        document.sentence(Role::Method("B"), format_args!("{}, {} points", self.names[1], self.counts[1]));
        document.part(Part::Records(&POINTS), |document| {
            for pair in self.pairs {
                document.part(Part::Item, |document| point(document, pair));
            }
        });
        document.put(&MEDIAN_RATIO, self.median);
        document.put(&THRESHOLD, self.threshold);
        document.put(&SLOWER_BY, self.slower_by);
        document.part(Part::Object(&SUMMARY), |document| {
            document.put(&COMPARED, self.pairs.len());
            document.put(&SLOWER, self.count(Verdict::Slower));
            document.put(&FASTER, self.count(Verdict::Faster));
            document.put(&MEDIAN_RATIO, self.median);
            document.put(&SLOWER_BY, self.slower_by);
        });
        facts::tool(document, "compare");
        document.put(&A, self.names[0]);
        document.put(&B, self.names[1]);
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.pairs.iter().filter(|pair| pair.verdict == verdict).count()
    }

    fn answer(&self, document: &mut dyn Document) {
        let [first, second] = self.counts;
        let compared = self.pairs.len();
        let percent = |fraction: f64| Decimal(fraction * 100.0);
        let allowed = Digits(self.threshold * 100.0);
        match self.slower_by {
            Some(by) => document.sentence(
                Role::Answer,
                format_args!(
                    "REGRESSION: B is {:.1} % slower than A ({} of {compared} points); {allowed} % are allowed.",
                    percent(by),
                    self.count(Verdict::Slower)
                ),
            ),
            None => document.sentence(
                Role::Answer,
                format_args!(
                    "No regression: B is {:.1} % {} (median of {compared} of {} points; {allowed} % are allowed).",
                    percent((self.median - 1.0).abs()),
                    if self.median > 1.0 { "slower" } else { "faster" },
                    first.max(second)
                ),
            ),
        }
    }

    /// Columns only for what varies.
    fn table(&self, document: &mut dyn Document) {
        #[derive(Clone, Copy, PartialEq)]
        enum Column {
            Nodes,
            Size,
            Stride,
            Name,
            A,
            B,
            Ratio,
            Verdict,
        }
        let varies = |differ: &dyn Fn(&Row, &Row) -> bool| {
            self.pairs.windows(2).any(|two| matches!(two, [one, other] if differ(&one.first, &other.first)))
        };
        let sizes = varies(&|one, other| one.sample.size != other.sample.size);
        let strides = varies(&|one, other| one.sample.stride != other.sample.stride);
        let names = varies(&|one, other| one.name.as_str() != other.name.as_str());
        let nodes = varies(&|one, other| one.pair != other.pair) || !(sizes || strides || names);
        let all = [
            (Column::Nodes, nodes),
            (Column::Size, sizes),
            (Column::Stride, strides),
            (Column::Name, names),
            (Column::A, true),
            (Column::B, true),
            (Column::Ratio, true),
            (Column::Verdict, true),
        ];
        let column =
            |index: usize| all.iter().filter(|(_, shown)| *shown).nth(index).map(|(column, _)| *column);
        document.table(&Table {
            caption: "",
            level: Level::Quiet,
            words: [nodes, sizes, strides, names].into_iter().filter(|shown| *shown).count(),
            columns: all.iter().filter(|(_, shown)| *shown).count(),
            rows: self.pairs.len(),
            heading: &|out, index| {
                out.write_str(match column(index) {
                    Some(Column::Nodes) => "from -> to",
                    Some(Column::Size) => "working set",
                    Some(Column::Stride) => "spacing",
                    Some(Column::Name) => "point",
                    Some(Column::A) => "A, ns",
                    Some(Column::B) => "B, ns",
                    Some(Column::Ratio) => "B/A",
                    Some(Column::Verdict) | None => "",
                })
            },
            cell: &|out, row, index| {
                let (Some(pair), Some(column)) = (self.pairs.get(row), column(index)) else { return Ok(()) };
                let Row { pair: nodes, sample, name } = &pair.first;
                match column {
                    Column::Nodes => match nodes {
                        Some((from, to)) => write!(out, "{from} -> {to}"),
                        None => out.write_str("-"),
                    },
                    Column::Size => write!(out, "{}", sample.size),
                    Column::Stride => write!(out, "{}", sample.stride),
                    Column::Name => out.write_str(name.as_str()),
                    Column::A => write!(out, "{}", Digits(sample.nanoseconds)),
                    Column::B => write!(out, "{}", Digits(pair.second.sample.nanoseconds)),
                    Column::Ratio => write!(out, "{:.3}", Decimal(pair.ratio())),
                    Column::Verdict => {
                        let between = if pair.interpolated { " (between points)" } else { "" };
                        write!(
                            out,
                            "{}{between}",
                            if pair.verdict == Verdict::Same { "" } else { word(pair) }
                        )
                    }
                }
            },
        });
    }

    /// Whether there are enough sizes for a picture.
    fn is_curve(&self) -> bool {
        let sizes = self.pairs.windows(2);
        let rises = sizes
            .filter(|two| matches!(two, [one, other] if one.first.sample.size < other.first.sample.size));
        rises.count() + 1 >= CURVE
    }

    fn picture(&self, document: &mut dyn Document) {
        if !self.is_curve() {
            return;
        }
        let stride = self.pairs.iter().map(|pair| pair.first.sample.stride).min();
        let mut points = [Point::new(f64::NAN, f64::NAN); MAX_POINTS];
        let mut count = 0;
        let dense = self.pairs.iter().filter(|pair| Some(pair.first.sample.stride) == stride);
        for (slot, pair) in points.iter_mut().zip(dense) {
            let (x, ratio) = (pair.first.sample.size.0 as f64, pair.ratio());
            *slot = match (pair.first.sample.interval, pair.second.sample.interval) {
                (Some(one), Some(two)) => Point::with_band(x, ratio, two.low / one.high, two.high / one.low),
                _ => Point::new(x, ratio),
            };
            count += 1;
        }
        let points = points.get_mut(..count).unwrap_or_default();
        sort_by(points, |one, other| one.x.total_cmp(&other.x));
        let even = |_: f64| 1.0;
        let mut subtitle = Text::<160>::EMPTY;
        // What does not fit is left out.
        let _ = write!(subtitle, "above 1 B is slower; A: {}, B: {}", self.names[0], self.names[1]);
        document.picture(Picture::Chart(&Chart {
            title: "Latency of B over that of A",
            subtitle: subtitle.as_str(),
            x_axis: Axis { title: "working set", unit: Unit::Bytes, scale: Scale::Logarithmic },
            y_axis: Axis { title: "B/A", unit: Unit::Plain(""), scale: Scale::Logarithmic },
            series: &[
                Series { name: "B/A", data: Data::Points(points) },
                Series { name: "even", data: Data::Curve(&even) },
            ],
            marks: &[],
        }));
    }
}

fn point(document: &mut dyn Document, pair: &Pair) {
    if let Some((from, to)) = pair.first.pair {
        document.put(&FROM, from);
        document.put(&TO, to);
    }
    document.put(&WORKING_SET, pair.first.sample.size);
    document.put(&STRIDE, pair.first.sample.stride);
    document.put(&POINT, pair.first.name.as_str());
    document.put(&A_NS, pair.first.sample.nanoseconds);
    document.put(&B_NS, pair.second.sample.nanoseconds);
    document.put(&RATIO, pair.ratio());
    document.put(&INTERPOLATED, pair.interpolated);
    document.put(&VERDICT, word(pair));
}

const fn word(pair: &Pair) -> &'static str {
    match pair.verdict {
        Verdict::Same => "same",
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
    }
}

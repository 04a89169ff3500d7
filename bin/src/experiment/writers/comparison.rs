//! Two results side by side: a line for each point that both have, and a picture where they are curves.

use core::fmt::{self, Write};

use latency_core::model::MAX_POINTS;
use latency_core::sort::sort_by;
use latency_core::text::Text;

use crate::analysis::comparison::{Comparison, Pair, Verdict};
use crate::report::chart::{Axis, Chart, Data, Point, Scale, Series, Unit};
use crate::report::figures::Figure;
use crate::report::terminal::Terminal;
use crate::report::{plot, svg};
use crate::result::row::Row;

/// From so many points of different size on there is a picture.
const CURVE: usize = 6;

/// What the formats of a comparison show.
#[derive(Debug)]
pub struct View<'v> {
    /// The names of the files.
    pub names: [&'v str; 2],
    /// The points that both have.
    pub comparison: &'v Comparison,
    /// The points of each.
    pub counts: [usize; 2],
    /// The middle of all ratios.
    pub median: f64,
    /// By how much the second is slower as a whole, if it is.
    pub slower_by: Option<f64>,
    /// What is allowed.
    pub threshold: f64,
}

impl View<'_> {
    /// Writes a line for each point and the verdict.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn table(&self, out: &mut dyn Write) -> fmt::Result {
        let pairs = self.comparison.pairs();
        let several = |differ: &dyn Fn(&Row, &Row) -> bool| {
            pairs.windows(2).any(|two| matches!(two, [one, other] if differ(&one.first, &other.first)))
        };
        let sizes = several(&|one, other| one.sample.size != other.sample.size);
        let strides = several(&|one, other| one.sample.stride != other.sample.stride);
        let names = several(&|one, other| one.name.as_str() != other.name.as_str());
        let nodes = several(&|one, other| one.pair != other.pair) || !(sizes || strides || names);
        writeln!(out, "A: {}\nB: {}\n", self.names[0], self.names[1])?;
        writeln!(out, "{:<28} {:>9} {:>9} {:>7}", "point", "A, ns", "B, ns", "B/A")?;
        for pair in pairs {
            let mut label = Text::<64>::EMPTY;
            let row = &pair.first;
            // A text takes a part whole or not at all; the column is wide enough for what is usual.
            if let (true, Some((from, to))) = (nodes, row.pair) {
                let _ = write!(label, "{from} -> {to} ");
            }
            if sizes {
                let _ = write!(label, "{} ", row.sample.size);
            }
            if strides {
                let _ = write!(label, "({} apart) ", row.sample.stride);
            }
            if names {
                let _ = write!(label, "{}", row.name);
            }
            let ratio = Ratio(pair.ratio());
            let (first, second) = (Figure(row.sample.nanoseconds), Figure(pair.second.sample.nanoseconds));
            writeln!(out, "{:<28} {first:>9} {second:>9} {ratio:>7}{}", label.as_str(), word(pair))?;
        }
        let [first, second] = self.counts;
        writeln!(
            out,
            "\n{} points compared, of {first} and {second}; middle of the ratios B/A: {}",
            pairs.len(),
            Ratio(self.median)
        )?;
        let threshold = Figure(self.threshold * 100.0);
        match self.slower_by {
            Some(by) => writeln!(
                out,
                "B is slower by {} %, beyond {threshold} % and the uncertainty",
                Figure(by * 100.0)
            ),
            None => writeln!(out, "B is not slower beyond {threshold} % and the uncertainty"),
        }
    }

    /// Draws the ratios in a terminal, if the results are curves.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn plot(&self, out: &mut dyn Write, terminal: Terminal) -> fmt::Result {
        let mut drawn = Ok(());
        self.show(|chart| {
            drawn = out.write_char('\n').and_then(|()| plot::write(out, chart, terminal));
        });
        drawn
    }

    /// Writes the picture of the ratios as SVG.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn svg(&self, out: &mut dyn Write) -> fmt::Result {
        let mut drawn = Ok(());
        self.show(|chart| drawn = svg::write_chart(out, chart));
        drawn
    }

    /// Whether there are enough sizes for a picture.
    #[must_use]
    pub fn is_curve(&self) -> bool {
        let sizes = self.comparison.pairs().windows(2);
        let rises = sizes
            .filter(|two| matches!(two, [one, other] if one.first.sample.size < other.first.sample.size));
        rises.count() + 1 >= CURVE
    }

    fn show(&self, draw: impl FnOnce(&Chart<'_>)) {
        if !self.is_curve() {
            return;
        }
        let pairs = self.comparison.pairs();
        let stride = pairs.iter().map(|pair| pair.first.sample.stride).min();
        let mut points = [Point::new(f64::NAN, f64::NAN); MAX_POINTS];
        let mut count = 0;
        let dense = pairs.iter().filter(|pair| Some(pair.first.sample.stride) == stride);
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
        draw(&Chart {
            title: "Latency of B over that of A",
            subtitle: subtitle.as_str(),
            x_axis: Axis { title: "working set", unit: Unit::Bytes, scale: Scale::Logarithmic },
            y_axis: Axis { title: "B/A", unit: Unit::Plain(""), scale: Scale::Logarithmic },
            series: &[
                Series { name: "B/A", data: Data::Points(points) },
                Series { name: "even", data: Data::Curve(&even) },
            ],
            marks: &[],
        });
    }
}

fn word(pair: &Pair) -> &'static str {
    match (pair.verdict, pair.interpolated) {
        (Verdict::Slower, false) => "  slower",
        (Verdict::Slower, true) => "  slower (between points)",
        (Verdict::Faster, false) => "  faster",
        (Verdict::Faster, true) => "  faster (between points)",
        (Verdict::Same, true) => "  (between points)",
        (Verdict::Same, false) => "",
    }
}

/// A ratio with three decimals.
struct Ratio(f64);

impl fmt::Display for Ratio {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Text::<32>::EMPTY;
        // A ratio of two latencies within reason has fewer digits than there is room for.
        let thousandths = (self.0 * 1000.0 + 0.5) as u64;
        write!(text, "{}.{:03}", thousandths / 1000, thousandths % 1000)?;
        out.pad(text.as_str())
    }
}

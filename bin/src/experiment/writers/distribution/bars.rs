//! The histogram of single hops as bars of a chart: few enough to be seen.

use core::fmt::Write;

use latency_core::decimal::Trimmed;
use latency_core::hops;
use latency_core::text::Text;

use crate::report::chart::{Axis, Bar, Chart, Data, Mark, Scale, Series, Unit};
use crate::report::figures::Figure;
use crate::result::distribution::Distribution;
use crate::result::Point;

/// More would be narrower than the columns of a terminal.
const BARS: usize = 60;
/// The slowest hops would squeeze all others into one bar.
const SHOWN_PERCENT: f64 = 99.9;
/// Percentiles that are marked.
const MARKED: [f64; 3] = [50.0, 95.0, 99.0];

/// Makes the chart of a point's hops and shows it.
pub fn chart<R>(point: &Point, distribution: &Distribution, show: impl FnOnce(&Chart<'_>) -> R) -> R {
    let mut bars = [Bar { low: 0.0, high: 0.0, height: 0.0 }; BARS];
    let count = fill(distribution, &mut bars);
    let mut title = Text::<64>::EMPTY;
    let mut subtitle = Text::<96>::EMPTY;
    // Both are longer than what is written to them.
    let _ = write!(title, "Single hops, node {} -> node {}", point.initiator, point.target);
    let _ = write!(
        subtitle,
        "{} in {}, the fastest {} % of {} windows",
        if distribution.each == 1 { "each by itself" } else { "several together" },
        point.size,
        Trimmed(SHOWN_PERCENT),
        distribution.total()
    );
    let mut labels = [Text::<32>::EMPTY; MARKED.len()];
    let mut marks = [Mark { x: 0.0, label: "" }; MARKED.len()];
    for ((mark, label), percent) in marks.iter_mut().zip(&mut labels).zip(MARKED) {
        let value = distribution.percentile_ns(percent).unwrap_or(0.0);
        let _ = write!(label, "p{} {} ns", Trimmed(percent), Figure(value));
        *mark = Mark { x: value, label: label.as_str() };
    }
    show(&Chart {
        title: title.as_str(),
        subtitle: subtitle.as_str(),
        x_axis: Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Linear },
        y_axis: Axis { title: "share of the hops", unit: Unit::Plain("%"), scale: Scale::Linear },
        series: &[Series { name: "", data: Data::Bars(bars.get(..count).unwrap_or_default()) }],
        marks: &marks,
    })
}

/// Fills bars of equal width, each some whole steps of the counter; gives how many.
fn fill(distribution: &Distribution, bars: &mut [Bar]) -> usize {
    let (windows, below) = (&distribution.windows, distribution.interrupted_from);
    let step = distribution.step.max(1) as f64;
    let (Some(least), Some(most)) = (windows.minimum(), distribution.sample().percentile(SHOWN_PERCENT))
    else {
        return 0;
    };
    // Bars begin between two steps, so that no value lies on their edges.
    let begin = least as f64 - step / 2.0;
    let steps = ((most - begin) / step) as u64 + 1;
    let width = steps.div_ceil(bars.len() as u64).max(1) as f64 * step;
    let count = (((most - begin) / width) as usize + 1).min(bars.len());
    for (index, bar) in bars.iter_mut().enumerate() {
        let low = begin + width * index as f64;
        *bar = Bar {
            low: distribution.nanoseconds(low),
            high: distribution.nanoseconds(low + width),
            height: 0.0,
        };
    }
    let total = windows.total() as f64;
    for bucket in hops::buckets_below(windows, below) {
        let middle = (bucket.low + bucket.high) as f64 / 2.0;
        let index = ((middle - begin).max(0.0) / width) as usize;
        if let Some(bar) = bars.get_mut(..count).and_then(|bars| bars.get_mut(index)) {
            bar.height += bucket.count as f64 / total * 100.0;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::units::Hertz;

    #[test]
    fn bars_hold_all_but_the_slowest_hops() {
        let mut distribution = std::boxed::Box::new(Distribution::new(Hertz(2_600_000_000), 26));
        distribution.overhead = 58.0;
        for hop in 0..100_000u64 {
            let slow = if hop % 10_000 == 7 { 9 } else { 0 };
            distribution.windows.record(26 * (16 + hop % 10 + 10 * slow));
        }
        let mut bars = [Bar { low: 0.0, high: 0.0, height: 0.0 }; BARS];
        let count = fill(&distribution, &mut bars);
        assert_eq!(count, 10, "one bar a step");
        for bar in &bars[..count] {
            assert!((bar.height - 10.0).abs() < 0.02, "{bar:?}");
            assert!((bar.high - bar.low - 10.0).abs() < 1e-9, "{bar:?}");
        }
        let empty = std::boxed::Box::new(Distribution::new(Hertz(1), 1));
        assert_eq!(fill(&empty, &mut bars), 0);
    }
}

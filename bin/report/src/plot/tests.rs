//! Plots are equal to the stored ones, and any data keep within the width.

use super::*;
use crate::chart::{Axis, ChartPoint, Mark, Scale};
use crate::charts_tests as charts;
use proptest::prelude::*;
use std::string::String;

const PLAIN: Terminal =
    Terminal { columns: 72, unicode: true, colour: false, audience: crate::Audience::Pipe };

fn plotted(chart: &Chart, terminal: Terminal) -> String {
    let mut text = String::new();
    write(&mut text, chart, terminal).unwrap();
    text
}

/// Returns the length of the longest line without escape sequences.
fn longest(text: &str) -> usize {
    let visible = |line: &str| {
        let parts = line.split('\x1b').enumerate();
        parts
            .map(|(index, part)| {
                if index == 0 { part } else { part.split_once('m').unwrap().1 }.chars().count()
            })
            .sum()
    };
    text.lines().map(visible).max().unwrap_or(0)
}

#[test]
fn a_curve_looks_as_it_did() {
    charts::curve(|chart| {
        charts::golden("curve.txt", &plotted(chart, PLAIN));
        charts::golden("curve-ascii.txt", &plotted(chart, Terminal { unicode: false, ..PLAIN }));
        charts::golden("curve-colour.txt", &plotted(chart, Terminal { colour: true, columns: 100, ..PLAIN }));
    });
}

#[test]
fn lanes_look_as_they_did() {
    charts::lanes(|chart| charts::golden("lanes.txt", &plotted(chart, Terminal { columns: 40, ..PLAIN })));
}

#[test]
fn a_strip_looks_as_it_did() {
    charts::strip(|chart| {
        charts::golden("strip.txt", &plotted(chart, PLAIN));
        charts::golden("strip-ascii.txt", &plotted(chart, Terminal { columns: 40, unicode: false, ..PLAIN }));
    });
}

#[test]
fn a_chart_without_points_says_so() {
    charts::without_series(|chart| {
        let text = plotted(chart, PLAIN);
        assert!(text.ends_with("\n(no points)\n"), "{text}");
    });
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![prop::num::f64::ANY, -1e3f64..1e9, Just(0.0), Just(1.0)]
}

proptest! {
    #[test]
    fn any_data_fit_the_terminal(
        values in prop::collection::vec((number(), number(), number(), number()), 0..12),
        columns in 0usize..300,
        unicode: bool,
        colour: bool,
        scale in prop::sample::select(&[Scale::Auto, Scale::Linear, Scale::Logarithmic][..]),
        unit in prop::sample::select(std::vec![Unit::Bytes, Unit::Count, Unit::Plain("ns"), Unit::Prefixed("/s"), Unit::Names(["a", "b"].map(Into::into).into())]),
    ) {
        let points: std::vec::Vec<ChartPoint> =
            values.iter().map(|&(x, y, low, high)| ChartPoint::with_band(x, y, low, high)).collect();
        let curve = points.clone();
        let series = [
            Series { name: "points".into(), data: Data::Points(points.clone()) },
            Series { name: "strip".into(), data: Data::Scatter(points) },
            Series { name: "curve".into(), data: Data::Curve(curve) },
        ];
        let marks = [Mark::line(2.0, format_args!("mark")), Mark::line(f64::NAN, format_args!("none"))];
        let axis = Axis { title: "title", unit, scale };
        let chart = Chart {
            title: "".into(),
            subtitle: "".into(),
            x_axis: axis.clone(),
            y_axis: axis,
            series: series.into(),
            marks: marks.into(),
        };
        let text = plotted(&chart, Terminal { columns, unicode, colour, audience: crate::Audience::Pipe });
        // Labels of absurdly large numbers may be of any length; lines of the plot are cut.
        let usual = values.iter().all(|&(x, y, low, high)| {
            [x, y, low, high].iter().all(|value| value.abs() < 1e9 && (*value == 0.0 || value.abs() > 1e-3))
        });
        prop_assert!(!usual || longest(&text) <= columns.clamp(40, 200), "{text}");
        prop_assert_eq!(text.contains('\x1b'), colour && text.lines().count() > 3);
        prop_assert!(unicode || text.is_ascii());
    }
}

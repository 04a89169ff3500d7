//! Results in every format, charts, tables and pictures.
//!
//! This package depends neither on experiments nor on latencies: the caller supplies the numbers, the words and the
//! units.

#![no_std]
#![forbid(unsafe_code)]

#[macro_use]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod axis;
pub mod chart;
pub mod document;
pub mod escape;
pub mod figures;
pub mod format;
pub mod heatmap;
pub mod html;
pub mod hwloc;
pub mod json;
pub mod labels;
pub mod lists;
pub mod markdown;
pub mod plot;
pub mod prometheus;
pub mod rows;
pub mod shown;
pub mod stored;
pub mod svg;
pub mod table;
pub mod tap;
pub mod terminal;
pub mod tree;
pub mod wrap;

#[cfg(test)]
mod charts_tests;
#[cfg(test)]
mod document_tests;

pub use axis::AxisRange;
pub use chart::{Axis, Chart, ChartPoint, Data, Mark, Matrix, Scale, Series, Unit};
pub use document::{Field, Level, Metric, PageRole, Part, Role, Value};
pub use figures::{ByPercent, Digits};
pub use format::{Format, Purpose, Style};
pub use shown::{Picture, Shown, ShownPart, ShownTable, TestPoint, TestVerdict};
pub use terminal::{Audience, Terminal};
pub use wrap::Wrap;

/// Every format that a result can be written in; the first is the default.
pub static FORMATS: [Format; 10] = [
    table::TEXT,
    stored::JSON,
    rows::CSV,
    json::JSON_LINES,
    markdown::MARKDOWN,
    svg::SVG,
    hwloc::HWLOC,
    prometheus::PROMETHEUS,
    tap::TAP,
    html::HTML,
];
